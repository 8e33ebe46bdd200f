// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of trial_files.hpp.
#pragma once

#include <cmath>

#include "manta/tune/output/trial_files.hpp"

namespace manta::tune::detail {

MANTA_DECL std::vector<output::field> row_of(const metrics& m, double seconds) {
  std::vector<output::field> row;
  row.reserve(m.size() + 1);
  if (seconds >= 0) row.push_back({"seconds", std::floor(seconds * 1e6) / 1e6});
  for (const auto& [name, x] : m) row.push_back({name, x});
  return row;
}

}  // namespace manta::tune::detail
