// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank did when: the time of a run in 512 bins of equal width. When the run
// is longer than the bins, two neighbours become one and the width doubles, so the
// memory stays the same and nothing is lost.
#pragma once

#include <array>
#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/report/statistics.hpp"

namespace manta::exec {

class time_bins {
 public:
  static constexpr std::size_t most = 512;
  /// One bin. Times are in ticks (base/clock.hpp).
  struct bin {
    std::array<std::uint64_t, rank_states> ticks{};
    struct candidate {
      std::uint32_t function = graph::no_index;
      std::uint32_t time = 0;  ///< time in units of 256 ticks
    };
    /// The functions with most time. One that is not among them takes the place of the least, with its time: none with
    /// more than a quarter of the bin is missed.
    std::array<candidate, 4> functions;
  };

  /// The first bin begins now.
  MANTA_DECL void begin(std::uint64_t now);
  /// The rank was in this state from then to then, with a task of `function` if that is not no_index.
  void add(rank_state state, std::uint64_t from, std::uint64_t to, function_id function = graph::no_index) {
    const std::uint64_t first = (from - begin_) >> shift_;
    if (to <= from) return;
    if (first == (to - 1 - begin_) >> shift_ && first < most) [[likely]] {
      add_to(bins_[first], state, to - from, function);
    } else {
      add_across(state, from, to, function);
    }
  }

  std::uint64_t begun() const { return begin_; }                      ///< the begin of the first bin, in ticks
  std::uint64_t width() const { return std::uint64_t{1} << shift_; }  ///< width of a bin, in ticks
  const bin& operator[](std::size_t i) const { return bins_[i]; }
  /// The number of bins that have begun at this time.
  std::size_t count(std::uint64_t now) const {
    const std::uint64_t begun = ((now - begin_) >> shift_) + 1;
    return begun < most ? static_cast<std::size_t>(begun) : most;
  }
  /// The function with most time in a bin; no_index: no task ran.
  MANTA_DECL std::uint32_t function_of(std::size_t i) const;
  /// The sum of all bins, in ticks.
  MANTA_DECL std::array<std::uint64_t, rank_states> totals() const;

 private:
  static constexpr unsigned first_shift = 20;  ///< a third of a millisecond

  /// Adds time that is in one bin.
  static void add_to(bin& b, rank_state state, std::uint64_t ticks, function_id function) {
    b.ticks[static_cast<std::size_t>(state)] += ticks;
    if (function == graph::no_index) return;
    const auto time = static_cast<std::uint32_t>(ticks >> 8);
    bin::candidate& first = b.functions[0];
    first.function == function.number() ? void(first.time += time) : add_function(b, function, time);
  }
  /// Adds time of a function to its candidates.
  MANTA_DECL static void add_function(bin& b, function_id function, std::uint32_t time);
  /// Adds time that is in several bins, or after the last one.
  MANTA_DECL void add_across(rank_state state, std::uint64_t from, std::uint64_t to, function_id function);
  void double_width();  ///< Two neighbours become one.

  std::array<bin, most> bins_;
  std::uint64_t begin_ = 0;
  unsigned shift_ = first_shift;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/account/time_bins.ipp"
#endif
