// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Stacks: how a rank leaves a task that waits and goes on with another one on
// the same thread. A pool makes stacks, each runs the same service loop, and a
// switch exchanges what the language keeps per thread but a task takes for its
// own: exceptions in flight, errno, the floating point mode (stack_switch.hpp). No
// MPI, no queue: who runs next is decided above.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "manta/base/address.hpp"
#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"
#include "manta/exec/rank/stack_switch.hpp"

namespace manta::exec {

/// A stack that can be left and come back to. Its pool makes it and decides when it is left; the address
/// is its identity.
class context {
 public:
  static constexpr std::size_t largest_guard = std::size_t{64} << 10;  ///< a page can be stepped over by a large array

  /// The stack of the calling thread, on which it runs.
  context();
  /// A new stack in a mapping that it owns: `bytes` above room for a guard.
  context(std::size_t number, std::byte* mapping, std::size_t bytes);
  ~context();  ///< Gives the mapping back, if it has one.
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  std::size_t number() const { return number_; }       ///< 0 for the thread's own stack, else 1, 2, ...
  const std::byte* bottom() const { return bottom_; }  ///< lowest usable address; null if unknown
  std::size_t bytes() const { return bytes_; }         ///< usable size
  std::size_t guard_bytes() const { return guard_; }   ///< inaccessible bytes below bottom()
  bool parked() const { return status_ == status::parked; }
  const detail::jump_buffer& left_at() const { return jump_; }  ///< the place where a stack that was left goes on

  /// Makes the guard below the stack inaccessible. Returns false if the system refuses.
  bool protect();
  /// Before the stack is left: it keeps the state of its task.
  void park();
  /// Before the stack is left: it has no task, and begins the next one with this state.
  void rest(const detail::task_state& fresh);
  /// Leaves this stack, on which the thread runs, for another one, which begins with `body` if it is new. Returns when
  /// it is resumed.
  void leave_for(context& to, void (*body)());

 private:
  enum class status : unsigned char { unborn, running, parked, idle };

  detail::jump_buffer jump_{};
  detail::task_state state_;
  std::byte* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t guard_ = 0;
  std::size_t number_ = 0;
  [[maybe_unused]] void* tool_ = nullptr;  // TSan's fiber; under ASan the frame last left
  [[maybe_unused]] unsigned long valgrind_id_ = 0;
  status status_ = status::unborn;
};

/// The stacks of one executor thread. One pool a thread at a time; every call must come from that thread, for a
/// stack never changes its thread (compilers keep addresses of thread_locals).
/// Nothing is exchanged beyond detail::task_state: the caller keeps its own notion of the current task.
class stack_pool {
 public:
  /// The service loop that runs on each pooled stack. It never returns and throws nothing: it leaves by
  /// `release_and_switch`. Its frame is dropped with the pool without running destructors.
  using entry = void (*)(void*);

  /// Takes the thread's stack as root and its floating point mode as the one in which every task starts.
  /// Throws manta::error if MANTA_STACK_KIB is no sensible number.
  stack_pool(entry service, void* argument);
  /// On the root stack only. What is still parked is dropped without unwinding.
  ~stack_pool();
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;

  /// The pool of the calling thread or null.
  static stack_pool* of_this_thread() noexcept { return active_; }

  context& current() { return *current_; }
  const context& current() const { return *current_; }

  /// Parks the current stack and runs the service loop on a pooled one, the last used first; returns when resumed.
  /// Throws manta::error, with nothing changed, when no further stack can be had.
  void park();
  /// Parks the current stack and goes on with `to`, which must be parked; returns when resumed.
  void park_and_switch(context& to);
  /// From the top of a service loop: gives the current stack back and goes on with `to`, which must be parked.
  /// Returns when the stack is next taken from the pool, with the state of a fresh one.
  void release_and_switch(context& to);

  /// Puts errno, exceptions and floating point mode back to those of a fresh stack: between two tasks of a loop.
  void fresh_state() const { fresh_.load(); }

  bool on_root() const { return current_ == &root_; }
  /// Bytes left on the current stack, 0 if unknown.
  std::size_t room() const;
  /// Stacks that wait to be resumed, the root among them.
  std::size_t parked() const { return stacks_.size() - idle_.size(); }  // all but the idle and the running one
  /// Stacks made so far, without the root. A caller that wants a bound compares this.
  std::size_t stacks() const { return stacks_.size(); }
  /// Stacks that `park` can take without making one.
  std::size_t idle() const { return idle_.size(); }
  /// Is there a stack for the next `park`? Makes one if none is idle and one can be had.
  bool has_spare();
  /// Size of each pooled stack.
  std::size_t stack_bytes() const { return stack_bytes_; }

