// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/dqn.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL q_network::q_network(const space& observations, int actions, const model_options& m, bool dueling,
                                std::uint64_t seed)
    : net_(make_network(observations, m, {.outputs = actions + (dueling ? 1 : 0), .relu = true}, seed)),
      dueling_(dueling) {}

MANTA_DECL const nn::matrix<float>& q_network::forward(const nn::matrix<float>& x) {
  const nn::matrix<float>& y = net_.forward(x);
  if (!dueling_) return y;
  const Eigen::Index n = y.rows() - 1;
  q_ = y.topRows(n);
  q_.rowwise() += (y.row(n) - y.topRows(n).colwise().mean()).eval();
  return q_;
}

MANTA_DECL void q_network::backward(const nn::matrix<float>& by_q) {
  if (!dueling_) return net_.backward(by_q);
  const Eigen::Index n = by_q.rows();
  by_outputs_.resize(n + 1, by_q.cols());
  by_outputs_.row(n) = by_q.colwise().sum();
  by_outputs_.topRows(n) = by_q.rowwise() - by_q.colwise().mean().eval();
  net_.backward(by_outputs_);
}

inline off_policy_options told_by_dqn(const any_environment& e, const dqn_options& o, const std::string& name) {
  if (e.actions().as_discrete() == nullptr)
    throw error(base::text("manta: rl: {} needs discrete actions; those of {} are {}: use {}", name, e.name(),
                           e.actions().text(),
                           e.actions().as_box() != nullptr ? "rl::sac, rl::td3 or rl::ppo" : "rl::ppo"));
  refuse_distribution(o.model, name);
  off_policy_options told = told_by(o, exploration_options{.how = exploration_options::way::epsilon_greedy});
  told.replay_alpha = o.replay_alpha;
  return told;
}

MANTA_DECL dqn_learner::dqn_learner(const any_environment& e, const dqn_options& o, const std::string& name)
    : off_policy_learner(name, e, told_by_dqn(e, o, name)),
      options_(o),
      q_(e.observations(), e.actions().as_discrete()->n, o.model, o.dueling, o.seed),
      optimizer_(nn::adam({.rate = o.rate})) {
  refuse_memory(q_.net(), o.model, name);
  require_sense(o);
  require_follow(o.follow);
  begin_with(q_.net());
  slow_ = q_;
}

MANTA_DECL double dqn_learner::randomness() const {
  return 1 + progress(options_.exploration_steps) * (options_.epsilon - 1);
}
MANTA_DECL double dqn_learner::importance() const {
  return options_.replay_beta + (1 - options_.replay_beta) * progress(options_.exploration_steps);
}

inline std::vector<float> dqn_learner::wanted(const replay::sample& s) {
  // The values of actions that are not allowed do not count.
  std::vector<int> best(s.which.size());
  if (options_.dual) {
    const nn::matrix<float>& q = allowed_outputs(q_.forward(s.drawn.next), s.drawn.next_masks, allowed_);
    for (Eigen::Index i = 0; i < q.cols(); ++i) q.col(i).maxCoeff(&best[static_cast<std::size_t>(i)]);
  }
  const nn::matrix<float>& later = allowed_outputs(slow_.forward(s.drawn.next), s.drawn.next_masks, allowed_);
  std::vector<float> values(s.which.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    values[k] =
        s.drawn.rewards[k] + s.drawn.discounts[k] * (options_.dual ? later(best[k], i) : later.col(i).maxCoeff());
  }
  return values;
}

MANTA_DECL void dqn_learner::update(const replay::sample& s, random&, std::vector<float>& errors,
                                    std::map<std::string, double>& figures) {
  const std::vector<float> should_be = wanted(s);
  const nn::matrix<float>& q = q_.forward(s.drawn.observations);
  by_q_.setZero(q.rows(), q.cols());
  double loss = 0, mean = 0;
  for (std::size_t k = 0; k < should_be.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const auto a = static_cast<Eigen::Index>(s.drawn.actions(0, i));
    errors[k] = q(a, i) - should_be[k];
    mean += static_cast<double>(q(a, i));
    const huber h(errors[k]);
    by_q_(a, i) = s.weights[k] * h.slope / static_cast<float>(options_.batch);  // weighted against priorities' bias
    loss += h.loss;
  }
  require_finite("the loss is", loss);
  q_.net().zero_gradients();
  q_.backward(by_q_);
  if (options_.clip_norm > 0) nn::clip_norm(q_.net().gradients(), options_.clip_norm);
  step(optimizer_, q_.net().parameters(), q_.net().gradients());
  const bool copies = options_.copy_every > 0;
  if (!copies || (updates() + 1) % static_cast<std::uint64_t>(options_.copy_every) == 0)
    move_towards(slow_.net().parameters(), std::as_const(q_).net().parameters(), copies ? 1 : options_.follow);
  figures["loss"] += loss / options_.batch;
  figures["q"] += mean / options_.batch;
  figures["epsilon"] += randomness();
}

MANTA_DECL std::string dqn_learner::networks() const { return output::pack(q_, slow_, optimizer_); }
MANTA_DECL void dqn_learner::restore_networks(const std::string& bytes) {
  q_network q, slow;
  nn::optimizer saved;
  output::unpack(bytes, q, slow, saved);
  q_ = std::move(q);
  slow_ = std::move(slow);
  optimizer_.take_moments(saved);
}

}  // namespace detail

MANTA_DECL dqn::dqn(const any_environment& e, const dqn_options& o)
    : off_policy(std::make_unique<detail::dqn_learner>(e, o)) {}

}  // namespace manta::rl
