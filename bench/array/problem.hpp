// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P4: a matrix of 64 MB that rank 1 has made comes to rank 0, into an Eigen
// matrix, and is summed there; and a view of a stored one of any size.
#pragma once

#include <Eigen/Core>

#include "../common/measure.hpp"

namespace array {

using matrix = Eigen::MatrixXd;

inline constexpr Eigen::Index rows = 2896;  // squared, times 8 bytes: 64 MiB
inline constexpr int transfers = 5;
inline constexpr int views = 5;
inline constexpr int round_trips = 20'000;
inline constexpr Eigen::Index largest = 5792;  // 256 MiB

inline double gigabytes_per_second(double seconds) {
  return 1e-9 * static_cast<double>(transfers) * static_cast<double>(rows * rows * 8) / seconds;
}
inline matrix made(double value) { return matrix::Constant(rows, rows, value); }
inline bool is_sum(double sum, double value) { return sum == value * static_cast<double>(rows * rows); }

}  // namespace array
