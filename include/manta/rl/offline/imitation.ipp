// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "manta/error.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/rank_0.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/offline/imitation.hpp"

namespace manta::rl {

namespace detail {

inline constexpr std::size_t piece_size = 64;  ///< steps, whose gradients are computed by one worker
/// The least logarithm of a deviation. One recorded action for each state would make it smaller and smaller.
inline constexpr float least_spread = -4;

MANTA_DECL imitation_learner::imitation_learner(const std::string& name, const episodes& data,
                                                const imitation_options& o)
    : policy_learner(name, data.environment(), o.learner, nn::adam({.rate = o.rate, .epsilon = 1e-5})), options_(o) {
  if (data.size() == 0) throw error("manta: rl: " + name + " was given no episodes; it learns from at least one");
  require_one(".batch", o.batch, " step");
  if (!told_.normalise_observations || told_.begin_with) return;
  const space& s = data.environment().observations();
  for (const recorded_episode& r : data) {
    moments seen(s.features());
    const nn::matrix<float> features = features_of(s, r.observations);
    for (Eigen::Index t = 0; t + 1 < features.cols(); ++t) seen.add(features.col(t).data());
    policy_.filter().merge(seen);
  }
}

inline double imitation_learner::scale() const { return std::sqrt(squared_advantage_ + 1e-8); }

MANTA_DECL void imitation_learner::learn(const std::vector<imitation_gradient>& pieces, std::size_t steps,
                                         imitation_gradient& sums, double& norm) {
  constexpr double kept = 0.99;  // of the running mean, in each step
  zero_gradients();
  double squares = 0;
  for (const imitation_gradient& g : pieces) {
    const float* from = g.numbers.data();
    for (const std::span<float> to : gradients()) {
      for (float& x : to) x += *from++;
    }
    squares += g.squared_advantage;
    sums.log_probability += g.log_probability;
    sums.value_loss += g.value_loss;
    sums.entropy += g.entropy;
    sums.weight += g.weight;
  }
  require_finite("the loss is", sums.log_probability + sums.value_loss);
  norm += step(options_.clip_norm);
  for (float& s : policy_.spread()) s = std::max(s, least_spread);
  squared_advantage_ = kept * squared_advantage_ + (1 - kept) * squares / static_cast<double>(steps);
  count_steps(steps);
}

MANTA_DECL std::vector<float> imitation_learner::values_of(const nn::matrix<float>& features) {
  nn::matrix<float> filtered;
  normaliser(policy_.filter()).apply(features, filtered);
  const nn::matrix<float>& values = policy_.critic().forward(filtered);
  return {values.data(), values.data() + values.cols()};
}

MANTA_DECL std::string imitation_learner::state() const {
  return output::pack(policy_learner::state(), squared_advantage_);
}
MANTA_DECL void imitation_learner::restore(const std::string& bytes) {
  std::string rest;
  double squared_advantage = 0;
  output::unpack(bytes, rest, squared_advantage);
  policy_learner::restore(rest);
  squared_advantage_ = squared_advantage;
}

MANTA_DECL imitation::imitation(const std::string& name, const episodes& data, const imitation_options& o)
    : algorithm(name, data.environment(), o.learner.seed),
      learner_(std::make_unique<imitation_learner>(name, data, o)) {
  imitated_steps steps = steps_to_imitate(data, o.learner.model.distribution);
  read_rewards(data);
  if (o.learner.workers == 1) {
    here_ = imitation_worker(environment_, o.learner.model, o.rule, steps);
    return;
  }
  let_rank_0_work(o.learner.workers);
  const future<imitated_steps> shared = put(std::move(steps));
  for (int i = 0; i < o.learner.workers; ++i)
    workers_.push_back(spawn<imitation_worker>({.spread = true, .restarts = 1000, .at_least_once = true}, environment_,
                                               o.learner.model, o.rule, shared));
}
MANTA_DECL imitation::~imitation() = default;

inline void imitation::read_rewards(const episodes& data) {
  const space& s = environment_.observations();
  last_.resize(s.features(), std::ssize(data));
  for (const recorded_episode& r : data) {
    const Eigen::Index column = std::ssize(lines_);
    s.flatten({r.observations.col(r.observations.cols() - 1).data(), static_cast<std::size_t>(r.observations.rows())},
              last_.col(column).data());
    lines_.push_back({rewards_.size(), r.steps(), r.terminated});
    rewards_.insert(rewards_.end(), r.rewards.begin(), r.rewards.end());
  }
  // The units in which values are learnt: the returns that are in the data, to mean 0 and deviation 1.
  moments seen(1);
  for (const float x : returns()) seen.add(&x);
  mean_ = seen.mean(0);
  deviation_ = seen.deviation(0);
}

/// The discounted returns of all steps. Behind an episode that was truncated, the value of its last state counts.
inline std::vector<float> imitation::returns() {
  std::vector<float> all(rewards_.size());
  const bool has_units = deviation_ != 1 || mean_ != 0;
  const std::vector<float> after = has_units ? learner_->values_of(last_) : std::vector<float>(lines_.size());
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    double sum = lines_[i].terminated || !has_units ? 0 : mean_ + deviation_ * static_cast<double>(after[i]);
    for (std::size_t t = lines_[i].steps; t-- > 0;) {
      sum = rewards_[lines_[i].begin + t] + learner_->its_options().discount * sum;
      all[lines_[i].begin + t] = static_cast<float>((sum - mean_) / deviation_);
    }
  }
  return all;
}

inline std::vector<imitation_piece> imitation::pieces_of(std::span<const int> batch,
                                                         const std::vector<float>& returns) const {
  std::vector<imitation_piece> pieces;
  for (std::size_t at = 0; at < batch.size(); at += piece_size) {
    const std::span<const int> its = batch.subspan(at, std::min(piece_size, batch.size() - at));
    imitation_piece p{{its.begin(), its.end()}, {}, static_cast<double>(batch.size()), learner_->scale()};
    if (!returns.empty()) {
      for (const int k : its) p.returns.push_back(returns[static_cast<std::size_t>(k)]);
    }
    pieces.push_back(std::move(p));
  }
  return pieces;
}

inline std::vector<imitation_gradient> imitation::gradients(const std::vector<imitation_piece>& pieces) {
  if (workers_.empty()) return here_.gradients(learner_->weights(), pieces);
  const auto weights = put(learner_->weights());
  struct share {
    actor<imitation_worker> worker;
    std::vector<imitation_piece> pieces;
  };
  std::vector<share> work;
  for (const auto& [first, count] : shares(static_cast<int>(pieces.size()), static_cast<int>(workers_.size())))
    work.push_back({workers_[work.size()], {pieces.begin() + first, pieces.begin() + first + count}});
  const auto call = [&](const share& s) { return async<&imitation_worker::gradients>(s.worker, weights, s.pieces); };
  std::vector<future<std::vector<imitation_gradient>>> calls;
  for (const share& s : work) calls.push_back(call(s));
  std::vector<imitation_gradient> all;
  for (auto& part : values_of(
           calls.size(), [&](std::size_t i) { return answer(std::move(calls[i]), [&] { return call(work[i]); }); }))
    std::move(part.begin(), part.end(), std::back_inserter(all));
  return all;
}

MANTA_DECL void imitation::iterate(report& r) {
  const auto begin = std::chrono::steady_clock::now();
  const imitation_options& o = learner_->its_options();
  const std::vector<float> all_returns = o.rule.beta > 0 ? returns() : std::vector<float>();
  std::vector<int> order(rewards_.size());
  std::iota(order.begin(), order.end(), 0);
  random numbers(seed_, learner_->lessons(), 3);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(numbers.index(static_cast<int>(i)))]);
  imitation_gradient sums;
  double norm = 0, batches = 0;
  const auto batch = std::min(order.size(), static_cast<std::size_t>(o.batch));
  // The last batch takes what is left, so that none is tiny.
  for (std::size_t at = 0; at < order.size(); ++batches) {
    const std::size_t count = order.size() - at < 2 * batch ? order.size() - at : batch;
    const std::span<const int> its(order.data() + at, count);
    learner_->learn(gradients(pieces_of(its, all_returns)), count, sums, norm);
    at += count;
  }
  learner_->count_lesson();
  count_steps(order.size());
  const auto n = static_cast<double>(order.size());
  r.learner = {
      {"log_probability", sums.log_probability / n}, {"entropy", sums.entropy / n}, {"gradient_norm", norm / batches}};
  if (o.rule.beta > 0) {
    r.learner["value_loss"] = sums.value_loss / n;
    r.learner["weight"] = sums.weight / n;
  }
  r.learn_seconds = since(begin);
}

