// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// When a submitter has to wait: it has more tasks that have not ended than it
// may have, or its rank is short of memory for values. It waits only as long as
// their number falls, or what is taken: what holds them may be what the
// submitter does next. Few stacks are held at once, for each costs memory too;
// the tasks of a stack that is not held are run before those that wait, so they
// stay few.
//
// This part decides; the engine waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/exec/rank/waits.hpp"

namespace manta::exec {

class throttle {
 public:
  static constexpr std::size_t most_stacks = 16;              ///< held at once
  static constexpr std::int64_t patience_ns = 1'000'000'000;  ///< then the submitter looks whether it waits in vain
  /// The patience where arguments take the room: to go on costs memory, and the receiver may be busy for a while.
  static constexpr std::int64_t patience_with_bytes_ns = 30'000'000'000;

  explicit throttle(std::size_t most_unfinished) : most_(most_unfinished), bound_(most_unfinished) {}

  /// A run begins.
  void begin() { bound_ = most_; }
  /// Has the submitter run ahead of those that run its tasks?
  bool is_ahead(std::size_t unfinished) const { return unfinished > bound_; }
  /// Is the memory for values short, and may it become less as tasks made here end?
  bool may_get_room(bool is_short, std::size_t unfinished) {
    if (!is_short) memory_in_vain_ = false;
    return is_short && !memory_in_vain_ && unfinished != 0;
  }
  /// Few tasks are unfinished: what was allowed beyond the limit is allowed no more.
  void relax(std::size_t unfinished) {
    if (unfinished < most_ / 2) bound_ = most_;
  }

  /// A task or call has been submitted. Of 64 submitters one helps to send, and looks whether it runs ahead.
  bool is_time_to_help() { return (++submissions_ & 63) == 0; }

  bool may_hold() const { return held_.size() < most_stacks; }
  bool holds() const { return !held_.empty(); }
  void hold(wait_record& record) { held_.push_back(&record); }
  void release(wait_record& record) { held_.remove(&record); }
  /// What a submitter finds before it waits, and again when its patience has ended.
  struct state {
    std::size_t unfinished;
    std::uint64_t taken;  ///< bytes of memory for values
  };
  /// The patience of a held submitter has ended. If it waits in vain it may go on, with twice as many tasks or with
  /// what memory there is. `was_ahead`: is_ahead() before it waited.
  void note_patience(const state& before, const state& now, bool was_ahead) {
    if (was_ahead && now.unfinished >= before.unfinished) bound_ = 2 * now.unfinished;
    memory_in_vain_ = now.taken >= before.taken;
  }
  /// Have enough tasks ended to let go those that are held?
  bool has_room(std::size_t unfinished) const { return unfinished <= bound_ - bound_ / 8; }
  const base::list<wait_record*>& held() const { return held_; }

 private:
  std::size_t most_;             // unfinished tasks, by the settings
  std::size_t bound_;            // unfinished tasks, now
  bool memory_in_vain_ = false;  // a submitter that is short of memory has waited, and the memory taken has not fallen
  base::list<wait_record*> held_;
  unsigned submissions_ = 0;
};

}  // namespace manta::exec
