// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/rl/policies/filter.hpp"

namespace manta::rl {

MANTA_DECL void moments::add(const float* numbers) {
  ++count_;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double x = static_cast<double>(numbers[i]), d = x - mean_[i];
    mean_[i] += d / count_;
    squares_[i] += d * (x - mean_[i]);
  }
}

MANTA_DECL void moments::merge(const moments& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  const double all = count_ + other.count_;
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    const double d = other.mean_[i] - mean_[i];
    mean_[i] += d * other.count_ / all;
    squares_[i] += other.squares_[i] + d * d * count_ * other.count_ / all;
  }
  count_ = all;
}

MANTA_DECL void moments::count_at_most(double vectors) {
  if (count_ <= vectors) return;
  for (double& sum : squares_) sum *= vectors / count_;
  count_ = vectors;
}

MANTA_DECL moments moments::part(std::size_t begin, std::size_t count) const {
  moments some(static_cast<int>(count));
  some.count_ = count_;
  std::copy_n(mean_.begin() + static_cast<std::ptrdiff_t>(begin), count, some.mean_.begin());
  std::copy_n(squares_.begin() + static_cast<std::ptrdiff_t>(begin), count, some.squares_.begin());
  return some;
}

MANTA_DECL double moments::deviation(std::size_t i) const {
  if (count_ < 2 || squares_[i] <= 1e-12 * count_) return 1;
  return std::sqrt(squares_[i] / count_);
}

MANTA_DECL void normaliser::set(const moments& m) {
  numbers_.clear();
  if (m.count() < 2) return;
  for (std::size_t i = 0; i < m.size(); ++i) numbers_.push_back(static_cast<float>(m.mean(i)));
  for (std::size_t i = 0; i < m.size(); ++i) numbers_.push_back(static_cast<float>(1 / m.deviation(i)));
}

MANTA_DECL void normaliser::apply(const nn::matrix<float>& x, nn::matrix<float>& to) const {
  to = x;
  const std::size_t size = numbers_.size() / 2;
  const float *const means = numbers_.data(), *const scales = means + size;
  for (Eigen::Index column = 0; column < to.cols(); ++column) {
    float* const y = to.col(column).data();
    for (std::size_t i = 0; i < size; ++i) y[i] = std::max(-10.f, std::min(10.f, (y[i] - means[i]) * scales[i]));
  }
}

}  // namespace manta::rl
