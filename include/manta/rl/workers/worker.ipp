// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/workers/worker.hpp"

namespace manta::rl {

MANTA_DECL void choose(const fragment& from, std::span<const int> columns, fragment& to) {
  const auto count = std::ssize(columns);
  to.observations.resize(from.observations.rows(), count);
  to.actions.resize(from.actions.rows(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const int column = columns[static_cast<std::size_t>(k)];
    to.observations.col(k) = from.observations.col(column);
    to.actions.col(k) = from.actions.col(column);
  }
  to.masks.resize(from.masks.rows(), from.masks.rows() > 0 ? count : 0);
  for (Eigen::Index k = 0; k < to.masks.cols(); ++k)
    to.masks.col(k) = from.masks.col(columns[static_cast<std::size_t>(k)]);
  const auto pick = [&](const auto& all, auto& some) {
    some.resize(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k) some[k] = all[static_cast<std::size_t>(columns[k])];
  };
  pick(from.log_probabilities, to.log_probabilities);
  pick(from.advantages, to.advantages);
  pick(from.returns, to.returns);
  pick(from.begins, to.begins);
  const Eigen::Index steps = from.observations.cols() / from.actor_states.cols();  // of each environment
  const auto pick_states = [&](const nn::matrix<float>& all, nn::matrix<float>& some) {
    some.resize(all.rows(), all.rows() > 0 ? count / steps : 1);
    if (all.rows() == 0) return;
    for (Eigen::Index i = 0; i < some.cols(); ++i) some.col(i) = all.col(columns[static_cast<std::size_t>(i)] / steps);
  };
  pick_states(from.actor_states, to.actor_states);
  pick_states(from.critic_states, to.critic_states);
}

MANTA_DECL fragment join(std::vector<fragment> parts) {
  fragment all = std::move(parts.front());
  Eigen::Index at = all.observations.cols(), columns = 0;
  for (const fragment& part : parts) columns += part.actions.cols();
  columns += at;
  all.observations.conservativeResize(Eigen::NoChange, columns);
  all.actions.conservativeResize(Eigen::NoChange, columns);
  all.masks.conservativeResize(Eigen::NoChange, columns);
  const auto beside = [](nn::matrix<float>& to, const nn::matrix<float>& from) {
    to.conservativeResize(Eigen::NoChange, to.cols() + from.cols());
    to.rightCols(from.cols()) = from;
  };
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const fragment& part = parts[i];
    all.observations.middleCols(at, part.observations.cols()) = part.observations;
    all.actions.middleCols(at, part.actions.cols()) = part.actions;
    all.masks.middleCols(at, part.masks.cols()) = part.masks;
    at += part.observations.cols();
    append(all.log_probabilities, part.log_probabilities);
    append(all.advantages, part.advantages);
    append(all.returns, part.returns);
    append(all.begins, part.begins);
    beside(all.actor_states, part.actor_states);
    beside(all.critic_states, part.critic_states);
    append(all.seen, part.seen);
    append(all.gains, part.gains);
    append(all.episodes, part.episodes);
  }
  return all;
}

namespace detail {

MANTA_DECL rollout_worker::rollout_worker(const any_environment& e, std::uint64_t seed, int first, int count,
                                          const model_options& m, const own_collection& collection)
    : kind_(e),
      seed_(seed),
      first_(first),
      model_(m),
      kind_of_collection_(collection),
      environments_(e, seed, first, count),
      distribution_(make_distribution(e.actions(), m.distribution)),
      collection_(collection ? collection.make() : nullptr),
      policy_(e.observations(), e.actions(), m, seed),
      actor_(first),
      critic_(first),
      gains_(static_cast<std::size_t>(count)),
      begins_(static_cast<std::size_t>(count), 1) {}

inline void rollout_worker::begin(const policy::weights& w, std::uint64_t from) {
  policy_.set(w);
  filter_.set(policy_.filter());
  history_.go_to(from, steps_, environments_.can_be_saved(), [&](const auto& states) { restore(states); });
  if (!std::exchange(has_begun_, true)) environments_.reset();
  if (history_.now().empty() && environments_.can_be_saved()) history_.set(state());
  actions_.resize(distribution_->size(), environments_.size());
  sent_.resize(kind_.actions().size(), environments_.size());
  log_probabilities_.resize(gains_.size());
}

inline void rollout_worker::end() {
  if (environments_.can_be_saved()) history_.end(state());
}

inline void rollout_worker::add_gain(std::size_t i, double discount, moments& to) {
  gains_[i] = gains_[i] * discount + environments_.rewards()[i];
  const float gain = static_cast<float>(gains_[i]);
  to.add(&gain);
  if (environments_.terminated()[i] || environments_.truncated()[i]) gains_[i] = 0;
}

inline void rollout_worker::write_next(Eigen::Index t, Eigen::Index steps, nn::matrix<float>& next) const {
  for (Eigen::Index i = 0; i < environments_.size(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const bool ends = environments_.terminated()[k] || environments_.truncated()[k];
    next.col(i * steps + t) = (ends ? environments_.last_observations() : environments_.observations()).col(i);
  }
}

inline void rollout_worker::act(std::uint64_t step) {
  filter_.apply(environments_.observations(), filtered_);
  outputs_ = actor_(policy_.actor(), filtered_);
  environments_.require_finite(outputs_);
  for (Eigen::Index i = 0; i < environments_.size(); ++i) {
    float* const o = outputs_.col(i).data();
    forbid(mask_of(environments_.masks(), i), o);
    random numbers(seed_, static_cast<std::uint64_t>(first_ + i), (std::uint64_t(1) << 63U) + step);
    distribution_->sample(o, policy_.spread().data(), numbers, actions_.col(i).data());
    distribution_->to_environment(actions_.col(i).data(), sent_.col(i).data());
    log_probabilities_[static_cast<std::size_t>(i)] =
        distribution_->log_probability(o, policy_.spread().data(), actions_.col(i).data());
    if (model_.distribution) check_action(i);
  }
}

inline void rollout_worker::check_action(Eigen::Index i) const {
  const std::span<const float> sent(sent_.col(i).data(), static_cast<std::size_t>(sent_.rows()));
  const float log_probability = log_probabilities_[static_cast<std::size_t>(i)];
  if (base::is_finite(log_probability) && kind_.actions().contains(sent) &&
      is_allowed(kind_.actions(), mask_of(environments_.masks(), i), sent))
    return;
  environments_.fail(i,
                     base::text("the distribution {} gave the action {} with the logarithm of probability {}; actions "
                                "are {}",
                                model_.distribution.name(), text_of(sent), log_probability, kind_.actions().text()));
}

/// What the steps of a fragment are valued by, environment after environment. Values have one more step.
struct rollout_worker::steps_made {
  steps_made(const rollout& how, std::size_t environments, const fragment& f, bool for_collection)
      : steps(static_cast<std::size_t>(how.steps)),
        values(how.with_values ? (steps + 1) * environments : 0),
        finals(how.with_values ? steps * environments : 0),
        rewards(steps * environments),
        terminated(steps * environments),
        truncated(steps * environments) {
    if (!for_collection) return;
    if (how.with_values) seen.resize(f.observations.rows(), f.observations.cols());
    next.resize(f.observations.rows(), f.observations.cols());
  }
  float& value(std::size_t environment, std::size_t t) { return values[environment * (steps + 1) + t]; }

  std::size_t steps;
  std::vector<float> values, finals;
  std::vector<double> rewards;
  std::vector<char> terminated, truncated;
  nn::matrix<float> seen, next;  // for the program's own collection
  nn::matrix<float> last;        // the states with which episodes have ended, as the critic sees them
  std::vector<std::pair<std::size_t, Eigen::VectorXf>> cut;  // without values: the states in which they were truncated
};

inline fragment rollout_worker::new_fragment(const rollout& how) const {
  const auto size = static_cast<std::size_t>(environments_.size()), all = size * static_cast<std::size_t>(how.steps);
  fragment f;
  f.observations.resize(environments_.observations().rows(), static_cast<Eigen::Index>(all));
  f.actions.resize(distribution_->size(), static_cast<Eigen::Index>(all));
  f.masks.resize(environments_.masks().rows(), static_cast<Eigen::Index>(all));
  f.log_probabilities.resize(all);
  f.begins.resize(all);
  f.seen.assign(size, moments(static_cast<int>(f.observations.rows())));
  f.gains.assign(size, moments(1));
  if (!how.with_values) return f;
  f.advantages.resize(all);
  f.returns.resize(all);
  f.actor_states = actor_.states(policy_.actor(), environments_.size());
  f.critic_states = critic_.states(policy_.critic(), environments_.size());
  return f;
}

inline void rollout_worker::note_actions(std::size_t t, const rollout& how, fragment& f, steps_made& made) {
  const nn::matrix<float>& seen = how.with_values ? filtered_ : environments_.observations();
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    const std::size_t at = i * made.steps + t;
    const auto from = static_cast<Eigen::Index>(i), to = static_cast<Eigen::Index>(at);
    f.begins[at] = begins_[i];
    f.observations.col(to) = seen.col(from);
    if (made.seen.cols() > 0) made.seen.col(to) = environments_.observations().col(from);
    f.actions.col(to) = actions_.col(from);
    f.masks.col(to) = environments_.masks().col(from);
    f.log_probabilities[at] = log_probabilities_[i];
    f.seen[i].add(environments_.observations().col(from).data());
  }
  if (!how.with_values) return;
  const auto v = critic_(policy_.critic(), filtered_);
  for (std::size_t i = 0; i < gains_.size(); ++i) made.value(i, t) = v(0, static_cast<Eigen::Index>(i));
}

inline void rollout_worker::note_rewards(std::size_t t, const rollout& how, fragment& f, steps_made& made) {
  const auto steps = static_cast<Eigen::Index>(made.steps);
  if (collection_) write_next(static_cast<Eigen::Index>(t), steps, made.next);
  bool any_truncated = false;
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    const std::size_t at = i * made.steps + t;
    made.rewards[at] = environments_.rewards()[i];
    made.terminated[at] = environments_.terminated()[i];
    made.truncated[at] = environments_.truncated()[i];
    any_truncated = any_truncated || made.truncated[at];
    add_gain(i, how.discount, f.gains[i]);
    begins_[i] = made.terminated[at] || made.truncated[at];
    if (made.truncated[at] && !how.with_values)
      made.cut.emplace_back(at, environments_.last_observations().col(static_cast<Eigen::Index>(i)));
  }
  if (any_truncated && how.with_values) {  // the critic values the last states before it forgets the episodes
    filter_.apply(environments_.last_observations(), made.last);
    const auto after = critic_.look(policy_.critic(), made.last);
    for (std::size_t i = 0; i < gains_.size(); ++i)
      made.finals[i * made.steps + t] = after(0, static_cast<Eigen::Index>(i));
  }
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    if (!begins_[i]) continue;
    actor_.forget(static_cast<Eigen::Index>(i));
    critic_.forget(static_cast<Eigen::Index>(i));
  }
}

