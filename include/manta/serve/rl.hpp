// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins serve and rl: a policy behind a queue in one line, from an algorithm, its checkpoint, or a search.
//
//   auto d = serve::deploy_policy({.name = "cartpole", .max_batch = 32}, algorithm);
//   std::vector<float> action = d(observation).get();                        // {1}: the second of two choices
//   auto e = serve::deploy_policy({.name = "cartpole"}, "checkpoint");
//   auto f = serve::deploy_policy({.name = "cartpole"}, results.best_checkpoint());   // of tune::run<rl::trial<..>>
//   auto h = serve::deploy_policy({.name = "rock"}, algorithm, {.explore = true});  // draws, as in training
//
// A policy with a memory (.lstm, .attention), or one whose environment masks actions, needs more than an observation:
//
//   auto g = serve::deploy_policy_steps({.name = "maze"}, algorithm);
//   serve::policy_choice first = g({.observation = o}).get();                          // an episode begins
//   auto next = g({.observation = p, .memory = first.memory}).get();
#pragma once

#include <cereal/types/optional.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "manta/rl.hpp"
#include "manta/serve/deployment.hpp"

namespace manta::serve {

namespace detail {
/// The policy of a replica. Where actions are drawn, each replica has random numbers of its own.
class replicated_policy {
 public:
  replicated_policy(const rl::trained_policy& policy, bool explores) : policy_(policy), how_{explores} {
    std::random_device device;
    if (explores) policy_.seed((static_cast<std::uint64_t>(device()) << 32U) + device());
  }

 protected:
  rl::trained_policy policy_;
  rl::act_options how_;
};

/// A policy that answers batches of observations.
class policy_model : public replicated_policy {
 public:
  using replicated_policy::replicated_policy;
  std::vector<std::vector<float>> act(const std::vector<std::vector<float>>& observations) {
    return policy_.act(observations, how_);
  }
};
}  // namespace detail

/// A step of an episode. The caller keeps the episode's memory from one step to the next, so any replica answers, none
/// holds anything, and an episode outlives replicas and servers.
struct policy_step {
  std::vector<float> observation = {};            ///< unfiltered, as the environment gives it
  std::optional<std::vector<float>> mask = {};    ///< 1 for each choice that is allowed, else 0
  std::optional<std::vector<float>> memory = {};  ///< memory of the step before; none: an episode begins
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(observation), CEREAL_NVP(mask), CEREAL_NVP(memory));
  }
};
/// The best action, and the memory for the next step; none if the policy has no memory.
struct policy_choice {
  std::vector<float> action = {};
  std::optional<std::vector<float>> memory = {};
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(action), CEREAL_NVP(memory));
  }
};

namespace detail {
/// A policy that answers batches of steps.
class policy_steps_model : public replicated_policy {
 public:
  using replicated_policy::replicated_policy;
  std::vector<policy_choice> act(const std::vector<policy_step>& steps) {
    std::vector<std::vector<float>> observations, masks, memories;
    for (const policy_step& s : steps) {
      observations.push_back(s.observation);
      masks.push_back(s.mask.value_or(std::vector<float>()));
      memories.push_back(s.memory.value_or(std::vector<float>()));
    }
    const std::vector<std::vector<float>> actions = policy_.act(observations, masks, memories, how_);
    std::vector<policy_choice> choices(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      choices[i].action = actions[i];
      if (policy_.remembers()) choices[i].memory = std::move(memories[i]);
    }
    return choices;
  }
};
}  // namespace detail

/// A deployment from an observation, unfiltered as the environment gives it, to the policy's best action, or to one
/// that is drawn as in training: the numbers of both, one for a discrete space. The policy travels once to each node,
/// and training does not change it any more. The deployment is idempotent: an observation of the wrong size fails
/// alone. Throws manta::error for a policy with a memory (.lstm, .attention), whose actions depend on the requests
/// before, and for one of an environment that masks actions: deploy_policy_steps is for these.
inline deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o,
                                                                        const rl::trained_policy& policy,
                                                                        const rl::act_options& how = {}) {
  if (policy.remembers())
    throw error("manta: serve::deploy_policy: the policy of '" + o.name +
                "' has a memory (.lstm or .attention): its actions depend on the observations before. Deploy it by "
                "serve::deploy_policy_steps, whose requests bring the memory along");
  if (policy.needs_masks())
    throw error("manta: serve::deploy_policy: the policy of '" + o.name + "' is of the environment " +
                policy.environment() +
                ", which masks actions. Deploy it by serve::deploy_policy_steps, whose requests "
                "bring the mask along");
  return deploy<batched<&detail::policy_model::act>>(detail::pure(o), policy, how.explore);
}
/// Deploys the policy that the algorithm has at this moment.
inline deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o,
                                                                        const rl::algorithm& algorithm,
                                                                        const rl::act_options& how = {}) {
  return deploy_policy(o, algorithm.trained(), how);
}
/// Deploys the policy in a file of algorithm::save or trained_policy::save. Throws manta::error
/// if the file cannot be read.
inline deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o, const std::string& path,
                                                                        const rl::act_options& how = {}) {
  return deploy_policy(o, rl::load_policy(path), how);
}
/// Deploys the policy in a checkpoint of rl::trial: anything that has `unpack(std::string&)`.
template <class Checkpoint>
  requires requires(const Checkpoint& c, std::string& bytes) { c.unpack(bytes); }
deployment<std::vector<float>(std::vector<float>)> deploy_policy(const options& o, const Checkpoint& best,
                                                                 const rl::act_options& how = {}) {
  std::string bytes;
  best.unpack(bytes);
  return deploy_policy(o, rl::load_policy_from_bytes(bytes), how);
}

/// A deployment from a step of an episode to the policy's best action, for any policy: with a memory, with masks, or
/// without both. As deploy_policy in all else.
inline deployment<policy_choice(policy_step)> deploy_policy_steps(const options& o, const rl::trained_policy& policy,
                                                                  const rl::act_options& how = {}) {
  return deploy<batched<&detail::policy_steps_model::act>>(detail::pure(o), policy, how.explore);
}
inline deployment<policy_choice(policy_step)> deploy_policy_steps(const options& o, const rl::algorithm& algorithm,
                                                                  const rl::act_options& how = {}) {
  return deploy_policy_steps(o, algorithm.trained(), how);
}
inline deployment<policy_choice(policy_step)> deploy_policy_steps(const options& o, const std::string& path,
                                                                  const rl::act_options& how = {}) {
  return deploy_policy_steps(o, rl::load_policy(path), how);
}

}  // namespace manta::serve
