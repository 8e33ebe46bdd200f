// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The worker of Ape-X: one of off-policy algorithms, which estimates the errors of its transitions and sends both to a
// replay memory before its call ends. The learner gets moments and episodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/algorithms/dqn.hpp"
#include "manta/rl/learning/replay.hpp"
#include "manta/rl/policies/policy.hpp"
#include "manta/rl/workers/off_policy_worker.hpp"

namespace manta::rl::detail {

/// What all workers of a training have in common.
struct apex_setting {
  q_network net;
  exploration_options exploration;
  own_collection collection;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(net, exploration, collection);
  }
};

/// What the learner says with each call.
struct apex_orders {
  off_policy_orders how;    ///< without network and filter, which come with the weights
  double reward_scale = 1;  ///< factor of all rewards
  std::vector<actor<replay>> memories;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(how, reward_scale, memories);
  }
};

class apex_worker {
 public:
  apex_worker() = default;
  MANTA_DECL apex_worker(const any_environment& e, std::uint64_t seed, int first, int count, const apex_setting& s);
  /// Acts, and waits until a memory has the transitions.
  MANTA_DECL off_policy_news run(const policy::weights& w, const apex_orders& o);

  [[nodiscard]] std::vector<std::string> state() const { return acts_.state(); }
  void restore(const std::vector<std::string>& states) { acts_.restore(states); }
  bool begin_at(std::uint64_t step) { return acts_.begin_at(step); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(acts_, setting_, next_);
  }

 private:
  /// By how much the network is wrong about each transition, by the network itself.
  std::vector<float> errors_of(const transitions& t, const normaliser& filter, double reward_scale);

  off_policy_worker acts_;
  apex_setting setting_;
  std::uint64_t next_ = 0;  ///< next memory
  nn::matrix<float> filtered_, allowed_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/apex_worker.ipp"
#endif
