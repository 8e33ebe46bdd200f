// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/exec/account/time_bins.hpp"

namespace manta::exec {

MANTA_DECL void time_bins::begin(std::uint64_t now) {
  bins_.fill({});
  begin_ = now;
  shift_ = first_shift;
}

MANTA_DECL void time_bins::add_function(bin& b, function_id function, std::uint32_t time) {
  for (bin::candidate& each : b.functions) {
    if (each.function == function.number() || each.function == graph::no_index) {
      each.function = function;
      each.time += time;
      return;
    }
  }
  bin::candidate& least = *std::ranges::min_element(b.functions, {}, &bin::candidate::time);
  least = {function, least.time + time};
}

MANTA_DECL void time_bins::add_across(rank_state state, std::uint64_t from, std::uint64_t to, function_id function) {
  while ((to - 1 - begin_) >> shift_ >= most) double_width();
  while (from < to) {
    const std::uint64_t at = (from - begin_) >> shift_;
    const std::uint64_t end = std::min(to, begin_ + ((at + 1) << shift_));
    add_to(bins_[at], state, end - from, function);
    from = end;
  }
}

inline void time_bins::double_width() {
  for (std::size_t i = 0; i < most; ++i) {
    const bin from = bins_[i];
    bin& into = bins_[i / 2];
    if (i % 2 == 0) into = {};
    for (std::size_t s = 0; s < rank_states; ++s) into.ticks[s] += from.ticks[s];
    for (const bin::candidate& each : from.functions) {
      if (each.function != graph::no_index) add_function(into, each.function, each.time);
    }
  }
  std::fill(bins_.begin() + most / 2, bins_.end(), bin());
  ++shift_;
}

MANTA_DECL std::uint32_t time_bins::function_of(std::size_t i) const {
  return std::ranges::max_element(bins_[i].functions, {}, &bin::candidate::time)->function;
}

MANTA_DECL std::array<std::uint64_t, rank_states> time_bins::totals() const {
  std::array<std::uint64_t, rank_states> sums{};
  for (const bin& each : bins_) {
    for (std::size_t s = 0; s < rank_states; ++s) sums[s] += each.ticks[s];
  }
  return sums;
}

}  // namespace manta::exec
