// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of filter.hpp.
#pragma once

#include <cmath>

#include "manta/rl/filter.hpp"

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

MANTA_DECL double moments::deviation(std::size_t i) const {
  if (count_ < 2 || squares_[i] <= 1e-12 * count_) return 1;
  return std::sqrt(squares_[i] / count_);
}

MANTA_DECL void normalise(const moments& m, const nn::matrix<float>& x, nn::matrix<float>& to) {
  to = x;
  if (m.count() < 2) return;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const float mean = static_cast<float>(m.mean(k)), scale = static_cast<float>(1 / m.deviation(k));
    to.row(i) = ((x.row(i).array() - mean) * scale).min(10.f).max(-10.f);
  }
}

}  // namespace manta::rl
