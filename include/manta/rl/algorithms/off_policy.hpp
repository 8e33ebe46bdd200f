// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Algorithms that learn from a replay memory of what any policy has done: workers act, their transitions go straight to
// the memory, and the learner draws batches from it. DQN, SAC and TD3 are of this kind, and so is one with a learner of
// the program's own (off_policy_learner.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/learning/algorithm.hpp"
#include "manta/rl/learning/off_policy_learner.hpp"
#include "manta/rl/workers/off_policy_worker.hpp"

namespace manta::rl {

class off_policy : public algorithm {
 public:
  /// Starts the memory, and the workers of which the learner was told. Throws manta::error if what it was told
  /// makes no sense.
  MANTA_DECL explicit off_policy(std::unique_ptr<off_policy_learner> l);

 protected:
  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] const learner& learned() const override { return *learner_; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  void start_workers();
  void sample();
  void learn(int count, report& r);

  std::unique_ptr<off_policy_learner> learner_;
  actor<replay> memory_;
  std::vector<actor<detail::off_policy_worker>> workers_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/off_policy.ipp"
#endif
