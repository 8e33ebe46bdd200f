// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The step of L-BFGS, a part of the definitions of optimizer.hpp.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "manta/nn/optimizer.hpp"

namespace manta::nn {

/// The direction is -H g, with the inverse of the curvature H that the pairs of steps s and differences of gradients y
/// say (Nocedal, 1980). Kept are the gradient and the step of the step before, then all s, then all y.
template <class T>
void optimizer::move_by_curvature(std::span<T> p, std::span<const T> g, std::vector<T>& kept,
                                  const std::vector<detail::parameter_range>& ranges) {
  using vector = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;
  const auto n = static_cast<Eigen::Index>(p.size());
  const auto array = [&](std::size_t i) { return vector(kept.data() + static_cast<Eigen::Index>(i) * n, n); };
  const auto s = [&](std::uint64_t pair) { return array(2 + pair % history_); };
  const auto y = [&](std::uint64_t pair) { return array(2 + history_ + pair % history_); };
  const auto dot = [](const auto& a, const auto& b) { return static_cast<double>((a * b).sum()); };
  vector gradient_before = array(0), step_before = array(1);
  Eigen::Array<T, Eigen::Dynamic, 1> gradient(n), direction(n);
  for (const detail::parameter_range& r : ranges) {
    for (std::size_t i = r.begin; i < r.end; ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      gradient(at) = r.rate == 0 ? T(0) : g[i] + static_cast<T>(r.weight_decay) * p[i];
    }
  }
  if (steps_ > 1) {
    constexpr double least = 1e-10;  // as PyTorch's
    direction = gradient - gradient_before;
    if (dot(direction, step_before) > least) {
      s(pairs_) = step_before;
      y(pairs_++) = direction;
    }
  }
  const std::uint64_t first = pairs_ - std::min<std::uint64_t>(pairs_, history_);
  std::vector<double> parts(static_cast<std::size_t>(pairs_ - first));
  direction = -gradient;
  for (std::uint64_t i = pairs_; i-- > first;) {
    double& part = parts[static_cast<std::size_t>(i - first)];
    part = dot(s(i), direction) / dot(s(i), y(i));
    direction -= static_cast<T>(part) * y(i);
  }
  if (pairs_ > first)
    direction *= static_cast<T>(dot(s(pairs_ - 1), y(pairs_ - 1)) / dot(y(pairs_ - 1), y(pairs_ - 1)));
  for (std::uint64_t i = first; i < pairs_; ++i) {
    const double back = dot(y(i), direction) / dot(s(i), y(i));
    direction += static_cast<T>(parts[static_cast<std::size_t>(i - first)] - back) * s(i);
  }
  const double length = steps_ > 1 ? 1 : std::min(1., 1 / std::max(1e-300, static_cast<double>(gradient.abs().sum())));
  for (const detail::parameter_range& r : ranges) {
    const auto at = static_cast<Eigen::Index>(r.begin), count = static_cast<Eigen::Index>(r.end - r.begin);
    step_before.segment(at, count) = static_cast<T>(length * rate_ * r.rate) * direction.segment(at, count);
  }
  gradient_before = gradient;
  vector(p.data(), n) += step_before;
}

}  // namespace manta::nn
