// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whose turn is it after a task? Stacks whose wait is over; then the calls of
// actors that are here; then a stack that made way for these two; then the next
// task. Calls that come later wait until the next task has had its turn, and of
// eight turns that stacks have in a row one is kept for a call and one for the
// oldest work: nobody waits for ever behind those that go first.
//
// This part keeps the stacks that can go on, and counts; it switches to none.
#pragma once

#include <cstdint>
#include <utility>

#include "manta/base/containers.hpp"

namespace manta::exec {

class context;

class turns {
 public:
  /// The wait of this stack is over.
  void add(context* stack) { to_continue_.push_back(stack); }
  /// This stack goes on after the other stacks that can, and after the calls that are here now.
  void make_way(context* stack, std::uint64_t calls_here) { made_way_.push_back({stack, calls_begun_ + calls_here}); }
  bool stacks_can_go_on() const { return has_continuing() || has_made_way(); }
  bool has_continuing() const { return !to_continue_.empty(); }
  bool has_made_way() const { return !made_way_.empty(); }

  /// Takes out the stack that goes on now. Null if there is none, or if a call goes first.
  context* next_stack(bool has_calls) {
    const bool oldest_first = is_kept() && is_of_oldest();
    const bool way_is_free = front_may_go(has_calls);
    if (to_continue_.empty() && !way_is_free) return nullptr;
    ++stack_turns_;
    return way_is_free && (oldest_first || to_continue_.empty()) ? made_way_.pop_front().stack
                                                                 : to_continue_.pop_front();
  }
  /// As `next_stack`, for a stack that is about to make way. Its turn is not one of those in a row.
  context* next_stack_first(bool has_calls) {
    if (has_continuing()) return to_continue_.pop_front();
    return front_may_go(has_calls) ? made_way_.pop_front().stack : nullptr;
  }

  /// Is this turn not one of those that always go first? It is a call's or the oldest work's, by turns.
  bool is_kept() const { return stack_turns_ != 0 && stack_turns_ % 4 == 0; }
  /// Is this kept turn the oldest work's?
  bool is_of_oldest() const { return stack_turns_ % 8 == 0; }

  /// May a call begin now? If so, it counts as begun.
  bool begin_call(std::uint64_t calls_here, bool has_tasks) {
    if (calls_here == 0) return false;
    if (std::exchange(task_begun_, false)) calls_first_ = calls_begun_ + calls_here;
    if (calls_begun_ >= calls_first_ && made_way_.empty() && has_tasks) return false;
    ++calls_begun_;
    stack_turns_ = 0;
    return true;
  }
  /// A task is about to be chosen. True if it is the turn of the one that has waited longest.
  bool begin_task() {
    begin_oldest();
    return ++tasks_begun_ % 8 == 0;
  }
  /// The task that has waited longest is about to be chosen.
  void begin_oldest() {
    stack_turns_ = 0;
    task_begun_ = true;
  }

 private:
  struct way {
    context* stack;
    std::uint64_t after;  // the stack goes on when that many calls have begun, or none is here
  };

  /// Has the first stack that made way waited for the calls that were here then?
  bool front_may_go(bool has_calls) const {
    return !made_way_.empty() && (made_way_.front().after <= calls_begun_ || !has_calls);
  }

  base::ring<context*> to_continue_;  // stacks whose wait is over
  base::ring<way> made_way_;          // stacks that can go on and have let others go first
  std::uint64_t calls_begun_ = 0;
  std::uint64_t calls_first_ = 0;  // the next task begins when that many calls have begun
  bool task_begun_ = false;        // since calls_first_ was set
  unsigned stack_turns_ = 0;       // turns of stacks since a task or a call has begun
  unsigned tasks_begun_ = 0;       // but for those that ran on the stacks of their waiters
};

}  // namespace manta::exec
