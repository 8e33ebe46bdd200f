// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What comes from a batch system: the time when the allocation ends, the signals that announce this, and the one that
// asks for the state of a run.
#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "clock.hpp"
#include "environment.hpp"

namespace manta::base {

/// When the Slurm job of this process ends, in seconds since 1970; 0: there is no job, or its end is not known.
inline std::int64_t end_of_job() {
  if (const char* const known = environment("SLURM_JOB_END_TIME")) return std::atoll(known);
  const char* const job = environment("SLURM_JOB_ID");
  if (job == nullptr || std::string(job).find_first_not_of("0123456789") != std::string::npos) return 0;
  char text[64] = "";
  const std::string question = "timeout 5 squeue -h -j " + std::string(job) + " -o %e 2>/dev/null";
  if (std::FILE* const answer = ::popen(question.c_str(), "r")) {
    if (std::fgets(text, sizeof text, answer) == nullptr) text[0] = '\0';
    ::pclose(answer);
  }
  std::tm local{};
  if (::strptime(text, "%Y-%m-%dT%H:%M:%S", &local) == nullptr) return 0;  // the text is "NONE", or empty
  local.tm_isdst = -1;
  return static_cast<std::int64_t>(std::mktime(&local));
}

/// Notes SIGTERM and SIGUSR1, by which batch systems ask programs to end, so that they do not end the process at once.
/// Each launcher may forward a signal, so the same one often arrives several times. A further SIGTERM two seconds or
/// more after the first ends the process, and so does the end of the grace time, whatever the process does then. A
/// program's own handlers stay.
class end_signals {
 public:
  /// Begins to note signals. The process ends `grace` seconds after the first SIGTERM; 0: it does not.
  static void watch(double grace) {
    grace_ = grace;
    std::snprintf(late_, sizeof late_,
                  "manta: SIGTERM came %g s ago (MANTA_TERM_GRACE), and the program has not ended: it is ended now\n",
                  grace);
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGTERM;
    if (grace > 0 && timer_ < 0 && ::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer_) != 0) timer_ = -1;
    for (const int number : {SIGTERM, SIGUSR1}) {
      struct sigaction present {};
      if (::sigaction(number, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
      struct sigaction action {};
      action.sa_sigaction = &handle;
      action.sa_flags = SA_RESTART | SA_SIGINFO;
      ::sigemptyset(&action.sa_mask);
      ::sigaction(number, &action, nullptr);
    }
  }
  /// The name of the signal that has arrived, or null.
  static const char* came() {
    const int which = came_;
    return which == 0 ? nullptr : which == SIGTERM ? "SIGTERM" : "SIGUSR1";
  }

 private:
  static void handle(int which, siginfo_t* info, void*) {
    const std::int64_t now = now_ns();
    std::int64_t first = 0;  // two threads may run this handler at once
    const bool is_late = info->si_code == SI_TIMER;
    if (!is_late && which == SIGTERM) start_timer();
    if (came_at_.compare_exchange_strong(first, now)) {
      came_ = which;
    } else if (is_late || (which == SIGTERM && now - first > 2'000'000'000)) {
      if (is_late) (void)!::write(STDERR_FILENO, late_, std::strlen(late_));
      ::signal(which, SIG_DFL);
      ::raise(which);
    }
  }
  static void start_timer() {
    if (timer_ < 0 || timer_runs_.exchange(true)) return;
    itimerspec when{};
    when.it_value.tv_sec = static_cast<std::time_t>(grace_);
    when.it_value.tv_nsec = static_cast<long>((grace_ - static_cast<double>(when.it_value.tv_sec)) * 1e9);
    ::syscall(SYS_timer_settime, timer_, 0, &when, nullptr);
  }

  static inline volatile sig_atomic_t came_ = 0;
  static inline std::atomic<std::int64_t> came_at_{0};
  static inline double grace_ = 0;
  static inline int timer_ = -1;  // the kernel's number: older C libraries have timer_create in another library
  static inline std::atomic<bool> timer_runs_{false};
  static inline char late_[160] = "";
};

/// Notes SIGUSR2, by which people ask a run for its state. A handler that the program has installed stays.
class state_signal {
 public:
  /// Begins to note the signal.
  static void watch() {
    if (bell_ < 0) bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct sigaction present {};
    if (::sigaction(SIGUSR2, nullptr, &present) != 0) return;
    // manta-run has ranks ignore it until they come here.
    if (present.sa_handler != SIG_DFL && present.sa_handler != SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = [](int) {
      came_.store(true, std::memory_order_relaxed);
      rouse();
    };
    action.sa_flags = SA_RESTART;
    ::sigemptyset(&action.sa_mask);
    ::sigaddset(&action.sa_mask, SIGURG);  // asks for the stack of this thread, which is not that of the handler
    is_watched_ = ::sigaction(SIGUSR2, &action, nullptr) == 0;
  }
  /// Is the signal noted?
  static bool is_watched() { return is_watched_; }
  /// Waits until the signal arrives or rouse() is called, at most for this time; below 0: without an end.
  static void sleep(std::int64_t most_ns) {
    if (most_ns < 0 && bell_ < 0) most_ns = 100'000'000;
    const timespec length{most_ns / 1'000'000'000, most_ns % 1'000'000'000};
    pollfd bell{bell_, POLLIN, 0};
    std::uint64_t rings = 0;
    if (::ppoll(&bell, 1, most_ns < 0 ? nullptr : &length, nullptr) > 0) (void)!::read(bell_, &rings, sizeof rings);
  }
  /// Ends a sleep(). A signal handler may call it.
  static void rouse() {
    const int error_number = errno;
    const std::uint64_t once = 1;
    if (bell_ >= 0) (void)!::write(bell_, &once, sizeof once);
    errno = error_number;
  }
  /// Has the signal arrived since take()?
  static bool has_come() { return came_.load(std::memory_order_relaxed); }
  /// Forgets it.
  static void take() { came_.store(false, std::memory_order_relaxed); }

 private:
  static inline std::atomic<bool> came_{false};
  static inline bool is_watched_ = false;
  static inline int bell_ = -1;
};

}  // namespace manta::base
