// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of evolution_trials.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>

#include "manta/base/hash.hpp"
#include "manta/error.hpp"
#include "manta/nn/random.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/evolution/evolution_trials.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl::detail {

MANTA_DECL double evolution_rule::move(std::span<float> parameters, std::vector<float>& sum) {
  const float s = static_cast<float>(scale), d = static_cast<float>(decay);
  double norm = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] = s * sum[i] + d * parameters[i];
    norm += static_cast<double>(sum[i] * sum[i]);
  }
  optimizer.step(parameters, std::span<const float>(sum));
  return std::sqrt(norm);
}

MANTA_DECL void evolution_policy::settle() {
  key = setting.key();
  settled = setting.get();
  setting = {};
}

MANTA_DECL bool evolution_trials::are_short() const {
  return std::all_of(returns.begin(), returns.end(),
                     [](double r) { return static_cast<double>(static_cast<float>(r)) == r; }) &&
         std::all_of(lengths.begin(), lengths.end(),
                     [](std::uint32_t l) { return l <= std::numeric_limits<std::uint16_t>::max(); });
}

/// Two numbers of each 64 random bits (Box, Muller, 1958). All are computed in whole packets of the widest vector unit,
/// since what is left of a packet could be rounded in another way.
MANTA_DECL void draw_change(std::uint64_t seed, std::uint64_t iteration, int pair, std::span<float> to) {
  constexpr std::size_t packet = 16;
  const std::size_t half = (to.size() + 2 * packet - 1) / (2 * packet) * packet;
  const nn::random numbers(seed, iteration, 100 + static_cast<std::uint64_t>(pair));
  Eigen::ArrayXf radius(static_cast<Eigen::Index>(half)), angle(radius.size());
  for (std::size_t i = 0; i < half; ++i) {
    const std::uint64_t bits = numbers.bits(i);
    const auto at = static_cast<Eigen::Index>(i);
    radius[at] = (static_cast<float>(static_cast<std::int32_t>(bits >> 33U)) + 0.5f) * 0x1p-31f;  // in (0, 1]
    angle[at] = static_cast<float>(static_cast<std::int32_t>(bits)) * (std::numbers::pi_v<float> * 0x1p-31f);
  }
  radius = (-2 * radius.log()).max(0.f).sqrt();
  const Eigen::ArrayXf first = radius * angle.cos(), second = radius * angle.sin();
  const auto from_first = static_cast<std::ptrdiff_t>(std::min(half, to.size()));
  std::copy_n(first.data(), from_first, to.data());
  std::copy_n(second.data(), std::ssize(to) - from_first, to.data() + from_first);
}

MANTA_DECL std::vector<float> sum_changes(const evolution_setting& s, std::uint64_t iteration, int first,
                                          const std::vector<float>& weights) {
  std::vector<float> sum(s.net.parameters().size()), change(sum.size());
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] == 0) continue;
    draw_change(s.seed, iteration, first + static_cast<int>(k), change);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weights[k] * change[i];
  }
  return sum;
}
MANTA_DECL std::uint64_t hash_of(std::span<const float> parameters) {
  return base::hash_bytes(parameters.data(), parameters.size_bytes());
}

/// The policies that this rank has worked with last, one of each setting.
class kept_policies {
 public:
  using policy = std::shared_ptr<const evolution_policy>;
  static kept_policies& here() {
    static thread_local kept_policies all;
    return all;
  }
  [[nodiscard]] policy find(std::uint64_t key) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const policy& p) { return p->key == key; });
    return found == all_.end() ? nullptr : *found;
  }
  void keep(policy p) {
    std::erase_if(all_, [&](const policy& other) { return other->key == p->key; });
    all_.push_front(std::move(p));
    if (all_.size() > most) all_.pop_back();
  }

 private:
  static constexpr std::size_t most = 8;  // algorithms that train side by side
  std::deque<policy> all_;
};

/// One episode with this network, of which e is the environment. seen: null, or moments that its observations are added
/// to.
inline episode evolution_episode(const evolution_policy& p, nn::network<float>& net, const distribution& d, int pair,
                                 vector_environment& e, moments* seen) {
  const evolution_setting& s = *p.settled;
  e.reset(s.seed + p.iteration, pair);  // forwards and backwards with the same state, so that they differ by less noise
  nn::matrix<float> filtered, kept, sent(s.environment.actions().size(), 1);
  constexpr int longest = 100'000;
  for (int step = 0; step < longest; ++step) {
    if (seen != nullptr) seen->add(e.observations().data());
    p.filter.apply(e.observations(), filtered);
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

inline evolution_trials try_with(const evolution_policy& p, int first, int count) {
  const evolution_setting& s = *p.settled;
  evolution_trials out{.is_there = true};
  nn::network<float> net = s.net;
  const std::span<float> moved = net.parameters();
  const auto d = make_distribution(s.environment.actions(), s.own);
  vector_environment e(s.environment, s.seed, first, 1);
  std::vector<float> change(moved.size());
  for (int pair = first; pair < first + count; ++pair) {
    draw_change(s.seed, p.iteration, pair, change);
    const std::uint64_t number = p.iteration + static_cast<std::uint64_t>(pair);
    const bool gives = number % static_cast<std::uint64_t>(s.moments_every) == 0;
    if (gives) out.seen.emplace_back(s.environment.observations().features());
    const float deviation = static_cast<float>(s.deviation);
    for (const float side : {deviation, -deviation}) {
      for (std::size_t i = 0; i < change.size(); ++i) moved[i] = p.parameters[i] + side * change[i];
      const episode ended = evolution_episode(p, net, *d, pair, e, gives ? &out.seen.back() : nullptr);
      out.returns.push_back(ended.total);
      out.lengths.push_back(static_cast<std::uint32_t>(ended.length));
    }
  }
  return out;
}

MANTA_DECL evolution_trials try_pairs(future<evolution_policy> policy, std::uint64_t key, int first, int count) {
  const auto p = fetched_once<evolution_policy>::get(policy, key);
  kept_policies::here().keep(p);
  return try_with(*p, first, count);
}

MANTA_DECL evolution_trials try_pairs_after(const evolution_update& update, int first, int count) {
  kept_policies::policy p = kept_policies::here().find(update.key);
  if (p != nullptr && p->iteration + 1 == update.iteration) {
    auto next = std::make_shared<evolution_policy>(*p);
    std::vector<float> sum = sum_changes(*p->settled, p->iteration, 0, update.weights);
    next->rule.move(next->parameters, sum);
    next->filter = update.filter;
    next->iteration = update.iteration;
    kept_policies::here().keep(p = std::move(next));
  }
  // Processors of different kinds may round in different ways: then, whole policies travel.
  const bool is_there = p != nullptr && p->iteration == update.iteration && hash_of(p->parameters) == update.hash;
  return is_there ? try_with(*p, first, count) : evolution_trials{.rank = static_cast<int>(manta::rank())};
}

MANTA_DECL std::vector<float> sum_pairs(future<evolution_policy> policy, std::uint64_t key, int first,
                                        const std::vector<float>& weights) {
  const auto p = fetched_once<evolution_policy>::get(policy, key);
  return sum_changes(*p->settled, p->iteration, first, weights);
}
MANTA_DECL std::vector<float> add_sums(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

}  // namespace manta::rl::detail
