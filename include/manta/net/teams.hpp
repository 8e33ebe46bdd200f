// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Communicators for gangs. The members alone make one, and keep it for the next gang of the same ranks, because making
// one takes tens of microseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "manta/base/containers.hpp"
#include "manta/base/text.hpp"
#include "manta/net/mpi.hpp"

namespace manta::net {

/// The place of a member in its gang, and the gang's communicator.
struct team_place {
  MPI_Comm comm;
  int rank;
  int size;
  int leader;  ///< the leader's rank in the world
  struct team_ranks* known = nullptr;
};

/// Ranks that have formed a gang, and their communicator.
struct team_ranks {
  base::list<std::uint32_t> ranks;
  std::uint64_t id = 0;    ///< id of their first gang
  std::uint64_t used = 0;  ///< number of their last gang
  MPI_Comm comm = MPI_COMM_NULL;
  bool is_watched = false;  ///< this member checks which of the others live
};

class teams {
 public:
  static constexpr int tag = 1;  ///< tag on the parent, different from the batches' tag
  static constexpr std::uint64_t after_deaths = std::uint64_t{1}
                                                << 62;  ///< bit in a gang's id: a rank had died when it was started

  /// A communicator is freed when this number of gangs have started on any ranks since its own formed one. MPI has some
  /// 65 000 communicators, and each takes 8 KiB. A rank is in one gang at a time, so the communicator of a gang that
  /// runs, or of an actor that lives, is never freed. A rank's gangs come in the order of their numbers, so all members
  /// free the communicator before the same gang. They need not free it at the same time: with Open MPI this is local.
  static constexpr std::uint64_t kept_for = 4096;

  explicit teams(MPI_Comm parent) : parent_(parent) {}
  teams(const teams&) = delete;
  teams& operator=(const teams&) = delete;
  /// Frees the communicators, together with their other members. Every rank frees its communicators in the order in
  /// which the gangs were started, so that no two ranks wait for each other.
  ~teams() {
    for (std::size_t i = 1; i < known_.size(); ++i) {  // insertion sort: they are few, and nearly sorted
      for (std::size_t k = i; k > 0 && known_[k]->id < known_[k - 1]->id; --k) std::swap(known_[k], known_[k - 1]);
    }
    for (team_ranks* e : known_) {
      if (mpi_is_running()) MPI_Comm_free(&e->comm);
      delete e;
    }
    if (group_ != MPI_GROUP_NULL && mpi_is_running()) MPI_Group_free(&group_);
    if (handler_ != MPI_ERRHANDLER_NULL && mpi_is_running()) MPI_Errhandler_free(&handler_);
  }

  /// After a death: does MPI go on, and has a communicator to be made while no other thread is in MPI?
  static bool makes_them_alone() { return mpi_tolerates_deaths(); }
  /// Has a member of the gang died, and MPI says so?
  static bool is_revoked(MPI_Comm comm) { return net::is_revoked(comm); }

  /// Gives the communicator of `ranks` (of the parent). Collective over these ranks if they have not formed a gang
  /// before, or long ago. `id` grows from gang to gang and is the same on all members. MPI_COMM_NULL if a member has
  /// died and MPI says so.
  MPI_Comm get(const base::list<std::uint32_t>& ranks, std::uint64_t id) {
    const std::uint64_t number = id & ~after_deaths;
    free_unused(number);
    if (team_ranks* const known = find(ranks)) {
      known_.remove(known);
      known_.push_back(known);
      known->used = number;
      known->is_watched = false;  // the former gang may have set it
      make_as_new(known->comm);
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
    e->used = number;
    MPI_Group group = MPI_GROUP_NULL;
    check(MPI_Group_incl(group_, static_cast<int>(members.size()), members.data(), &group), "MPI_Group_incl");
    const bool all_live = check_alive(create(group, id, &e->comm), "MPI_Comm_create_group");
    check(MPI_Group_free(&group), "MPI_Group_free");
    if (!all_live) {
      delete e;
      return MPI_COMM_NULL;
    }
    if (handler_ == MPI_ERRHANDLER_NULL)
      check(MPI_Comm_create_errhandler(&handle_error, &handler_), "MPI_Comm_create_errhandler");
    make_as_new(e->comm);
    known_.push_back(e);
    return e->comm;
  }
  /// Whether this rank's member of a gang checks whether that rank lives.
  bool are_watched_with(std::uint32_t rank) const {
    for (const team_ranks* e : known_) {
      if (e->is_watched && std::find(e->ranks.begin(), e->ranks.end(), rank) != e->ranks.end()) return true;
    }
    return false;
  }
  /// The record of these ranks; null: they have not formed a gang before.
  team_ranks* find(const base::list<std::uint32_t>& ranks) const {
    for (std::size_t i = known_.size(); i-- > 0;) {
      team_ranks* const e = known_[i];
      if (e->ranks.size() == ranks.size() &&
          std::memcmp(e->ranks.data(), ranks.data(), ranks.size() * sizeof(std::uint32_t)) == 0) {
        return e;
      }
    }
    return nullptr;
  }
  /// Number of communicators that this rank keeps.
  std::size_t kept() const { return known_.size(); }

 private:
  /// Frees what the gang of this number and all later ones make anew.
  void free_unused(std::uint64_t number) {
    while (!known_.empty() && number > known_[0]->used + kept_for) {
      team_ranks* const oldest = known_[0];
      known_.remove(oldest);
      check_alive(MPI_Comm_free(&oldest->comm), "MPI_Comm_free");
      delete oldest;
    }
  }
  int create(MPI_Group group, [[maybe_unused]] std::uint64_t id, MPI_Comm* made) const {
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
    // MPI makes no communicator from one with a dead member, so this way leads around it. No other thread may be in MPI
    // meanwhile: with another thread Open MPI 5.0.7 hangs sooner or later, even without a death.
    if ((id & after_deaths) != 0 && mpi_tolerates_deaths()) {
      return MPI_Comm_create_from_group(group, base::text("manta-{}", id).c_str(), MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        made);
    }
#endif
    return MPI_Comm_create_group(parent_, group, tag, made);
  }
  /// What a gang has changed of the communicator does not concern the next one: its error handler and its name.
  /// Attributes stay, in which libraries such as PETSc keep what they have made for a communicator.
  void make_as_new(MPI_Comm comm) const {
    check(MPI_Comm_set_errhandler(comm, handler_), "MPI_Comm_set_errhandler");
    check(MPI_Comm_set_name(comm, "manta gang"), "MPI_Comm_set_name");
  }
  /// Handles an error in a gang as the program's world would. The death of a member is no error of the program,
  /// however: the calls of the other members return, and the gang starts again elsewhere.
  static void handle_error(MPI_Comm* comm, int* code, ...) {
    if (tells_of_death(*code)) return revoke(*comm);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, *code);
  }

  MPI_Comm parent_;
  MPI_Group group_ = MPI_GROUP_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
  base::list<team_ranks*> known_;  // in the order of their last gangs
};

}  // namespace manta::net
