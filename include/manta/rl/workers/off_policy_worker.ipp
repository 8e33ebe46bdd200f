// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <utility>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/workers/off_policy_worker.hpp"

namespace manta::rl::detail {

MANTA_DECL off_policy_worker::off_policy_worker(const any_environment& e, std::uint64_t seed, int first, int count,
                                                const exploration_options& how, const own_collection& collection)
    : kind_(e),
      seed_(seed),
      first_(first),
      how_(how),
      kind_of_collection_(collection),
      environments_(e, seed, first, count),
      distribution_(make_distribution(e.actions())),
      collection_(collection ? collection.make() : nullptr),
      pending_(static_cast<std::size_t>(count)),
      plans_(static_cast<std::size_t>(count)),
      gains_(static_cast<std::size_t>(count)) {
  for (int i = 0; i < count; ++i) explorations_.push_back(make_exploration(e.actions(), how));
  actions_.resize(distribution_->size(), count);
  sent_.resize(e.actions().size(), count);
}

inline void off_policy_worker::act(nn::network<float>& net, const off_policy_orders& o) {
  filter_.apply(environments_.observations(), filtered_);
  outputs_ = forward_(net, filtered_);
  environments_.require_finite(outputs_);
  const auto choices = static_cast<std::size_t>(choice_count(kind_.actions()));
  for (Eigen::Index i = 0; i < environments_.size(); ++i) {
    random numbers(seed_, static_cast<std::uint64_t>(first_ + i), (std::uint64_t(1) << 63U) + steps_);
    const mask_view allowed = mask_of(environments_.masks(), i);
    forbid(allowed, outputs_.col(i).data());
    const auto numbers_of = [i](const auto& m) {
      return std::span(m.col(i).data(), static_cast<std::size_t>(m.rows()));
    };
    exploration_input in{numbers_of(environments_.observations()), numbers_of(outputs_), allowed,
                         o.randomness_of(first_ + static_cast<int>(i)), o.steps_before};
    if (choices > 0) in.outputs = in.outputs.first(choices);  // behind them, dqn's value of the state
    float* const action = actions_.col(i).data();
    explorations_[static_cast<std::size_t>(i)]->act(in, numbers, {action, static_cast<std::size_t>(actions_.rows())});
    if (how_.own) check_action(i);
    distribution_->to_environment(action, sent_.col(i).data());
  }
}

inline void off_policy_worker::plan(action_planner& p) {
  for (Eigen::Index i = 0; i < environments_.size(); ++i) {
    const auto numbers_of = [i](auto& m) { return std::span(m.col(i).data(), static_cast<std::size_t>(m.rows())); };
    std::vector<float>& memory = plans_[static_cast<std::size_t>(i)];
    memory.resize(static_cast<std::size_t>(p.memory_size()));
    p.act(numbers_of(environments_.observations()), memory, numbers_of(actions_));
    distribution_->to_environment(actions_.col(i).data(), sent_.col(i).data());
  }
}

inline void off_policy_worker::check_action(Eigen::Index i) const {
  const std::vector<int> choices = choices_of(kind_.actions());
  const mask_view allowed = mask_of(environments_.masks(), i);
  std::size_t begin = 0;
  for (Eigen::Index part = 0; part < actions_.rows(); ++part) {
    const float a = actions_(part, i);
    const int n = choices.empty() ? 0 : choices[static_cast<std::size_t>(part)];
    const bool is_choice = n > 0 && a >= 0 && a < static_cast<float>(n) && a == std::floor(a);
    const bool is_allowed = is_choice && (allowed.empty() || allowed[begin + static_cast<std::size_t>(a)] != 0);
    begin += static_cast<std::size_t>(n);
    if (base::is_finite(a) && (n > 0 ? is_allowed : std::abs(a) <= 1)) continue;
    environments_.fail(i, base::text("{} took the action {}; it has to be {}", how_.own.name(), a,
                                     is_choice ? "one that the mask allows"
                                     : n > 0   ? base::text("a whole number from 0 to {}", n - 1)
                                               : "from -1 to 1"));
  }
}

MANTA_DECL std::pair<transitions, off_policy_news> off_policy_worker::run(const off_policy_orders& o) {
  nn::network<float> net = o.net;
  const bool can_be_saved = environments_.can_be_saved();
  history_.go_to(o.from, steps_, can_be_saved, [&](const auto& states) { restore(states); });
  if (!std::exchange(has_begun_, true)) environments_.reset();
  if (history_.now().empty() && can_be_saved) history_.set(state());
  const auto size = static_cast<std::size_t>(environments_.size());
  off_policy_news news;
  news.seen.assign(size, moments(static_cast<int>(environments_.observations().rows())));
  news.gains.assign(size, moments(1));
  lines done(size);
  nn::matrix<float> before;
  filter_.set(o.filter);
  const std::unique_ptr<action_planner> planner =
      o.planner && o.randomness < 1 ? o.planner.make(kind_.actions()) : nullptr;
  for (int t = 0; t < o.steps; ++t, ++steps_) {
    if (planner) {
      plan(*planner);
    } else {
      act(net, o);
    }
    before = environments_.observations();
    environments_.step(sent_);
    for (std::size_t i = 0; i < size; ++i) {
      news.seen[i].add(before.col(static_cast<Eigen::Index>(i)).data());
      gains_[i] = gains_[i] * o.discount + environments_.rewards()[i];
      const float gain = static_cast<float>(gains_[i]);
      news.gains[i].add(&gain);
      record(i, o, before, done);
      if (!environments_.terminated()[i] && !environments_.truncated()[i]) continue;
      gains_[i] = 0;
      plans_[i].clear();
      explorations_[i]->begin_episode();
    }
  }
  news.episodes = environments_.take_episodes();
  if (can_be_saved) history_.end(state());
  transitions all = in_columns(done);
  if (collection_) {
    const Eigen::Index observation = all.observations.rows(), action = all.actions.rows();
    collection_->transitions_made(all);
    if (!all.has_shape(observation, action))
      throw error("manta: rl: transitions_made of " + kind_of_collection_.name() +
                  " left members of transitions that differ in length, or in the numbers of a column");
  }
  return {std::move(all), std::move(news)};
}

inline void off_policy_worker::record(std::size_t i, const off_policy_orders& o, const nn::matrix<float>& before,
                                      lines& done) {
  const auto column = [&](const nn::matrix<float>& m) {
    const auto c = m.col(static_cast<Eigen::Index>(i));
    return std::vector<float>(c.data(), c.data() + c.size());
  };
  const bool ends = environments_.terminated()[i] || environments_.truncated()[i];
  const std::vector<float> next = column(ends ? environments_.last_observations() : environments_.observations());
  const mask_view next_mask =
      mask_of(ends ? environments_.last_masks() : environments_.masks(), static_cast<Eigen::Index>(i));
  std::vector<step_taken>& line = pending_[i];
  line.push_back({.observation = column(before), .action = column(actions_), .next = {}, .next_mask = {}});
  for (step_taken& s : line) s.reward += std::pow(o.discount, s.steps++) * environments_.rewards()[i];
  std::size_t complete = 0;
  for (step_taken& s : line) {
    if (!ends && s.steps < o.n_step) break;
    s.next = next;
    s.next_mask.assign(next_mask.begin(), next_mask.end());
    s.discount = environments_.terminated()[i] ? 0.f : static_cast<float>(std::pow(o.discount, s.steps));
    done[i].push_back(std::move(s));
    ++complete;
  }
  line.erase(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(complete));
}

inline transitions off_policy_worker::in_columns(const lines& done) const {
  std::size_t count = 0;
  for (const auto& line : done) count += line.size();
  transitions t;
  t.code = observation_code(kind_.observations());
  t.resize(environments_.observations().rows(), actions_.rows(), count, environments_.masks().rows());
  std::size_t k = 0;
  for (const auto& line : done) {
    for (const step_taken& s : line) {
      const auto at = static_cast<Eigen::Index>(k);
      std::copy(s.observation.begin(), s.observation.end(), t.observations.col(at).data());
      std::copy(s.action.begin(), s.action.end(), t.actions.col(at).data());
      std::copy(s.next.begin(), s.next.end(), t.next.col(at).data());
      std::copy(s.next_mask.begin(), s.next_mask.end(), t.next_masks.data() + t.next_masks.rows() * at);
      t.rewards[k] = static_cast<float>(s.reward);
      t.discounts[k++] = s.discount;
    }
  }
  return t;
}

MANTA_DECL bool off_policy_worker::begin_at(std::uint64_t step) {
  steps_ = step;
  has_begun_ = true;
  environments_.reset();
  if (environments_.can_be_saved()) history_.set(state());
  return true;
}
MANTA_DECL std::vector<std::string> off_policy_worker::state() const {
  std::vector<std::string> states;
  for (std::size_t i = 0; i < pending_.size(); ++i)
    states.push_back(output::pack(environments_.save(i), pending_[i], explorations_[i]->save(), plans_[i], gains_[i],
                                  steps_, has_begun_));
  return states;
}
MANTA_DECL void off_policy_worker::restore(const std::vector<std::string>& states) {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    std::string environment, exploration;
    output::unpack(states.at(i), environment, pending_[i], exploration, plans_[i], gains_[i], steps_, has_begun_);
    environments_.load(i, environment);
    explorations_[i]->load(exploration);
  }
  history_.set(states);
}

}  // namespace manta::rl::detail
