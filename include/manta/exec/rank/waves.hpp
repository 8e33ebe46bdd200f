// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0: does anything still go on? Rank 0 asks all ranks in waves. When every
// rank is quiet in two waves in a row, and in both the ranks had received as
// many messages as they had sent, and that number was equal in both, nothing
// runs, nothing is under way, and nothing ever will be (Mattern's four
// counters): exact, not a timeout.
//
// This part keeps the account of the waves and decides when the next one is
// due. It sends nothing, never waits, and reads no clock.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"

namespace manta::exec {

class waves {
 public:
  /// What a rank says of itself, or the sum over ranks. Travels as it is.
  struct tally {
    std::uint32_t sent, received;  ///< messages; the numbers wrap around
    std::uint32_t busy;            ///< number of ranks that are not quiet
    std::uint32_t waits;           ///< number of waits of tasks and of the driver
    std::uint32_t late;            ///< number of tasks that were set aside
    std::uint32_t keeps;           ///< number of ranks with actors, or with failures that nobody has looked at
  };
  enum class verdict : std::uint8_t {
    busy,      ///< a rank was not quiet, or a message was under way
    balanced,  ///< all is quiet: the next wave, which is due at once, shows whether it has been quiet all along
    stable     ///< nothing goes on, and nothing will
  };
  static constexpr std::int64_t first_interval_ns = 200'000, longest_interval_ns = 50'000'000;

  /// Is it time for a wave? The first question after a wave, or after `put_off`, starts the clock.
  MANTA_DECL bool is_due(std::int64_t now_ns);
  /// Rank 0 itself is not quiet: the next wave is due an interval after it has become quiet.
  void put_off() { due_ns_ = 0; }
  /// The driver has returned: the next wave is due at once.
  MANTA_DECL void hasten();
  /// A rank has died, which will not answer. Gives up the wave that is under way, and forgets the one before.
  MANTA_DECL void give_up();

  bool is_under_way() const { return under_way_; }
  /// Begins a wave and returns its number; `others` is the number of ranks that will answer.
  MANTA_DECL std::uint64_t begin(std::uint32_t others);
  /// Counts the answer of a rank. Ignores it if it belongs to an earlier wave.
  MANTA_DECL void add(std::uint64_t wave, const tally& answer);
  /// Have all ranks answered?
  bool is_complete() const { return missing_ == 0; }
  /// Ends a complete wave; `own` is what rank 0 says of itself.
  MANTA_DECL verdict conclude(const tally& own);
  /// The sum over all ranks of the wave that was concluded last.
  const tally& all() const { return all_; }

 private:
  static constexpr std::int64_t at_once = 1;

  std::uint64_t number_ = 0;
  std::uint32_t asked_ = 0, missing_ = 0;  // ranks that answer the wave, and of these those that have not yet
  bool under_way_ = false;
  bool was_balanced_ = false;      // in the wave before
  std::uint32_t sent_before_ = 0;  // messages, in the wave before
  tally all_{};
  std::int64_t due_ns_ = 0;  // 0: not known yet
  std::int64_t interval_ns_ = first_interval_ns;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/rank/waves.ipp"
#endif
