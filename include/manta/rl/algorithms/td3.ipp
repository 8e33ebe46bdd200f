// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/td3.hpp"

namespace manta::rl {

namespace detail {

inline off_policy_options told_by_td3(const any_environment& e, const td3_options& o) {
  require_bounded_actions("td3", e);
  refuse_distribution(o.model, "td3");
  return told_by(
      o, exploration_options{.how = exploration_options::way::noisy, .deviation = o.noise, .pink = o.pink_noise});
}

MANTA_DECL td3_learner::td3_learner(const any_environment& e, const td3_options& o)
    : off_policy_learner("td3", e, told_by_td3(e, o)),
      options_(o),
      actor_(make_network(e.observations(), o.model, {.outputs = e.actions().size(), .last = 0.01}, 2 * o.seed)),
      critics_(e, o.model, o.rate, 2 * o.seed + 1),
      actor_optimizer_(nn::adam({.rate = o.rate})) {
  refuse_memory(actor_, o.model, "td3");
  require_sense(o);
  require_one(".updates_per_policy", o.updates_per_policy);
  begin_with(actor_);
  slow_actor_ = actor_;
}

inline const nn::matrix<float>& td3_learner::later_actions(const nn::matrix<float>& observations, random& numbers) {
  actions_ = slow_actor_.forward(observations).array().tanh();
  const float clip = static_cast<float>(options_.target_clip);
  for (float& a : actions_.reshaped()) {
    const float noise = static_cast<float>(options_.target_noise * numbers.normal());
    a = std::clamp(a + std::clamp(noise, -clip, clip), -1.f, 1.f);
  }
  return actions_;
}

MANTA_DECL void td3_learner::update(const replay::sample& s, random& numbers, std::vector<float>& errors,
                                    std::map<std::string, double>& figures) {
  std::vector<float> should_be = critics_.later(s.drawn.next, later_actions(s.drawn.next, numbers));
  for (std::size_t k = 0; k < should_be.size(); ++k)
    should_be[k] = s.drawn.rewards[k] + s.drawn.discounts[k] * should_be[k];
  figures["critic_loss"] += critics_.learn(s, should_be, errors, told_.schedule(static_cast<double>(steps())));
  if ((updates() + 1) % static_cast<std::uint64_t>(options_.updates_per_policy) != 0) return;
  improve_actor(s.drawn.observations, figures);
  critics_.follow(options_.follow);
  move_towards(slow_actor_.parameters(), std::as_const(actor_).parameters(), options_.follow);
}

inline void td3_learner::improve_actor(const nn::matrix<float>& observations, std::map<std::string, double>& figures) {
  actions_ = actor_.forward(observations).array().tanh();
  const twin_critics::judgement& judged = critics_.judge(observations, actions_, false);
  const auto count = static_cast<float>(observations.cols());
  by_outputs_ = judged.by_actions.array() * (1 - actions_.array().square()) / -count;
  actor_.zero_gradients();
  actor_.backward(by_outputs_);
  step(actor_optimizer_, actor_.parameters(), actor_.gradients());
  double value = 0;
  for (const float v : judged.values) value += static_cast<double>(v);
  // The mean over the steps between two steps of the policy.
  figures["q"] += value / static_cast<double>(count) * options_.updates_per_policy;
}

MANTA_DECL std::vector<std::span<const float>> td3_learner::parameters() const {
  return {actor_.parameters(), critics_.parameters(0), critics_.parameters(1)};
}
MANTA_DECL std::string td3_learner::networks() const {
  return output::pack(actor_, slow_actor_, critics_, actor_optimizer_);
}
MANTA_DECL void td3_learner::restore_networks(const std::string& bytes) {
  nn::network<float> actor, slow_actor;
  nn::optimizer saved;
  twin_critics critics = critics_;
  output::unpack(bytes, actor, slow_actor, critics, saved);
  actor_ = std::move(actor);
  slow_actor_ = std::move(slow_actor);
  critics_.resume(critics);
  actor_optimizer_.take_moments(saved);
}
MANTA_DECL std::string td3_learner::description() const {
  return base::text("{} and twice {}", off_policy_learner::description(), critics_.describe());
}

}  // namespace detail

MANTA_DECL td3::td3(const any_environment& e, const td3_options& o)
    : off_policy(std::make_unique<detail::td3_learner>(e, o)) {}

}  // namespace manta::rl
