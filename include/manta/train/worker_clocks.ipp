// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>

#include "manta/train/worker_clocks.hpp"

namespace manta::train::detail {

inline std::uint64_t worker_clocks::slowest() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [worker, steps] : steps_) least = std::min(least, steps);
  return least;
}

inline void worker_clocks::answer() {
  const std::uint64_t now = slowest();
  std::erase_if(waiting_, [&](waiting& w) {
    if (w.least > now) return false;
    w.slowest.set_value(now);
    return true;
  });
}

MANTA_DECL std::uint64_t worker_clocks::join(int worker) {
  const std::uint64_t start = steps_.empty() ? 0 : slowest();
  steps_[worker] = start;
  return start;
}

MANTA_DECL void worker_clocks::made(int worker, std::uint64_t steps) {
  steps_[worker] = steps;
  answer();
}

MANTA_DECL future<std::uint64_t> worker_clocks::wait(int worker, std::uint64_t steps, std::uint64_t least) {
  future<std::uint64_t> f = waiting_.emplace_back(waiting{least, {}}).slowest.get_future();
  made(worker, steps);
  return f;
}

MANTA_DECL void worker_clocks::leave(int worker) {
  steps_.erase(worker);
  answer();
}

MANTA_DECL void worker_clocks::leave_quietly(const actor<worker_clocks>& clocks, int worker) noexcept {
  try {
    async<&worker_clocks::leave>(clocks, worker);
  } catch (...) {  // the run ends, and with it all that waits
  }
}

}  // namespace manta::train::detail
