// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the workers of an off-policy algorithm try actions: what they make of a network's outputs, and of random numbers.
// A class of the program's own takes the place of dqn's, sac's or td3's way:
//
//   struct boltzmann : rl::exploration {
//     void act(const rl::exploration_input& in, rl::random& numbers, std::span<float> action) override;
//   };
//   rl::dqn algorithm("CartPole-v1", {.exploration = rl::own<boltzmann>()});
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/output/bytes.hpp"
#include "manta/own.hpp"
#include "manta/rl/base/random.hpp"
#include "manta/rl/environments/action_mask.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/space.hpp"

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
  std::vector<double> parts_;  ///< parts by number, then by memory; empty before the first call
};

/// What an exploration is told of a step.
struct exploration_input {
  std::span<const float> observation;  ///< its features, unfiltered
  /// What the network that acts has given. dqn: the values of all actions, which may differ from the Q values by a
  /// common number; sac: means, then logarithms of deviations, before tanh; td3: actions before tanh.
  std::span<const float> outputs;
  /// For each choice 1 where it is allowed, 0 where it is not, for which the output is a large negative number; empty:
  /// all are allowed.
  std::span<const unsigned char> allowed;
  double randomness = 0;    ///< the part of actions by chance alone that the algorithm's options ask for
  std::uint64_t steps = 0;  ///< steps of all environments, before the worker's call
};

/// Each environment has an object of its own, which is used step by step. Where the class has a serialize, the object
/// is saved with the environment.
class exploration {
 public:
  virtual ~exploration() = default;
  /// Writes the action to take. A choice is a whole number from 0; numbers between bounds are kept between -1 and 1.
  virtual void act(const exploration_input& in, random& numbers, std::span<float> action) = 0;
  /// The next step is the first of another episode.
  virtual void begin_episode() {}

  /// The object's state; own classes get both from their serialize.
  [[nodiscard]] virtual std::string save() const { return {}; }
  virtual void load(const std::string& /* state */) {}
};

/// A class of the program's own that derives from exploration, and is constructed from the space of actions and the
/// arguments of own, or from these alone.
using own_exploration = own_class<exploration, space>;

/// The way to explore, as a value: one of the library's, or the program's own.
struct exploration_options {
  enum class way { epsilon_greedy, squashed, noisy };
  way how = way::epsilon_greedy;
  double deviation = 0;  ///< noisy: of the noise, in units of half the distance of the bounds
  bool pink = false;
  own_exploration own = {};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(how, deviation, pink, own);
  }
};

namespace detail {

MANTA_DECL std::unique_ptr<exploration> make_exploration(const space& actions, const exploration_options& o);

/// An object of the program's class that is saved by its serialize.
template <class C>
class saved_exploration final : public C {
 public:
  using C::C;
  [[nodiscard]] std::string save() const override { return output::pack(static_cast<const C&>(*this)); }
  void load(const std::string& state) override { output::unpack(state, static_cast<C&>(*this)); }
};

}  // namespace detail

}  // namespace manta::rl

template <class C>
  requires(manta::rl::detail::is_saved<C>)
struct manta::detail::standing_for<manta::rl::exploration, C> {
  static_assert(std::is_base_of_v<manta::rl::exploration, C>,
                "manta: rl: a class that explores has to derive from rl::exploration");
  using type = manta::rl::detail::saved_exploration<C>;
};

#ifndef MANTA_COMPILED
#include "manta/rl/policies/exploration.ipp"
#endif
