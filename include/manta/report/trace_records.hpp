// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a trace holds of one rank: stretches of time in which one of its tasks ran, or in which the rank did something
// else. A number of records that is too large is made smaller by merging: neighbours that are short become one record,
// which says how many tasks ended in it and how long they ran. Long stretches stay as they are, and sums are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "manta/base/config.hpp"

namespace manta::report {

/// A stretch of the time of one rank. Times are in the unit of whoever made the record: ticks, later nanoseconds.
struct trace_record {
  enum kind : std::uint64_t {
    task,   ///< one task ran
    burst,  ///< several tasks ran, one after the other
    state   ///< the rank was in a state other than `task`; `function` is the number of the state
  };
  /// Stands for several functions or states.
  static constexpr std::uint32_t several = ~std::uint32_t{0};

  std::uint64_t begin = 0;
  std::uint64_t extent : 48 = 0;
  std::uint64_t kind : 4 = task;
  bool ends : 1 = false;       ///< a task: it has ended with this record; else it waits
  bool failed : 1 = false;     ///< the task has failed; of a burst, one of its tasks
  bool is_call : 1 = false;    ///< a task: a call of an actor, whose name it has then
  bool is_member : 1 = false;  ///< a task: a member of a gang, whose members have one id
  std::uint64_t attempt : 8 = 0;
  std::uint64_t id = 0;  ///< id of the task; of several tasks or states: the time in which they ran
  std::uint32_t function = several;
  std::uint32_t count = 0;  ///< a burst: tasks that ended in it. A task: the number of its name; 0: it has none

  std::uint64_t end() const { return begin + extent; }
  /// Sets the extent; the begin is known.
  void end_at(std::uint64_t end) { extent = (end - begin) & ((std::uint64_t{1} << 48) - 1); }
  /// The number of tasks that ended with this record.
  std::uint64_t tasks() const { return kind == burst ? count : ends ? 1U : 0U; }
  /// The time in which tasks ran, or the state lasted.
  std::uint64_t busy() const { return is_merged() ? id : extent; }
  /// Does the record stand for several?
  bool is_merged() const { return kind == burst || (kind == state && id != 0); }
};
static_assert(sizeof(trace_record) == 32);

/// A task has a value of another task as its input. Both are named by their ids.
struct trace_arrow {
  std::uint64_t from = 0, to = 0;
};

/// A quantity of one rank at a moment.
struct trace_sample {
  enum quantity : std::uint32_t {
    value_bytes,  ///< bytes of values in memory
    sent_bytes,   ///< bytes of values that were sent
    waiting       ///< rank 0: tasks that wait for room
  };
  std::uint64_t at = 0;
  std::uint64_t value = 0;
  std::uint32_t what = value_bytes;
};

/// Merges a record into the one before it in its sequence.
MANTA_DECL void merge(trace_record& into, const trace_record& next);

/// Merges neighbours that are shorter than `limit`, where the gap between them is shorter too, into records of about
/// that length. Tasks and states have a sequence each, in order of time. Returns the number of records that are left,
/// at the begin.
MANTA_DECL std::size_t merge_short(std::span<trace_record> records, std::uint64_t limit);

/// Merges until at most `most` records are left, but for one of each sequence. `limit` is the one that was used before,
/// or the first one to try. It is doubled only if that leaves more.
MANTA_DECL std::size_t merge_until(std::span<trace_record> records, std::size_t most, std::uint64_t& limit);

/// Leaves out about half of the arrows: all of a task or none. Each call with a larger `rounds` leaves out more.
MANTA_DECL std::size_t thin_arrows(std::span<trace_arrow> arrows, unsigned rounds);
/// Does this arrow stay after this number of rounds?
inline bool stays(const trace_arrow& arrow, unsigned rounds) {
  return (arrow.to & ((std::uint64_t{1} << rounds) - 1)) == 0;
}

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/trace_records.ipp"
#endif
