// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The number of messages that this rank has sent to each rank and received from
// each. Rank 0 adds the numbers of all ranks up to see whether a message is
// under way (waves.hpp). Housekeeping is not counted. The numbers and their sums
// wrap around: what counts is whether two sums are equal, and far fewer than 2^32
// messages are under way at a time.
#pragma once

#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/membership.hpp"

namespace manta::exec {

class traffic {
 public:
  explicit traffic(std::uint32_t size) : sent_to_(size), received_from_(size) {}

  /// Counts a message for this rank.
  void note_sent(rank_id to) { ++sent_to_[to]; }
  /// Counts a message of this rank.
  void note_received(rank_id from) { ++received_from_[from]; }
  /// The number of messages sent to the ranks that live.
  std::uint32_t sent(const membership& members) const { return sum(sent_to_, members); }
  /// The number of messages received from the ranks that live.
  std::uint32_t received(const membership& members) const { return sum(received_from_, members); }

 private:
  static std::uint32_t sum(const base::array<std::uint32_t>& counts, const membership& members) {
    std::uint32_t all = 0;
    for (std::uint32_t r = 0; r < counts.size(); ++r) {
      if (!members.is_dead(r)) all += counts[r];
    }
    return all;
  }

  base::array<std::uint32_t> sent_to_, received_from_;  // by rank
};

}  // namespace manta::exec
