// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Action distributions: what the numbers that a policy's network gives mean. One object for each kind of action space.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "manta/nn/module.hpp"
#include "manta/own.hpp"
#include "manta/rl/base/random.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

/// A class of the program's own, for options that take one: rl::own<my_class>(constructor arguments..).
using manta::own;

/// All columns are samples. `outputs`: those of the network. `spread`: the logarithms of the deviations, one for each
/// number of a box; empty for choices.
class distribution {
 public:
  virtual ~distribution() = default;
  /// The number of outputs of the network that the distribution needs.
  [[nodiscard]] virtual int outputs() const = 0;
  /// The number of values in `spread`.
  [[nodiscard]] virtual int spread() const = 0;
  /// Numbers of an action, as the policy keeps it: as many as the environment gets.
  [[nodiscard]] virtual int size() const = 0;

  virtual void sample(const float* outputs, const float* spread, random& numbers, float* action) const = 0;
  /// The most likely action.
  virtual void best(const float* outputs, float* action) const = 0;
  /// What the environment gets: inside its space. `to` may be `action`: both have as many numbers.
  virtual void to_environment(const float* action, float* to) const = 0;

  /// The most likely action as the environment gets it.
  MANTA_DECL void best_for_environment(const float* outputs, float* to) const;

  [[nodiscard]] virtual float log_probability(const float* outputs, const float* spread, const float* action) const = 0;
  [[nodiscard]] virtual float entropy(const float* outputs, const float* spread) const = 0;
  /// Factors of log_probability and entropy in a sum.
  struct weights {
    float log_probability = 0, entropy = 0;
  };
  /// Adds the gradients of the sum of log_probability and entropy with these weights, by outputs and spread.
  virtual void add_gradient(const float* outputs, const float* spread, const float* action, weights w,
                            float* by_outputs, float* by_spread) const = 0;
};

/// A class of the program's own that derives from distribution, and is constructed from the space of actions and the
/// arguments of own:
///
///   .model = {.distribution = rl::own<my_distribution>(..)}
using own_distribution = own_class<distribution, space>;

/// Categorical for discrete spaces, independent categoricals for multi_discrete, a Gaussian with a diagonal covariance
/// for a box: its mean is the middle of the bounds where they are finite, plus half of their distance times the output.
/// One of these for each part of a tuple or dict. Or the program's own.
MANTA_DECL std::unique_ptr<distribution> make_distribution(const space& actions, const own_distribution& own = {});
/// The distribution of the actions of an environment. Throws manta::error if they have masks, which the program's own
/// distribution does not suit.
MANTA_DECL std::unique_ptr<distribution> make_distribution(const any_environment& e, const own_distribution& own);

namespace detail {
/// The name in descriptions of networks.
template <class Base, class... Given>
std::string named(const own_class<Base, Given...>& own) {
  return own ? " with " + own.name() : "";
}
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/distribution.ipp"
#endif
