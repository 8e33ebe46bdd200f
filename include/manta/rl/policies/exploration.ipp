// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "manta/rl/policies/exploration.hpp"
#include "manta/rl/policies/squashed_gaussian.hpp"

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

/// A choice, or several, each of which is drawn by itself. The outputs are the values of all of them, part by part.
class epsilon_greedy final : public exploration {
 public:
  explicit epsilon_greedy(const space& actions) : choices_(choices_of(actions)) {}
  void act(const exploration_input& in, random& numbers, std::span<float> action) override {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const auto count = static_cast<std::size_t>(choices_[i]);
      if (numbers.uniform() < in.randomness) {
        action[i] = static_cast<float>(in.allowed.empty() ? numbers.index(choices_[i])
                                                          : pick(in.allowed.subspan(begin, count), numbers));
      } else {
        const auto values = in.outputs.subspan(begin, count);
        action[i] = static_cast<float>(std::ranges::max_element(values) - values.begin());
      }
      begin += count;
    }
  }

 private:
  std::vector<int> choices_;
};

/// Numbers between bounds, kept as numbers between -1 and 1.
class bounded : public exploration {
 public:
  bounded(const box& b, bool pink) : noise_(b.low.size()), is_pink_(pink), pink_(static_cast<int>(b.low.size())) {}
  void act(const exploration_input& in, random& numbers, std::span<float> action) override {
    if (is_pink_) {
      pink_.next(numbers, noise_.data());
    } else {
      for (float& x : noise_) x = static_cast<float>(numbers.normal());
    }
    if (numbers.uniform() < in.randomness) {
      // Uniform between the bounds, and correlated over steps as the noise is.
      for (std::size_t i = 0; i < noise_.size(); ++i)
        action[i] = static_cast<float>(std::erf(static_cast<double>(noise_[i]) / std::numbers::sqrt2));
    } else {
      follow(in.outputs.data(), action.data());
    }
  }
  [[nodiscard]] std::string save() const override { return output::pack(pink_); }
  void load(const std::string& state) override { output::unpack(state, pink_); }

 protected:
  /// The action that the outputs ask for, with noise_.
  virtual void follow(const float* outputs, float* action) const = 0;
  std::vector<float> noise_;

 private:
  bool is_pink_;
  pink_noise pink_;
};

/// The outputs are those of a squashed Gaussian.
class squashed final : public bounded {
 public:
  using bounded::bounded;

 protected:
  void follow(const float* outputs, float* action) const override {
    squashed_gaussian<float>(static_cast<int>(noise_.size())).sample(outputs, noise_.data(), action);
  }
};

/// The outputs are actions before tanh, to which noise is added.
class noisy final : public bounded {
 public:
  noisy(const box& b, bool pink, double deviation) : bounded(b, pink), deviation_(static_cast<float>(deviation)) {}

 protected:
  void follow(const float* outputs, float* action) const override {
    for (std::size_t i = 0; i < noise_.size(); ++i)
      action[i] = std::clamp(std::tanh(outputs[i]) + deviation_ * noise_[i], -1.f, 1.f);
  }

 private:
  float deviation_;
};

MANTA_DECL std::unique_ptr<exploration> make_exploration(const space& actions, const exploration_options& o) {
  using way = exploration_options::way;
  if (o.own) return o.own.make(actions);
  if (o.how == way::epsilon_greedy) return std::make_unique<epsilon_greedy>(actions);
  if (o.how == way::squashed) return std::make_unique<squashed>(*actions.as_box(), o.pink);
  return std::make_unique<noisy>(*actions.as_box(), o.pink, o.deviation);
}

}  // namespace detail

}  // namespace manta::rl
