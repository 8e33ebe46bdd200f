// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What acts, as a value that tasks can have: a network, the filter of its observations, and how its outputs become
// actions. Learners give one of this moment; users have it inside of a trained_policy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/policies/action_planner.hpp"
#include "manta/rl/policies/distribution.hpp"
#include "manta/rl/policies/exploration.hpp"
#include "manta/rl/policies/filter.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl {

/// How a network's outputs become actions: the best one, or one that is drawn as in training.
struct action_choice {
  /// What draws the action: nothing, so that the best action is taken always; the distribution; or the exploration.
  enum class drawing { none, distribution, exploration };

  drawing by = drawing::none;
  own_distribution distribution = {};    ///< meaning of the outputs, if it is not the library's
  std::vector<float> spread = {};        ///< spread of the distribution: what does not depend on observations
  bool is_squashed = false;              ///< the outputs are actions before tanh
  exploration_options exploration = {};  ///< settings of an off-policy algorithm
  double randomness = 0;                 ///< part of the actions that are drawn by chance alone, for the exploration
  own_action_planner planner = {};       ///< planner that acts in place of the network, always with the best action

  template <class Archive>
  void serialize(Archive& archive) {
    archive(by, distribution, spread, is_squashed, exploration, randomness, planner);
  }
};

class acting_policy {
 public:
  acting_policy() = default;
  MANTA_DECL acting_policy(const any_environment& e, nn::network<float> net, moments filter, action_choice how = {});

  /// The random numbers by which actions are drawn: column i has those of (seed, first + i, step).
  struct draw {
    std::uint64_t seed = 0, first = 0, step = 0;
  };

  /// The action for each column of unfiltered observations, as the environment takes it, of those that are allowed: the
  /// best one, or drawn by these numbers. A policy with a memory takes them for the next step of the same episodes;
  /// those that have ended are of no interest. Throws manta::error if the network's outputs are not finite.
  MANTA_DECL const nn::matrix<float>& actions(const nn::matrix<float>& observations, const action_masks& m,
                                              const draw* numbers = nullptr);
  /// The actions for the present states of environments; an error says in which environment it happened.
  MANTA_DECL const nn::matrix<float>& actions(const vector_environment& e, const draw* numbers = nullptr);
  /// The network's outputs for the last actions(), with what was not allowed forbidden.
  [[nodiscard]] const nn::matrix<float>& outputs() const { return outputs_; }
  /// Other episodes begin.
  MANTA_DECL void forget();

  [[nodiscard]] const any_environment& environment() const { return environment_; }
  [[nodiscard]] const nn::network<float>& network() const { return net_; }
  [[nodiscard]] const moments& filter() const { return filter_; }
  [[nodiscard]] const action_choice& choice() const { return choice_; }
  [[nodiscard]] bool plans() const { return static_cast<bool>(choice_.planner); }
  [[nodiscard]] bool remembers() const { return plans() || net_.state_size() > 0; }
  /// What is remembered of the episodes, `count` of them, a column each; no rows without a memory.
  [[nodiscard]] MANTA_DECL nn::matrix<float> memories(Eigen::Index count) const;
  MANTA_DECL void set_memories(const nn::matrix<float>& m);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(environment_, net_, filter_, choice_);
  }

 private:
  /// The network's outputs for unfiltered observations.
  void read(const nn::matrix<float>& observations);
  const nn::matrix<float>& choose(const nn::matrix<float>& observations, const action_masks& m, const draw* numbers);
  /// Plans an action for each column but those of episodes of e that are over.
  const nn::matrix<float>& plan(const nn::matrix<float>& observations, const vector_environment* e = nullptr);
  [[nodiscard]] action_planner& its_planner() const;
  void draw_action(Eigen::Index i, const nn::matrix<float>& observations, mask_view allowed, random numbers);

  /// By column, while actions are drawn by them. A copy of the policy makes its own.
  struct kept_explorations {
    std::vector<std::unique_ptr<exploration>> of_columns;
    kept_explorations() = default;
    kept_explorations(const kept_explorations&) {}
    kept_explorations& operator=(const kept_explorations&) {
      of_columns.clear();
      return *this;
    }
    kept_explorations(kept_explorations&&) = default;
    kept_explorations& operator=(kept_explorations&&) = default;
    ~kept_explorations() = default;
  };

  any_environment environment_;
  nn::network<float> net_;
  moments filter_;
  action_choice choice_;
  detail::even_forward forward_;
  std::shared_ptr<const distribution> distribution_;  ///< made with the normaliser, by the first call
  kept_explorations explorations_;
  mutable detail::kept_action_planner planner_;
  nn::matrix<float> plans_;  ///< the planner's memory of the episodes, by column
  normaliser normaliser_;
  nn::matrix<float> filtered_, outputs_, actions_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/policies/acting_policy.ipp"
#endif
