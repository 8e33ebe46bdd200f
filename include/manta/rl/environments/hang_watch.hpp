// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An environment that hangs is never silent: each rank has a thread that looks every few seconds where its environments
// are, and says so on standard error once one has been in the same call for half a minute, and again whenever that time
// has doubled. Nothing ends it: a call may only be slow.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manta/base/config.hpp"

namespace manta::rl::detail {

/// Where some environments of one kind are, of which one is at work at a time.
class workplace {
 public:
  /// The thread looks at it from now on until its end.
  MANTA_DECL explicit workplace(std::string name);
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;
  MANTA_DECL ~workplace();

  /// `call` has to be a literal, such as "step()".
  void enter(const char* call, std::uint64_t environment, std::uint64_t episode, std::uint64_t step) {
    call_.store(call, std::memory_order_relaxed);
    environment_.store(environment, std::memory_order_relaxed);
    episode_.store(episode, std::memory_order_relaxed);
    step_.store(step, std::memory_order_relaxed);
    count_.store(++own_count_, std::memory_order_release);
  }
  void leave() { count_.store(++own_count_, std::memory_order_release); }

  /// For the thread that looks. A sentence if the environment has been in this call for long and that was not said yet.
  MANTA_DECL std::optional<std::string> look(std::chrono::steady_clock::time_point now);

 private:
  static constexpr std::chrono::seconds patience{30};

  std::string name_;
  int rank_ = -1;  ///< rank of the run; -1 outside of one
  std::atomic<const char*> call_{""};
  std::atomic<std::uint64_t> environment_{0}, episode_{0}, step_{0};
  std::atomic<std::uint64_t> count_{0};  ///< count of entries and leaves together: odd inside of a call
  std::uint64_t own_count_ = 0;

  std::uint64_t seen_ = 0;  ///< the count at the last look
  std::chrono::steady_clock::time_point since_;
  std::chrono::seconds next_ = patience;
};

/// What there is to say at this time of the environments of this rank.
MANTA_DECL std::vector<std::string> look_at_environments(std::chrono::steady_clock::time_point now);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/environments/hang_watch.ipp"
#endif
