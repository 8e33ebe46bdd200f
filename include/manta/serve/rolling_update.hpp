// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Replaces the replicas of a deployment by those of another version, some at a time: new ones start on ranks that have
// none, as far as there are such ranks. Else some replicas get no more requests, end their calls, and new ones start on
// their ranks, while the others answer.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/serve/replica_set.hpp"
#include "manta/serve/waiting_calls.hpp"

namespace manta::serve::detail {

class rolling_update {
 public:
  /// `has_room` is called when replicas have become ready, or may have requests again.
  rolling_update(dispatcher& d, replica_set& r, changes& c, std::function<void()> has_room)
      : dispatcher_(d), replicas_(r), changes_(c), has_room_(std::move(has_room)) {}
  rolling_update(const rolling_update&) = delete;

  /// `there` are replicas that have the version already. Waits. Throws what a constructor threw; all replicas have the
  /// former version then, unless those cannot be made again, which the error says.
  MANTA_DECL void run(replica_version next, std::vector<placed_replica> there = {});
  /// Starts others in the place of those that live where a server has come.
  MANTA_DECL void relocate();
  /// Words about the update that is under way; empty: none is.
  [[nodiscard]] const std::string& words() const { return words_; }

 private:
  using numbers = std::vector<std::size_t>;
  class hold;

  void take_over(const replica_version& next, std::vector<placed_replica> there);
  void go_back(const replica_version& before, int failed);
  void replace(const numbers& going, const replica_version& by, const this_task::stop_token& caller = {});
  void replace_elsewhere(const numbers& going);
  int place_of(std::size_t r);
  void retire(const numbers& going, bool retired);
  void wait_until_idle(const numbers& going);
  void end_all(const numbers& going);
  [[nodiscard]] std::size_t wave(std::size_t all) const;
  [[nodiscard]] numbers of_version(int version) const;

  dispatcher& dispatcher_;
  replica_set& replicas_;
  changes& changes_;
  std::function<void()> has_room_;
  std::string words_;
};

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/rolling_update.ipp"
#endif
