// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of on_policy.hpp.
#pragma once

#include <chrono>
#include <limits>

#include "manta/manta.hpp"
#include "manta/rl/on_policy.hpp"
#include "manta/rl/sentences.hpp"
#include "manta/rl/worker_states.hpp"

namespace manta::rl::detail {

MANTA_DECL on_policy::on_policy(std::string name, const any_environment& e, on_policy_options o,
                                const nn::optimizer& like)
    : algorithm(std::move(name), e, o.seed),
      told_(std::move(o)),
      policy_(e.observations(), e.actions(), told_.model, told_.seed),
      distribution_(make_distribution(e.actions())),
      spread_gradients_(policy_.spread().size()),
      actor_optimizer_(like),
      critic_optimizer_(like),
      spread_optimizer_(like) {
  require_one(".workers", told_.workers);
  require_one(".environments", told_.environments);
  require_one(".fragment", told_.how.steps, " step");
  start_workers();
}

inline void on_policy::start_workers() {
  workers_.clear();
  // After the death of a rank the worker goes on elsewhere from its last state and does the lost call again.
  for (const auto& [first, count] : shares(told_.environments, told_.workers))
    workers_.push_back(
        spawn<rollout_worker>({.spread = true, .restarts = 1000, .checkpoint_every = 1, .at_least_once = true},
                              environment_, seed_, first, count, told_.model));
}

inline fragment on_policy::gather() {
  rollout how = told_.how;
  if (told_.normalise_rewards) how.reward_scale = 1 / gains_.deviation(0);
  const auto weights = put(policy_.get());  // once to each node
  std::vector<future<fragment>> parts;
  for (const auto& w : workers_) parts.push_back(async<&rollout_worker::run>(w, weights, how));
  std::vector<fragment> fragments = sentences(parts);
  fragment all = std::move(fragments.front());
  Eigen::Index at = all.observations.cols();
  const Eigen::Index columns = static_cast<Eigen::Index>(told_.environments) * told_.how.steps;
  all.observations.conservativeResize(Eigen::NoChange, columns);
  all.actions.conservativeResize(Eigen::NoChange, columns);
  for (std::size_t i = 1; i < fragments.size(); ++i) {
    const fragment& part = fragments[i];
    all.observations.middleCols(at, part.observations.cols()) = part.observations;
    all.actions.middleCols(at, part.actions.cols()) = part.actions;
    at += part.observations.cols();
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.log_probabilities, part.log_probabilities);
    append(all.advantages, part.advantages);
    append(all.returns, part.returns);
    append(all.values, part.values);
    append(all.seen, part.seen);
    append(all.gains, part.gains);
    append(all.episodes, part.episodes);
  }
  return all;
}

MANTA_DECL void on_policy::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  const fragment all = gather();
  r.sample_seconds = since(begin);
  begin = std::chrono::steady_clock::now();
  learn(all, r);
  // The filters change for the next iteration: this one was sampled and learnt with the same.
  if (told_.normalise_observations) {
    for (const moments& m : all.seen) policy_.filter().merge(m);
  }
  for (const moments& m : all.gains) gains_.merge(m);
  r.learn_seconds = since(begin);
  count_steps(static_cast<std::uint64_t>(all.observations.cols()));
  count_episodes(all.episodes);
}

MANTA_DECL void on_policy::zero_gradients() {
  policy_.actor().zero_gradients();
  policy_.critic().zero_gradients();
  std::fill(spread_gradients_.begin(), spread_gradients_.end(), 0.f);
}

MANTA_DECL double on_policy::step(double clip) {
  const std::span<float> parts[] = {policy_.actor().gradients(), policy_.critic().gradients(), spread_gradients_};
  const double norm = nn::clip_norm(parts, clip > 0 ? clip : std::numeric_limits<double>::infinity());
  actor_optimizer_.step(policy_.actor().parameters(), policy_.actor().gradients());
  critic_optimizer_.step(policy_.critic().parameters(), policy_.critic().gradients());
  if (!spread_gradients_.empty()) spread_optimizer_.step(policy_.spread(), std::span<const float>(spread_gradients_));
  return norm;
}

MANTA_DECL std::string on_policy::state() {
  return output::pack(policy_, actor_optimizer_, critic_optimizer_, spread_optimizer_, gains_, states_of(workers_));
}

MANTA_DECL void on_policy::restore(const std::string& bytes, bool own_settings) {
  policy p;
  moments gains;
  std::vector<std::string> states;
  nn::optimizer saved[3];
  output::unpack(bytes, p, saved[0], saved[1], saved[2], gains, states);
  require_environments(states.size(), told_.environments);
  policy_ = std::move(p);
  gains_ = std::move(gains);
  nn::optimizer* const mine[3] = {&actor_optimizer_, &critic_optimizer_, &spread_optimizer_};
  for (std::size_t i = 0; i < 3; ++i) mine[i]->resume(saved[i], own_settings);
  start_workers();
  restore_states(workers_, states);
}

MANTA_DECL std::string on_policy::description() const {
  return policy_.actor().describe() + " and " + policy_.critic().describe();
}

}  // namespace manta::rl::detail
