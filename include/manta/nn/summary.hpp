// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The table that network<T>::summary() gives.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "manta/nn/source.hpp"

namespace manta::nn {

struct summary_row {
  std::string layer, output;
  std::size_t parameters = 0, bytes = 0;
  double flops = 0;
};

/// The rows in columns, under their names, with a last row of sums.
[[nodiscard]] MANTA_DECL std::string summary_table(std::vector<summary_row> rows);

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/summary.ipp"
#endif
