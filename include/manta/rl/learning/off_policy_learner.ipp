// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/learning/off_policy_learner.hpp"
#include "manta/rl/policies/box_scale.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL void require_bounded_actions(const std::string& algorithm, const any_environment& e) {
  const auto refuse = [&](const char* advice) {
    throw error(base::text("manta: rl: {} needs actions that are numbers between bounds; those of {} are {}: {}",
                           algorithm, e.name(), e.actions().text(), advice));
  };
  const box* const b = e.actions().as_box();
  if (b == nullptr) refuse(e.actions().as_discrete() != nullptr ? "use rl::dqn or rl::ppo" : "use rl::ppo");
  for (std::size_t i = 0; i < b->low.size(); ++i) {
    if (b->low[i] >= b->high[i])
      refuse("a number whose bounds are equal cannot be chosen; leave it out of action_space()");
  }
  if (!box_scale(*b).has_bounds()) refuse("give all of them finite bounds in action_space(), or use rl::ppo");
}

MANTA_DECL void require_plain_numbers(const std::string& algorithm, const any_environment& e) {
  const box* const b = e.observations().as_box();
  if (b == nullptr || b->shape.size() > 1)
    throw error(
        base::text("manta: rl: {} needs observations that are plain numbers, whose differences models predict; "
                   "those of {} are {}: use rl::sac, without models",
                   algorithm, e.name(), e.observations().text()));
}

MANTA_DECL void require_follow(double follow) {
  if (!(follow > 0 && follow <= 1))
    throw error(base::text("manta: rl: .follow is {}; it has to be more than 0 and at most 1", follow));
}

MANTA_DECL void move_towards(std::span<float> slow, std::span<const float> net, double part) {
  const auto p = static_cast<float>(part);
  for (std::size_t i = 0; i < slow.size(); ++i) slow[i] += p * (net[i] - slow[i]);
}

}  // namespace detail

MANTA_DECL off_policy_learner::off_policy_learner(std::string name, const any_environment& e,
                                                  const off_policy_options& o)
    : learner(e), told_(o), name_(std::move(name)), filter_(e.observations().features()) {
  for (const auto& [option, value] : {std::pair(".workers", o.workers),
                                      {".environments", o.environments},
                                      {".fragment", o.fragment},
                                      {".batch", o.batch},
                                      {".n_step", o.n_step},
                                      {".updates", o.updates},
                                      {".steps_per_update", o.steps_per_update}})
    detail::require_one(option, value);
  if (o.replay_size < o.batch)
    throw error(base::text("manta: rl: .replay_size is {}, less than a batch", o.replay_size));
}

MANTA_DECL double off_policy_learner::randomness() const {
  return steps() < static_cast<std::uint64_t>(told_.learning_starts) ? 1 : 0;
}

MANTA_DECL void off_policy_learner::learn_moments(const std::vector<moments>& seen, const std::vector<moments>& gains) {
  if (told_.normalise_observations) {
    for (const moments& m : seen) filter_.merge(m);
  }
  for (const moments& m : gains) gains_.merge(m);
}

MANTA_DECL void off_policy_learner::learn(replay::sample s, std::vector<float>& errors,
                                          std::map<std::string, double>& figures) {
  const normaliser filter(filter_);
  nn::matrix<float> filtered;
  for (nn::matrix<float>* m : {&s.drawn.observations, &s.drawn.next}) {
    filter.apply(*m, filtered);
    std::swap(*m, filtered);
  }
  if (told_.normalise_rewards) {
    const float scale = static_cast<float>(reward_scale());
    for (float& reward : s.drawn.rewards) reward *= scale;
  }
  random numbers(told_.seed, updates_, 8);
  update(s, numbers, errors, figures);
  ++updates_;
}

MANTA_DECL void off_policy_learner::step(nn::optimizer& o, std::span<float> parameters,
                                         std::span<const float> gradients) const {
  const double rate = o.rate();
  o.rate(rate * told_.schedule(static_cast<double>(steps())));
  o.step(parameters, gradients);
  o.rate(rate);  // so that checkpoints have the whole one
}

inline acting_policy off_policy_learner::acting_by(const nn::network<float>& net) const {
  return {environment_,
          net,
          filter_,
          {.by = action_choice::drawing::exploration,
           .is_squashed = environment_.actions().as_box() != nullptr,
           .exploration = told_.exploration,
           .randomness = randomness(),
           .planner = planner()}};
}
MANTA_DECL acting_policy off_policy_learner::acting() const { return acting_by(network()); }

MANTA_DECL void off_policy_learner::begin_with(nn::network<float>& net) {
  if (!told_.begin_with) return;
  const acting_policy& p = told_.begin_with.acting();
  net = detail::network_to_begin_with(p, net.describe());
  filter_ = p.filter();
}

MANTA_DECL std::string off_policy_learner::description() const {
  return base::text("{}{}{}", network().describe(), detail::named(told_.exploration.own),
                    detail::named(told_.collection));
}

MANTA_DECL std::string off_policy_learner::state() const {
  return output::pack(networks(), filter_, gains_, updates_, steps_, told_.seed);
}

MANTA_DECL void off_policy_learner::restore(const std::string& state) {
  std::string networks;
  moments filter, gains;
  std::uint64_t updates = 0, steps = 0, seed = 0;
  output::unpack(state, networks, filter, gains, updates, steps, seed);
  restore_networks(networks);
  filter_ = std::move(filter);
  gains_ = std::move(gains);
  updates_ = updates;
  steps_ = steps;
  told_.seed = seed;
}

}  // namespace manta::rl
