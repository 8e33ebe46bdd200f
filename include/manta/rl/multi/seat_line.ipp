// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/rl/multi/seat_line.hpp"

namespace manta::rl::detail {

MANTA_DECL void seat_line::open(const learning_actor& a, std::size_t k, mask_view allowed, bool is_first) {
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  append(observations_, a.seen(k));
  append(actions_, a.action(k));
  append(masks_, allowed);
  log_probabilities_.push_back(a.log_probability(k));
  set_value_after(a.value(k));
  begins_.push_back(is_first);
  reward_ = 0;
  discount_ = 1;
}

MANTA_DECL void seat_line::close(ending e, std::span<const float> next) {
  rewards_.push_back(reward_);
  discounts_.push_back(discount_);
  terminated_.push_back(e == ending::terminated);
  truncated_.push_back(e == ending::truncated);
  finals_.push_back(0);
  next_.insert(next_.end(), next.begin(), next.end());
}

/// Takes away all but the last `count` parts of as many numbers each as there are for `steps` steps.
template <class T>
void keep_last(std::vector<T>& v, std::size_t steps, std::size_t count) {
  if (steps > 0) v.erase(v.begin(), v.end() - static_cast<std::ptrdiff_t>(v.size() / steps * count));
}

MANTA_DECL void seat_line::leave_out_open() {
  const std::size_t steps = log_probabilities_.size();
  const auto shorten = [&](auto& v) { v.resize(v.size() / steps * (steps - 1)); };
  const float value = values_.back();
  const bool is_first = begins_.back();
  shorten(observations_);
  shorten(actions_);
  shorten(masks_);
  shorten(log_probabilities_);
  shorten(begins_);
  values_.resize(size());
  if (is_first || size() == 0) return;
  truncated_.back() = 1;
  finals_.back() = value;
}

MANTA_DECL void seat_line::keep_open() {
  const std::size_t steps = log_probabilities_.size(), open = is_open() ? 1 : 0;
  keep_last(observations_, steps, open);
  keep_last(actions_, steps, open);
  keep_last(masks_, steps, open);
  keep_last(log_probabilities_, steps, open);
  keep_last(begins_, steps, open);
  values_.clear();
  next_.clear();
  finals_.clear();
  rewards_.clear();
  discounts_.clear();
  terminated_.clear();
  truncated_.clear();
}

MANTA_DECL void seat_line::write(const learning_actor& a, const rollout& how, fragment& to, std::size_t column) {
  const auto n = static_cast<Eigen::Index>(size()), at = static_cast<Eigen::Index>(column);
  if (n == 0) return;
  const Eigen::Index rows = a.features() + a.central();
  const Eigen::Map<const nn::matrix<float>> seen(observations_.data(), rows, n);
  to.observations.middleCols(at, n) = seen;
  to.actions.middleCols(at, n) = Eigen::Map<const nn::matrix<float>>(actions_.data(), a.action_size(), n);
  if (to.masks.rows() > 0) to.masks.middleCols(at, n) = Eigen::Map<const action_masks>(masks_.data(), a.mask_size(), n);
  const auto copy = [&](const auto& from, auto& all) {
    std::copy_n(from.begin(), n, all.begin() + static_cast<std::ptrdiff_t>(column));
  };
  copy(log_probabilities_, to.log_probabilities);
  copy(begins_, to.begins);
  const collection standard;
  const collection& estimator = a.own_collection() != nullptr ? *a.own_collection() : standard;
  if (a.own_collection() != nullptr) {
    const nn::matrix<float> own = seen.topRows(a.features());
    const Eigen::Map<const nn::matrix<float>> next(next_.data(), a.features(), n);
    estimator.steps_made({own, to.actions.middleCols(at, n), next, rewards_, terminated_, truncated_});
  }
  for (double& r : rewards_) r *= how.reward_scale;
  const std::span<float> advantages = std::span(to.advantages).subspan(column, size());
  if (values_.size() == size()) values_.push_back(0);  // nothing comes after an end
  estimator.estimate({rewards_, values_, terminated_, truncated_, finals_, how.discount, how.lambda, discounts_},
                     advantages);
  for (std::size_t t = 0; t < size(); ++t) to.returns[column + t] = advantages[t] + values_[t];
}

}  // namespace manta::rl::detail