inline void rollout_worker::show_steps(const rollout& how, fragment& f, steps_made& made) const {
  if (!collection_) return;
  const nn::matrix<float>& seen = how.with_values ? made.seen : f.observations;
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    const auto part = [&](auto& all_of) { return std::span(all_of).subspan(i * made.steps, made.steps); };
    const auto columns = [&](const auto& m) {
      return m.middleCols(static_cast<Eigen::Index>(i) * how.steps, how.steps);
    };
    collection_->steps_made({columns(seen), columns(f.actions), columns(made.next), part(made.rewards),
                             part(made.terminated), part(made.truncated)});
  }
}

inline void rollout_worker::value_steps(const rollout& how, fragment& f, steps_made& made) {
  filter_.apply(environments_.observations(), filtered_);
  const auto v = critic_.look(policy_.critic(), filtered_);
  const collection standard;
  const collection& estimator = collection_ ? *collection_ : standard;
  const std::size_t steps = made.steps;
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    made.value(i, steps) = v(0, static_cast<Eigen::Index>(i));
    const auto part = [&](auto& all_of) { return std::span(all_of).subspan(i * steps, steps); };
    const auto rewards = part(made.rewards);
    for (double& reward : rewards) reward *= how.reward_scale;
    const valued_steps valued{rewards,
                              std::span(made.values).subspan(i * (steps + 1), steps + 1),
                              part(made.terminated),
                              part(made.truncated),
                              part(made.finals),
                              how.discount,
                              how.lambda};
    estimator.estimate(valued, part(f.advantages));
    for (std::size_t t = 0; t < steps; ++t) f.returns[i * steps + t] = f.advantages[i * steps + t] + made.value(i, t);
  }
}

