// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the workers of an off-policy algorithm try actions: what they make of a network's outputs, and of random numbers.
#pragma once

#include <memory>
#include <vector>

#include "manta/rl/action_mask.hpp"
#include "manta/rl/random.hpp"
#include "manta/rl/space.hpp"

namespace manta::rl {

/// Normal numbers of mean 0 and deviation 1 that are correlated over steps as in pink noise: their power falls with the
/// frequency, so that actions push one way for a while, which explores better than independent numbers (Eberhard et
/// al., 2023). A sum of processes with memories of 0, 4, 16, 64 and 256 steps.
class pink_noise {
 public:
  pink_noise() = default;
  explicit pink_noise(int size) : size_(size) {}
  /// Writes the next `size` numbers.
  MANTA_DECL void next(random& numbers, float* noise);
  template <class Archive>
  void serialize(Archive& archive) {
    archive(size_, parts_);
  }

 private:
  int size_ = 0;
  std::vector<double> parts_;  ///< by number, then by memory; empty before the first call
};

namespace detail {

/// The way to explore, as a value.
struct exploration_options {
  enum class way { epsilon_greedy, squashed, noisy };
  way how = way::epsilon_greedy;
  double deviation = 0;  ///< noisy: of the noise, in units of half the distance of the bounds
  bool pink = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(how, deviation, pink);
  }
};

/// Actions are in the form that the distribution of their space (distribution.hpp) has them.
class exploration {
 public:
  virtual ~exploration() = default;
  /// Normal numbers that each action needs.
  [[nodiscard]] virtual int noise() const = 0;
  /// An action that follows the outputs.
  virtual void follow(const float* outputs, const float* noise, float* action) const = 0;
  /// An action that depends on chance alone; one of those that are allowed.
  virtual void wander(const float* noise, mask_view allowed, random& numbers, float* action) const = 0;
};

MANTA_DECL std::unique_ptr<exploration> make_exploration(const space& actions, const exploration_options& o);

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/exploration.ipp"
#endif
