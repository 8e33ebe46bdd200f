// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/syscall.h>

#include <cstdio>
#include <ctime>
#include <string>

#include "manta/base/text.hpp"
#include "manta/exec/loop/thread_watch.hpp"
#include "manta/exec/rank/overflow.hpp"
#include "manta/exec/rank/stack_trace.hpp"
#include "manta/report/run_state.hpp"

namespace manta::exec {

MANTA_DECL void thread_watch::watch_task(bool was_here, std::int64_t now_ns) {
  if (end_at_ns_ != 0) return end_hung(was_here, now_ns);
  if (!task_.is_on()) return;
  const std::int64_t limit_ns = task_.limit_ns();
  if (!task_.look(now_ns, was_here, !running_.is_driver())) return;
  std::fprintf(stderr,
               "manta: rank %u: '%s' has not called manta for %g s (MANTA_WATCHDOG) and is taken for hung; "
               "it is ended:\n",
               rank_.number(), std::string(running_->name()).c_str(), static_cast<double>(limit_ns) * 1e-9);
  const std::string where = report::stack_text(stack_trace::of(helper_.owner(), &running_.get()));
  if (!where.empty()) std::fprintf(stderr, "manta: rank %u: %s\n", rank_.number(), where.c_str());
  hung_after_ns_ = limit_ns;
  end_at_ns_ = now_ns;
  if (words_.begin != nullptr) {
    end_at_ns_ += patience_ns;
    words_.begin(words_.with);
  }
  end_hung(false, now_ns);
}

inline void thread_watch::end_hung(bool was_here, std::int64_t now_ns) {
  if (was_here) {
    std::fprintf(stderr, "manta: rank %u: that task has called manta after all; it is not ended\n", rank_.number());
    end_at_ns_ = 0;
    return task_.set_limit(hung_after_ns_);
  }
  if (now_ns < end_at_ns_ && !words_.are_said(words_.with)) return;
  if (last_act_ != nullptr) last_act_(with_);
  abort_hung(helper_.owner());
}

/// Is that thread of this process in the system call by which threads wait for mutexes? False if the system
/// does not say.
MANTA_DECL bool waits_for_lock(int thread) {
  const std::string path = base::text("/proc/self/task/{}/syscall", thread);
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  long number = -1;
  const bool read = std::fscanf(file, "%ld", &number) == 1;
  std::fclose(file);
  return read && number == SYS_futex;
}

MANTA_DECL void thread_watch::watch_lock(bool was_here, std::int64_t now_ns) {
  const auto computed_ns = [] { return static_cast<std::int64_t>(std::clock()) * (1'000'000'000 / CLOCKS_PER_SEC); };
  const bool others_wait = started_.count() + (rank_ == 0 ? 1 : 0) > 1 && !(running_.is_driver() && rank_ != 0);
  if (!lock_.look(now_ns, was_here, others_wait, computed_ns)) return;
  if (!waits_for_lock(helper_.owner_number())) return;
  const std::string others = waiters_.describe_all();
  std::fprintf(stderr,
               "manta: rank %u: '%s' has stood in a lock (or waited for a thread of its own) for five seconds, and "
               "meanwhile nothing else can go on here: %s. If one of these holds that lock, none of them ever goes on: "
               "release it before get, wait and whatever else waits\n",
               rank_.number(), std::string(running_->name()).c_str(), others.c_str());
}

}  // namespace manta::exec