  /// Calls `visit(context&)` for each parked stack, oldest stack first. `visit` may switch to it and come back.
  template <typename Visitor>
  void for_each_parked(Visitor visit) {
    if (root_.parked()) visit(root_);
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      if (stacks_[i]->parked()) visit(*stacks_[i]);
  }

 private:
  static void body() noexcept;  ///< What a new stack runs: the service loop.
  /// As large as the process's own stack is assumed to be: a task must not work or crash by where it happens to run.
  static std::size_t wanted_stack_bytes();
  /// A guarded stack takes two mappings; half of all that the system allows are left to malloc, MPI and libraries.
  static std::size_t affordable_guards();
  context& take();  ///< The idle stack used last, or a new one. Throws if none can be had.
  context& make();  ///< Maps a new stack. Throws if none can be had.
  /// Makes the guard below a stack, as long as guards are left: a guard splits the mapping in two, and their number is
  /// limited; unguarded neighbours merge into one.
  void protect(context& made);
  /// Leaves the current stack. Returns when it is resumed; whoever resumes it has set current_ already.
  void switch_to(context& to);

  static inline constinit thread_local stack_pool* active_ = nullptr;

  entry service_;
  void* argument_;
  context root_;
  context* current_ = &root_;
  detail::task_state fresh_;
  std::size_t stack_bytes_;
  std::size_t guards_left_;
  base::list<context*> stacks_;
  base::list<context*> idle_;  // last used at the back
};

/// Stands around a task that is run on top of a waiter: the task sees no exception of the waiter, errno 0 and the
/// floating point mode of a fresh stack; the waiter finds its own again. The task's exception must be caught inside.
class inline_frame {
 public:
  explicit inline_frame(const stack_pool& pool) {
    waiter_.save();
    pool.fresh_state();
  }
  ~inline_frame() {
    assert(std::uncaught_exceptions() == 0 && "a task threw through its inline_frame");
    waiter_.load();
  }
  inline_frame(const inline_frame&) = delete;
  inline_frame& operator=(const inline_frame&) = delete;

 private:
  detail::task_state waiter_;
};

// What each switch takes stands here, so that the compiler can put it where it is called.

inline void context::park() {
  status_ = status::parked;
  state_.save();
}

inline void context::rest(const detail::task_state& fresh) {
  status_ = status::idle;
  state_ = fresh;
}

inline void context::leave_for(context& to, void (*body)()) {
  const bool unborn = to.status_ == status::unborn;
  to.status_ = status::running;
#if defined(MANTA_STACK_ASAN)
  void* fake_stack = nullptr;
  tool_ = __builtin_frame_address(0);
  __sanitizer_start_switch_fiber(&fake_stack, to.bottom_, to.bytes_);
#elif defined(MANTA_STACK_TSAN)
  __tsan_switch_to_fiber(to.tool_, 0);
#endif
  if (unborn) detail::leave_to_new(jump_, to.bottom_, to.bytes_, body);
  else detail::leave(jump_, to.jump_);
#if defined(MANTA_STACK_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  state_.load();
}

inline void stack_pool::park() {
  context& next = take();
  current_->park();
  switch_to(next);
}

inline void stack_pool::park_and_switch(context& to) {
  assert(to.parked());
  current_->park();
  switch_to(to);
}

inline void stack_pool::release_and_switch(context& to) {
  assert(!on_root() && to.parked());
  current_->rest(fresh_);
  idle_.push_back(current_);  // room was reserved when the stack was made
  switch_to(to);
}

inline std::size_t stack_pool::room() const {
  if (current_->bottom() == nullptr) return 0;
  const auto here = base::address_of(__builtin_frame_address(0));
  const auto bottom = base::address_of(current_->bottom());
  return here > bottom && here - bottom <= current_->bytes() ? here - bottom : 0;
}

inline void stack_pool::switch_to(context& to) {
  assert(active_ == this && "a stack never leaves its thread");
  std::exchange(current_, &to)->leave_for(to, &stack_pool::body);
}

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/rank/stack.ipp"
#endif
