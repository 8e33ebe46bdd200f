// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of metrics.hpp.
#pragma once

#include <algorithm>
#include <iterator>

#include "manta/tune/metrics.hpp"

namespace manta::tune {

MANTA_DECL double metrics::operator[](std::string_view name) const {
  if (const double* x = find(name)) return *x;
  throw error("manta: \"" + std::string(name) + "\" was not reported; there is " + names());
}

MANTA_DECL std::string metrics::names() const {
  std::string all;
  for (const entry& e : *this) all += (all.empty() ? "\"" : ", \"") + e.first + "\"";
  return all.empty() ? "nothing" : all;
}

MANTA_DECL bool metrics::is_column(std::string_view name) {
  constexpr std::string_view columns[] = {"iteration", "seconds", "trial", "state", "at", "why", "config"};
  return std::find(std::begin(columns), std::end(columns), name) != std::end(columns) || name.starts_with("config/");
}

}  // namespace manta::tune
