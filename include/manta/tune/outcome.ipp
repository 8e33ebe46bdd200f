// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/tune/outcome.hpp"

namespace manta::tune {

MANTA_DECL void curve::add(double at, double y) {
  const point p = {static_cast<float>(at), static_cast<float>(y), line_};
  if (seen_++ % stride_ != 0) {
    last_ = p;
    has_last_ = true;
    return;
  }
  has_last_ = false;
  points_.push_back(p);
  if (points_.size() < most) return;
  for (std::size_t i = 0; 2 * i < points_.size(); ++i) points_[i] = points_[2 * i];
  points_.resize((points_.size() + 1) / 2);
  stride_ *= 2;
}

MANTA_DECL std::vector<curve::point> curve::points() const {
  std::vector<point> all = points_;
  if (has_last_) all.push_back(last_);
  return all;
}

MANTA_DECL double curve::best_by(double at) const {
  double best = infinity;
  const auto take = [&](const point& p) {
    if (static_cast<double>(p.at) <= at * (1 + 1e-6)) best = std::min(best, static_cast<double>(p.y));
  };
  std::for_each(points_.begin(), points_.end(), take);
  if (has_last_) take(last_);
  return best;
}

MANTA_DECL double curve::last_by(double at) const {
  double last = infinity;
  const auto take = [&](const point& p) {
    if (static_cast<double>(p.at) <= at * (1 + 1e-6)) last = static_cast<double>(p.y);
  };
  std::for_each(points_.begin(), points_.end(), take);
  if (has_last_) take(last_);
  return last;
}

MANTA_DECL double violation_of(const std::vector<double>& excess) {
  double sum = 0;
  for (const double x : excess) sum += std::max(0.0, x);
  return sum;
}

}  // namespace manta::tune
