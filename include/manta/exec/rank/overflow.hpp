// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Says which task it was when a signal kills the process, and so when one
// overflows its stack: the guard below each stack turns an overflow into
// SIGSEGV; the handler here runs on a stack of its own, compares the fault with
// the stack that was running, and writes what to do. The process still dies by
// the signal, or whoever had a handler installed before gets it.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "manta/base/address.hpp"
#include "manta/exec/rank/stack.hpp"

namespace manta::exec {

/// Installs the report for the process, and a signal stack for the calling thread; later calls do the latter and
/// replace `who`. Call it on the thread that owns the stack_pool. `who` runs in the signal handler, so it may only
/// read; it says what runs ("task 'solve'"), or returns null when nothing does. `last_words` is called with the report,
/// in the handler as well. `where`, which is called last with the interrupted context, writes the functions in which
/// the thread was, if it knows any; it may do what a handler must not, such as asking for memory, since a process whose
/// `where` does not return is ended. A handler that is installed already is called after the report, except that of
/// Open MPI where there is a `where`: its page of addresses says less.
void install_overflow_reporter(const char* (*who)(), void (*last_words)(const char* text, std::size_t bytes) = nullptr,
                               void (*where)(const void* machine) = nullptr);

/// From another thread: has the thread die of SIGABRT where it is, with a report that its task hung.
void abort_hung(pthread_t thread);

// ---------------------------------------------------------------------------------------------------------------

namespace detail {

struct overflow_reporter {
  static constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;  // snprintf and the AVX-512 state

  static inline const char* (*who)() = nullptr;
  static inline void (*last_words)(const char*, std::size_t) = nullptr;
  static inline void (*where)(const void*) = nullptr;
  static inline bool installed = false;
  static inline std::atomic<bool> hung{false};  // abort is our doing
  struct fatal_signal {
    int number;
    const char* name;
    struct sigaction earlier;
    bool is_of_open_mpi;  // the earlier handler
  };
  static inline fatal_signal signals[] = {{SIGSEGV, "segmentation fault", {}, false},
                                          {SIGBUS, "bus error", {}, false},
                                          {SIGFPE, "arithmetic error", {}, false},
                                          {SIGILL, "illegal instruction", {}, false},
                                          {SIGABRT, "abort", {}, false}};
  static inline volatile sig_atomic_t ending_by = 0;  // the signal that ends this process

  static bool is_of_open_mpi(const struct sigaction& handler) {
    const bool is_long = (handler.sa_flags & SA_SIGINFO) != 0;
    Dl_info file{};
    return ::dladdr(
               is_long ? reinterpret_cast<void*>(handler.sa_sigaction) : reinterpret_cast<void*>(handler.sa_handler),
               &file) != 0 &&
           file.dli_fname != nullptr && std::strstr(file.dli_fname, "libopen-pal") != nullptr;
  }

  static std::uintptr_t stack_pointer([[maybe_unused]] const void* machine) {
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(machine)->uc_mcontext.sp);
#else
    return 0;
#endif
  }

  // A large frame moves the stack pointer far below the stack at once and may fault anywhere in it, so the pointer
  // says more than the address of the fault.
  static bool overflowed(const stack_pool& pool, std::uintptr_t fault, std::uintptr_t pointer) {
    const context& running = pool.current();
    if (running.bottom() == nullptr) return false;
    const auto bottom = base::address_of(running.bottom());
    constexpr std::uintptr_t near = std::uintptr_t{64} << 10;
    // The kernel ends the thread's own stack only to within a page or so of the limit.
    const std::uintptr_t slack = pool.on_root() ? std::uintptr_t{8} << 10 : 0;
    const bool pointer_below = pointer != 0 && pointer < bottom + slack && bottom - pointer < (std::uintptr_t{1} << 32);
    return pointer_below || (fault >= bottom - near && fault < bottom + slack);
  }

  static void unblock(int signal) {
    sigset_t its;
    ::sigemptyset(&its);
    ::sigaddset(&its, signal);
    ::pthread_sigmask(SIG_UNBLOCK, &its, nullptr);
  }

  /// Has `where` speak. What it needs may be what is broken, such as a lock of the memory that is held here: then an
  /// alarm ends the process by its true signal.
  static void say_where(int signal, const void* machine) {
    constexpr unsigned patience_s = 2;
    ending_by = signal;
    ::signal(SIGALRM, [](int) {
      ::signal(ending_by, SIG_DFL);
      unblock(ending_by);
      ::raise(ending_by);
    });
    unblock(SIGALRM);
    ::alarm(patience_s);
    where(machine);
    ::alarm(0);
  }

