// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of es.hpp.
#pragma once

#include <algorithm>
#include <cereal/types/utility.hpp>
#include <chrono>
#include <numeric>

#include "manta/manta.hpp"
#include "manta/nn/random.hpp"
#include "manta/rl/es.hpp"
#include "manta/rl/on_policy.hpp"
#include "manta/rl/sentences.hpp"

namespace manta::rl {

namespace detail {

/// A policy of which workers try changes.
struct es_policy {
  any_environment environment;
  nn::network<float> net;
  moments filter;
  double deviation = 0;
  std::uint64_t seed = 0, iteration = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(environment, net, filter, deviation, seed, iteration);
  }
  /// The random change of this number: the same wherever it is asked for.
  [[nodiscard]] nn::random change(int pair) const {
    return nn::random(seed, iteration, 100 + static_cast<std::uint64_t>(pair));
  }
};

/// What a change gave, forwards and backwards.
struct es_trial {
  episode forwards, backwards;
  moments seen;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(forwards, backwards, seen);
  }
};

/// One episode with the parameters theta + factor * change.
inline episode es_episode(const es_policy& p, nn::network<float>& net, int pair, double factor, moments& seen) {
  const nn::random change = p.change(pair);
  const std::span<const float> theta = p.net.parameters();
  const std::span<float> moved = net.parameters();
  for (std::size_t i = 0; i < theta.size(); ++i) moved[i] = theta[i] + static_cast<float>(factor * change.normal(i));
  const auto d = make_distribution(p.environment.actions());
  // Forwards and backwards begin with the same state, which makes their difference less noisy.
  vector_environment e(p.environment, p.seed + p.iteration, pair, 1);
  e.reset();
  nn::matrix<float> filtered, sent(p.environment.actions().size(), 1);
  constexpr int longest = 100'000;
  for (int step = 0; step < longest; ++step) {
    seen.add(e.observations().data());
    normalise(p.filter, e.observations(), filtered);
    d->best_for_environment(net.forward(filtered).data(), sent.data());
    e.step(sent);
    if (e.terminated()[0] || e.truncated()[0]) return e.take_episodes().front();
  }
  throw error(
      "manta: rl: es needs episodes that end; give the environment a time limit: "
      "rl::environment<E>().with_time_limit(1000)");
}

/// A task: trials of the pairs first, .., first + count - 1.
inline std::vector<es_trial> es_trials(const es_policy& p, int first, int count) {
  std::vector<es_trial> trials;
  nn::network<float> net = p.net;
  for (int pair = first; pair < first + count; ++pair) {
    es_trial t{{}, {}, moments(p.environment.observations().features())};
    t.forwards = es_episode(p, net, pair, p.deviation, t.seen);
    t.backwards = es_episode(p, net, pair, -p.deviation, t.seen);
    trials.push_back(std::move(t));
  }
  return trials;
}

/// A task: the weighted sum of the changes first, ...
inline std::vector<float> es_sum(const es_policy& p, int first, const std::vector<float>& weights) {
  std::vector<float> sum(p.net.parameters().size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const nn::random change = p.change(first + static_cast<int>(k));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[k] * static_cast<float>(change.normal(i));
  }
  return sum;
}
inline std::vector<float> es_add(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

}  // namespace detail

MANTA_DECL std::vector<float> centred_ranks(const std::vector<double>& returns) {
  std::vector<std::size_t> order(returns.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return returns[a] != returns[b] ? returns[a] < returns[b] : a < b; });
  std::vector<float> ranks(returns.size());
  const auto last = static_cast<double>(std::max<std::size_t>(1, returns.size() - 1));
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && returns[order[end]] == returns[order[begin]]) ++end;
    const double middle = static_cast<double>(begin + end - 1) / 2;
    for (; begin < end; ++begin) ranks[order[begin]] = static_cast<float>(middle / last - 0.5);
  }
  return ranks;
}

MANTA_DECL es::es(const any_environment& e, const es_options& o)
    : algorithm("es", e, o.seed),
      options_(o),
      filter_(e.observations().features()),
      optimizer_(nn::adam({.rate = o.rate})) {
  detail::require_one(".pairs", o.pairs);
  detail::require_one(".workers", o.workers);
  if (!(o.deviation > 0))
    throw error("manta: rl: .deviation is " + std::to_string(o.deviation) + "; it has to be positive, such as 0.1");
  net_ = detail::make_network(e.observations().features(), o.model, make_distribution(e.actions())->outputs(), 0.01,
                              o.seed);
}

MANTA_DECL void es::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  detail::es_policy now{environment_, net_, filter_, options_.deviation, seed_, iteration()};
  const future<detail::es_policy> policy = put(now);  // once to each node
  std::vector<future<std::vector<detail::es_trial>>> tasks;
  // Twice as many tasks as workers, for episodes differ in length.
  const auto parts = detail::shares(options_.pairs, std::min(options_.pairs, 2 * options_.workers));
  for (const auto& [first, count] : parts)
    tasks.push_back(async<detail::es_trials>({.retries = 3}, policy, first, count));
  std::vector<double> returns;
  std::vector<episode> episodes;
  std::uint64_t steps = 0;
  for (const std::vector<detail::es_trial>& part : detail::sentences(tasks)) {
    for (const detail::es_trial& t : part) {
      for (const episode& e : {t.forwards, t.backwards}) {
        returns.push_back(e.total);
        episodes.push_back(e);
        episodes.back().environment = episodes.size();
        episodes.back().ended = iteration();
        steps += e.length;
      }
      if (options_.normalise_observations) filter_.merge(t.seen);
    }
  }
  r.sample_seconds = detail::since(begin);
  begin = std::chrono::steady_clock::now();

  const std::vector<float> ranks = centred_ranks(returns);
  std::vector<float> weights;
  for (std::size_t i = 0; i < ranks.size(); i += 2) weights.push_back(ranks[i] - ranks[i + 1]);
  // Sums of eight changes each, joined by a tree whose shape depends on the number of pairs alone.
  std::vector<future<std::vector<float>>> sums;
  for (int first = 0; first < options_.pairs; first += 8) {
    const int last = std::min(options_.pairs, first + 8);
    sums.push_back(async<detail::es_sum>({.retries = 3}, policy, first,
                                         std::vector<float>(weights.begin() + first, weights.begin() + last)));
  }
  std::vector<float> gradient = detail::sentence(reduce<detail::es_add>(sums));
  const std::span<float> parameters = net_.parameters();
  const float scale = static_cast<float>(-1 / (2.0 * options_.pairs * options_.deviation)),
              decay = static_cast<float>(options_.decay);
  double norm = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = scale * gradient[i] + decay * parameters[i];
    norm += static_cast<double>(gradient[i] * gradient[i]);
  }
  optimizer_.step(parameters, std::span<const float>(gradient));
  r.learn_seconds = detail::since(begin);
  r.learner = {{"gradient_norm", std::sqrt(norm)}};
  count_steps(steps);
  count_episodes(std::move(episodes));
}

MANTA_DECL std::string es::state() { return output::pack(net_, filter_, optimizer_); }
MANTA_DECL void es::restore(const std::string& bytes, bool own_settings) {
  nn::optimizer saved;
  output::unpack(bytes, net_, filter_, saved);
  optimizer_.resume(saved, own_settings);
}

}  // namespace manta::rl
