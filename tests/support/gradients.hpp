// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What tests of networks share: matrices of random numbers, and gradients by central differences.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include "manta/nn.hpp"

namespace manta::testing {

/// Normal numbers, the same for a seed.
inline nn::matrix<double> numbers(int rows, int cols, std::uint64_t seed) {
  const nn::random r(seed);
  nn::matrix<double> m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = r.normal(static_cast<std::uint64_t>(i));
  return m;
}

/// The largest difference of a gradient from central differences, relative to the gradient's size.
inline double difference(std::span<double> at, std::span<const double> gradient, const std::function<double()>& f) {
  double worst = 0, size = 1e-3;
  for (double g : gradient) size = std::max(size, std::abs(g));
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double x = at[i], h = 1e-5;
    at[i] = x + h;
    const double above = f();
    at[i] = x - h;
    const double below = f();
    at[i] = x;
    worst = std::max(worst, std::abs((above - below) / (2 * h) - gradient[i]) / size);
  }
  return worst;
}

}  // namespace manta::testing
