// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of evolution.hpp.
#pragma once

#include <algorithm>
#include <chrono>

#include "manta/manta.hpp"
#include "manta/nn/random.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/evolution.hpp"
#include "manta/rl/sentences.hpp"

namespace manta::rl::detail {

/// The random change of this number: the same wherever it is asked for.
inline nn::random change_of(const evolution_setting& s, std::uint64_t iteration, int pair) {
  return nn::random(s.seed, iteration, 100 + static_cast<std::uint64_t>(pair));
}

/// What a task sends back of its pairs.
struct evolution_trials {
  std::vector<double> returns;         ///< forwards and backwards in turn
  std::vector<std::uint32_t> lengths;  ///< likewise
  std::vector<moments> seen;           ///< of the pairs that give them, in their order

  template <class Archive>
  void serialize(Archive& archive) {
    archive(returns, lengths, seen);
  }
};

/// One episode with this network. seen: null, or moments that its observations are added to.
inline episode evolution_episode(const evolution_setting& s, const evolution_policy& p, nn::network<float>& net,
                                 const distribution& d, int pair, moments* seen) {
  // Forwards and backwards begin with the same state, which makes their difference less noisy.
  vector_environment e(s.environment, s.seed + p.iteration, pair, 1);
  e.reset();
  nn::matrix<float> filtered, kept, sent(s.environment.actions().size(), 1);
  constexpr int longest = 100'000;
  for (int step = 0; step < longest; ++step) {
    if (seen != nullptr) seen->add(e.observations().data());
    normalise(p.filter, e.observations(), filtered);
    const nn::matrix<float>& outputs = net.forward(filtered);
    e.require_finite(outputs);
    d.best_for_environment(allowed_outputs(outputs, e.masks(), kept).data(), sent.data());
    e.step(sent);
    if (e.terminated()[0] || e.truncated()[0]) return e.take_episodes().front();
  }
  throw error("manta: rl: " + s.algorithm +
              " needs episodes that end; give the environment a time limit: "
              "rl::environment<E>().with_time_limit(1000)");
}

/// A task: trials of the pairs first, .., first + count - 1.
inline evolution_trials try_pairs(future<evolution_policy> policy, std::uint64_t key, int first, int count) {
  const auto kept = fetched_once<evolution_policy>::get(policy, key);
  const evolution_policy& p = *kept;
  const evolution_setting& s = *p.settled;
  evolution_trials out;
  nn::network<float> net = s.net;
  const std::span<float> moved = net.parameters();
  const auto d = make_distribution(s.environment.actions(), s.own);
  std::vector<float> change(moved.size());
  for (int pair = first; pair < first + count; ++pair) {
    const nn::random numbers = change_of(s, p.iteration, pair);
    for (std::size_t i = 0; i < change.size(); ++i) change[i] = static_cast<float>(s.deviation * numbers.normal(i));
    const std::uint64_t number = p.iteration + static_cast<std::uint64_t>(pair);
    const bool gives = number % static_cast<std::uint64_t>(s.moments_every) == 0;
    if (gives) out.seen.emplace_back(s.environment.observations().features());
    for (const float side : {1.f, -1.f}) {
      for (std::size_t i = 0; i < change.size(); ++i) moved[i] = p.parameters[i] + side * change[i];
      const episode e = evolution_episode(s, p, net, *d, pair, gives ? &out.seen.back() : nullptr);
      out.returns.push_back(e.total);
      out.lengths.push_back(static_cast<std::uint32_t>(e.length));
    }
  }
  return out;
}

/// A task: the weighted sum of the changes first, ...
inline std::vector<float> sum_pairs(future<evolution_policy> policy, std::uint64_t key, int first,
                                    const std::vector<float>& weights) {
  const auto kept = fetched_once<evolution_policy>::get(policy, key);
  const evolution_policy& p = *kept;
  const evolution_setting& s = *p.settled;
  std::vector<float> sum(p.parameters.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] == 0) continue;
    const nn::random numbers = change_of(s, p.iteration, first + static_cast<int>(k));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[k] * static_cast<float>(numbers.normal(i));
  }
  return sum;
}
inline std::vector<float> add_sums(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

MANTA_DECL evolution::evolution(std::string name, const any_environment& e, const evolution_options& o)
    : algorithm(name, e, o.seed), name_(std::move(name)), told_(o), filter_(e.observations().features()) {
  require_one(".pairs", o.pairs);
  require_one(".workers", o.workers);
  if (!(o.deviation > 0))
    throw error("manta: rl: .deviation is " + std::to_string(o.deviation) + "; it has to be positive, such as 0.1");
  net_ = make_network(e.observations().features(), o.model,
                      make_distribution(e, o.model.distribution)->outputs(), 0.01, o.seed);
  set_up();
}

inline void evolution::set_up() {
  // Moments have two numbers for each feature. So that they are a small part of what travels, few pairs give them, in
  // turn: about 8 bytes for each pair, beside its returns and lengths, which are 24.
  const int features = environment_.observations().features();
  setting_ = fetched_once<evolution_setting>(
      {name_, environment_, net_, told_.model.distribution, told_.deviation, seed_, 1 + 2 * features});
}

MANTA_DECL void evolution::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  const std::span<const float> now = net_.parameters();
  const fetched_once<evolution_policy> policy({setting_, {now.begin(), now.end()}, filter_, iteration()});
  const std::vector<double> returns = try_changes(policy);
  r.sample_seconds = since(begin);
  begin = std::chrono::steady_clock::now();
  std::vector<float> sum = sum_changes(policy, weigh(returns));
  move(sum, r.learner);
  r.learn_seconds = since(begin);
}

