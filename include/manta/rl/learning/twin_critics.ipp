// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/rl/learning/off_policy_learner.hpp"
#include "manta/rl/learning/twin_critics.hpp"

namespace manta::rl::detail {

MANTA_DECL twin_critics::twin_critics(const any_environment& e, const model_options& m, double rate,
                                      std::uint64_t seed) {
  const network_purpose value{.outputs = 1, .more_inputs = e.actions().size()};
  for (std::size_t i = 0; i < critics_.size(); ++i) {
    critics_[i].net = make_network(e.observations(), m, value, 2 * seed + i);
    critics_[i].slow = critics_[i].net;
    critics_[i].optimizer = nn::adam({.rate = rate});
  }
}

inline const nn::matrix<float>& twin_critics::joined(const nn::matrix<float>& observations,
                                                     const nn::matrix<float>& actions) {
  x_.resize(observations.rows() + actions.rows(), observations.cols());
  x_.topRows(observations.rows()) = observations;
  x_.bottomRows(actions.rows()) = actions;
  return x_;
}

MANTA_DECL const std::vector<float>& twin_critics::later(const nn::matrix<float>& observations,
                                                         const nn::matrix<float>& actions) {
  const nn::matrix<float>& x = joined(observations, actions);
  const nn::matrix<float>&a = critics_[0].slow.forward(x), &b = critics_[1].slow.forward(x);
  later_.resize(static_cast<std::size_t>(x.cols()));
  for (std::size_t k = 0; k < later_.size(); ++k) later_[k] = std::min(a.data()[k], b.data()[k]);
  return later_;
}

/// The others' part is alpha times the logarithm of the sum of their values' exponentials, each divided by its density,
/// minus the value of the action that was taken.
inline void twin_critics::push_down(critic& c, const nn::matrix<float>& observations, const std::vector<float>& values,
                                    other_actions& others) {
  const Eigen::Index count = observations.cols(), each = others.each;
  wide_.resize(observations.rows() + others.actions.rows(), others.actions.cols());
  for (Eigen::Index k = 0; k < count; ++k)
    wide_.block(0, k * each, observations.rows(), each).colwise() = observations.col(k);
  wide_.bottomRows(others.actions.rows()) = others.actions;
  const nn::matrix<float>& q = c.net.forward(wide_);
  other_.resize(1, q.cols());
  const auto weight = static_cast<float>(others.alpha / static_cast<double>(count));
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigen::Map<const Eigen::ArrayXf> density(others.log_densities.data() + k * each, each);
    const Eigen::ArrayXf above = q.row(0).segment(k * each, each).transpose().array() - density;
    const float top = above.maxCoeff(), sum = (above - top).exp().sum();
    other_.row(0).segment(k * each, each) = (weight * (above - top).exp() / sum).matrix().transpose();
    const float joint = top + std::log(sum / static_cast<float>(each));
    others.gap += static_cast<double>(joint - values[static_cast<std::size_t>(k)]) / static_cast<double>(2 * count);
  }
  c.net.backward(other_);
}

MANTA_DECL double twin_critics::learn(const replay::sample& s, const std::vector<float>& should_be,
                                      std::vector<float>& errors, double rate_left, other_actions* others) {
  const nn::matrix<float>& x = joined(s.drawn.observations, s.drawn.actions);
  const auto count = static_cast<float>(should_be.size());
  std::fill(errors.begin(), errors.end(), 0.f);
  by_q_.resize(1, x.cols());
  double loss = 0;
  for (critic& c : critics_) {
    const nn::matrix<float>& q = c.net.forward(x);
    for (std::size_t k = 0; k < should_be.size(); ++k) {
      const float error = q.data()[k] - should_be[k];
      errors[k] += std::abs(error) / 2;
      by_q_.data()[k] = s.weights[k] * error / count;
      loss += static_cast<double>(error) * static_cast<double>(error) / 4;
      if (others != nullptr) by_q_.data()[k] -= static_cast<float>(others->alpha) / count;
    }
    const std::vector<float> values(q.data(), others != nullptr ? q.data() + q.cols() : q.data());
    c.net.zero_gradients();
    c.net.backward(by_q_);
    if (others != nullptr) push_down(c, s.drawn.observations, values, *others);
  }
  require_finite("the loss is", loss);
  for (critic& c : critics_) {
    const double rate = c.optimizer.rate();
    c.optimizer.rate(rate * rate_left);
    c.optimizer.step(c.net.parameters(), c.net.gradients());
    c.optimizer.rate(rate);
  }
  return loss / static_cast<double>(count);
}

MANTA_DECL const twin_critics::judgement& twin_critics::judge(const nn::matrix<float>& observations,
                                                              const nn::matrix<float>& actions, bool both) {
  const nn::matrix<float>& x = joined(observations, actions);
  judged_.by_actions.setZero(actions.rows(), actions.cols());
  judged_.values.resize(static_cast<std::size_t>(x.cols()));
  const auto first = critics_[0].net.forward(x).row(0);
  std::copy(first.data(), first.data() + x.cols(), judged_.values.begin());
  other_.setConstant(1, x.cols(), 0);
  if (both) {
    const nn::matrix<float>& second = critics_[1].net.forward(x);
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      float& value = judged_.values[static_cast<std::size_t>(i)];
      if (second(0, i) >= value) continue;
      value = second(0, i);
      other_(0, i) = 1;
    }
    judged_.by_actions += critics_[1].net.backward_to_input(other_).bottomRows(actions.rows());
  }
  by_q_ = 1 - other_.array();
  judged_.by_actions += critics_[0].net.backward_to_input(by_q_).bottomRows(actions.rows());
  return judged_;
}

MANTA_DECL void twin_critics::follow(double part) {
  for (critic& c : critics_) move_towards(c.slow.parameters(), std::as_const(c.net).parameters(), part);
}

MANTA_DECL void twin_critics::resume(const twin_critics& saved) {
  for (std::size_t i = 0; i < critics_.size(); ++i) {
    critics_[i].net = saved.critics_[i].net;
    critics_[i].slow = saved.critics_[i].slow;
    critics_[i].optimizer.take_moments(saved.critics_[i].optimizer);
  }
}

}  // namespace manta::rl::detail
