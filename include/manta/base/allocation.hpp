// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The end of what a batch system has given us: when it comes, and the signals
// by which it is announced.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "clock.hpp"
#include "environment.hpp"

namespace manta::base {

/// When the Slurm job ends in which we are, in seconds since 1970; 0: there is none, or it does not say.
inline std::int64_t end_of_job() {
  if (const char* const known = environment("SLURM_JOB_END_TIME")) return std::atoll(known);
  const char* const job = environment("SLURM_JOB_ID");
  if (job == nullptr || std::string(job).find_first_not_of("0123456789") != std::string::npos) return 0;
  char text[64] = "";
  if (std::FILE* const answer = ::popen(("timeout 5 squeue -h -j " + std::string(job) + " -o %e 2>/dev/null").c_str(), "r")) {
    if (std::fgets(text, sizeof text, answer) == nullptr) text[0] = '\0';
    ::pclose(answer);
  }
  std::tm local{};
  if (::strptime(text, "%Y-%m-%dT%H:%M:%S", &local) == nullptr) return 0;  // "NONE", or nothing
  local.tm_isdst = -1;
  return static_cast<std::int64_t>(std::mktime(&local));
}

/// SIGTERM and SIGUSR1, by which batch systems ask programs to end, are noted instead of ending the process. They often
/// come several times, by way of each launcher; a SIGTERM two seconds later does end it. A program's own handlers are
/// left alone.
class end_signals {
 public:
  static void watch() {
    for (const int number : {SIGTERM, SIGUSR1}) {
      struct sigaction present {};
      if (::sigaction(number, nullptr, &present) != 0 || present.sa_handler != SIG_DFL) continue;
      struct sigaction action {};
      action.sa_handler = &handle;
      action.sa_flags = SA_RESTART;
      ::sigemptyset(&action.sa_mask);
      ::sigaction(number, &action, nullptr);
    }
  }
  /// The name of the one that came, or null.
  static const char* came() {
    const int which = came_;
    return which == 0 ? nullptr : which == SIGTERM ? "SIGTERM" : "SIGUSR1";
  }

 private:
  static void handle(int which) {
    const std::int64_t now = now_ns();
    std::int64_t first = 0;  // two threads may be here at once
    if (came_at_.compare_exchange_strong(first, now)) {
      came_ = which;
    } else if (which == SIGTERM && now - first > 2'000'000'000) {
      ::signal(which, SIG_DFL);
      ::raise(which);
    }
  }

  static inline volatile sig_atomic_t came_ = 0;
  static inline std::atomic<std::int64_t> came_at_{0};
};

}  // namespace manta::base
