// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of policy_learner.hpp.
#pragma once

#include <algorithm>
#include <limits>

#include "manta/output/bytes.hpp"
#include "manta/rl/learning/policy_learner.hpp"

namespace manta::rl::detail {

MANTA_DECL policy_learner::policy_learner(const std::string& name, const any_environment& e, learner_options o,
                                          const nn::optimizer& like)
    : algorithm(name, e, o.seed),
      told_(std::move(o)),
      policy_(e.observations(), e.actions(), told_.model, told_.seed),
      distribution_(make_distribution(e, told_.model.distribution)),
      spread_gradients_(policy_.spread().size()),
      actor_optimizer_(like),
      critic_optimizer_(like),
      spread_optimizer_(like) {
  if (!told_.can_remember) {
    for (const auto* net : {&policy_.actor(), &policy_.critic()}) refuse_memory(*net, told_.model, name);
  }
  require_one(".workers", told_.workers);
  require_one(".environments", told_.environments);
  require_one(".fragment", told_.how.steps, " step");
}

MANTA_DECL std::string policy_learner::description() const {
  return policy_.actor().describe() + " and " + policy_.critic().describe() + named(told_.model.distribution) +
         named(told_.collection);
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
  for (const moments& m : gains) gains_.merge(m);
}

MANTA_DECL std::string policy_learner::learner_state() const {
  return output::pack(policy_, actor_optimizer_, critic_optimizer_, spread_optimizer_, gains_);
}

MANTA_DECL void policy_learner::restore_learner(const std::string& bytes, bool own_settings) {
  nn::optimizer saved[3];
  output::unpack(bytes, policy_, saved[0], saved[1], saved[2], gains_);
  nn::optimizer* const mine[3] = {&actor_optimizer_, &critic_optimizer_, &spread_optimizer_};
  for (std::size_t i = 0; i < 3; ++i) mine[i]->resume(saved[i], own_settings);
}

MANTA_DECL void policy_learner::zero_gradients() {
  for (const std::span<float> part : gradients()) std::fill(part.begin(), part.end(), 0.f);
}

MANTA_DECL std::vector<std::span<float>> policy_learner::gradients() {
  return {policy_.actor().gradients(), policy_.critic().gradients(), spread_gradients_};
}

inline double policy_learner::rate_left() const {
  if (told_.anneal_steps == 0) return 1;
  return std::max(0.0, 1 - static_cast<double>(steps()) / static_cast<double>(told_.anneal_steps));
}

MANTA_DECL double policy_learner::step(double clip) {
  const double norm = nn::clip_norm(gradients(), clip > 0 ? clip : std::numeric_limits<double>::infinity());
  require_finite("the gradient is", norm);
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

}  // namespace manta::rl::detail
