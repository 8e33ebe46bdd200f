// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/rl/base/require.hpp"
#include "manta/rl/policies/acting_policy.hpp"

namespace manta::rl {

MANTA_DECL acting_policy::acting_policy(const any_environment& e, nn::network<float> net, moments filter,
                                        action_choice how)
    : environment_(e), net_(std::move(net)), filter_(std::move(filter)), choice_(std::move(how)) {}

inline void acting_policy::read(const nn::matrix<float>& observations) {
  if (distribution_ == nullptr) {
    distribution_ = make_distribution(environment_.actions(), choice_.distribution);
    normaliser_.set(filter_);
  }
  normaliser_.apply(observations, filtered_);
  outputs_ = forward_(net_, filtered_);
}

inline void acting_policy::draw_action(Eigen::Index i, const nn::matrix<float>& observations, mask_view allowed,
                                       random numbers) {
  float* const action = actions_.col(i).data();
  const auto count = static_cast<std::size_t>(actions_.rows());
  if (choice_.by == action_choice::drawing::distribution) {
    distribution_->sample(outputs_.col(i).data(), choice_.spread.data(), numbers, action);
  } else {
    const auto column = [i](const auto& m) { return std::span(m.col(i).data(), static_cast<std::size_t>(m.rows())); };
    exploration_input in{column(observations), column(outputs_), allowed, choice_.randomness, 0};
    const auto choices = static_cast<std::size_t>(detail::choice_count(environment_.actions()));
    if (choices > 0) in.outputs = in.outputs.first(choices);  // behind their values, dqn's value of the state
    explorations_.of_columns[static_cast<std::size_t>(i)]->act(in, numbers, {action, count});
  }
  distribution_->to_environment(action, action);
}

inline const nn::matrix<float>& acting_policy::choose(const nn::matrix<float>& observations, const action_masks& m,
                                                      const draw* numbers) {
  const bool draws = numbers != nullptr && choice_.by != action_choice::drawing::none;
  if (draws && choice_.by == action_choice::drawing::exploration) {
    auto& all = explorations_.of_columns;
    while (std::ssize(all) < outputs_.cols())
      all.push_back(detail::make_exploration(environment_.actions(), choice_.exploration));
  }
  if (choice_.is_squashed && !draws) outputs_ = outputs_.array().tanh();
  actions_.resize(environment_.actions().size(), outputs_.cols());
  for (Eigen::Index i = 0; i < actions_.cols(); ++i) {
    const mask_view allowed = detail::mask_of(m, i);
    detail::forbid(allowed, outputs_.col(i).data());
    if (draws) {
      draw_action(i, observations, allowed,
                  random(numbers->seed, numbers->first + static_cast<std::uint64_t>(i),
                         (std::uint64_t(1) << 63U) + numbers->step));
    } else {
      distribution_->best_for_environment(outputs_.col(i).data(), actions_.col(i).data());
    }
  }
  return actions_;
}

MANTA_DECL const nn::matrix<float>& acting_policy::actions(const nn::matrix<float>& observations, const action_masks& m,
                                                           const draw* numbers) {
  if (plans()) return plan(observations);
  read(observations);
  if (!detail::all_finite({outputs_.data(), static_cast<std::size_t>(outputs_.size())}))
    detail::fail_diverged("the outputs of the policy's network are");
  return choose(observations, m, numbers);
}

MANTA_DECL const nn::matrix<float>& acting_policy::actions(const vector_environment& e, const draw* numbers) {
  if (plans()) return plan(e.observations(), &e);
  read(e.observations());
  e.require_finite(outputs_);
  return choose(e.observations(), e.masks(), numbers);
}

inline action_planner& acting_policy::its_planner() const {
  if (planner_.object == nullptr) planner_.object = choice_.planner.make(environment_.actions());
  return *planner_.object;
}

inline const nn::matrix<float>& acting_policy::plan(const nn::matrix<float>& observations,
                                                    const vector_environment* e) {
  action_planner& p = its_planner();
  if (distribution_ == nullptr) distribution_ = make_distribution(environment_.actions());
  if (plans_.cols() != observations.cols()) plans_.setZero(p.memory_size(), observations.cols());
  actions_.resize(environment_.actions().size(), observations.cols());
  for (Eigen::Index i = 0; i < actions_.cols(); ++i) {
    if (e != nullptr && e->is_over(static_cast<std::size_t>(i))) continue;
    const auto column = [i](auto& m) { return std::span(m.col(i).data(), static_cast<std::size_t>(m.rows())); };
    p.act(column(observations), column(plans_), column(actions_));
    distribution_->to_environment(actions_.col(i).data(), actions_.col(i).data());
  }
  return actions_;
}

MANTA_DECL nn::matrix<float> acting_policy::memories(Eigen::Index count) const {
  if (!plans()) return forward_.states(net_, count);
  return plans_.cols() == count ? plans_ : nn::matrix<float>::Zero(its_planner().memory_size(), count);
}
MANTA_DECL void acting_policy::set_memories(const nn::matrix<float>& m) {
  if (plans()) {
    plans_ = m;
  } else {
    forward_.set_states(net_, m);
  }
}

MANTA_DECL void acting_policy::forget() {
  forward_.forget();
  plans_.setZero();
  for (const auto& e : explorations_.of_columns) e->begin_episode();
}

}  // namespace manta::rl
