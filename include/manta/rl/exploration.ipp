// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of exploration.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "manta/rl/exploration.hpp"
#include "manta/rl/squashed_gaussian.hpp"

namespace manta::rl {

MANTA_DECL void pink_noise::next(random& numbers, float* noise) {
  constexpr std::array<double, 5> memories{0, 4, 16, 64, 256};
  const bool is_first = parts_.empty();
  parts_.resize(memories.size() * static_cast<std::size_t>(size_));
  auto part = parts_.begin();
  for (int i = 0; i < size_; ++i) {
    double sum = 0;
    for (const double memory : memories) {
      const double kept = is_first || memory <= 0 ? 0 : std::exp(-1 / memory);
      *part = kept * *part + std::sqrt(1 - kept * kept) * numbers.normal();
      sum += *part++;
    }
    noise[i] = static_cast<float>(sum / std::sqrt(static_cast<double>(memories.size())));
  }
}

namespace detail {

/// A choice; the outputs are the values of all of them, and what stands behind these is not read.
class epsilon_greedy final : public exploration {
 public:
  explicit epsilon_greedy(const discrete& d) : space_(d) {}
  [[nodiscard]] int noise() const override { return 0; }
  void follow(const float* outputs, const float*, float* action) const override {
    *action = static_cast<float>(std::max_element(outputs, outputs + space_.n) - outputs);
  }
  void wander(const float*, mask_view allowed, random& numbers, float* action) const override {
    *action = static_cast<float>(allowed.empty() ? numbers.index(space_.n) : pick(allowed, numbers));
  }

 private:
  discrete space_;
};

/// Numbers between bounds, kept as numbers between -1 and 1.
class bounded : public exploration {
 public:
  explicit bounded(const box& b) : size_(static_cast<int>(b.low.size())) {}
  [[nodiscard]] int noise() const override { return size_; }
  /// Uniform between the bounds, and correlated over steps as the noise is.
  void wander(const float* noise, mask_view, random&, float* action) const override {
    for (int i = 0; i < size_; ++i)
      action[i] = static_cast<float>(std::erf(static_cast<double>(noise[i]) / std::numbers::sqrt2));
  }

 protected:
  int size_;
};

/// The outputs are those of a squashed Gaussian.
class squashed final : public bounded {
 public:
  using bounded::bounded;
  void follow(const float* outputs, const float* noise, float* action) const override {
    squashed_gaussian<float>(size_).sample(outputs, noise, action);
  }
};

/// The outputs are actions before tanh, to which noise is added.
class noisy final : public bounded {
 public:
  noisy(const box& b, double deviation) : bounded(b), deviation_(static_cast<float>(deviation)) {}
  void follow(const float* outputs, const float* noise, float* action) const override {
    for (int i = 0; i < size_; ++i) action[i] = std::clamp(std::tanh(outputs[i]) + deviation_ * noise[i], -1.f, 1.f);
  }

 private:
  float deviation_;
};

MANTA_DECL std::unique_ptr<exploration> make_exploration(const space& actions, const exploration_options& o) {
  using way = exploration_options::way;
  if (o.how == way::epsilon_greedy) return std::make_unique<epsilon_greedy>(*actions.as_discrete());
  if (o.how == way::squashed) return std::make_unique<squashed>(*actions.as_box());
  return std::make_unique<noisy>(*actions.as_box(), o.deviation);
}

}  // namespace detail

}  // namespace manta::rl
