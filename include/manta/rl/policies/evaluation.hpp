// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Evaluations: a policy takes its best actions in episodes of its own. They are divided into parts whose number depends
// on that of the episodes alone, and each part is a task, so that any number of ranks comes to the same result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manta/future.hpp"
#include "manta/nn/network.hpp"
#include "manta/rl/base/report.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/policies/distribution.hpp"
#include "manta/rl/policies/filter.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl::detail {

/// What takes a policy's best actions, as a value that tasks can have. The outputs of the network are those that the
/// distribution of the environment's actions reads, after tanh if they are squashed.
class best_policy {
 public:
  best_policy() = default;
  MANTA_DECL best_policy(const any_environment& e, nn::network<float> net, moments filter, own_distribution own = {},
                         bool is_squashed = false);

  /// The best action for each column of unfiltered observations, as the environment takes it, of those that are
  /// allowed. A policy with a memory takes them for the next step of the same episodes; those that have ended are of no
  /// interest. Throws manta::error if the network's outputs are not finite.
  MANTA_DECL const nn::matrix<float>& actions(const nn::matrix<float>& observations, const masks& m);
  /// Likewise for the present states of environments; an error says in which one it happened.
  const nn::matrix<float>& actions(const vector_environment& e) {
    read(e.observations());
    e.require_finite(outputs_);
    return choose(e.masks());
  }
  /// Other episodes begin.
  void forget() { forward_.forget(); }
  [[nodiscard]] const any_environment& environment() const { return environment_; }
  [[nodiscard]] bool remembers() const { return net_.state_size() > 0; }
  /// What is remembered of the episodes, `count` of them, a column each; no rows without a memory.
  [[nodiscard]] nn::matrix<float> memories(Eigen::Index count) const { return forward_.states(net_, count); }
  void set_memories(const nn::matrix<float>& m) { forward_.set_states(net_, m); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(environment_, net_, filter_, own_distribution_, is_squashed_);
  }

 private:
  /// The network's outputs for unfiltered observations.
  MANTA_DECL void read(const nn::matrix<float>& observations);
  /// The best actions by the outputs.
  MANTA_DECL const nn::matrix<float>& choose(const masks& m);

  any_environment environment_;
  nn::network<float> net_;
  moments filter_;
  own_distribution own_distribution_;
  bool is_squashed_ = false;
  even_forward forward_;
  std::shared_ptr<const distribution> distribution_;  ///< made with the normaliser, by the first call
  normaliser normaliser_;
  nn::matrix<float> filtered_, outputs_, actions_;
};

/// Runs these episodes by tasks, on seeds that training does not use. The report counts their steps; its seconds are
/// those of all ranks together.
MANTA_DECL future<report> start_evaluation(const future<best_policy>& policy, std::uint64_t seed, int episodes,
                                           std::uint64_t iteration);

/// The first of these episodes as texts, one for each state; none where the environment has no text().
MANTA_DECL std::vector<std::string> draw_episode(best_policy policy, std::uint64_t seed, int longest);

/// Returns and lengths of episodes.
MANTA_DECL void summarise(const std::vector<episode>& episodes, report& r);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/policies/evaluation.ipp"
#endif
