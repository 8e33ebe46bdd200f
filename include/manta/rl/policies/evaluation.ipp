// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of evaluation.hpp.
#pragma once

#include <algorithm>
#include <cereal/types/utility.hpp>

#include "manta/manta.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/policies/evaluation.hpp"
#include "manta/rl/policies/evaluation_parts.hpp"

namespace manta::rl::detail {

MANTA_DECL best_policy::best_policy(const any_environment& e, nn::network<float> net, moments filter,
                                    own_distribution own, bool is_squashed)
    : environment_(e),
      net_(std::move(net)),
      filter_(std::move(filter)),
      own_distribution_(std::move(own)),
      is_squashed_(is_squashed) {}

MANTA_DECL void best_policy::read(const nn::matrix<float>& observations) {
  if (distribution_ == nullptr) {
    distribution_ = make_distribution(environment_.actions(), own_distribution_);
    normaliser_.set(filter_);
  }
  normaliser_.apply(observations, filtered_);
  outputs_ = forward_(net_, filtered_);
}

MANTA_DECL const nn::matrix<float>& best_policy::choose(const masks& m) {
  if (is_squashed_) outputs_ = outputs_.array().tanh();
  actions_.resize(environment_.actions().size(), outputs_.cols());
  for (Eigen::Index i = 0; i < actions_.cols(); ++i) {
    forbid(mask_of(m, i), outputs_.col(i).data());
    distribution_->best_for_environment(outputs_.col(i).data(), actions_.col(i).data());
  }
  return actions_;
}

MANTA_DECL const nn::matrix<float>& best_policy::actions(const nn::matrix<float>& observations, const masks& m) {
  read(observations);
  if (!all_finite({outputs_.data(), static_cast<std::size_t>(outputs_.size())}))
    fail_diverged("the outputs of the policy's network are");
  return choose(m);
}

/// A task: the first episodes of the environments first, .., first + count - 1.
inline evaluated evaluate_part(const best_policy& shared, std::uint64_t seed, int first, int count) {
  best_policy policy = shared;
  return play(policy.environment(), seed, first, count,
              [&](const vector_environment& e) -> const nn::matrix<float>& { return policy.actions(e); });
}

MANTA_DECL report join_evaluation(const std::vector<evaluated>& parts, std::uint64_t iteration) {
  report r;
  std::vector<episode> episodes;
  for (const evaluated& part : parts) {
    episodes.insert(episodes.end(), part.episodes.begin(), part.episodes.end());
    r.seconds += part.seconds;
  }
  for (const episode& e : episodes) r.steps += e.length;
  r.iteration = iteration;
  r.episodes = episodes.size();
  r.sample_seconds = r.seconds;
  summarise(episodes, r);
  return r;
}

MANTA_DECL future<report> start_evaluation(const future<best_policy>& policy, std::uint64_t seed, int episodes,
                                           std::uint64_t iteration) {
  return in_parts(episodes, iteration,
                  [&](int first, int count) { return async<evaluate_part>(policy, seed, first, count); });
}

MANTA_DECL std::vector<std::string> draw_episode(best_policy policy, std::uint64_t seed, int longest) {
  const any_environment& e = policy.environment();
  const auto object = e.make();
  std::vector<std::string> frames;
  std::vector<float> raw(static_cast<std::size_t>(e.observations().size()));
  nn::matrix<float> observation(e.observations().features(), 1);
  masks allowed(e.mask_size(), 1);
  random numbers(seed ^ evaluation_purpose, 0, 0);
  if (e.time_limit() > 0) longest = std::min(longest, e.time_limit());
  int step = 0;
  const auto guarded = [&](auto&& call) {
    try {
      call();
      if (!e.observations().contains(raw)) throw error("the observation " + text_of(raw) + " is not in its space");
    } catch (const std::exception& x) {
      fail_at(e, 0, 0, static_cast<std::uint64_t>(step), x.what());
    }
  };
  guarded([&] { object->reset(numbers, raw); });
  for (bool ends = false; step < longest && !ends; ++step) {
    frames.push_back(object->text());
    if (frames.back().empty()) return {};
    e.observations().flatten(raw, observation.data());
    guarded([&] { object->allowed({allowed.data(), static_cast<std::size_t>(allowed.size())}); });
    const nn::matrix<float>& actions = policy.actions(observation, allowed);
    guarded([&] {
      const auto o = object->step(std::span(actions.data(), static_cast<std::size_t>(actions.size())), raw);
      ends = o.terminated || o.truncated;
    });
  }
  frames.push_back(object->text());
  return frames;
}

MANTA_DECL void summarise(const std::vector<episode>& episodes, report& r) {
  if (episodes.empty()) return;
  double sum = 0, length = 0;
  r.min_return = r.max_return = episodes.front().total;
  for (const episode& e : episodes) {
    sum += e.total;
    length += static_cast<double>(e.length);
    r.min_return = std::min(r.min_return, e.total);
    r.max_return = std::max(r.max_return, e.total);
  }
  r.mean_return = sum / static_cast<double>(episodes.size());
  r.mean_length = length / static_cast<double>(episodes.size());
  std::map<std::string, int> counts;
  for (const episode& e : episodes) {
    for (const auto& [name, value] : e.figures) {
      r.figures[name] += value;
      ++counts[name];
    }
  }
  for (const auto& [name, count] : counts) r.figures[name] /= count;
}

}  // namespace manta::rl::detail
