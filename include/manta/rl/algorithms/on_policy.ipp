// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of on_policy.hpp.
#pragma once

#include <chrono>

#include "manta/manta.hpp"
#include "manta/rl/algorithms/on_policy.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/workers/worker_states.hpp"

namespace manta::rl::detail {

MANTA_DECL on_policy::on_policy(const std::string& name, const any_environment& e, learner_options o,
                                const nn::optimizer& like)
    : policy_learner(name, e, std::move(o), like) {
  start_workers();
}

inline void on_policy::start_workers() {
  workers_.clear();
  workers_ = detail::start_workers<rollout_worker>(environment_, seed_, told_.environments, told_.workers, told_.model,
                                                   told_.collection);
}

inline fragment on_policy::gather() {
  rollout how = next_rollout();
  how.from = steps() / static_cast<std::uint64_t>(told_.environments);
  const auto weights = put(policy_.get());  // once to each node
  std::vector<fragment> fragments =
      answers(workers_, [&](const auto& w) { return async<&rollout_worker::run>(w, weights, how); });
  fragment all = std::move(fragments.front());
  Eigen::Index at = all.observations.cols();
  const Eigen::Index columns = static_cast<Eigen::Index>(told_.environments) * told_.how.steps;
  all.observations.conservativeResize(Eigen::NoChange, columns);
  all.actions.conservativeResize(Eigen::NoChange, columns);
  all.masks.conservativeResize(Eigen::NoChange, columns);
  const auto beside = [](nn::matrix<float>& to, const nn::matrix<float>& from) {
    to.conservativeResize(Eigen::NoChange, to.cols() + from.cols());
    to.rightCols(from.cols()) = from;
  };
  for (std::size_t i = 1; i < fragments.size(); ++i) {
    const fragment& part = fragments[i];
    all.observations.middleCols(at, part.observations.cols()) = part.observations;
    all.actions.middleCols(at, part.actions.cols()) = part.actions;
    all.masks.middleCols(at, part.masks.cols()) = part.masks;
    at += part.observations.cols();
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.log_probabilities, part.log_probabilities);
    append(all.advantages, part.advantages);
    append(all.returns, part.returns);
    append(all.begins, part.begins);
    beside(all.actor_states, part.actor_states);
    beside(all.critic_states, part.critic_states);
    append(all.seen, part.seen);
    append(all.gains, part.gains);
    append(all.episodes, part.episodes);
  }
  return all;
}

MANTA_DECL void on_policy::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  fragment all = gather();
  r.sample_seconds += since(begin);
  begin = std::chrono::steady_clock::now();
  learn(all, r);
  // The filters change for the next fragments: these were sampled and learnt with the same.
  learn_moments(all.seen, all.gains);
  r.learn_seconds += since(begin);
  count_steps(static_cast<std::uint64_t>(all.observations.cols()));
  count_episodes(std::move(all.episodes));
}

MANTA_DECL std::string on_policy::state() { return output::pack(learner_state(), states_of(workers_)); }

MANTA_DECL void on_policy::restore(const std::string& bytes, bool own_settings) {
  std::string learner;
  std::vector<std::string> states;
  output::unpack(bytes, learner, states);
  require_environments(states.size(), told_.environments);
  restore_learner(learner, own_settings);
  start_workers();
  restore_states(workers_, states);
}

}  // namespace manta::rl::detail
