// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The options that several algorithms have in common, each once: for their serialize, and for what they tell their
// learner and their workers.
#pragma once

#include <cereal/cereal.hpp>
#include <cereal/types/optional.hpp>
#include <optional>

#include "manta/rl/learning/off_policy_learner.hpp"
#include "manta/rl/learning/policy_learner.hpp"

namespace manta::rl::detail {

inline int& fragment_of(learner_options& o) { return o.how.steps; }
inline double& discount_of(learner_options& o) { return o.how.discount; }
inline double& lambda_of(learner_options& o) { return o.how.lambda; }
template <class Options>
auto& fragment_of(Options& o) {
  return o.fragment;
}
template <class Options>
auto& discount_of(Options& o) {
  return o.discount;
}
template <class Options>
auto& lambda_of(Options& o) {
  return o.lambda;
}

/// Calls visit(name, member of each of these options) for what ppo, a2c, a3c and impala, and learner_options, have.
template <class Visit, class... Options>
void visit_policy_options(Visit&& visit, Options&... o) {
  visit("workers", o.workers...);
  visit("seed", o.seed...);
  visit("environments", o.environments...);
  visit("fragment", fragment_of(o)...);
  visit("anneal_steps", o.anneal_steps...);
  visit("discount", discount_of(o)...);
  visit("lambda", lambda_of(o)...);
  visit("normalise_observations", o.normalise_observations...);
  visit("normalise_rewards", o.normalise_rewards...);
  visit("model", o.model...);
}

/// What ppo, a2c, a3c and impala have, by names.
template <class Archive, class Options>
void archive_policy_options(Archive& archive, Options& o) {
  visit_policy_options([&](const char* name, auto& member) { archive(cereal::make_nvp(name, member)); }, o);
  archive(CEREAL_NVP_("rate", o.rate), CEREAL_NVP_("entropy", o.entropy), CEREAL_NVP_("value", o.value),
          CEREAL_NVP_("clip_norm", o.clip_norm));
}

/// The weight of the entropy: as it is given, else by the kind of the actions.
inline double entropy_weight(const std::optional<double>& given, const distribution& d, double for_choices) {
  return given.value_or(d.spread() > 0 ? 0 : for_choices);
}

/// Whether a rule takes policies with a memory.
enum memory_of_rule { remembers_nothing, remembers };

/// What ppo, a2c, a3c and impala tell their learner.
template <class Options>
learner_options told_by(const Options& o, memory_of_rule m) {
  learner_options told;
  visit_policy_options([](const char*, const auto& from, auto& to) { to = from; }, o, told);
  told.schedule = o.schedule;
  told.collection = o.collection;
  told.begin_with = o.begin_with;
  told.can_remember = m == remembers;
  return told;
}

/// Calls visit(name, member of each of these options) for what dqn, sac, td3, qmix and off_policy_options have. All but
/// the rank of the memory is apex's too.
template <class Visit, class... Options>
void visit_replay_options(Visit&& visit, Options&... o) {
  visit("workers", o.workers...);
  visit("seed", o.seed...);
  visit("environments", o.environments...);
  visit("fragment", o.fragment...);
  visit("discount", o.discount...);
  visit("batch", o.batch...);
  visit("steps_per_update", o.steps_per_update...);
  visit("updates", o.updates...);
  visit("n_step", o.n_step...);
  visit("learning_starts", o.learning_starts...);
  visit("replay_size", o.replay_size...);
  if constexpr ((requires { o.replay_rank; } && ...)) visit("replay_rank", o.replay_rank...);
  visit("normalise_observations", o.normalise_observations...);
  visit("normalise_rewards", o.normalise_rewards...);
}

/// What these algorithms have, by names.
template <class Archive, class Options>
void archive_replay_options(Archive& archive, Options& o) {
  visit_replay_options([&](const char* name, auto& member) { archive(cereal::make_nvp(name, member)); }, o);
  archive(CEREAL_NVP_("rate", o.rate), CEREAL_NVP_("follow", o.follow), CEREAL_NVP_("model", o.model));
}

/// What dqn, sac and td3 tell their learner. `how`: the algorithm's own way to explore.
template <class Options>
off_policy_options told_by(const Options& o, exploration_options how) {
  off_policy_options told;
  visit_replay_options([](const char*, const auto& from, auto& to) { to = from; }, o, told);
  told.exploration = std::move(how);
  told.exploration.own = o.exploration;
  told.schedule = o.schedule;
  told.collection = o.collection;
  told.begin_with = o.begin_with;
  return told;
}

}  // namespace manta::rl::detail