inline void rollout_worker::hand_on_steps(fragment& f, steps_made& made) const {
  f.rewards = std::move(made.rewards);
  f.terminated = std::move(made.terminated);
  f.truncated = std::move(made.truncated);
  std::sort(made.cut.begin(), made.cut.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto size = static_cast<Eigen::Index>(gains_.size());
  f.after.resize(f.observations.rows(), size + std::ssize(made.cut));
  f.after.leftCols(size) = environments_.observations();
  for (std::size_t k = 0; k < made.cut.size(); ++k)
    f.after.col(size + static_cast<Eigen::Index>(k)) = made.cut[k].second;
}

MANTA_DECL fragment rollout_worker::run(const policy::weights& w, const rollout& how) {
  begin(w, how.from);
  fragment f = new_fragment(how);
  steps_made made(how, gains_.size(), f, collection_ != nullptr);
  for (std::size_t t = 0; t < made.steps; ++t) {
    act(steps_++);
    note_actions(t, how, f, made);
    environments_.step(sent_);
    note_rewards(t, how, f, made);
  }
  show_steps(how, f, made);
  if (how.with_values) {
    value_steps(how, f, made);
  } else {
    hand_on_steps(f, made);
  }
  f.episodes = environments_.take_episodes();
  end();
  return f;
}

MANTA_DECL bool rollout_worker::begin_at(std::uint64_t step) {
  steps_ = step;
  has_begun_ = true;
  environments_.reset();
  if (environments_.can_be_saved()) history_.set(state());
  return true;
}
MANTA_DECL std::vector<std::string> rollout_worker::state() const {
  const auto count = std::ssize(gains_);
  const nn::matrix<float> actor = actor_.states(policy_.actor(), count),
                          critic = critic_.states(policy_.critic(), count);
  std::vector<std::string> states;
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    states.push_back(output::pack(environments_.save(i), gains_[i], begins_[i], nn::matrix<float>(actor.col(k)),
                                  nn::matrix<float>(critic.col(k)), steps_, has_begun_));
  }
  return states;
}
MANTA_DECL void rollout_worker::restore(const std::vector<std::string>& states) {
  const auto count = std::ssize(gains_);
  nn::matrix<float> actor = actor_.states(policy_.actor(), count), critic = critic_.states(policy_.critic(), count);
  for (std::size_t i = 0; i < gains_.size(); ++i) {
    std::string environment;
    std::uint64_t steps = 0;
    nn::matrix<float> actor_state, critic_state;
    output::unpack(states.at(i), environment, gains_[i], begins_[i], actor_state, critic_state, steps, has_begun_);
    environments_.load(i, environment);
    actor.col(static_cast<Eigen::Index>(i)) = actor_state;
    critic.col(static_cast<Eigen::Index>(i)) = critic_state;
    steps_ = std::max(steps_, steps);  // workers that acted apart may have taken more steps or fewer
  }
  actor_.set_states(policy_.actor(), actor);
  critic_.set_states(policy_.critic(), critic);
  history_.set(states);
}

}  // namespace detail

}  // namespace manta::rl
