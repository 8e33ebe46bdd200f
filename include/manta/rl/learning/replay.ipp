// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "manta/base/text.hpp"
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

MANTA_DECL replay::replay(int observation, int action, std::size_t capacity, double alpha, int mask)
    : capacity_(capacity), alpha_(alpha), frames_(observation_code(observation)), tree_(alpha > 0 ? capacity : 1) {
  before_.resize(capacity);
  after_.resize(capacity);
  rest_.resize(0, action, capacity, mask);
  // Checkpoints have these arrays whole: equal trainings have equal bytes.
  rest_.actions.setZero();
  rest_.next_masks.setZero();
}
MANTA_DECL replay::replay(const space& observations, int action, std::size_t capacity, double alpha, int mask)
    : replay(observations.features(), action, capacity, alpha, mask) {
  frames_ = detail::frame_store(observation_code(observations));
}

MANTA_DECL void replay::add_rated(const transitions& t, const std::vector<float>& errors) {
  if (!errors.empty() && errors.size() != t.size())
    throw error(base::text("manta: rl: {} transitions were added to a replay memory with {} errors; each has one",
                           t.size(), errors.size()));
  for (std::size_t k = 0; k < t.size(); ++k) {
    const auto from = static_cast<Eigen::Index>(k), to = static_cast<Eigen::Index>(next_);
    if (size_ == capacity_) {
      frames_.release(before_[next_]);
      frames_.release(after_[next_]);
    }
    before_[next_] = frames_.keep(t.observations.col(from).data());
    after_[next_] = frames_.keep(t.next.col(from).data());
    rest_.actions.col(to) = t.actions.col(from);
    if (rest_.next_masks.rows() > 0) rest_.next_masks.col(to) = t.next_masks.col(from);
    rest_.rewards[next_] = t.rewards[k];
    rest_.discounts[next_] = t.discounts[k];
    if (errors.empty()) {
      if (alpha_ > 0) tree_.set(next_, largest_);
    } else {
      set_priority(next_, errors[k]);
    }
    next_ = (next_ + 1) % capacity_;
    size_ = std::min(size_ + 1, capacity_);
  }
}

inline void replay::read(std::size_t place, transitions& to, std::size_t k) const {
  const auto a = static_cast<Eigen::Index>(place), b = static_cast<Eigen::Index>(k);
  frames_.read(before_[place], to.observations.col(b).data());
  frames_.read(after_[place], to.next.col(b).data());
  to.actions.col(b) = rest_.actions.col(a);
  if (to.next_masks.rows() > 0) to.next_masks.col(b) = rest_.next_masks.col(a);
  to.rewards[k] = rest_.rewards[place];
  to.discounts[k] = rest_.discounts[place];
}

MANTA_DECL replay::sample replay::draw(int count, double beta, const random& numbers) const {
  if (size_ == 0) throw error("manta: rl: the replay memory is empty; add transitions before the first draw");
  sample s;
  s.drawn.resize(frames_.code().features(), rest_.actions.rows(), static_cast<std::size_t>(count),
                 rest_.next_masks.rows());
  s.drawn.code = frames_.code();
  random draws = numbers;
  float most = 0;
  for (std::size_t k = 0; k < s.drawn.size(); ++k) {
    const std::size_t i = alpha_ > 0 ? std::min(tree_.find(draws.uniform() * tree_.total()), size_ - 1)
                                     : static_cast<std::size_t>(draws.index(static_cast<int>(size_)));
    s.which.push_back(i);
    read(i, s.drawn, k);
    const double p = alpha_ > 0 ? tree_.get(i) / tree_.total() * static_cast<double>(size_) : 1;
    s.weights.push_back(static_cast<float>(std::pow(p, -beta)));
    most = std::max(most, s.weights.back());
  }
  for (float& w : s.weights) w /= most;
  return s;
}

MANTA_DECL void replay::set_priorities(const std::vector<std::size_t>& which, const std::vector<float>& errors) {
  for (std::size_t k = 0; k < which.size(); ++k) {
    if (which[k] < size_) set_priority(which[k], errors[k]);
  }
}

inline void replay::set_priority(std::size_t place, float error) {
  if (alpha_ <= 0) return;
  const double p = std::pow(std::abs(static_cast<double>(error)) + 1e-6, alpha_);
  largest_ = std::max(largest_, p);
  tree_.set(place, p);
}

MANTA_DECL std::string replay::state() const { return output::pack(*this); }
MANTA_DECL void replay::restore(const std::string& bytes) {
  replay saved;
  output::unpack(bytes, saved);
  if (saved.capacity_ == capacity_ && saved.alpha_ == alpha_) {
    *this = std::move(saved);
    return;
  }
  replay mine(frames_.code().features(), static_cast<int>(rest_.actions.rows()), capacity_, alpha_,
              static_cast<int>(rest_.next_masks.rows()));
  mine.frames_ = detail::frame_store(frames_.code());
  transitions one;
  one.resize(frames_.code().features(), rest_.actions.rows(), 1, rest_.next_masks.rows());
  const std::size_t first = saved.size_ < saved.capacity_ ? 0 : saved.next_;  // the oldest
  for (std::size_t k = saved.size_ - std::min(saved.size_, capacity_); k < saved.size_; ++k) {
    const std::size_t place = (first + k) % saved.capacity_;
    saved.read(place, one, 0);
    const std::size_t own = mine.next_;
    mine.add(one);
    if (alpha_ > 0 && saved.alpha_ > 0) mine.tree_.set(own, std::pow(saved.tree_.get(place), alpha_ / saved.alpha_));
  }
  if (alpha_ > 0 && saved.alpha_ > 0) mine.largest_ = std::pow(saved.largest_, alpha_ / saved.alpha_);
  *this = std::move(mine);
}

}  // namespace manta::rl
