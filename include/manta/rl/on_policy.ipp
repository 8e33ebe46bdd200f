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

namespace manta::rl::detail {

MANTA_DECL std::vector<std::pair<int, int>> shares(int environments, int workers) {
  std::vector<std::pair<int, int>> parts;
  for (int i = 0; i < workers; ++i) {
    const int first = environments * i / workers, last = environments * (i + 1) / workers;
    if (last > first) parts.emplace_back(first, last - first);
  }
  return parts;
}

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
                              environment_, told_.seed, first, count, told_.model));
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

MANTA_DECL void on_policy::to_best_action(const float* outputs, float* action) const {
  distribution_->best_for_environment(outputs, action);
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
  // Environment by environment, so that another number of workers can go on.
  std::vector<future<std::string>> states;
  for (const auto& w : workers_) states.push_back(async<&rollout_worker::state>(w));
  return output::pack(policy_, actor_optimizer_, critic_optimizer_, spread_optimizer_, gains_, told_.workers,
                      sentences(states));
}

MANTA_DECL void on_policy::restore(const std::string& bytes, bool own_settings) {
  int workers = 0;
  std::vector<std::string> parts;
  nn::optimizer saved[3];
  output::unpack(bytes, policy_, saved[0], saved[1], saved[2], gains_, workers, parts);
  nn::optimizer* const mine[3] = {&actor_optimizer_, &critic_optimizer_, &spread_optimizer_};
  for (std::size_t i = 0; i < 3; ++i) mine[i]->resume(saved[i], own_settings);
  told_.workers = workers;
  told_.seed = seed_;
  start_workers();
  for (std::size_t i = 0; i < parts.size(); ++i) sentence(async<&rollout_worker::restore>(workers_[i], parts[i]));
}

MANTA_DECL std::string on_policy::description() const {
  return policy_.actor().describe() + " and " + policy_.critic().describe();
}

}  // namespace manta::rl::detail
