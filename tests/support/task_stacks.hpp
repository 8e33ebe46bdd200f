// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Stacks for tasks that wait, on any of the ranks of whole_rank.hpp. A task takes one when it begins, and keeps it while
// it waits; meanwhile its rank and all others go on. So a rank costs nothing as long as no task waits there.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "manta/exec/rank/invocation.hpp"
#include "manta/exec/rank/stack.hpp"
#include "manta/graph/node.hpp"

template <class Rank>
class task_stacks {
 public:
  static constexpr std::size_t stack_bytes = std::size_t{128} << 10;

  task_stacks() = default;
  task_stacks(const task_stacks&) = delete;
  task_stacks& operator=(const task_stacks&) = delete;

  /// The rank whose task runs; null: none does.
  static Rank* here() { return here_; }
  bool on_stack() const { return current_ != nullptr; }
  /// The number of stacks that were ever taken at a time.
  std::size_t most() const { return all_.size(); }

  /// Goes on with a task of this rank whose wait is over, or begins one. False if there is neither.
  bool run_one(Rank& r) {
    const auto waiting = waiting_.find(&r);
    if (waiting != waiting_.end()) {
      for (std::size_t i = 0; i < waiting->second.size(); ++i) {
        stack* const s = waiting->second[i];
        if (s->awaited->state == manta::graph::state::pending) continue;
        waiting->second.erase(waiting->second.begin() + static_cast<std::ptrdiff_t>(i));
        if (waiting->second.empty()) waiting_.erase(waiting);
        go_to(*s);
        return true;
      }
    }
    stack& s = take();
    s.rank = &r;
    go_to(s);
    return s.ran;
  }
  /// Called by a task of this rank: returns when the node has ended.
  void wait_for(Rank& r, manta::graph::node& n) {
    if (n.state != manta::graph::state::pending) return;
    stack& s = *current_;
    s.awaited = &n;
    waiting_[&r].push_back(&s);
    manta::exec::running_task& task = r.run.running.get();
    const int depth = r.rank.lock.depth();
    r.run.running.leave();
    leave(s);
    r.rank.lock.set_depth(depth);
    r.run.running.resume(task);
  }
  /// Is the wait of a task of this rank over, and has the task not gone on yet?
  bool can_go_on(Rank& r) const {
    const auto waiting = waiting_.find(&r);
    if (waiting == waiting_.end()) return false;
    for (const stack* s : waiting->second) {
      if (s->awaited->state != manta::graph::state::pending) return true;
    }
    return false;
  }
  /// The rank has died, and its tasks with it.
  void drop(Rank& r) { waiting_.erase(&r); }

 private:
  struct stack {
    std::unique_ptr<manta::exec::context> frames;
    Rank* rank = nullptr;
    manta::graph::node* awaited = nullptr;
    bool ran = false;
  };

  stack& take() {
    if (idle_.empty()) {
      const std::size_t bytes = stack_bytes + manta::exec::context::largest_guard;
      void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) std::perror("mmap"), std::abort();
      all_.push_back(std::make_unique<stack>());
      all_.back()->frames =
          std::make_unique<manta::exec::context>(all_.size(), static_cast<std::byte*>(memory), stack_bytes);
      all_.back()->frames->protect();
      idle_.push_back(all_.back().get());
    }
    stack* const s = idle_.back();
    idle_.pop_back();
    return *s;
  }
  void go_to(stack& s) {
    task_stacks* const before = active_;
    active_ = this;
    current_ = &s;
    here_ = s.rank;
    root_.park();
    root_.leave_for(*s.frames, &body);
    current_ = nullptr;
    here_ = nullptr;
    active_ = before;
  }
  void leave(stack& s) {
    s.frames->park();
    s.frames->leave_for(root_, nullptr);
  }
  static void body() {
#if defined(MANTA_STACK_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);  // the end of the switch to a new stack
#endif
    task_stacks& its = *active_;
    stack& s = *its.current_;
    for (;;) {
      s.ran = s.rank->run_one();
      its.idle_.push_back(&s);
      its.leave(s);
    }
  }

  static inline task_stacks* active_ = nullptr;
  static inline Rank* here_ = nullptr;
  manta::exec::context root_;
  stack* current_ = nullptr;  // null: the thread's own
  std::vector<std::unique_ptr<stack>> all_;
  std::vector<stack*> idle_;
  std::unordered_map<Rank*, std::vector<stack*>> waiting_;
};
