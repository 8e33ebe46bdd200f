// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Gang tasks: tasks that are MPI programs. A function whose first parameter is manta::team runs on several ranks at
// once, with a communicator of their own; in the graph it is a task like any other.
//
//   double solve(manta::team team, const Mesh& mesh) {
//     ...
//     MPI_Allreduce(&mine, &residual, 1, MPI_DOUBLE, MPI_SUM, team.comm());
//     return residual;
//   }
//   manta::future<double> r = manta::async<solve>({.ranks = 4}, mesh);
#pragma once

#include <mpi.h>

#include <vector>

#include "manta/async.hpp"

namespace manta {

/// The ranks that run one gang task, seen by one of them. Cheap to copy; valid while the task runs.
class team {
 public:
  /// Made by manta for each member.
  explicit team(const net::team_place& place) : place_(place) {}

  /// The team's communicator, for any MPI call and any library on MPI. manta keeps it for the next gang of the same
  /// ranks: do not free it, and receive every message that you send in it.
  MPI_Comm comm() const { return place_.comm; }
  /// This member's number in the team, from 0. Member 0 gives the task's value.
  int rank() const { return place_.rank; }
  /// Number of members.
  int size() const { return place_.size; }
  /// False once the rank of a member has died, in a job that survives deaths (manta-run). An MPI call that waits for
  /// the dead member never ends. A gang that is to survive the death therefore makes nonblocking calls, tests them,
  /// and calls is_whole() meanwhile. When that is false, the member throws an exception, and frees neither the
  /// requests nor their memory.
  ///
  /// Call it once in the beginning: a member that has done so gets a minute after a death to return. Of other members
  /// manta assumes that they are stuck in MPI, and ends their ranks a second after the death. Receives messages that
  /// have arrived, at most every 20 us.
  bool is_whole() const {
    exec::engine& e = exec::engine::here("team::is_whole");
    const exec::engine::guard g(e);
    e.loop().stop_requested();  // receives
    if (place_.known == nullptr || !e.recovers()) return true;
    place_.known->is_watched = true;
    for (const std::uint32_t rank : place_.known->ranks) {
      if (e.is_dead(rank)) return false;
    }
    return true;
  }

 private:
  net::team_place place_;
};

/// The result type of a gang task that returns the values of all members instead of the first member's. Each member
/// returns its own value, and the future holds all of them, by rank in the team, on the team's first rank.
///
///   manta::per_rank<double> load(manta::team) { return busy_seconds(); }
template <class T>
class per_rank {
 public:
  /// The type of each member's value.
  using value_type = T;

  /// Holds nothing yet.
  per_rank() = default;
  /// What one member returns.
  per_rank(T mine) { values_.push_back(std::move(mine)); }

  /// Number of members whose values are here.
  std::size_t size() const { return values_.size(); }
  /// The value of the member with this rank in the team.
  const T& operator[](std::size_t rank) const { return values_[rank]; }
  /// The values, by rank in the team.
  auto begin() const { return values_.begin(); }
  /// The position behind the value of the last member.
  auto end() const { return values_.end(); }

  /// Appends the values of later members; called by manta when it gathers them.
  void merge(per_rank&& later) {
    for (T& value : later.values_) values_.push_back(std::move(value));
  }
  /// For sending, by cereal.
  template <class Archive>
  void serialize(Archive& archive) {
    archive(values_);
  }

 private:
  std::vector<T> values_;
};

namespace wire {
template <class T>
inline constexpr bool is_gathered<per_rank<T>> = true;
}

}  // namespace manta
