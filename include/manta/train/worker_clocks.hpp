// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How far the workers of a parameter server are. An actor has this object; workers that are too far ahead wait for a
// promise of it. After the death of its rank it is empty, and learns from the workers' next calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/insist.hpp"
#include "manta/promise.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

inline constexpr int many_restarts = 1000;

class worker_clocks {
 public:
  /// The steps from which this worker counts: those of the slowest one.
  MANTA_DECL std::uint64_t join(int worker);
  MANTA_DECL void made(int worker, std::uint64_t steps);
  /// Ready when all workers have made as many steps as `least`; the value is the slowest one's number.
  MANTA_DECL future<std::uint64_t> wait(int worker, std::uint64_t steps, std::uint64_t least);
  MANTA_DECL void leave(int worker);

  /// For destructors: throws nothing.
  MANTA_DECL static void leave_quietly(const actor<worker_clocks>& clocks, int worker) noexcept;

 private:
  struct waiting {
    std::uint64_t least = 0;
    promise<std::uint64_t> slowest;
  };
  [[nodiscard]] std::uint64_t slowest() const;
  void answer();

  std::map<int, std::uint64_t> steps_;  ///< steps of those that have joined
  std::vector<waiting> waiting_;
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/worker_clocks.ipp"
#endif
