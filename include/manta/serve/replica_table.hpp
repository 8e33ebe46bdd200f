// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The replicas of a deployment as its dispatcher sees them: numbers that are used once, with what each of them does.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "manta/base/config.hpp"

namespace manta::serve {

class replica_table {
 public:
  struct state {
    int version = 1, rank = -1;
    bool is_ready = false, is_retired = false;
    bool is_isolated = false;  ///< it has a process of its own
    int ongoing = 0;
    std::size_t last_size = 0;  ///< requests of the batch that it got last
  };

  MANTA_DECL std::size_t add_starting(int version);
  MANTA_DECL void ready(std::size_t replica);
  MANTA_DECL void remove(std::size_t replica);
  /// Gets no more requests; or does again.
  MANTA_DECL void retire(std::size_t replica, bool retired = true);
  MANTA_DECL void set_rank(std::size_t replica, int rank);
  /// -1: it is not known.
  [[nodiscard]] MANTA_DECL int rank_of(std::size_t replica) const;
  /// 0: there is no such replica.
  [[nodiscard]] MANTA_DECL int version_of(std::size_t replica) const;
  [[nodiscard]] MANTA_DECL bool is_idle(std::size_t replica) const;
  [[nodiscard]] MANTA_DECL bool is_retired(std::size_t replica) const;
  [[nodiscard]] MANTA_DECL std::vector<std::size_t> all_ready() const;
  /// Ready or starting.
  [[nodiscard]] MANTA_DECL std::vector<std::size_t> all() const;
  [[nodiscard]] MANTA_DECL int count(bool is_ready) const;
  /// Null if there is no such replica.
  [[nodiscard]] MANTA_DECL state* find(std::size_t replica);
  [[nodiscard]] MANTA_DECL const state* find(std::size_t replica) const;
  [[nodiscard]] std::map<std::size_t, state>& states() { return states_; }
  [[nodiscard]] const std::map<std::size_t, state>& states() const { return states_; }

 private:
  std::map<std::size_t, state> states_;
  std::size_t next_ = 0;
};

}  // namespace manta::serve

#ifndef MANTA_COMPILED
#include "manta/serve/replica_table.ipp"
#endif
