// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Where new replicas live: on ranks that have no server, no router and no hung call, and as few replicas as possible. A
// rank that waits for a constructor, or for a call that takes long, answers nobody else.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/capacity.hpp"
#include "manta/serve/options.hpp"

namespace manta::serve::detail {

class replica_places {
 public:
  explicit replica_places(const options& o) : options_(o) {}
  replica_places(const replica_places&) = delete;

  /// A server or a router has this rank; replicas live elsewhere if they can, or in any case.
  void add_busy(int rank, bool in_any_case) { busy_[rank] = busy_[rank] || in_any_case; }
  /// The rank gets no replica as long as a call on it hangs.
  void add_stuck(int rank) { stuck_.insert(rank); }
  void remove_stuck(int rank) { stuck_.erase(stuck_.find(rank)); }
  [[nodiscard]] bool is_busy(int rank) const { return busy_.count(rank) != 0; }
  /// The ranks of servers and of the router; true: no replica may live there in any case.
  [[nodiscard]] const std::map<int, bool>& busy() const { return busy_; }
  [[nodiscard]] const std::multiset<int>& stuck() const { return stuck_; }

  /// The rank for a new replica beside those that live on these ranks. -1: the scheduler may choose any. Throws
  /// unschedulable if no rank may have one.
  [[nodiscard]] MANTA_DECL int next(const std::vector<int>& taken) const;
  /// Ranks for `count` new replicas on which none of these lives, or fewer if there are no more; -1 leaves the choice
  /// to the scheduler. May ask rank 0, and wait.
  [[nodiscard]] MANTA_DECL std::vector<int> free(const std::vector<int>& taken, std::size_t count) const;
  /// Whether replicas hold what two of them cannot have at the same time, such as devices.
  [[nodiscard]] bool are_exclusive() const { return options_.gpus > 0 || !options_.resources.empty(); }

 private:
  [[nodiscard]] std::vector<int> possible(const std::vector<rank_resources>& ranks, bool busy_too) const;

  const options& options_;
  std::map<int, bool> busy_;
  std::multiset<int> stuck_;
};

/// Counts the replicas that routers of this process have on each rank.
class places_in_use {
 public:
  static void add(int rank) { ++all()[rank]; }
  static void remove(int rank) { --all()[rank]; }
  static int on(int rank) {
    const auto found = all().find(rank);
    return found == all().end() ? 0 : found->second;
  }

 private:
  static std::map<int, int>& all() {
    static std::map<int, int> counts;
    return counts;
  }
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/replica_places.ipp"
#endif
