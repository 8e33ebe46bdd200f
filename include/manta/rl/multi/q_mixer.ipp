// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of q_mixer.hpp. The outputs of the network are, in this order: the weights of each seat's value, for
// all hidden units; the biases of these units; their weights in the result; the result's bias.
#pragma once

#include "manta/nn/layers.hpp"
#include "manta/rl/multi/q_mixer.hpp"

namespace manta::rl::detail {

MANTA_DECL q_mixer::q_mixer(mixing how, int seats, int state, int units, int hidden, std::uint64_t seed)
    : how_(how), seats_(seats), units_(units) {
  if (how != mixing::monotone) return;
  net_ = nn::network<float>(nn::shape{state}, nn::linear(hidden), nn::relu(), nn::linear((seats + 2) * units + 1));
  net_.initialise(seed);
}

MANTA_DECL const nn::matrix<float>& q_mixer::forward(const nn::matrix<float>& q, const nn::matrix<float>& state) {
  if (how_ != mixing::monotone) return total_ = q.colwise().sum();
  q_ = q;
  outputs_ = net_.forward(state);
  hidden_ = weights_of(outputs_, seats_);
  for (Eigen::Index i = 0; i < seats_; ++i)
    hidden_.array() += weights_of(outputs_, i).abs().rowwise() * q.row(i).array();
  hidden_ = (hidden_.array() > 0).select(hidden_.array(), hidden_.array().min(0.f).exp() - 1);  // rises everywhere
  total_ = (weights_of(outputs_, seats_ + 1).abs() * hidden_.array()).colwise().sum().matrix();
  return total_ += outputs_.bottomRows(1);
}

MANTA_DECL const nn::matrix<float>& q_mixer::backward(const nn::matrix<float>& by_total) {
  if (how_ != mixing::monotone) return by_q_ = by_total.replicate(seats_, 1);
  by_outputs_.resize(outputs_.rows(), outputs_.cols());
  const auto by_weights_of = [&](Eigen::Index seat) { return by_outputs_.middleRows(seat * units_, units_).array(); };
  by_outputs_.bottomRows(1) = by_total;
  const auto last = weights_of(outputs_, seats_ + 1);
  by_weights_of(seats_ + 1) = last.sign() * (hidden_.array().rowwise() * by_total.row(0).array());
  // The slope of a unit is 1 above 0, and its value plus 1 below.
  by_hidden_ = (last.abs().rowwise() * by_total.row(0).array()) * (hidden_.array().min(0.f) + 1);
  by_weights_of(seats_) = by_hidden_.array();
  by_q_.resize(seats_, by_total.cols());
  for (Eigen::Index i = 0; i < seats_; ++i) {
    const auto its = weights_of(outputs_, i);
    by_weights_of(i) = its.sign() * (by_hidden_.array().rowwise() * q_.row(i).array());
    by_q_.row(i) = (its.abs() * by_hidden_.array()).colwise().sum().matrix();
  }
  net_.backward(by_outputs_);
  return by_q_;
}

}  // namespace manta::rl::detail
