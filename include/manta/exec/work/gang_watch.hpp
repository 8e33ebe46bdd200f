// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank has noticed of gangs that may never end: how long something has
// stood still, whether that was said, and how long others still have.
//
// This part keeps times: it is told what happens and the time, sends nothing
// and never waits. What follows is for the engine to do.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"

namespace manta::exec {

/// Something waits behind a gang that may itself wait for it. Nobody can know that, but it can be said.
class stall_watch {
 public:
  static constexpr std::int64_t patience_ns = 10'000'000'000;
  static constexpr std::int64_t between_looks_ns = 100'000'000;

  /// Is it time to look again? True at most ten times a second.
  bool is_due(std::int64_t now_ns) {
    if (now_ns - looked_ns_ < between_looks_ns) return false;
    looked_ns_ = now_ns;
    return true;
  }
  /// True once for each stall: for `patience_ns` something has been waiting, and the number of ends is the same.
  bool look(bool is_waiting, std::uint64_t ends, std::int64_t now_ns) {
    if (!is_waiting || ends != ends_ || since_ns_ == 0) {
      ends_ = ends;
      since_ns_ = is_waiting ? now_ns : 0;
      said_ = false;
      return false;
    }
    if (said_ || now_ns - since_ns_ < patience_ns) return false;
    said_ = true;
    return true;
  }

 private:
  std::int64_t looked_ns_ = 0;
  std::int64_t since_ns_ = 0;  // 0: nothing waits
  std::uint64_t ends_ = 0;
  bool said_ = false;
};

class gang_watch {
 public:
  static constexpr std::int64_t patience_ns = stall_watch::patience_ns;

  /// Rank 0: tasks and gangs that wait for the ranks of a gang's members.
  stall_watch& waiting_tasks() { return waiting_tasks_; }
  /// Any rank: what stands here while a part of an actor has the rank's thread.
  stall_watch& part() { return part_; }

  // --- rank 0: gangs of which a member has died

  /// The others may wait inside MPI for the dead one, and have until then to come back.
  void note_broken(std::uint64_t gang, std::int64_t until_ns) { broken_.push_back({gang, until_ns}); }
  bool has_broken() const { return !broken_.empty(); }
  void give_time(std::uint64_t gang, std::int64_t until_ns) {
    for (broken& b : broken_) {
      if (b.gang == gang) b.until_ns = until_ns;
    }
  }
  /// Forgets the gangs without members, has_members(gang), and those whose time is over: end(gang) for each of these.
  template <class HasMembers, class End>
  void end_broken(std::int64_t now_ns, HasMembers&& has_members, End&& end) {
    for (std::size_t i = broken_.size(); i-- > 0;) {
      const broken b = broken_[i];
      const bool is_alive = has_members(b.gang);
      if (is_alive && b.until_ns > now_ns) continue;
      if (is_alive) end(b.gang);
      broken_.remove_unordered(i);
    }
  }

  // --- a member

  /// May the rank say now that it is stuck? True at most once in `patience_ns`.
  bool may_say_stuck(std::int64_t now_ns) {
    if (now_ns - said_stuck_ns_ < patience_ns) return false;
    said_stuck_ns_ = now_ns;
    return true;
  }
  /// The rank makes a communicator with the lock kept. Other threads may ask how long.
  void begin_alone(std::int64_t now_ns) { alone_since_ns_.store(now_ns, std::memory_order_relaxed); }
  void end_alone() { alone_since_ns_.store(0, std::memory_order_relaxed); }
  bool is_alone_too_long(std::int64_t now_ns) const {
    const std::int64_t since = alone_since_ns_.load(std::memory_order_relaxed);
    return since != 0 && now_ns - since >= patience_ns;
  }

 private:
  struct broken {
    std::uint64_t gang;
    std::int64_t until_ns;
  };
  stall_watch waiting_tasks_, part_;
  base::list<broken> broken_;
  std::int64_t said_stuck_ns_ = 0;
  std::atomic<std::int64_t> alone_since_ns_ = 0;  // 0: it does not
};

}  // namespace manta::exec
