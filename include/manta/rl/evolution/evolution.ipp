// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of evolution.hpp.
#pragma once

#include <algorithm>
#include <chrono>

#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/rank_0.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/evolution/evolution.hpp"

namespace manta::rl::detail {

MANTA_DECL evolution::evolution(std::string name, const any_environment& e, const evolution_options& o,
                                evolution_rule rule, std::string norm)
    : algorithm(name, e, o.seed),
      name_(std::move(name)),
      norm_(std::move(norm)),
      told_(o),
      rule_(std::move(rule)),
      filter_(e.observations().features()) {
  require_one(".pairs", o.pairs);
  require_one(".workers", o.workers);
  if (!(o.deviation > 0))
    throw error("manta: rl: .deviation is " + std::to_string(o.deviation) + "; it has to be positive, such as 0.1");
  net_ = make_network(e.observations().features(), o.model, make_distribution(e, o.model.distribution)->outputs(), 0.01,
                      o.seed);
  let_rank_0_work(o.workers);
  set_up();
}

inline void evolution::set_up() {
  // Moments have two numbers for each feature. So that they are a small part of what travels, few pairs give them, in
  // turn: about 8 bytes for each pair.
  const int features = environment_.observations().features();
  const evolution_setting s{name_, environment_,    net_, told_.model.distribution, told_.deviation,
                            seed_, 1 + 2 * features};
  setting_ = fetched_once<evolution_setting>(s);
  settled_ = std::make_shared<evolution_setting>(s);
  whole_.reset();
  update_.reset();
}

MANTA_DECL void evolution::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  const std::vector<double> returns = count_trials(try_changes());
  r.sample_seconds = trial_seconds_ = since(begin);
  begin = std::chrono::steady_clock::now();
  std::vector<float> weights = weigh(returns), sum = sum_changes(weights);
  r.learner[norm_] = rule_.move(net_.parameters(), sum);
  update_ = {setting_.key(), iteration() + 1, hash_of(net_.parameters()), std::move(weights), normaliser(filter_)};
  whole_.reset();
  r.learn_seconds = since(begin);
}

inline std::vector<evolution_trials> evolution::try_changes() {
  const auto parts = shares(told_.pairs, count_of_tasks());
  std::vector<evolution_trials> trials(parts.size());
  const auto by_policy = [&](std::size_t i, const task_options& o) {
    const auto& policy = whole_policy();
    return async<try_pairs>(o, policy.value(), policy.key(), parts[i].first, parts[i].second);
  };
  if (update_ && sends_updates()) {
    // Without options, which would be more bytes than an update.
    try_left(trials, false,
             [&](std::size_t i) { return async<try_pairs_after>(*update_, parts[i].first, parts[i].second); });
    try_left(trials, false, [&](std::size_t i) {  // where the policy is missed, so that the next update will do
      return trials[i].rank < 0 ? by_policy(i, {.retries = 3}) : by_policy(i, {.rank = trials[i].rank});
    });
  }
  try_left(trials, true, [&](std::size_t i) { return by_policy(i, {.retries = 3}); });
  return trials;
}

template <class Start>
void evolution::try_left(std::vector<evolution_trials>& trials, bool is_last, Start&& start) {
  const auto unless_lost = [&](auto&& f) -> decltype(f()) {
    if (is_last) return f();
    try {
      return f();
    } catch (const rank_lost&) {
    } catch (const unschedulable&) {  // its rank had died before
    }
    return {};
  };
  std::vector<std::pair<std::size_t, future<evolution_trials>>> tasks;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].is_there) tasks.emplace_back(i, unless_lost([&] { return start(i); }));
  }
  std::vector<evolution_trials> results = values_of(tasks.size(), [&](std::size_t k) {
    return unless_lost([&] { return tasks[k].second.valid() ? sentence(tasks[k].second) : evolution_trials(); });
  });
  for (std::size_t k = 0; k < results.size(); ++k) trials[tasks[k].first] = std::move(results[k]);
}

