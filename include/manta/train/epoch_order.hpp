// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The order of an epoch's samples, which follows from seed and epoch, and what of it each worker takes: batches are the
// next ranges of the order, and worker i of n takes the i-th part of each. The order has each sample once or, where
// samples are drawn by weights, a sample as often as it was drawn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "manta/train/options.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

/// Places [first, second) in the order of the samples.
using range = std::pair<std::uint64_t, std::uint64_t>;

/// Samples of a batch that run together.
struct sample_part {
  std::span<const std::uint64_t> samples;  ///< their numbers in the data
  /// For each a number that no other of the epoch has, from which masks and augmentations follow: the sample's own or,
  /// where a sample may come twice, its place in the order.
  std::span<const std::uint64_t> draws;
};

/// The part of [begin, end) that belongs to member `i` of `n`: parts differ by one at most.
inline range share_of(std::uint64_t begin, std::uint64_t end, int i, int n) {
  const auto at = [&](int k) {
    return begin + (end - begin) * static_cast<std::uint64_t>(k) / static_cast<std::uint64_t>(n);
  };
  return {at(i), at(i + 1)};
}

class epoch_order {
 public:
  epoch_order(const options& o, int member, int members)
      : batch_(static_cast<std::uint64_t>(o.batch)),
        shuffles_(o.shuffle),
        drops_last_(o.drop_last),
        parts_(o.accumulate),
        member_(member),
        members_(members) {}

  /// From the next `make` on, an epoch draws its samples by these weights, one for each sample, with replacement.
  MANTA_DECL void draw_by(std::span<const double> weights);
  /// Has each share run in one part, whatever the options say.
  void run_shares_whole() { parts_ = 1; }
  [[nodiscard]] int parts() const { return parts_; }

  /// Makes the order of an epoch over `size` samples.
  MANTA_DECL void make(std::uint64_t seed, std::uint64_t epoch, std::uint64_t size);

  /// Where the epoch ends.
  [[nodiscard]] std::uint64_t last() const {
    return drops_last_ ? order_.size() / batch_ * batch_ : static_cast<std::uint64_t>(order_.size());
  }
  /// The end of the batch that begins at `sample`.
  [[nodiscard]] std::uint64_t end_of_batch(std::uint64_t sample) const { return std::min(sample + batch_, last()); }
  /// Whether the batch is smaller than the others: what is left of the epoch.
  [[nodiscard]] bool is_rest(const range& batch) const { return batch.second - batch.first < batch_; }

  /// The numbers of the samples at these places.
  [[nodiscard]] std::span<const std::uint64_t> samples(const range& places) const {
    return std::span(order_).subspan(places.first, places.second - places.first);
  }
  /// This member's part of a batch.
  [[nodiscard]] range share(const range& batch) const { return share_of(batch.first, batch.second, member_, members_); }
  /// The samples of part `i` of a share.
  [[nodiscard]] sample_part part(const range& share, int i) const {
    const range its = share_of(share.first, share.second, i, parts_);
    const auto numbers = samples(its);
    return {numbers, places_.empty() ? numbers : std::span(places_).subspan(its.first, its.second - its.first)};
  }
  /// The samples that this member takes after those of the batch.
  [[nodiscard]] std::span<const std::uint64_t> next_share(const range& batch) const {
    return samples(share({batch.second, end_of_batch(batch.second)}));
  }
  /// What this member takes from `sample` to the end of the epoch, part by part.
  [[nodiscard]] MANTA_DECL std::vector<std::vector<std::uint64_t>> reading_plan(std::uint64_t sample) const;

 private:
  std::uint64_t batch_;
  bool shuffles_, drops_last_;
  int parts_;
  int member_, members_;
  std::vector<std::uint64_t> order_;
  std::vector<std::uint64_t> places_;  ///< 0, 1, .. where samples are drawn; else empty
  std::vector<double> sums_;           ///< sums of the weights of the samples up to each; empty: each sample comes once
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/epoch_order.ipp"
#endif
