// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>

#include "manta/nn/random.hpp"
#include "manta/train/epoch_order.hpp"

namespace manta::train::detail {

MANTA_DECL void epoch_order::draw_by(std::span<const double> weights) {
  sums_.resize(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums_.begin());
}

MANTA_DECL void epoch_order::make(std::uint64_t seed, std::uint64_t epoch, std::uint64_t size) {
  order_.resize(size);
  std::iota(order_.begin(), order_.end(), std::uint64_t(0));
  const nn::random numbers(seed, epoch, 1);
  if (!sums_.empty()) {
    places_ = order_;
    // The first sample whose sum is above the number; one of weight 0 has the sum of the sample before it.
    for (std::uint64_t& sample : order_) {
      const auto found = std::ranges::upper_bound(sums_, numbers.uniform(sample) * sums_.back());
      sample = static_cast<std::uint64_t>(std::min(found, sums_.end() - 1) - sums_.begin());
    }
    return;
  }
  if (!shuffles_) return;
  for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[numbers.bits(i) % i]);
}

MANTA_DECL std::vector<std::vector<std::uint64_t>> epoch_order::reading_plan(std::uint64_t sample) const {
  std::vector<std::vector<std::uint64_t>> plan;
  for (std::uint64_t end = 0; sample < last(); sample = end) {
    end = end_of_batch(sample);
    for (int i = 0; i < parts_; ++i) {
      const auto numbers = part(share({sample, end}), i).samples;
      if (!numbers.empty()) plan.emplace_back(numbers.begin(), numbers.end());
    }
  }
  return plan;
}

}  // namespace manta::train::detail
