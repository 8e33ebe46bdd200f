// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of replay.hpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/learning/replay.hpp"

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

MANTA_DECL void transitions::resize(Eigen::Index observation, Eigen::Index action, std::size_t count,
                                    Eigen::Index mask) {
  const auto columns = static_cast<Eigen::Index>(count);
  observations.resize(observation, columns);
  next.resize(observation, columns);
  actions.resize(action, columns);
  next_masks.resize(mask, columns);
  rewards.resize(count);
  discounts.resize(count);
}

MANTA_DECL void transitions::set_size(std::size_t count) {
  const auto columns = static_cast<Eigen::Index>(count);
  for (nn::matrix<float>* m : {&observations, &actions, &next}) m->conservativeResize(Eigen::NoChange, columns);
  next_masks.conservativeResize(Eigen::NoChange, columns);
  rewards.resize(count);
  discounts.resize(count);
}

namespace detail {
inline void copy_transition(const transitions& from, std::size_t i, transitions& to, std::size_t k) {
  const auto a = static_cast<Eigen::Index>(i), b = static_cast<Eigen::Index>(k);
  to.observations.col(b) = from.observations.col(a);
  to.actions.col(b) = from.actions.col(a);
  to.next.col(b) = from.next.col(a);
  if (to.next_masks.rows() > 0) to.next_masks.col(b) = from.next_masks.col(a);
  to.rewards[k] = from.rewards[i];
  to.discounts[k] = from.discounts[i];
}
}  // namespace detail

MANTA_DECL bool transitions::has_shape(Eigen::Index observation, Eigen::Index action) const {
  const auto is = [&](const nn::matrix<float>& m, Eigen::Index rows) {
    return m.rows() == rows && static_cast<std::size_t>(m.cols()) == size();
  };
  return is(observations, observation) && is(actions, action) && is(next, observation) && discounts.size() == size() &&
         (next_masks.rows() == 0 || static_cast<std::size_t>(next_masks.cols()) == size());
}

MANTA_DECL replay::replay(int observation, int action, std::size_t capacity, double alpha, int mask)
    : capacity_(capacity), alpha_(alpha), tree_(alpha > 0 ? capacity : 1) {
  ring_.resize(observation, action, capacity, mask);
}

MANTA_DECL void replay::add(const transitions& t) {
  for (std::size_t k = 0; k < t.size(); ++k) {
    detail::copy_transition(t, k, ring_, next_);
    if (alpha_ > 0) tree_.set(next_, largest_);
    next_ = (next_ + 1) % capacity_;
    size_ = std::min(size_ + 1, capacity_);
  }
}

MANTA_DECL replay::sample replay::draw(int count, double beta, const random& numbers) const {
  if (size_ == 0) throw error("manta: rl: the replay memory is empty; add transitions before the first draw");
  sample s;
  s.drawn.resize(ring_.observations.rows(), ring_.actions.rows(), static_cast<std::size_t>(count),
                 ring_.next_masks.rows());
  random draws = numbers;
  float most = 0;
  for (std::size_t k = 0; k < s.drawn.size(); ++k) {
    const std::size_t i = alpha_ > 0 ? std::min(tree_.find(draws.uniform() * tree_.total()), size_ - 1)
                                     : static_cast<std::size_t>(draws.index(static_cast<int>(size_)));
    s.which.push_back(i);
    detail::copy_transition(ring_, i, s.drawn, k);
    const double p = alpha_ > 0 ? tree_.get(i) / tree_.total() * static_cast<double>(size_) : 1;
    s.weights.push_back(static_cast<float>(std::pow(p, -beta)));
    most = std::max(most, s.weights.back());
  }
  for (float& w : s.weights) w /= most;
  return s;
}

MANTA_DECL void replay::set_priorities(const std::vector<std::size_t>& which, const std::vector<float>& errors) {
  if (alpha_ <= 0) return;
  for (std::size_t k = 0; k < which.size(); ++k) {
    const double p = std::pow(std::abs(static_cast<double>(errors[k])) + 1e-6, alpha_);
    largest_ = std::max(largest_, p);
    tree_.set(which[k], p);
  }
}

MANTA_DECL std::string replay::state() const { return output::pack(*this); }
MANTA_DECL void replay::restore(const std::string& bytes) { output::unpack(bytes, *this); }

}  // namespace manta::rl
