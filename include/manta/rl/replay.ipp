// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of replay.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "manta/rl/replay.hpp"

namespace manta::rl {

MANTA_DECL sum_tree::sum_tree(std::size_t size)
    : leaves_(std::bit_ceil(std::max<std::size_t>(1, size))), sums_(2 * leaves_) {}

MANTA_DECL void sum_tree::set(std::size_t i, double weight) {
  std::size_t at = leaves_ + i;
  sums_[at] = weight;
  // Sums are made anew and not changed by differences, so errors do not add up.
  while (at > 1) {
    at /= 2;
    sums_[at] = sums_[2 * at] + sums_[2 * at + 1];
  }
}

MANTA_DECL std::size_t sum_tree::find(double at) const {
  std::size_t i = 1;
  while (i < leaves_) {
    i *= 2;
    if (at >= sums_[i] && sums_[i + 1] > 0) at -= sums_[i++];
  }
  return i - leaves_;
}

MANTA_DECL replay::replay(int observation, int action, std::size_t capacity, double alpha)
    : observation_(observation), action_(action), capacity_(capacity), alpha_(alpha), tree_(alpha > 0 ? capacity : 1) {
  observations_.resize(capacity * static_cast<std::size_t>(observation));
  nexts_.resize(observations_.size());
  actions_.resize(capacity * static_cast<std::size_t>(action));
  rewards_.resize(capacity);
  discounts_.resize(capacity);
}

MANTA_DECL void replay::add(const float* observation, const float* action, float reward, float discount,
                            const float* next) {
  const std::size_t i = next_;
  next_ = (next_ + 1) % capacity_;
  size_ = std::min(size_ + 1, capacity_);
  const auto at = [](std::vector<float>& v, std::size_t k, int n) {
    return v.begin() + static_cast<std::ptrdiff_t>(k * static_cast<std::size_t>(n));
  };
  std::copy(observation, observation + observation_, at(observations_, i, observation_));
  std::copy(next, next + observation_, at(nexts_, i, observation_));
  std::copy(action, action + action_, at(actions_, i, action_));
  rewards_[i] = reward;
  discounts_[i] = discount;
  if (alpha_ > 0) tree_.set(i, largest_);
}

MANTA_DECL replay::sample replay::draw(int count, double beta, random& numbers) const {
  sample s;
  s.observations.resize(observation_, count);
  s.next.resize(observation_, count);
  s.actions.resize(action_, count);
  float most = 0;
  for (int k = 0; k < count; ++k) {
    const std::size_t i = alpha_ > 0 ? std::min(tree_.find(numbers.uniform() * tree_.total()), size_ - 1)
                                     : static_cast<std::size_t>(numbers.index(static_cast<int>(size_)));
    s.which.push_back(i);
    const auto column = [&](const std::vector<float>& from, int n) {
      return Eigen::Map<const Eigen::VectorXf>(from.data() + i * static_cast<std::size_t>(n), n);
    };
    s.observations.col(k) = column(observations_, observation_);
    s.next.col(k) = column(nexts_, observation_);
    s.actions.col(k) = column(actions_, action_);
    s.rewards.push_back(rewards_[i]);
    s.discounts.push_back(discounts_[i]);
    const double p = alpha_ > 0 ? tree_.get(i) / tree_.total() * static_cast<double>(size_) : 1;
    s.weights.push_back(static_cast<float>(std::pow(p, -beta)));
    most = std::max(most, s.weights.back());
  }
  for (float& w : s.weights) w /= most;
  return s;
}

MANTA_DECL void replay::set_priorities(std::span<const std::size_t> which, std::span<const float> errors) {
  if (alpha_ <= 0) return;
  for (std::size_t k = 0; k < which.size(); ++k) {
    const double p = std::pow(std::abs(static_cast<double>(errors[k])) + 1e-6, alpha_);
    largest_ = std::max(largest_, p);
    tree_.set(which[k], p);
  }
}

}  // namespace manta::rl
