// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Points in time between tasks, in ticks: when the last task has ended, when
// the rank has last looked around, and when others may go on. Reading the clock
// costs a tenth of a small task, so it is read once a task, by the caller.
#pragma once

#include <cstdint>
#include <utility>

namespace manta::exec {

class pace {
 public:
  void note_end(std::uint64_t now) { task_ended_ = now; }
  /// When the last task has ended: the time, as far as it is known between tasks.
  std::uint64_t task_ended() const { return task_ended_; }

  /// A rank that runs one task after the other looks around at least every `between` ticks. Is it time?
  bool looked_long_ago(std::uint64_t between) const { return task_ended_ - looked_ > between; }
  void note_look() { looked_ = task_ended_; }

  /// Counts polls of tasks that found nothing. True every 32nd time: rank 0 must then hear of this task as of one that
  /// waits, since it may hold back what the task polls for.
  bool looked_in_vain() { return ++looks_in_vain_ % 32 == 0; }
  /// May the messages of a task that goes on leave now? Those that follow within `least` ticks leave together.
  bool is_time_to_send(std::uint64_t now, std::uint64_t least) {
    if (now - sent_ < least) return false;
    sent_ = now;
    return true;
  }
  /// A task that asks in a loop whether it has to stop looks around every `between` ticks. Is it time for that?
  bool is_time_to_look(std::uint64_t now, std::uint64_t between) {
    if (now - asked_ <= between) return false;
    asked_ = now;
    return true;
  }

  /// Others, which can go on or begin, get their turn after the next task.
  void hurry() { others_turn_ = 0; }
  /// They get it when the rank has to look around again, `between` ticks after it has last done so.
  void put_others_off(std::uint64_t between) { others_turn_ = looked_ + between; }
  bool is_others_turn() const { return task_ended_ > others_turn_; }

  /// The next task begins when the last one has ended, if it follows directly.
  void set_follows(bool follows) { begins_ = follows ? task_ended_ : 0; }
  /// When the task begins that begins now; 0: it is not known. It is known for one task.
  std::uint64_t take_begin() { return std::exchange(begins_, 0); }

 private:
  std::uint64_t task_ended_ = 0, looked_ = 0;
  std::uint64_t others_turn_ = 0;  // 0: now
  std::uint64_t begins_ = 0;       // 0: not known
  std::uint64_t sent_ = 0, asked_ = 0;
  unsigned looks_in_vain_ = 0;
};

}  // namespace manta::exec
