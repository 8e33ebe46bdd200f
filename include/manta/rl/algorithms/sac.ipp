// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/sac.hpp"
#include "manta/rl/models/dreams.hpp"

namespace manta::rl {

namespace detail {

inline off_policy_options told_by_sac(const any_environment& e, const sac_options& o, const std::string& name) {
  require_bounded_actions(name, e);
  refuse_distribution(o.model, name);
  off_policy_options told =
      told_by(o, exploration_options{.how = exploration_options::way::squashed, .pink = o.pink_noise});
  if (o.dreams.models == 0) return told;
  if (o.n_step != 1)
    throw error(base::text("manta: rl: .n_step is {}; models for .dreams learn from single steps, so it has to be 1",
                           o.n_step));
  told.updates += o.dreams.per_step * o.steps_per_update;
  return told;
}

inline dreams_pointer dreams_for(const any_environment& e, const sac_options& o) {
  const auto end = [](dreams* d) { delete d; };
  return {o.dreams.models == 0 ? nullptr : new dreams(e, o.dreams, o.discount, o.seed), end};
}

MANTA_DECL sac_learner::sac_learner(const any_environment& e, const sac_options& o, const std::string& name)
    : off_policy_learner(name, e, told_by_sac(e, o, name)),
      distribution_(e.actions().size()),
      critics_(e, o.model, o.rate, 2 * o.seed + 1),
      options_(o),
      actor_(make_network(e.observations(), o.model, {.outputs = distribution_.outputs(), .last = 0.01}, 2 * o.seed)),
      actor_optimizer_(nn::adam({.rate = o.rate})),
      temperature_optimizer_(nn::adam({.rate = o.rate})),
      log_temperature_(static_cast<float>(std::log(o.temperature))),
      dreams_(dreams_for(e, o)) {
  refuse_memory(actor_, o.model, name);
  require_sense(o);
  if (!(o.temperature > 0))
    throw error(base::text("manta: rl: .temperature is {}; it has to be positive, such as 1", o.temperature));
  if (options_.target_entropy == 0) options_.target_entropy = -distribution_.size();
  begin_with(actor_);
}

MANTA_DECL void sac_learner::sample_actions(const nn::matrix<float>& observations, random& numbers) {
  outputs_ = actor_.forward(observations);
  actions_.resize(distribution_.size(), observations.cols());
  noise_.resize(distribution_.size(), observations.cols());
  log_densities_.resize(static_cast<std::size_t>(observations.cols()));
  for (float& x : noise_.reshaped()) x = static_cast<float>(numbers.normal());
  for (Eigen::Index i = 0; i < observations.cols(); ++i)
    log_densities_[static_cast<std::size_t>(i)] =
        distribution_.sample(outputs_.col(i).data(), noise_.col(i).data(), actions_.col(i).data());
}

/// In each visit to the memory the first steps are with real batches, and the others with dreams from real states.
MANTA_DECL void sac_learner::update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                                    std::map<std::string, double>& figures) {
  if (dreams_ == nullptr) return take_step(s, numbers, errors, figures);
  dreams_->learn(s.drawn, told_.schedule(static_cast<double>(steps())), figures);
  const int turn = static_cast<int>(updates() % static_cast<std::uint64_t>(told_.updates)) - options_.updates;
  if (turn < 0) return take_step(s, numbers, errors, figures);
  const auto act = [&](const nn::matrix<float>& observations) -> const nn::matrix<float>& {
    sample_actions(observations, numbers);
    return actions_;
  };
  take_step(dreams_->dream(turn, s, act, numbers), numbers, errors, figures);
}

inline void sac_learner::take_step(const replay::sample& s, random& numbers, std::vector<float>& errors,
                                   std::map<std::string, double>& figures) {
  sample_actions(s.drawn.next, numbers);
  const float temperature = std::exp(log_temperature_);
  std::vector<float> should_be = critics_.later(s.drawn.next, actions_);
  for (std::size_t k = 0; k < should_be.size(); ++k)
    should_be[k] = s.drawn.rewards[k] + s.drawn.discounts[k] * (should_be[k] - temperature * log_densities_[k]);
  figures["critic_loss"] +=
      critics_.learn(s, should_be, errors, told_.schedule(static_cast<double>(steps())), others(s, numbers));
  improve_actor(s.drawn.observations, numbers, figures);
  critics_.follow(options_.follow);
}

inline void sac_learner::improve_actor(const nn::matrix<float>& observations, random& numbers,
                                       std::map<std::string, double>& figures) {
  sample_actions(observations, numbers);
  const twin_critics::judgement& judged = critics_.judge(observations, actions_, true);
  const float temperature = std::exp(log_temperature_), count = static_cast<float>(observations.cols());
  const nn::matrix<float> by_actions = judged.by_actions / -count;
  by_outputs_.setZero(outputs_.rows(), outputs_.cols());
  double entropy = 0, value = 0;
  for (Eigen::Index i = 0; i < outputs_.cols(); ++i) {
    distribution_.add_gradient(outputs_.col(i).data(), noise_.col(i).data(), temperature / count,
                               by_actions.col(i).data(), by_outputs_.col(i).data());
    entropy -= static_cast<double>(log_densities_[static_cast<std::size_t>(i)]);
    value += static_cast<double>(judged.values[static_cast<std::size_t>(i)]);
  }
  actor_.zero_gradients();
  actor_.backward(by_outputs_);
  step(actor_optimizer_, actor_.parameters(), actor_.gradients());
  entropy /= static_cast<double>(count);
  if (options_.learn_temperature) {
    // A temperature that rises while the entropy is below its target.
    const float gradient[] = {static_cast<float>(entropy - options_.target_entropy)};
    step(temperature_optimizer_, std::span(&log_temperature_, 1), std::span<const float>(gradient));
  }
  figures["entropy"] += entropy;
  figures["q"] += value / static_cast<double>(count);
  figures["temperature"] += static_cast<double>(temperature);
}

MANTA_DECL std::vector<std::span<const float>> sac_learner::parameters() const {
  std::vector<std::span<const float>> all = {
      actor_.parameters(), critics_.parameters(0), critics_.parameters(1), {&log_temperature_, 1}};
  if (dreams_) std::ranges::copy(dreams_->models().parameters(), std::back_inserter(all));
  return all;
}
MANTA_DECL std::string sac_learner::networks() const {
  return output::pack(actor_, critics_, actor_optimizer_, temperature_optimizer_, log_temperature_,
                      dreams_ ? dreams_->state() : "");
}
MANTA_DECL void sac_learner::restore_networks(const std::string& bytes) {
  nn::network<float> actor;
  nn::optimizer saved[2];
  twin_critics critics = critics_;
  float log_temperature = 0;
  std::string models;
  output::unpack(bytes, actor, critics, saved[0], saved[1], log_temperature, models);
  if (dreams_) dreams_->restore(models);
  actor_ = std::move(actor);
  if (options_.learn_temperature) log_temperature_ = log_temperature;
  critics_.resume(critics);
  actor_optimizer_.take_moments(saved[0]);
  temperature_optimizer_.take_moments(saved[1]);
}
MANTA_DECL std::string sac_learner::description() const {
  return base::text("{} and twice {}{}", off_policy_learner::description(), critics_.describe(),
                    dreams_ ? ", with " + dreams_->models().describe() : "");
}

}  // namespace detail

MANTA_DECL sac::sac(const any_environment& e, const sac_options& o)
    : off_policy(std::make_unique<detail::sac_learner>(e, o)) {}

}  // namespace manta::rl
