// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Calls of actors, where they are made. A call goes straight to the actor's rank.
// Made before the actor's place is known it waits here, linked to the handle's node.
//
// kill waits until the actor has been made, and a submitter that runs ahead is made
// to help; no other function waits.
#pragma once

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/exec/home/call_terms.hpp"
#include "manta/exec/home/named_actors.hpp"
#include "manta/exec/home/sent_arguments.hpp"
#include "manta/exec/state/throttle.hpp"
#include "manta/exec/value/attempts.hpp"

namespace manta::exec {

class actor_calls {
 public:
  /// The parts that it uses.
  struct parts {
    current_task& running;
    exec::throttle& throttle;
    exec::pace& pace;
    tasks_elsewhere& elsewhere;
    task_records& records;
    exec::completion& completion;
    exec::fetches& fetches;
    exec::withdrawal& withdrawal;
    named_actors& named;
    exec::attempts& attempts;
  };
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    void (*wait_for_end)(void* rank, node& n);  ///< Waits until the node has ended.
    void (*relieve)(void* rank);                ///< A submitter that runs ahead helps, and may wait.
  };

  actor_calls(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  /// The most bytes of an argument that go with a call. Arguments of a call go with it also where they are long, if the
  /// actor lives on another rank: asked for later, they would have to wait until this rank has time, and it may
  /// compute, while the actor has nothing to do. What is under way in this manner is not counted by its receiver's
  /// ledger, so it is bounded here; calls beyond that have their long arguments fetched.
  MANTA_DECL std::size_t longest_argument(const node& handle) const;
  /// Calls a method of the actor. Takes over the references of the inputs.
  MANTA_DECL node& call(node& handle, function_id function, type_id type, const task_arguments& given);
  /// As the other, on these terms.
  MANTA_DECL node& call_on_terms(node& handle, function_id function, type_id type, const task_arguments& given,
                                 const call_terms& terms);
  /// The place of an actor is known, or there will be none: sends a call that has waited for it, or fails it.
  void send(node& handle, task* t);
  /// Sends one message to the actor's rank; the actor ends after the call that runs.
  MANTA_DECL void kill(node& handle, const std::string& why);

  /// May any call of this rank be made again?
  bool any_repeatable() const { return !repeatable_.empty(); }
  /// A call was lost with its actor. True if it is made again; else it has ended.
  bool repeats(node& n);
  /// A call has ended, with this failure if it is not null. True if it was lost with its actor, which may return, and
  /// is made again.
  bool repeats_after(node& n, const store::failure* why) {
    const bool is_lost = why != nullptr && (why->fatal || (why->tells_of_lost_call() && why->actor_may_return));
    if (is_lost && n.state == state::pending) return repeats(n);
    end_repeatable(n.index);
    return false;
  }
  /// The result of a call, known by its node, has come.
  void note_result(std::uint32_t call) {
    if (!sent_.empty()) sent_.remove(call);
  }
  void forget_sent() { sent_.clear(); }  ///< Some results will not come.
  /// Bytes of arguments of calls that have not ended.
  std::size_t argument_bytes() const { return sent_.bytes(); }

 private:
  void end_repeatable(node_index call);  ///< The call has ended, and will not be made again.
  /// Sends a call with a record, now or when the actor's place is known, or fails it.
  void send_or_wait(node& handle, task* t);
  /// The flags in the message of a call, which leaves now.
  std::uint8_t flags_of_call(function_id function, bool for_member);
  /// A task that goes on must not keep what it calls waiting. Calls that follow each other at once leave together.
  void send_soon();

  const rank_context own_;
  const parts below_;
  const hooks others_;
  sent_arguments sent_;
  repeatable_calls repeatable_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/home/actor_calls.ipp"
#endif
