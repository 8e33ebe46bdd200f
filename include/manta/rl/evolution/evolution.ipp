// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/rank_0.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/evolution/evolution.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL evolution_learner::evolution_learner(const any_environment& e, const evolution_options& o,
                                                evolution_rule rule)
    : learner(e),
      net_(make_network(e.observations(), o.model,
                        {.outputs = make_distribution(e, o.model.distribution)->outputs(), .last = 0.01}, o.seed)),
      filter_(e.observations().features()),
      own_(o.model.distribution),
      rule_(std::move(rule)) {
  refuse_memory(net_, o.model, "an evolution strategy");
  if (!o.begin_with) return;
  const acting_policy& p = o.begin_with.acting();
  net_ = network_to_begin_with(p, description());
  filter_ = p.filter();
}

MANTA_DECL evolution_policy evolution_learner::policy_of(std::uint64_t iteration, bool with_rule) const {
  const std::span<const float> now = net_.parameters();
  return {{now.begin(), now.end()}, normaliser(filter_), with_rule ? rule_ : evolution_rule(), iteration};
}

MANTA_DECL std::string evolution_learner::state() const { return output::pack(net_, filter_, rule_.optimizer); }
MANTA_DECL void evolution_learner::restore(const std::string& state) {
  nn::network<float> net;
  moments filter;
  nn::optimizer saved;
  output::unpack(state, net, filter, saved);
  rule_.optimizer.take_moments(saved);
  net_ = std::move(net);
  filter_ = std::move(filter);
}

/// Joins two sums of changes.
inline std::vector<float> add_sums(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}
/// Random numbers of a sum that cost less than sending it.
inline constexpr std::size_t few_numbers = std::size_t(1) << 17U;

}  // namespace detail

MANTA_DECL evolution::evolution(std::string name, const any_environment& e, const evolution_options& o,
                                evolution_rule rule, std::string norm)
    : algorithm(std::move(name), e, o.seed), norm_(std::move(norm)), told_(o), learner_(e, o, std::move(rule)) {
  detail::require_one(".pairs", o.pairs);
  detail::require_one(".workers", o.workers);
  if (!(o.deviation > 0))
    throw error(base::text("manta: rl: .deviation is {}; it has to be positive, such as 0.1", o.deviation));
  start_workers();
}
MANTA_DECL evolution::~evolution() = default;

inline void evolution::start_workers() {
  detail::let_rank_0_work(told_.workers);
  // Moments have two numbers for each feature. So that they are a small part of what travels, few pairs give them, in
  // turn: about 8 bytes for each pair.
  const detail::evolution_setting s{environment_,    learner_.net(), told_.model.distribution,
                                    told_.deviation, seed_,          1 + 2 * environment_.observations().features()};
  workers_.clear();
  for (int i = 0; i < std::min(told_.workers, told_.pairs); ++i)
    workers_.push_back(spawn<detail::evolution_worker>({.spread = true, .restarts = 1000, .at_least_once = true}, s));
  update_.reset();
}

MANTA_DECL void evolution::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  const std::vector<double> returns = count_trials(try_changes());
  r.sample_seconds = detail::since(begin);
  begin = std::chrono::steady_clock::now();
  std::vector<float> weights = weigh(returns);
  r.learner[norm_] = learner_.move(sum_changes(weights));
  if (is_small())
    update_ = std::make_unique<detail::evolution_update>(detail::evolution_update{
        std::move(weights), normaliser(learner_.filter()), iteration() + 1, detail::hash_of(learner_.parameters()[0])});
  r.learn_seconds = detail::since(begin);
}

/// Each worker has a share of the pairs. One that has taken the steps before gets an update; others, and those that
/// have begun anew since their rank died, get the policy.
inline std::vector<detail::evolution_trials> evolution::try_changes() {
  using worker = detail::evolution_worker;
  const auto parts = detail::shares(told_.pairs, static_cast<int>(workers_.size()));
  future<detail::evolution_policy> whole;  // once to each node
  const auto by_policy = [&](std::size_t i) {
    if (!whole.valid()) whole = put(learner_.policy_of(iteration(), is_small()));
    return async<&worker::try_with>(workers_[i], whole, parts[i].first, parts[i].second);
  };
  const auto first = [&](std::size_t i) {
    return update_ ? async<&worker::try_after>(workers_[i], *update_, parts[i].first, parts[i].second) : by_policy(i);
  };
  std::vector<future<detail::evolution_trials>> calls;
  for (std::size_t i = 0; i < workers_.size(); ++i) calls.push_back(first(i));
  std::vector<detail::evolution_trials> trials = detail::values_of(
      calls.size(), [&](std::size_t i) { return detail::answer(calls[i], [&] { return by_policy(i); }); });
  for (std::size_t i = 0; i < trials.size(); ++i)
    calls[i] = trials[i].is_there ? future<detail::evolution_trials>() : by_policy(i);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (calls[i].valid()) trials[i] = detail::answer(calls[i], [&] { return by_policy(i); });
  }
  return trials;
}

inline std::vector<double> evolution::count_trials(const std::vector<detail::evolution_trials>& parts) {
  std::vector<double> returns;
  std::vector<episode> episodes;
  std::uint64_t steps = 0;
  for (const detail::evolution_trials& part : parts) {
    for (std::size_t i = 0; i < part.returns.size(); ++i) {
      returns.push_back(part.returns[i]);
      steps += part.lengths[i];
      episodes.push_back({part.returns[i], part.lengths[i], iteration(), episodes.size()});
    }
    if (told_.normalise_observations) {
      for (const moments& m : part.seen) learner_.filter().merge(m);
    }
  }
  learner_.count_steps(steps);
  count_steps(steps);
  count_episodes(std::move(episodes));
  return returns;
}

inline bool evolution::is_small() const {
  return learner_.net().parameters().size() * static_cast<std::size_t>(told_.pairs) <= detail::few_numbers;
}

/// A large network has at most 32 blocks of pairs; their sums are joined by a tree. Its shape depends on the number of
/// pairs and parameters alone.
inline std::vector<float> evolution::sum_changes(const std::vector<float>& weights) {
  const std::size_t parameters = learner_.net().parameters().size(), pairs = weights.size();
  if (is_small()) return detail::sum_changes(seed_, iteration(), 0, weights, parameters);
  const std::size_t block = std::max({std::size_t(1), detail::few_numbers / parameters, (pairs + 31) / 32});
  std::vector<future<std::vector<float>>> sums;
  for (std::size_t first = 0; first < pairs; first += block) {
    const auto from = weights.begin() + static_cast<std::ptrdiff_t>(first);
    const std::vector<float> its(from, from + static_cast<std::ptrdiff_t>(std::min(block, pairs - first)));
    sums.push_back(async<&detail::evolution_worker::sum>(workers_[first / block % workers_.size()], iteration(),
                                                         static_cast<int>(first), its));
  }
  return detail::sentence(reduce<detail::add_sums>(sums));
}

MANTA_DECL void evolution::restore(const std::string& bytes, start_of_episodes) {
  learner_.restore(bytes);
  start_workers();
}

}  // namespace manta::rl