MANTA_DECL std::string imitation::state() { return learner_->state(); }
MANTA_DECL void imitation::restore(const std::string& bytes, start_of_episodes) { learner_->restore(bytes); }

/// What both are told.
template <class Options>
imitation_options told_by_imitation(const Options& o) {
  require_sense(o);
  imitation_options told;
  told.learner = {.workers = o.workers,
                  .seed = o.seed,
                  .normalise_observations = o.normalise_observations,
                  .normalise_rewards = false,
                  .model = o.model,
                  .schedule = o.schedule,
                  .begin_with = o.begin_with};
  told.rule.entropy = o.entropy;
  told.rate = o.rate;
  told.clip_norm = o.clip_norm;
  told.batch = o.batch;
  return told;
}

inline imitation_options told_by_marwil(const marwil_options& o) {
  imitation_options told = told_by_imitation(o);
  told.rule = {.beta = o.beta, .value = o.value, .entropy = o.entropy, .most = o.most_weight};
  told.discount = o.discount;
  return told;
}

}  // namespace detail

MANTA_DECL bc::bc(const episodes& data, const bc_options& o) : imitation("bc", data, detail::told_by_imitation(o)) {}
MANTA_DECL marwil::marwil(const episodes& data, const marwil_options& o)
    : imitation("marwil", data, detail::told_by_marwil(o)) {}

}  // namespace manta::rl
