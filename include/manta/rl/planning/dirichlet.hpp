// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Random shares that sum up to 1.
#pragma once

#include <cmath>
#include <span>

#include "manta/rl/base/random.hpp"

namespace manta::rl::detail {

/// A number of the gamma distribution with this shape and scale 1 (Marsaglia, Tsang, 2000).
inline double draw_gamma(double shape, random& numbers) {
  if (shape < 1) return draw_gamma(shape + 1, numbers) * std::pow(1 - numbers.uniform(), 1 / shape);
  const double d = shape - 1. / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = numbers.normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(1 - numbers.uniform()) < x * x / 2 + d * (1 - v + std::log(v))) return d * v;
  }
}

/// Shares of the symmetric Dirichlet distribution.
inline void draw_dirichlet(double alpha, random& numbers, std::span<float> shares) {
  double sum = 0;
  for (float& s : shares) {
    s = static_cast<float>(draw_gamma(alpha, numbers));
    sum += static_cast<double>(s);
  }
  if (!(sum > 0)) {  // of a tiny alpha
    shares[static_cast<std::size_t>(numbers.index(static_cast<int>(shares.size())))] = 1;
    sum = 1;
  }
  for (float& s : shares) s = static_cast<float>(static_cast<double>(s) / sum);
}

}  // namespace manta::rl::detail
