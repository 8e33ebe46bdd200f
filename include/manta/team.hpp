// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Gang tasks: tasks that are MPI programs. A function that takes manta::team
// first runs on several ranks at once, with a communicator of their own; in the
// graph it is a task like any other.
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

/// The ranks that run one gang task, seen by one of them. Cheap to copy; holds while the task runs.
class team {
 public:
  explicit team(const net::team_place& place) : place_(place) {}

  /// For any MPI call and any library on MPI. Kept for the next gang of the same ranks: do not free it, and leave no
  /// message of yours unreceived in it.
  MPI_Comm comm() const { return place_.comm; }
  int rank() const { return place_.rank; }
  int size() const { return place_.size; }

 private:
  net::team_place place_;
};

/// The result type of a gang task that gives one value of each member instead of the first one's: each returns its
/// own, and the future holds all, by rank in the team. They are gathered on the team's first rank.
///
///   manta::per_rank<double> load(manta::team) { return busy_seconds(); }
template <class T>
class per_rank {
 public:
  using value_type = T;

  per_rank() = default;
  per_rank(T mine) { values_.push_back(std::move(mine)); }

  std::size_t size() const { return values_.size(); }
  const T& operator[](std::size_t rank) const { return values_[rank]; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.end(); }

  /// For the gathering.
  void merge(per_rank&& later) {
    for (T& value : later.values_) values_.push_back(std::move(value));
  }
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
