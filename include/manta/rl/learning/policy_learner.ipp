// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of learner.hpp and policy_learner.hpp.
#pragma once

#include <algorithm>
#include <limits>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/learning/policy_learner.hpp"

namespace manta::rl {

/// How many steps of the past count in the deviation of returns, by which rewards are divided. The first episodes may
/// cost ten thousand times as much as good ones: if all counted for ever, nothing would be left to learn from.
inline constexpr double remembered_steps = 50'000;

MANTA_DECL const nn::network<float>& detail::network_to_begin_with(const acting_policy& p,
                                                                   const std::string& description) {
  const std::string its = p.network().describe() + named(p.choice().distribution);
  if (its != description)
    throw error(
        base::text("manta: rl: .begin_with is a policy of the network {}; that of this algorithm is {}. The "
                   "layers of .model, observations and actions have to be the same",
                   its, description));
  return p.network();
}

MANTA_DECL policy_learner::policy_learner(std::string name, const any_environment& e, learner_options o,
                                          const nn::optimizer& like)
    : learner(e),
      told_(std::move(o)),
      policy_(e.observations(), e.actions(), told_.model, told_.seed, told_.more_for_critic),
      distribution_(make_distribution(e, told_.model.distribution)),
      spread_gradients_(policy_.spread().size()),
      name_(std::move(name)),
      actor_optimizer_(like),
      critic_optimizer_(like),
      spread_optimizer_(like) {
  if (!told_.can_remember) {
    for (const auto* net : {&policy_.actor(), &policy_.critic()}) detail::refuse_memory(*net, told_.model, name_);
  }
  detail::require_one(".workers", told_.workers);
  detail::require_one(".environments", told_.environments);
  detail::require_one(".fragment", told_.how.steps, " step");
  if (told_.begin_with) begin_with(told_.begin_with.acting());
}

inline void policy_learner::begin_with(const acting_policy& p) {
  policy_.actor() =
      detail::network_to_begin_with(p, policy_.actor().describe() + detail::named(told_.model.distribution));
  if (p.choice().spread.size() == policy_.spread().size()) policy_.spread() = p.choice().spread;
  if (told_.more_for_critic == 0) policy_.filter() = p.filter();
}

MANTA_DECL void policy_learner::learn(const fragment&, report&) {
  throw error(base::text("manta: rl: {} has no rule: its class, or its algorithm's, needs learn(all, report)", name_));
}

MANTA_DECL std::string policy_learner::description() const {
  return base::text("{} and {}{}{}", policy_.actor().describe(), policy_.critic().describe(),
                    detail::named(told_.model.distribution), detail::named(told_.collection));
}

MANTA_DECL rollout policy_learner::next_rollout() const {
  rollout how = told_.how;
  if (told_.normalise_rewards) how.reward_scale = 1 / gains_.deviation(0);
  return how;
}

MANTA_DECL void policy_learner::learn_moments(const std::vector<moments>& seen, const std::vector<moments>& gains) {
  if (told_.normalise_observations) {
    for (const moments& m : seen) policy_.filter().merge(m);
  }
  const double before = gains_.deviation(0);
  gains_.count_at_most(remembered_steps);
  for (const moments& m : gains) gains_.merge(m);
  // Returns of the next iteration come in the new scale, and the critic's values follow them at once
  // (van Hasselt et al., 2016). A network of the program's own need not end with a layer that can be scaled.
  if (told_.normalise_rewards && !told_.model.network) policy_.scale_values(before / gains_.deviation(0));
}

MANTA_DECL std::string policy_learner::state() const {
  return output::pack(policy_, actor_optimizer_, critic_optimizer_, spread_optimizer_, gains_, told_.seed, steps_,
                      lessons_);
}

MANTA_DECL void policy_learner::restore(const std::string& state) {
  policy saved;
  nn::optimizer actor, critic, spread;
  moments gains;
  std::uint64_t seed = 0, steps = 0, lessons = 0;
  output::unpack(state, saved, actor, critic, spread, gains, seed, steps, lessons);
  policy_ = std::move(saved);
  actor_optimizer_.take_moments(actor);
  critic_optimizer_.take_moments(critic);
  spread_optimizer_.take_moments(spread);
  gains_ = std::move(gains);
  told_.seed = seed;
  steps_ = steps;
  lessons_ = lessons;
}

MANTA_DECL const nn::matrix<float>& policy_learner::read_by_actor(const nn::matrix<float>& all) {
  if (told_.more_for_critic == 0) return all;
  return read_by_actor_ = all.topRows(environment_.observations().features());
}

MANTA_DECL void policy_learner::zero_gradients() {
  for (const std::span<float> part : gradients()) std::fill(part.begin(), part.end(), 0.f);
}

MANTA_DECL std::vector<std::span<float>> policy_learner::gradients() {
  return {policy_.actor().gradients(), policy_.critic().gradients(), spread_gradients_};
}

MANTA_DECL double policy_learner::rate_left() const {
  const auto now = static_cast<double>(steps());
  const double left = told_.anneal_steps == 0 ? 1 : std::max(0.0, 1 - now / static_cast<double>(told_.anneal_steps));
  return left * told_.schedule(now);
}

MANTA_DECL double policy_learner::step(double clip) {
  const double norm = nn::clip_norm(gradients(), clip > 0 ? clip : std::numeric_limits<double>::infinity());
  detail::require_finite("the gradient is", norm);
  const auto move = [left = rate_left()](nn::optimizer& o, std::span<float> parameters, std::span<const float> slopes) {
    const double rate = o.rate();
    o.rate(rate * left);
    o.step(parameters, slopes);
    o.rate(rate);  // so that checkpoints have the whole one
  };
  move(actor_optimizer_, policy_.actor().parameters(), policy_.actor().gradients());
  move(critic_optimizer_, policy_.critic().parameters(), policy_.critic().gradients());
  if (!spread_gradients_.empty()) move(spread_optimizer_, policy_.spread(), spread_gradients_);
  return norm;
}

}  // namespace manta::rl
