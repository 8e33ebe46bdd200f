// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a thread goes from one stack to another, and what the language keeps per
// thread that a task takes for its own. Stacks are born by setcontext and
// switched by the compilers' __builtin_setjmp, five times cheaper than
// swapcontext, which is the fallback (MANTA_USE_SWAPCONTEXT, for the whole
// program or not at all).
#pragma once

#include <cxxabi.h>
#include <ucontext.h>

#include <cerrno>
#include <cfenv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MANTA_STACK_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define MANTA_STACK_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define MANTA_STACK_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define MANTA_STACK_TSAN 1
#endif

#if defined(MANTA_STACK_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#elif defined(MANTA_STACK_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

// Under shadow stacks the builtins would adjust the wrong one; some targets lack the builtins.
#if defined(__CET__)
#if (__CET__ & 2) && !defined(MANTA_USE_SWAPCONTEXT)
#define MANTA_USE_SWAPCONTEXT 1
#endif
#endif
#if !defined(MANTA_USE_SWAPCONTEXT)
#if !__has_builtin(__builtin_setjmp) || !__has_builtin(__builtin_longjmp)
#define MANTA_USE_SWAPCONTEXT 1
#endif
#endif

// A function that switches must stay a function (the compiler may assume nothing about the registers it keeps)
// and must not be instrumented: it is entered on one stack and left on another.
#if defined(__clang__)
#define MANTA_STACK_SWITCH \
  __attribute__((noinline, no_sanitize("address", "thread", "undefined"), disable_sanitizer_instrumentation))
#else
#define MANTA_STACK_SWITCH __attribute__((noipa, no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif

namespace manta::exec {

namespace detail {

/// Where a stack goes on.
struct jump_buffer {
#if defined(MANTA_USE_SWAPCONTEXT)
  ucontext_t registers;
#else
  void* words[5];
#endif
};

/// A context that begins with `body` on that stack.
MANTA_STACK_SWITCH inline void new_context(ucontext_t& born, std::byte* bottom, std::size_t bytes, void (*body)()) {
  ::getcontext(&born);
  born.uc_stack.ss_sp = bottom;
  born.uc_stack.ss_size = bytes;
  born.uc_link = nullptr;
  ::makecontext(&born, body, 0);
}

#if !defined(MANTA_USE_SWAPCONTEXT)
// The builtins must not meet in one function, hence two. [[noreturn]] is vital: clang turned a plain call at the end of
// `leave` into a tail call, which gives up the frame with the registers that `leave` restores when it is resumed.
[[noreturn]] MANTA_STACK_SWITCH inline void jump(jump_buffer& to) {
  __builtin_longjmp(to.words, 1);
  __builtin_unreachable();
}

[[noreturn]] MANTA_STACK_SWITCH inline void begin(std::byte* bottom, std::size_t bytes, void (*body)()) {
  ucontext_t born;
  new_context(born, bottom, bytes, body);
  ::setcontext(&born);
  std::abort();
}

MANTA_STACK_SWITCH inline void leave(jump_buffer& from, jump_buffer& to) {
  if (__builtin_setjmp(from.words) == 0) jump(to);
  asm volatile("" : : : "memory");
}

MANTA_STACK_SWITCH inline void leave_to_new(jump_buffer& from, std::byte* bottom, std::size_t bytes, void (*body)()) {
  if (__builtin_setjmp(from.words) == 0) begin(bottom, bytes, body);
  asm volatile("" : : : "memory");
}
#else
MANTA_STACK_SWITCH inline void leave(jump_buffer& from, jump_buffer& to) {
  if (::swapcontext(&from.registers, &to.registers) != 0) std::abort();
}

MANTA_STACK_SWITCH inline void leave_to_new(jump_buffer& from, std::byte* bottom, std::size_t bytes, void (*body)()) {
  ucontext_t born;
  new_context(born, bottom, bytes, body);
  if (::swapcontext(&from.registers, &born) != 0) std::abort();
}
#endif

/// Rounding and denormal mode of the thread.
struct fp_mode {
#if defined(__x86_64__)
  std::uint32_t sse = 0;
  std::uint16_t x87 = 0;
  void save() { asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(sse), "=m"(x87) : : "memory"); }
  void load() const { asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(sse), "m"(x87) : "memory"); }
#else
  std::fenv_t environment{};
  void save() { std::fegetenv(&environment); }
  void load() const { std::fesetenv(&environment); }
#endif
};

/// What the language keeps per thread and a task takes for its own. The exception part mirrors __cxa_eh_globals of
/// the Itanium ABI: the caught exceptions, newest first, and the number of those in flight.
struct task_state {
  struct exceptions_t {
    void* caught = nullptr;
    unsigned in_flight = 0;
  } exceptions;
  fp_mode fp;
  int error_number = 0;

  void save() {
    std::memcpy(static_cast<void*>(&exceptions), abi::__cxa_get_globals(), sizeof exceptions);
    error_number = errno;
    fp.save();
  }
  void load() const {
    std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), &exceptions, sizeof exceptions);
    errno = error_number;
    fp.load();
  }
};

}  // namespace detail

}  // namespace manta::exec