inline std::vector<double> evolution::try_changes(const fetched_once<evolution_policy>& policy) {
  std::vector<future<evolution_trials>> tasks;
  // Twice as many tasks as workers, for episodes differ in length; but no tiny ones, whose messages would be the most
  // of what travels.
  const int count_of_tasks = std::min({told_.pairs, 2 * told_.workers, std::max(told_.workers, told_.pairs / 8)});
  for (const auto& [first, count] : shares(told_.pairs, count_of_tasks))
    tasks.push_back(async<try_pairs>({.retries = 3}, policy.value(), policy.key(), first, count));
  std::vector<double> returns;
  std::vector<episode> episodes;
  std::uint64_t steps = 0;
  for (const evolution_trials& part : sentences(tasks)) {
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

/// Sums of small networks cost less than sending them: a block has at least so many random numbers. There are at most
/// 32 blocks; their sums are joined by a tree. Its shape depends on the number of pairs and parameters alone.
inline std::vector<float> evolution::sum_changes(const fetched_once<evolution_policy>& policy,
                                                 const std::vector<float>& weights) const {
  constexpr std::size_t least = std::size_t(1) << 17U;
  const std::size_t size = net_.parameters().size(), pairs = weights.size(),
                    block = std::max({std::size_t(1), least / size, (pairs + 31) / 32});
  if (block >= pairs) return sum_pairs(policy.value(), policy.key(), 0, weights);
  std::vector<future<std::vector<float>>> sums;
  for (std::size_t first = 0; first < pairs; first += block) {
    const auto from = weights.begin() + static_cast<std::ptrdiff_t>(first);
    sums.push_back(
        async<sum_pairs>({.retries = 3}, policy.value(), policy.key(), static_cast<int>(first),
                         std::vector<float>(from, from + static_cast<std::ptrdiff_t>(std::min(block, pairs - first)))));
  }
  return sentence(reduce<add_sums>(sums));
}

MANTA_DECL std::string evolution::state() { return output::pack(net_, filter_, optimiser_state()); }
MANTA_DECL void evolution::restore(const std::string& bytes, bool own_settings) {
  nn::network<float> net;
  moments filter;
  std::string optimiser;
  output::unpack(bytes, net, filter, optimiser);
  restore_optimiser(optimiser, own_settings);
  net_ = std::move(net);
  filter_ = std::move(filter);
  set_up();
}

}  // namespace manta::rl::detail
