// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The failures that the engine itself gives to tasks and values, in words: what
// has happened, where, and what can be done about it. Nothing here changes a
// node, sends or waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/exec/rank/invocation.hpp"
#include "manta/exec/rank/membership.hpp"
#include "manta/exec/rank/node_views.hpp"
#include "manta/graph/reservation.hpp"
#include "manta/store/failure.hpp"

namespace manta::exec {

/// The task was cancelled by the task `who` on the rank `where`.
MANTA_DECL store::failure_ptr cancel_failure(std::string_view name, std::string_view who, rank_id where);
/// The task had not started when its deadline, in nanoseconds, was over.
MANTA_DECL store::failure_ptr timeout_failure(std::string_view name, std::int64_t deadline);
/// A call of an actor had not started when its deadline, in nanoseconds, was over; 0: its home knows.
MANTA_DECL store::failure_ptr call_timeout_failure(std::string_view method, std::int64_t deadline);
/// A task or call was taken out of where it waited: its deadline has expired, or its home has cancelled it.
MANTA_DECL store::failure_ptr unstarted_failure(const graph::task& t, bool expired);
/// A call fails because its actor has ended or never lived.
MANTA_DECL store::failure_ptr actor_failure(const std::string& why);
/// A call was not taken because `most` calls wait for the actor, which lives on the rank `here`.
MANTA_DECL store::failure_ptr busy_failure(std::string_view method, int most, rank_id here);
/// What a call has done is lost, because another one found the actor broken meanwhile.
MANTA_DECL store::failure_ptr lost_call_failure(const std::string& broken_by);
/// The run has to end before the task has started.
MANTA_DECL store::failure_ptr leaving_failure(const std::string& why);
/// The driver has thrown before the task has started.
MANTA_DECL store::failure_ptr dropped_failure();
/// The reservation of a task was released before the task has started.
MANTA_DECL store::failure_ptr reservation_gone();
/// A reservation was given up before it was met.
MANTA_DECL store::failure_ptr reservation_given_up();
/// The bundles of its reservation lie on too few ranks for this gang.
MANTA_DECL store::failure_ptr gang_failure(const graph::node& n, const graph::bundles& reserved);

/// Writes the failures in which this rank, or the death of another, is named.
class failure_writer {
 public:
  failure_writer(rank_id here, const membership& members) : rank_(here), members_(members) {}

  /// Notes that the failure has happened here, in this function.
  MANTA_DECL void locate(store::failure& f, std::string_view function, std::uint32_t attempt = 0) const;
  /// In a catch clause: what the task has thrown, or what its arguments have as they were decoded.
  MANTA_DECL store::failure_ptr here(const running_task& task, bool reads_arguments = false) const;
  /// In a catch clause: the failure of a type's save() or load(), by the name of the type or its number.
  MANTA_DECL store::failure_ptr codec(const char* function, std::string_view type) const;
  MANTA_DECL store::failure_ptr codec(const char* function, type_id type) const;  ///< As the other.
  /// A task is not begun, because `waiting` tasks have begun here and all wait.
  MANTA_DECL store::failure_ptr too_many_wait(const running_task& task, std::size_t waiting) const;
  /// A task has an input that has failed: the reason with the task's name at the end. Null if none has.
  MANTA_DECL store::failure_ptr of_input(graph::task& t) const;
  /// This rank has no memory for the value that was entered last.
  [[gnu::cold]] MANTA_DECL store::failure_ptr store_is_full(const store::ledger& values) const;

  /// `what`, and of what the rank has died.
  MANTA_DECL store::failure_ptr death(enum store::failure::kind kind, rank_id dead, const std::string& what,
                                      bool actor_may_return = false) const;
  /// The task has died with its rank.
  MANTA_DECL store::failure_ptr died_with(const graph::node& n, rank_id dead) const;
  /// The failure of a call, of this id, whose actor has died with its rank.
  MANTA_DECL store::failure_ptr actor_died_with(rank_id dead, std::uint64_t call) const;
  /// The task was on as many ranks as it may be when they died; nobody knows what ran there.
  MANTA_DECL store::failure_ptr was_there_too_often(const graph::node& n, std::uint64_t id) const;
  /// A value whose home has died, and of which nobody has a copy.
  MANTA_DECL store::failure_ptr orphan(const graph::node& n, const std::string& more = {}) const;
  /// The last rank that held a value or an actor has died, and a handle that it had passed on has come since.
  MANTA_DECL store::failure_ptr given_up(const graph::node& n, rank_id dead) const;
  /// No rank is left that can run the task. `but_rank_0`: rank 0 could, had the task not cost a rank.
  MANTA_DECL store::failure_ptr nobody_left(const graph::node& n, bool but_rank_0) const;
  /// A member of the gang has died. Null if all live.
  MANTA_DECL store::failure_ptr lost_member(const graph::gang& g) const;
  /// What a member of a gang has thrown, as the gang's failure. After a death, the death is the reason.
  MANTA_DECL store::failure_ptr of_member(const store::failure_ptr& why, const graph::gang& gang) const;

 private:
  rank_id rank_;
  const membership& members_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/rank/failure_writer.ipp"
#endif
