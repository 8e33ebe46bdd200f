// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "manta/exec/loop/helper.hpp"
#include "manta/exec/rank/thread_role.hpp"

namespace manta::exec {

MANTA_DECL void* helper::entry(void* self) {
  helper& own = *static_cast<helper*>(self);
  thread_role::set_helper();
  own.is_alone_ ? own.watch() : own.run();
  return nullptr;
}

MANTA_DECL bool helper::start() {
  if (!enabled_) return true;
  stop_.store(false);
  owner_ = pthread_self();
  owner_number_ = static_cast<int>(::syscall(SYS_gettid));
  running_ = pthread_create(&thread_, nullptr, &helper::entry, this) == 0;
  return running_;
}

MANTA_DECL void helper::stop() {
  if (!running_) return;
  stop_.store(true, std::memory_order_release);
  duties_.rouse(duties_.rank);
  const int depth = lock_.step_out();  // the thread may be waiting for the lock
  pthread_join(thread_, nullptr);
  lock_.come_back(depth);
  running_ = false;
}

MANTA_DECL void helper::run() {
  constexpr useconds_t shortest_us = 200, longest_us = 800;
  prctl(PR_SET_TIMERSLACK, 1000UL);
  std::uint64_t seen = 0;
  unsigned in_vain = 0;  // number of looks in a row at which nothing was sent
  std::int64_t patience = 0;
  useconds_t between_looks_us = shortest_us;
  while (!stop_.load(std::memory_order_acquire)) {
    lock_.wait_while_owner_stays();
    const bool dozed = in_vain != 0;
    if (dozed) {
      duties_.sleep(duties_.rank, patience);
      lock_.doze_no_more();
    } else {
      usleep(between_looks_us);
    }
    between_looks_us = std::min(2 * between_looks_us, longest_us);
    const std::uint64_t entries = lock_.entries();
    const bool was_here = entries != seen;
    seen = entries;
    if (lock_.owner_is_inside() || (was_here && !dozed) || !lock_.try_acquire_for_helper()) {
      in_vain = 0;
      duties_.owner_is_here(duties_.rank);
      continue;
    }
    const bool sent = duties_.do_duties(duties_.rank, was_here);
    if (sent) between_looks_us = shortest_us;
    in_vain = was_here ? 0 : sent ? 1 : in_vain + 1;  // more may come soon
    patience = duties_.patience_ns(duties_.rank, in_vain);
    if (in_vain != 0) lock_.doze();
    lock_.release_for_helper();
  }
}

MANTA_DECL void helper::watch() {
  std::uint64_t seen = 0;
  while (!stop_.load(std::memory_order_acquire)) {
    duties_.sleep(duties_.rank, duties_.pause_ns(duties_.rank));
    const std::uint64_t entries = lock_.entries();
    const bool was_here = std::exchange(seen, entries) != entries;
    if (lock_.owner_is_inside() || !lock_.try_acquire_for_helper()) {
      duties_.owner_is_here(duties_.rank);
      continue;
    }
    duties_.do_duties(duties_.rank, was_here);
    lock_.release_for_helper();
  }
}

}  // namespace manta::exec
