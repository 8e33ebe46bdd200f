// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Asks replicas whether they are well, and ends those that are not, have died, or do not answer in time. Nobody waits
// for a replica whose call never returns.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>

#include "manta/base/config.hpp"
#include "manta/serve/replica_set.hpp"

namespace manta::serve::detail {

class replica_health {
 public:
  replica_health(dispatcher& d, replica_set& r) : dispatcher_(d), replicas_(r) {}
  replica_health(const replica_health&) = delete;

  /// Asks each replica, waits, and ends those that are not well. One that does not answer in time is replaced where the
  /// options say how long a call may take (timeout, health_every, health_timeout); else it is left alone.
  MANTA_DECL void check();
  /// Does the same without waiting, when it is called from time to time: looks at the answers that have come, and asks
  /// again when it is time.
  MANTA_DECL void look_after();

 private:
  using clock = queued_request::clock;
  struct question {
    future<bool> answer;
    clock::time_point asked;
  };
  [[nodiscard]] std::chrono::milliseconds patience() const;
  void ask(std::size_t r);
  void note(std::size_t r, const future<bool>& answer);
  void end_late();

  dispatcher& dispatcher_;
  replica_set& replicas_;
  std::map<std::size_t, question> questions_;  ///< under way, by replica
  watcher answered_;
  clock::time_point asked_ = clock::now();
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/replica_health.ipp"
#endif