  /// Returns whether it has said what a rank has to say.
  static bool report(const fatal_signal& by, const void* address, const void* machine) {
    const stack_pool* pool = stack_pool::of_this_thread();
    const char* runs = who != nullptr ? who() : nullptr;
    const auto fault = base::address_of(address);
    char text[512];
    int length = 0;
    bool may_say_where = false;
    if (by.number == SIGSEGV && pool != nullptr && overflowed(*pool, fault, stack_pointer(machine))) {
      const context& running = pool->current();
      length = std::snprintf(text, sizeof text,
                             "manta: stack overflow in %.250s (stack %zu, %zu KiB); give the rank a larger stack: "
                             "ulimit -s or MANTA_STACK_KIB\n",
                             runs != nullptr ? runs : "the driver", running.number(), running.bytes() >> 10);
    } else if (runs != nullptr) {
      length = by.number == SIGABRT
                   ? std::snprintf(text, sizeof text, "manta: %s in %.250s\n", hung ? "hung" : by.name, runs)
                   : std::snprintf(text, sizeof text, "manta: %s at %p in %.250s\n", by.name, address, runs);
      may_say_where = where != nullptr && !hung;  // who ends a task that hangs has said it
    }
    if (length > 0) {
      const auto bytes = static_cast<std::size_t>(length);
      const std::size_t used = bytes < sizeof text ? bytes : sizeof text - 1;
      [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, used);
      if (last_words != nullptr) last_words(text, used);
    }
    if (may_say_where) say_where(by.number, machine);
    return length > 0 && where != nullptr;
  }

  static void handle(int signal, siginfo_t* info, void* machine) {
    const int error_number = errno;
    const fatal_signal* by = signals;
    while (by->number != signal) ++by;
    const struct sigaction& earlier = by->earlier;
    static thread_local volatile sig_atomic_t reported = 0;  // an earlier handler may return, and the fault repeat
    bool is_told = false;
    if (reported == 0) {
      reported = 1;
      is_told = report(*by, info->si_addr, machine);
    }
    errno = error_number;
    const bool is_default = earlier.sa_handler == SIG_DFL || (is_told && by->is_of_open_mpi);
    if (is_default) ::signal(signal, SIG_DFL);
    else if ((earlier.sa_flags & SA_SIGINFO) != 0 && earlier.sa_sigaction != nullptr)
      earlier.sa_sigaction(signal, info, machine);
    else if (earlier.sa_handler != SIG_IGN) earlier.sa_handler(signal);
    else ::signal(signal, SIG_DFL);
    // The faulting instruction runs again; with the default action that ends the process by the true signal. What was
    // sent by kill() does not repeat.
    if (info->si_code <= 0 && is_default) ::raise(signal);
  }

  // The thread's own signal stack; one that somebody else has set up is kept if it is large enough.
  class signal_stack {
   public:
    signal_stack() {
      stack_t present{};
      if (::sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0 &&
          present.ss_size >= (16u << 10))
        return;
      void* mapping = ::mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mapping == MAP_FAILED) return;  // no report then; not worth a failure
      stack_t mine{};
      mine.ss_sp = mapping;
      mine.ss_size = signal_stack_bytes;
      if (::sigaltstack(&mine, nullptr) == 0) memory_ = mapping;
      else ::munmap(mapping, signal_stack_bytes);
    }
    ~signal_stack() {
      if (memory_ == nullptr) return;
      stack_t present{};
      if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_ONSTACK) != 0) return;
      if (present.ss_sp == memory_) {
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
      }
      ::munmap(memory_, signal_stack_bytes);
    }
    signal_stack(const signal_stack&) = delete;
    signal_stack& operator=(const signal_stack&) = delete;

   private:
    void* memory_ = nullptr;
  };
};

}  // namespace detail

inline void abort_hung(pthread_t thread) {
  detail::overflow_reporter::hung = true;
  ::pthread_kill(thread, SIGABRT);
}

inline void install_overflow_reporter(const char* (*who)(), void (*last_words)(const char*, std::size_t),
                                      void (*where)(const void*)) {
  using reporter = detail::overflow_reporter;
  reporter::who = who;
  reporter::last_words = last_words;
  reporter::where = where;
  static thread_local reporter::signal_stack stack;
  static_cast<void>(stack);
  if (reporter::installed) return;
  reporter::installed = true;
  struct sigaction action {};
  action.sa_sigaction = &reporter::handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (reporter::fatal_signal& s : reporter::signals) {
    ::sigaction(s.number, nullptr, &s.earlier);  // before ours can run
    s.is_of_open_mpi = reporter::is_of_open_mpi(s.earlier);
    ::sigaction(s.number, &action, nullptr);
  }
}

}  // namespace manta::exec
