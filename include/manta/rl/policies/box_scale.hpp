// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actions of a box in units of half the distance between its bounds, as networks give them.
#pragma once

#include <algorithm>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl::detail {

class box_scale {
 public:
  explicit box_scale(const box& b) : box_(b) {
    for (std::size_t i = 0; i < b.low.size(); ++i) {
      const double low = static_cast<double>(b.low[i]), high = static_cast<double>(b.high[i]);
      const bool bounded = base::is_finite(low) && base::is_finite(high) && high - low < 1e30 && high > low;
      has_bounds_ = has_bounds_ && bounded;
      middle_.push_back(bounded ? static_cast<float>((low + high) / 2) : 0.f);
      half_.push_back(bounded ? static_cast<float>((high - low) / 2) : 1.f);
    }
  }
  [[nodiscard]] int size() const { return static_cast<int>(middle_.size()); }
  /// All bounds are finite, so that -1 and 1 are the bounds.
  [[nodiscard]] bool has_bounds() const { return has_bounds_; }
  /// From these units to a value inside the box.
  void to_environment(const float* action, float* to) const {
    for (std::size_t i = 0; i < middle_.size(); ++i)
      to[i] = std::clamp(middle_[i] + half_[i] * action[i], box_.low[i], box_.high[i]);
  }
  /// The inverse.
  void from_environment(const float* action, float* to) const {
    for (std::size_t i = 0; i < middle_.size(); ++i) to[i] = (action[i] - middle_[i]) / half_[i];
  }

 private:
  box box_;
  std::vector<float> middle_, half_;
  bool has_bounds_ = true;
};

}  // namespace manta::rl::detail
