// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Stacks: how a rank leaves a task that waits and goes on with another one on
// the same thread. A pool makes stacks, each runs the same service loop, and a
// switch exchanges what the language keeps per thread but a task takes for its
// own: exceptions in flight, errno, the floating point mode (stack_switch.hpp). No
// MPI, no queue: who runs next is decided above.
#pragma once

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "manta/base/address.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/error.hpp"
#include "manta/exec/stack_switch.hpp"

namespace manta::exec {

/// A stack that can be left and come back to. Owned by its pool; the address is its identity.
class context {
 public:
  context() = default;
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  std::size_t number() const { return number_; }       ///< 0 for the thread's own stack, else 1, 2, ...
  const std::byte* bottom() const { return bottom_; }  ///< lowest usable address; null if unknown
  std::size_t bytes() const { return bytes_; }         ///< usable size
  std::size_t guard_bytes() const { return guard_; }   ///< inaccessible bytes below bottom()
  bool parked() const { return status_ == status::parked; }

 private:
  friend class stack_pool;
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
  friend class inline_frame;
  static constexpr std::size_t guard_bytes = std::size_t{64} << 10;  // a page can be stepped over by a large array

  static void body() noexcept;  ///< What a new stack runs: the service loop.
  /// As large as the process's own stack is assumed to be: a task must not work or crash by where it happens to run.
  static std::size_t wanted_stack_bytes();
  /// A guarded stack takes two mappings; half of all that the system allows are left to malloc, MPI and libraries.
  static std::size_t affordable_guards();
  context& take();    ///< The idle stack used last, or a new one. Throws if none can be had.
  context& make();    ///< Maps a new stack. Throws if none can be had.
  void find_root();   ///< Finds out where the thread's own stack lies.
  /// Makes the guard below a stack, as long as guards are left: a guard splits the mapping in two, and their number is
  /// limited; unguarded neighbours merge into one.
  void protect(context& made, std::byte* mapping);
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
    pool.fresh_.load();
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

// ---------------------------------------------------------------------------------------------------------------

inline stack_pool::stack_pool(entry service, void* argument)
    : service_(service), argument_(argument), stack_bytes_(wanted_stack_bytes()), guards_left_(affordable_guards()) {
  assert(active_ == nullptr && "one stack_pool a thread");
  fresh_.fp.save();
  find_root();
  root_.status_ = context::status::running;
  active_ = this;
}

inline stack_pool::~stack_pool() {
  assert(on_root() && active_ == this);
  for (context* made : stacks_) {
#if defined(MANTA_STACK_ASAN)
    __lsan_unregister_root_region(made->bottom_, made->bytes_);
    // Frames that never returned leave poison behind, which the next mapping here would inherit. Only from where the
    // stack was left, a page for the frame of switch_to included: the rest is clean, and its shadow a megabyte.
    const auto* left = std::max<const std::byte*>(made->bottom_, static_cast<const std::byte*>(made->tool_) - 4096);
    __asan_unpoison_memory_region(left, static_cast<std::size_t>(made->bottom_ + made->bytes_ - left));
#elif defined(MANTA_STACK_TSAN)
    __tsan_destroy_fiber(made->tool_);
#endif
#if defined(VALGRIND_STACK_DEREGISTER)
    VALGRIND_STACK_DEREGISTER(made->valgrind_id_);
#endif
    ::munmap(made->bottom_ - guard_bytes, made->bytes_ + guard_bytes);
    delete made;
  }
  active_ = nullptr;
}

inline void stack_pool::park() {
  context& next = take();
  current_->status_ = context::status::parked;
  current_->state_.save();
  switch_to(next);
}

inline void stack_pool::park_and_switch(context& to) {
  assert(to.parked());
  current_->status_ = context::status::parked;
  current_->state_.save();
  switch_to(to);
}

inline void stack_pool::release_and_switch(context& to) {
  assert(!on_root() && to.parked());
  current_->status_ = context::status::idle;
  current_->state_ = fresh_;
  idle_.push_back(current_);  // room was reserved when the stack was made
  switch_to(to);
}

inline std::size_t stack_pool::room() const {
  if (current_->bottom_ == nullptr) return 0;
  const auto here = base::address_of(__builtin_frame_address(0));
  const auto bottom = base::address_of(current_->bottom_);
  return here > bottom && here - bottom <= current_->bytes_ ? here - bottom : 0;
}

inline void stack_pool::switch_to(context& to) {
  assert(active_ == this && "a stack never leaves its thread");
  context& from = *current_;
  const bool unborn = to.status_ == context::status::unborn;
  to.status_ = context::status::running;
  current_ = &to;
#if defined(MANTA_STACK_ASAN)
  void* fake_stack = nullptr;
  from.tool_ = __builtin_frame_address(0);
  __sanitizer_start_switch_fiber(&fake_stack, to.bottom_, to.bytes_);
#elif defined(MANTA_STACK_TSAN)
  __tsan_switch_to_fiber(to.tool_, 0);
#endif
  if (unborn)
    detail::leave_to_new(from.jump_, to.bottom_, to.bytes_, &stack_pool::body);
  else
    detail::leave(from.jump_, to.jump_);
#if defined(MANTA_STACK_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  from.state_.load();
}

inline void stack_pool::body() noexcept {
#if defined(MANTA_STACK_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  stack_pool& pool = *active_;
  pool.fresh_.load();  // else the stack starts in the floating point mode of whoever made it
  pool.service_(pool.argument_);
  std::abort();  // there is no caller to return to
}

inline context& stack_pool::take() {
  if (idle_.empty()) return make();
  context& last = *idle_.back();
  idle_.pop_back();
  return last;
}

inline bool stack_pool::has_spare() {
  if (!idle_.empty()) return true;
  try {
    idle_.push_back(&make());
    return true;
  } catch (const error&) {
    return false;
  }
}

inline context& stack_pool::make() {
  const std::size_t number = stacks_.size() + 1;
  if ((number & (number - 1)) == 0) {
    stacks_.reserve(2 * number);
    idle_.reserve(2 * number);  // release() must not have to grow it
  }
  void* mapping = ::mmap(nullptr, stack_bytes_ + guard_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) {
    const int why = errno;
    throw error("manta: cannot reserve a stack of " + std::to_string(stack_bytes_ >> 10) +
                " KiB for one more waiting task: " + std::generic_category().message(why) + "; this rank has " +
                std::to_string(stacks_.size()) + " such stacks. Let fewer tasks wait at once, make the stacks " +
                "smaller (MANTA_STACK_KIB), or raise the limit on address space (ulimit -v)");
  }
  auto* const made = new context;
  made->number_ = number;
  made->bottom_ = static_cast<std::byte*>(mapping) + guard_bytes;
  made->bytes_ = stack_bytes_;
  protect(*made, static_cast<std::byte*>(mapping));
#if defined(MANTA_STACK_ASAN)
  __lsan_register_root_region(made->bottom_, made->bytes_);  // else what only a parked task holds is called a leak
#elif defined(MANTA_STACK_TSAN)
  made->tool_ = __tsan_create_fiber(0);
  __tsan_set_fiber_name(made->tool_, ("manta stack " + std::to_string(made->number_)).c_str());
#endif
#if defined(VALGRIND_STACK_REGISTER)
  made->valgrind_id_ = VALGRIND_STACK_REGISTER(made->bottom_, made->bottom_ + made->bytes_);
#endif
  stacks_.push_back(made);
  return *made;
}

inline void stack_pool::protect(context& made, std::byte* mapping) {
  ::madvise(mapping, stack_bytes_ + guard_bytes, MADV_NOHUGEPAGE);
  if (guards_left_ == 0) return;
  if (::mprotect(mapping, guard_bytes, PROT_NONE) == 0) {
    made.guard_ = guard_bytes;
    --guards_left_;
  } else {
    guards_left_ = 0;
  }
  if (guards_left_ == 0)
    std::fprintf(stderr,
                 "manta: %zu tasks wait at once; the stacks of further ones have no guard against overflow "
                 "(vm.max_map_count)\n",
                 made.number_);
}

inline void stack_pool::find_root() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
    void* bottom = nullptr;
    std::size_t bytes = 0;
    if (::pthread_attr_getstack(&attributes, &bottom, &bytes) == 0) {
      root_.bottom_ = static_cast<std::byte*>(bottom);
      root_.bytes_ = bytes;
    }
    ::pthread_attr_destroy(&attributes);
  }
#if defined(MANTA_STACK_TSAN)
  root_.tool_ = __tsan_get_current_fiber();
#endif
}

inline std::size_t stack_pool::wanted_stack_bytes() {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t bytes = std::size_t{8} << 20;
  if (const char* text = std::getenv("MANTA_STACK_KIB"); text != nullptr && *text != '\0') {
    char* end = nullptr;
    const unsigned long kib = std::strtoul(text, &end, 10);
    if (*end != '\0' || *text == '-' || kib < 32 || kib > (1ul << 24))
      throw error(std::string("manta: MANTA_STACK_KIB is '") + text +
                  "'; it must be the size of a task's stack in KiB, between 32 and 16777216");
    bytes = std::size_t{kib} << 10;
  } else if (rlimit limit{}; ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::clamp<std::size_t>(limit.rlim_cur, std::size_t{1} << 20, std::size_t{8} << 20);
  }
  return (bytes + page - 1) / page * page;
}

inline std::size_t stack_pool::affordable_guards() {
  unsigned long mappings = 65530;
  if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re"); file != nullptr) {
    if (std::fscanf(file, "%lu", &mappings) != 1) mappings = 65530;
    std::fclose(file);
  }
  return mappings / 4;
}

}  // namespace manta::exec

#undef MANTA_STACK_SWITCH
