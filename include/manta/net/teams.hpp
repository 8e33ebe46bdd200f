// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Communicators for gangs, made by their members alone and kept for the next
// gang of the same ranks: making one costs tens of microseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "manta/base/containers.hpp"
#include "manta/net/mpi.hpp"

namespace manta::net {

/// Where a member of a gang stands, and its communicator.
struct team_place {
  MPI_Comm comm;
  int rank;
  int size;
  int leader;  ///< of the world
  struct team_ranks* known = nullptr;
};

/// Ranks that have been a gang, and their communicator.
struct team_ranks {
  base::list<std::uint32_t> ranks;
  std::uint64_t id = 0;
  MPI_Comm comm = MPI_COMM_NULL;
  bool is_watched = false;  ///< this member looks who of them lives
};

class teams {
 public:
  static constexpr int tag = 1;  ///< on the parent, beside the batches' tag
  static constexpr std::uint64_t after_deaths = std::uint64_t{1}
                                                << 62;  ///< in a gang's id: a rank had died when it was started

  explicit teams(MPI_Comm parent) : parent_(parent) {}
  teams(const teams&) = delete;
  teams& operator=(const teams&) = delete;
  /// All members of a communicator must free it: every rank goes through its own in the order in which gangs were
  /// started, so that no two wait for each other.
  ~teams() {
    for (std::size_t i = 1; i < known_.size(); ++i) {  // few, and nearly sorted
      for (std::size_t k = i; k > 0 && known_[k]->id < known_[k - 1]->id; --k) std::swap(known_[k], known_[k - 1]);
    }
    for (team_ranks* e : known_) {
      if (mpi_is_running()) MPI_Comm_free(&e->comm);
      delete e;
    }
    if (group_ != MPI_GROUP_NULL && mpi_is_running()) MPI_Group_free(&group_);
  }

  /// Collective over `ranks` (of the parent) unless they have met before. `id` grows from gang to gang and is the same
  /// on all members. MPI_COMM_NULL if a member has died and MPI says so.
  MPI_Comm get(const base::list<std::uint32_t>& ranks, std::uint64_t id) {
    if (team_ranks* const known = find(ranks)) {
      known->is_watched = false;  // by the gang before
      return known->comm;
    }
    if (group_ == MPI_GROUP_NULL) check(MPI_Comm_group(parent_, &group_), "MPI_Comm_group");
    auto* const e = new team_ranks;
    base::list<int> members;
    for (const std::uint32_t rank : ranks) {
      members.push_back(static_cast<int>(rank));
      e->ranks.push_back(rank);
    }
    e->id = id;
    MPI_Group group = MPI_GROUP_NULL;
    check(MPI_Group_incl(group_, static_cast<int>(members.size()), members.data(), &group), "MPI_Group_incl");
    const bool all_live = check_alive(create(group, id, &e->comm), "MPI_Comm_create_group");
    check(MPI_Group_free(&group), "MPI_Group_free");
    if (!all_live) {
      delete e;
      return MPI_COMM_NULL;
    }
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    check(MPI_Comm_create_errhandler(&handle_error, &handler), "MPI_Comm_create_errhandler");
    check(MPI_Comm_set_errhandler(e->comm, handler), "MPI_Comm_set_errhandler");
    check(MPI_Errhandler_free(&handler), "MPI_Errhandler_free");
    known_.push_back(e);
    return e->comm;
  }
  /// Does this rank's part of a gang look whether that rank lives?
  bool are_watched_with(std::uint32_t rank) const {
    for (const team_ranks* e : known_) {
      if (e->is_watched && std::find(e->ranks.begin(), e->ranks.end(), rank) != e->ranks.end()) return true;
    }
    return false;
  }
  /// Null: they have not met before.
  team_ranks* find(const base::list<std::uint32_t>& ranks) const {
    for (team_ranks* e : known_) {
      if (e->ranks.size() == ranks.size() &&
          std::memcmp(e->ranks.data(), ranks.data(), ranks.size() * sizeof(std::uint32_t)) == 0) {
        return e;
      }
    }
    return nullptr;
  }

 private:
  int create(MPI_Group group, [[maybe_unused]] std::uint64_t id, MPI_Comm* made) const {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
    // From a communicator with a dead member no other is made. Nobody else may be in MPI meanwhile: with another thread
    // there Open MPI 5.0.7 hangs sooner or later, without any death.
    if ((id & after_deaths) != 0 && mpi_tolerates_deaths()) {
      return MPI_Comm_create_from_group(group, ("manta-" + std::to_string(id)).c_str(), MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, made);
    }
#endif
    return MPI_Comm_create_group(parent_, group, tag, made);
  }
  /// What the program chose for its world holds for its gangs. But one that has lost a member is not the program's
  /// error: its members' calls end, and it is started again elsewhere.
  static void handle_error(MPI_Comm* comm, int* code, ...) {
    if (tells_of_death(*code)) return revoke(*comm);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, *code);
  }

  MPI_Comm parent_;
  MPI_Group group_ = MPI_GROUP_NULL;
  base::list<team_ranks*> known_;
};

}  // namespace manta::net
