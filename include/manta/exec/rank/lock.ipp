// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/exec/rank/lock.hpp"

namespace manta::exec {

MANTA_DECL void biased_lock::wait_while_owner_stays() {
  for (int how; ((how = helper_rests_.load(std::memory_order_relaxed)) & while_owner_stays) != 0;) {
    helper_rests_.wait(how, std::memory_order_relaxed);
  }
}
MANTA_DECL bool biased_lock::try_acquire_for_helper() {
#ifdef MANTA_LOCK_IS_FLAG
  return !taken_.exchange(true, std::memory_order_acquire);
#else
  helper_.store(true, std::memory_order_seq_cst);
  if (fence_by_helper_) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  if (inside_.load(std::memory_order_seq_cst)) {
    helper_.store(false, std::memory_order_release);
    return false;
  }
  return true;
#endif
}
MANTA_DECL void biased_lock::yield() const {
  if (refuse_ != nullptr) refuse_();
  sched_yield();
}
MANTA_DECL void biased_lock::look_after_helper() {
  const int before = helper_rests_.fetch_and(~while_owner_stays, std::memory_order_relaxed);
  if ((before & while_owner_stays) != 0) helper_rests_.notify_one();
  if ((before & dozes) != 0) rouse_(argument_);
}

}  // namespace manta::exec
