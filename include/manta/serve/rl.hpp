// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins serve and rl: a policy behind a queue in one line, from an algorithm, its checkpoint, or a search.
//
//   auto d = serve::deploy_policy({.name = "cartpole", .max_batch = 32}, algorithm);
//   std::vector<float> action = d(observation).get();                        // {1}: the second of two choices
//   auto e = serve::deploy_policy({.name = "cartpole"}, "checkpoint");
//   auto f = serve::deploy_policy({.name = "cartpole"}, results.best_checkpoint());   // of tune::run<rl::trial<..>>
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "manta/rl.hpp"
#include "manta/serve/deployment.hpp"

namespace manta::serve {

namespace detail {
/// A policy that answers batches of observations.
class policy_model {
 public:
  explicit policy_model(const rl::trained_policy& policy) : policy_(policy) {}
  std::vector<std::vector<float>> act(const std::vector<std::vector<float>>& observations) {
    return policy_.act(observations);
  }

 private:
  rl::trained_policy policy_;
};
}  // namespace detail

/// A deployment from an observation, unfiltered as the environment gives it, to the policy's best action: the numbers
/// of both, one for a discrete space. The policy travels once to each node, and training does not change it any more.
/// The deployment is idempotent: an observation of the wrong size fails alone.
/// Throws manta::error for a policy with a memory (.lstm, .attention), whose actions depend on the requests before, and
/// for one of an environment that masks actions.
inline deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o,
                                                                        const rl::trained_policy& policy) {
  if (policy.remembers())
    throw error(
        "manta: serve::deploy_policy: the policy of '" + o.name +
        "' has a memory (.lstm or .attention): its actions depend on the observations before, and requests know "
        "of no episode. Deploy a policy without one, or call rl::trained_policy::act where the episode runs");
  // What every request would throw is thrown here, such as for an environment that masks actions.
  rl::trained_policy(policy).act({std::vector<float>(static_cast<std::size_t>(policy.observations().size()))});
  return deploy<batched<&detail::policy_model::act>>(detail::pure(o), policy);
}
/// Likewise of the algorithm's policy at this moment.
inline deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o,
                                                                        const rl::algorithm& algorithm) {
  return deploy_policy(o, algorithm.trained());
}
/// Likewise of the policy in a file of algorithm::save or trained_policy::save. Throws manta::error if it cannot be
/// read.
inline deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o, const std::string& path) {
  return deploy_policy(o, rl::load_policy(path));
}
/// Likewise of the policy in a checkpoint of rl::trial: anything that has `unpack(std::string&)`.
template <class Checkpoint>
requires requires(const Checkpoint& c, std::string& bytes) { c.unpack(bytes); }
deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o, const Checkpoint& best) {
  std::string bytes;
  best.unpack(bytes);
  return deploy_policy(o, rl::load_policy_from_bytes(bytes));
}

}  // namespace manta::serve
