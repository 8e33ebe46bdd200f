// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "manta/manta.hpp"
#include "manta/rl/algorithms/on_policy.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/workers/worker_states.hpp"

namespace manta::rl {

MANTA_DECL on_policy::on_policy(std::unique_ptr<policy_learner> l)
    : algorithm(l->name(), l->environment(), l->told().seed),
      learner_(std::move(l)),
      policy_(learner_->its_policy()),
      distribution_(make_distribution(environment_, learner_->told().model.distribution)),
      spread_gradients_(learner_->spread_gradients()) {
  start_workers();
}
MANTA_DECL on_policy::on_policy(const std::string& name, const any_environment& e, learner_options o,
                                const nn::optimizer& like)
    : on_policy(std::make_unique<policy_learner>(name, e, std::move(o), like)) {}

inline void on_policy::start_workers() {
  const learner_options& told = learner_->told();
  workers_.clear();
  workers_ = detail::start_workers<detail::rollout_worker>(environment_, seed_, told.environments, told.workers,
                                                           told.model, told.collection);
}

inline fragment on_policy::gather() {
  rollout how = learner_->next_rollout();
  how.from = steps() / static_cast<std::uint64_t>(learner_->told().environments);
  const auto weights = put(learner_->weights());  // once to each node
  return join(
      detail::answers(workers_, [&](const auto& w) { return async<&detail::rollout_worker::run>(w, weights, how); }));
}

MANTA_DECL void on_policy::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  fragment all = gather();
  r.sample_seconds += detail::since(begin);
  begin = std::chrono::steady_clock::now();
  learn(all, r);
  learner_->count_lesson();
  // The filters change for the next fragments: these were sampled and learnt with the same.
  learner_->learn_moments(all.seen, all.gains);
  r.learn_seconds += detail::since(begin);
  const auto count = static_cast<std::uint64_t>(all.observations.cols());
  learner_->count_steps(count);
  count_steps(count);
  count_episodes(std::move(all.episodes));
}

MANTA_DECL std::string on_policy::state() { return output::pack(learner_->state(), detail::states_of(workers_)); }

MANTA_DECL void on_policy::restore(const std::string& bytes, start_of_episodes episodes) {
  std::string learner;
  std::vector<std::string> states;
  output::unpack(bytes, learner, states);
  if (episodes == go_on) detail::require_environments(states.size(), learner_->told().environments);
  learner_->restore(learner);
  start_workers();
  if (episodes == go_on) {
    detail::restore_states(workers_, states);
  } else {
    detail::begin_at(workers_, steps() / static_cast<std::uint64_t>(learner_->told().environments));
  }
}

}  // namespace manta::rl
