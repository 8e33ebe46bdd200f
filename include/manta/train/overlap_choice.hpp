// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// When gradients are exchanged: part by part during the backward pass, or all of them after it. The sums are the same
// bits, so that time alone decides. Across a network the parts travel while the backward pass computes. Between the
// ranks of one machine the cores themselves copy the numbers: that takes its time at any moment, and in the middle of
// the backward pass it takes the caches from it besides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace manta::train {

enum class overlap {
  measured,  ///< as is quicker: some of the first steps go one way, some the other, and again after a thousand steps
  always,
  never,
};

namespace detail {

/// What is measured; the members of a team agree on the choice.
class overlap_choice {
 public:
  explicit overlap_choice(overlap when) : when_(when), overlaps_(when != overlap::never) {}

  /// Whether the step that begins now overlaps.
  [[nodiscard]] bool overlaps() const { return is_measuring() ? turn_ % 2 == 0 : overlaps_; }
  /// A step has ended. True: enough steps are measured, and the members are to agree.
  bool add(double seconds) {
    if (when_ != overlap::measured) return false;
    if (is_measuring()) seconds_[turn_ % 2][(turn_ - warm_up) / 2] = seconds;
    turn_ = (turn_ + 1) % period;
    return turn_ == warm_up + 2 * samples;
  }
  /// By the medians: other programs on the machine disturb some steps.
  [[nodiscard]] bool is_quicker_with() const { return median(seconds_[0]) < median(seconds_[1]); }
  void choose(bool overlaps) { overlaps_ = overlaps; }

 private:
  static constexpr std::size_t warm_up = 4, samples = 15, period = 1024;
  using times = std::array<double, samples>;

  [[nodiscard]] bool is_measuring() const {
    return when_ == overlap::measured && turn_ >= warm_up && turn_ < warm_up + 2 * samples;
  }
  static double median(times t) {
    std::nth_element(t.begin(), t.begin() + samples / 2, t.end());
    return t[samples / 2];
  }

  overlap when_;
  bool overlaps_;
  std::size_t turn_ = 0;
  std::array<times, 2> seconds_{};  ///< seconds with overlap, and without
};

}  // namespace detail
}  // namespace manta::train
