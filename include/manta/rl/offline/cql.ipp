// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/offline/action_probability.hpp"
#include "manta/rl/offline/cql.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL cql_learner::cql_learner(const any_environment& e, const sac_options& o, double alpha, int samples)
    : sac_learner(e, o, "cql"), samples_(samples) {
  others_.alpha = alpha;
  others_.each = 3 * static_cast<Eigen::Index>(samples);
}

MANTA_DECL twin_critics::other_actions* cql_learner::others(const replay::sample& s, random& numbers) {
  if (others_.alpha <= 0) return nullptr;
  const Eigen::Index count = s.drawn.observations.cols(), rows = s.drawn.actions.rows(), n = samples_;
  const float uniform = static_cast<float>(rows) * -static_cast<float>(std::numbers::ln2);
  others_.gap = 0;
  others_.actions.resize(rows, count * others_.each);
  others_.log_densities.resize(static_cast<std::size_t>(count * others_.each));
  const auto density = [&](Eigen::Index at) -> float& { return others_.log_densities[static_cast<std::size_t>(at)]; };
  for (Eigen::Index k = 0; k < count; ++k) {
    for (Eigen::Index j = k * others_.each; j < k * others_.each + n; ++j) {
      for (float& a : others_.actions.col(j)) a = static_cast<float>(numbers.uniform(-1, 1));
      density(j) = uniform;
    }
  }
  Eigen::Index behind = n;
  for (const nn::matrix<float>* states : {&s.drawn.observations, &s.drawn.next}) {
    repeated_.resize(states->rows(), count * n);
    for (Eigen::Index k = 0; k < count; ++k) repeated_.middleCols(k * n, n).colwise() = states->col(k);
    sample_actions(repeated_, numbers);
    for (Eigen::Index k = 0; k < count; ++k) {
      for (Eigen::Index i = 0; i < n; ++i) {
        others_.actions.col(k * others_.each + behind + i) = actions_.col(k * n + i);
        density(k * others_.each + behind + i) = log_densities_[static_cast<std::size_t>(k * n + i)];
      }
    }
    behind += n;
  }
  return &others_;
}

MANTA_DECL double cql_learner::value(const std::vector<float>& observation, const std::vector<float>& action) {
  const auto require = [&](const char* what, const space& s, const std::vector<float>& given) {
    if (!s.contains(given))
      throw error(
          base::text("manta: rl: cql: value was given the {} {}, which is not in {}", what, text_of(given), s.text()));
  };
  require("observation", environment_.observations(), observation);
  require("action", environment_.actions(), action);
  nn::matrix<float> raw(environment_.observations().features(), 1), filtered, kept(environment_.actions().size(), 1);
  environment_.observations().flatten(observation, raw.data());
  normaliser(filter()).apply(raw, filtered);
  keep_action(environment_.actions(), action.data(), kept.data());
  return static_cast<double>(critics_.judge(filtered, kept, true).values.front());
}

inline sac_options told_by_cql(const cql_options& o) {
  return {.seed = o.seed,
          .rate = o.rate,
          .schedule = o.schedule,
          .discount = o.discount,
          .batch = o.batch,
          .learning_starts = 0,
          .follow = o.follow,
          .replay_size = o.batch,
          .temperature = o.temperature,
          .learn_temperature = o.learn_temperature,
          .target_entropy = o.target_entropy,
          .pink_noise = false,
          .normalise_observations = o.normalise_observations,
          .normalise_rewards = o.normalise_rewards,
          .model = o.model,
          .begin_with = o.begin_with};
}

}  // namespace detail

MANTA_DECL cql::cql(const episodes& data, const cql_options& o)
    : algorithm("cql", data.environment(), o.seed),
      options_(o),
      learner_(std::make_unique<detail::cql_learner>(data.environment(), detail::told_by_cql(o), o.alpha, o.samples)),
      memory_(data.environment().observations(), data.environment().actions().size(),
              static_cast<std::size_t>(data.steps()), 0) {
  if (data.size() == 0) throw error("manta: rl: cql was given no episodes; it learns from at least one");
  detail::require_sense(o);
  detail::require_one(".samples", o.samples);
  detail::require_one(".updates", o.updates);
  read(data);
}
MANTA_DECL cql::~cql() = default;

inline void cql::read(const episodes& data) {
  const space &observations = environment_.observations(), &actions = environment_.actions();
  std::vector<moments> seen, gains;
  for (const recorded_episode& r : data) {
    const nn::matrix<float> features = detail::features_of(observations, r.observations);
    transitions t;
    t.resize(features.rows(), actions.size(), r.steps());
    t.code = observation_code(observations);
    t.observations = features.leftCols(t.observations.cols());
    t.next = features.rightCols(t.next.cols());
    seen.emplace_back(static_cast<int>(features.rows()));
    gains.emplace_back(1);
    double gain = 0;
    for (std::size_t i = 0; i < r.steps(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      detail::keep_action(actions, r.actions.col(column).data(), t.actions.col(column).data());
      t.rewards[i] = static_cast<float>(r.rewards[i]);
      t.discounts[i] = r.terminated && i + 1 == r.steps() ? 0.f : static_cast<float>(options_.discount);
      seen.back().add(t.observations.col(column).data());
      gain = gain * options_.discount + r.rewards[i];
      const auto sum = static_cast<float>(gain);
      gains.back().add(&sum);
    }
    memory_.add(t);
  }
  if (options_.begin_with) seen.clear();
  learner_->learn_moments(seen, gains);
}

MANTA_DECL void cql::iterate(report& r) {
  const auto begin = std::chrono::steady_clock::now();
  std::map<std::string, double> figures;
  std::vector<float> errors(static_cast<std::size_t>(options_.batch));
  for (int i = 0; i < options_.updates; ++i) {
    learner_->learn(memory_.draw(options_.batch, 1, random(seed_, learner_->updates(), 7)), errors, figures);
    learner_->count_steps(static_cast<std::uint64_t>(options_.batch));
    if (options_.alpha > 0) figures["gap"] += learner_->gap();
  }
  count_steps(static_cast<std::uint64_t>(options_.updates) * static_cast<std::uint64_t>(options_.batch));
  for (const auto& [name, sum] : figures) r.learner[name] = sum / options_.updates;
  r.learn_seconds = detail::since(begin);
}

MANTA_DECL double cql::value(const std::vector<float>& observation, const std::vector<float>& action) const {
  return learner_->value(observation, action);
}

MANTA_DECL std::string cql::state() { return learner_->state(); }
MANTA_DECL void cql::restore(const std::string& bytes, start_of_episodes) { learner_->restore(bytes); }

}  // namespace manta::rl