inline std::vector<double> evolution::count_trials(const std::vector<evolution_trials>& parts) {
  std::vector<double> returns;
  std::vector<episode> episodes;
  std::uint64_t steps = 0;
  for (const evolution_trials& part : parts) {
    for (std::size_t i = 0; i < part.returns.size(); ++i) {
      returns.push_back(part.returns[i]);
      steps += part.lengths[i];
      episodes.push_back({part.returns[i], part.lengths[i], iteration(), episodes.size()});
    }
    if (told_.normalise_observations) {
      for (const moments& m : part.seen) filter_.merge(m);
    }
  }
  count_steps(steps);
  count_episodes(std::move(episodes));
  return returns;
}

/// Random numbers of a sum that cost less than sending it.
inline constexpr std::size_t few_numbers = std::size_t(1) << 17U;

inline bool evolution::is_small() const {
  return net_.parameters().size() * static_cast<std::size_t>(told_.pairs) <= few_numbers;
}
inline int evolution::count_of_tasks() const {
  // Two for each worker, for episodes differ in length, unless the tasks would be tiny: then messages would be most of
  // what travels. One where an iteration takes little time, for a task needs a tenth of a millisecond to its worker.
  constexpr double little = 0.02;
  if (trial_seconds_ < little) return std::min(told_.pairs, told_.workers);
  return std::min({told_.pairs, 2 * told_.workers, std::max(told_.workers, told_.pairs / 8)});
}
inline bool evolution::sends_updates() const {
  const auto ranks = static_cast<std::size_t>(manta::size()) - 1, tasks = static_cast<std::size_t>(count_of_tasks());
  const std::size_t filter = 8 * filter_.size(), update = 100 + filter + 4 * static_cast<std::size_t>(told_.pairs),
                    whole = 250 + filter + 4 * net_.parameters().size();
  return is_small() && tasks * update < std::min(tasks, ranks) * whole;
}
inline const fetched_once<evolution_policy>& evolution::whole_policy() {
  if (!whole_) {
    const std::span<const float> now = net_.parameters();
    evolution_policy p{setting_, {now.begin(), now.end()}, normaliser(filter_), iteration(), {}};
    if (sends_updates()) p.rule = rule_;
    whole_.emplace(std::move(p));
  }
  return *whole_;
}

/// A large network has at most 32 blocks of pairs; their sums are joined by a tree. Its shape depends on the
/// number of pairs and parameters alone.
inline std::vector<float> evolution::sum_changes(const std::vector<float>& weights) {
  if (is_small()) return detail::sum_changes(*settled_, iteration(), 0, weights);
  const auto& policy = whole_policy();
  const std::size_t pairs = weights.size(),
                    block = std::max({std::size_t(1), few_numbers / net_.parameters().size(), (pairs + 31) / 32});
  std::vector<future<std::vector<float>>> sums;
  for (std::size_t first = 0; first < pairs; first += block) {
    const auto from = weights.begin() + static_cast<std::ptrdiff_t>(first);
    sums.push_back(
        async<sum_pairs>({.retries = 3}, policy.value(), policy.key(), static_cast<int>(first),
                         std::vector<float>(from, from + static_cast<std::ptrdiff_t>(std::min(block, pairs - first)))));
  }
  return sentence(reduce<add_sums>(sums));
}

MANTA_DECL std::string evolution::state() { return output::pack(net_, filter_, output::pack(rule_.optimizer)); }
MANTA_DECL void evolution::restore(const std::string& bytes, bool own_settings) {
  nn::network<float> net;
  moments filter;
  std::string optimiser;
  output::unpack(bytes, net, filter, optimiser);
  nn::optimizer saved;
  output::unpack(optimiser, saved);
  rule_.optimizer.resume(saved, own_settings);
  net_ = std::move(net);
  filter_ = std::move(filter);
  set_up();
}

}  // namespace manta::rl::detail
