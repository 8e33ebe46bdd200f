// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A Gaussian whose samples go through tanh, so that actions lie between -1 and 1, with the density that this gives them
// (Haarnoja et al., 2018, appendix C).
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "manta/rl/source.hpp"

namespace manta::rl {

/// For actions of `size` numbers. The network's outputs are all means, then the logarithms of all deviations, which are
/// taken between -20 and 2. `noise`: a standard normal number for each number of the action, which is
/// tanh(mean + deviation * noise).
template <class T>
class squashed_gaussian {
 public:
  explicit squashed_gaussian(int size = 0) : size_(size) {}
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int outputs() const { return 2 * size_; }

  /// Writes the action, and returns the logarithm of its density.
  T sample(const T* outputs, const T* noise, T* action) const {
    T sum = 0;
    for (int i = 0; i < size_; ++i) {
      const T spread = clipped(outputs[size_ + i]), u = outputs[i] + std::exp(spread) * noise[i];
      action[i] = std::tanh(u);
      sum -= noise[i] * noise[i] / 2 + spread + T(log_root_of_2_pi) + log_slope(u);
    }
    return sum;
  }
  /// Adds the gradient by the outputs of a * (the logarithm that sample returns) + (the sum of by_action * action),
  /// where `noise` is held, so that the action moves with the outputs.
  void add_gradient(const T* outputs, const T* noise, T a, const T* by_action, T* by_outputs) const {
    for (int i = 0; i < size_; ++i) {
      const T spread = clipped(outputs[size_ + i]), step = std::exp(spread) * noise[i],
              y = std::tanh(outputs[i] + step);
      const T by_u = 2 * a * y + by_action[i] * (1 - y * y);
      by_outputs[i] += by_u;
      if (spread == outputs[size_ + i]) by_outputs[size_ + i] += by_u * step - a;
    }
  }

 private:
  static constexpr double log_root_of_2_pi = 0.91893853320467274178;
  static T clipped(T spread) { return std::clamp(spread, T(-20), T(2)); }
  /// log(1 - tanh(u)^2), finite for every u.
  static T log_slope(T u) {
    const T softplus = std::max(T(0), -2 * u) + std::log1p(std::exp(-std::abs(2 * u)));
    return 2 * (T(std::numbers::ln2) - u - softplus);
  }

  int size_;
};

}  // namespace manta::rl
