// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The actors that live on this rank: their slots, their calls, and how they end.
// An actor ends with its last handle: its home learns with each returned reference
// how many calls were made through it, and the actor ends only after that many have
// come, for references and calls travel on different channels.
//
// run_call runs methods, constructors and destructors, which may wait. All other
// functions return at once: what they find is listed, and done by run_call.
#pragma once

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/account/actor_times.hpp"
#include "manta/exec/account/time_account.hpp"
#include "manta/exec/rank/message_queue.hpp"
#include "manta/exec/state/run_phase.hpp"
#include "manta/exec/state/waiters.hpp"
#include "manta/exec/work/executor.hpp"
#include "manta/exec/work/restarts.hpp"
#include "manta/exec/work/slots.hpp"
#include "manta/report/run_state.hpp"

namespace manta::exec {

class actor_host {
 public:
  /// The parts that it uses.
  struct parts {
    biased_lock& lock;
    exec::runner& runner;
    current_task& running;
    started_list& started;
    exec::waiters& waiters;
    task_records& records;
    exec::executor& executor;
    exec::unobserved& unobserved;
    exec::journaling& journaling;
    const run_phase& phase;
    exec::pace& pace;
    const exec::time_account& time_account;
    exec::actor_times& actor_times;
  };
  /// What others do for actors on several ranks, each with `rank` first.
  struct hooks {
    void* rank;
    void (*run_part)(void* rank, slot_index slot, task* call);  ///< Runs this rank's part of a call.
    /// A call that another part has sent on fails here.
    void (*part_failed)(void* rank, const task& call, const store::failure_ptr& why);
  };

  actor_host(const rank_context& own, parts of_it, hooks others)
      : own_(own),
        below_(of_it),
        others_(others),
        restarts_(own, {of_it.lock, of_it.runner, of_it.running, of_it.records, of_it.journaling, of_it.unobserved}) {}

  // --- actors begin and end

  /// An actor has been constructed here by the task `made_by`. `constructor` is this task if it is kept for a restart,
  /// else null. Returns the actor's slot.
  slot_index add(const invocation& call, const task& made_by, task* constructor);
  actor_slot& at(slot_index slot) { return slots_[slot]; }
  void on_end_actor(const end_actor_message& m);  ///< The last handle is gone; the message has the number of calls.
  /// Marks the actor as dead and asks the calls that run to stop. The rest is done by run_call.
  void kill(slot_index slot, std::string why);
  /// Calls visit(number, slot) for each actor that lives here; of those on several ranks, for those
  /// that this rank leads.
  template <class Visit>
  void for_each_led(Visit&& visit) const {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      const actor_slot& slot = slots_[i];
      const bool leads = slot.gang == nullptr || slot.gang->member == 0;
      if (slot.used && slot.object != nullptr && leads && slot.dead.empty()) visit(slot_index(i), slot);
    }
  }
  /// The actor whose handle's node is that one, where it lives on; no_index: none.
  slot_index slot_of(node_place home) const {
    slot_index found = no_index;
    for_each_led([&](slot_index number, const actor_slot& slot) {
      if (slot.home.rank == home.rank && slot.home.index == home.index) found = number;
    });
    return found;
  }
  /// Nobody has a handle: the actor ends after the calls that have come.
  void end_orphan(slot_index slot) { on_end_actor({slot, 0, slots_[slot].received, 1, 0}); }
  void kill_all(const std::string& why);  ///< Kills all actors that live here.
  /// Kills the parts of actors on several ranks that had a part on a dead rank. One that may be made again is left to
  /// rank 0, which ends all its ranks.
  void kill_parts_with(rank_id dead, const std::string& why);

  // --- calls

  /// In a handler: a call stands in line, or is refused at once if as many wait already as the actor's options allow.
  void on_call(rank_id from, const std::byte* data, std::size_t bytes);
  bool empty() const { return slots_.empty(); }  ///< Does no actor live here?
  /// Appends the actors of this rank for which calls wait.
  void add_waiting(base::vector<report::waiting_actor>& to, int here) const;
  /// Appends what the actors that live here have done.
  void add_living(base::vector<actor_times::entry>& to) const;
  /// Has a call come whose inputs nobody has looked for handles?
  bool has_unread_inputs() const {
    return calls_.any(
        [](const message_queue::view& v) { return (flags_of_task(v.data) & task_message::has_inputs) != 0; });
  }
  bool has_work() const { return slots_.has_listed() || !calls_.empty(); }
  std::uint64_t waiting() const { return calls_.size() + slots_.listed(); }  ///< The number of calls that can begin.
  /// Starts a call of the actor that has been listed longest, or ends that actor; else looks at the oldest call that
  /// has come. There is one: has_work().
  void run_call() { slots_.has_listed() ? run_mailbox() : receive(calls_.pop()); }
  /// The actor has something to start or to end.
  void list(slot_index slot) {
    if (slots_.list(slot)) below_.pace.hurry();
  }
  /// A call has ended, or was none: the next one is listed, or the actor is built anew, or it ends.
  void after_call(slot_index slot, bool was_active = true);

  /// Is this call here, and has not begun?
  bool has_unstarted(slot_index slot, std::uint64_t id) const;
  /// Takes that call out of where it waits. Null if there is none.
  task* take_unstarted(slot_index slot, std::uint64_t id);
  /// Holds is(message) for one of the calls that nobody has looked at?
  template <class Is>
  bool any_call(Is&& is) const {
    return calls_.any(is);
  }

 private:
  void refuse(rank_id from, const std::byte* data);  ///< Fails a call of an actor for which too many wait.
  void receive(const message_queue::view& m);        ///< Runs a call that has come, or puts it into its mailbox.
  void run_mailbox();                                ///< Starts the next call of the first listed actor.
  bool has_call_in_line(slot_index slot) const;      ///< Has a call come in that has not been read?
  void run_from_mailbox(slot_index index, task* t);  ///< Runs a call whose inputs are here.
  /// The object is destroyed, its resources are given back; the slot stays to answer late calls.
  void end(slot_index index, const std::string& why);
  /// Fails the calls that a dead actor will not do any more. One that is still linked to its inputs comes back when
  /// they are here.
  void fail_waiting(slot_index index);
  /// Counts a call of the actor that has run.
  void note_call(actor_slot& slot, const running_task& call) {
    slot.done.add(below_.time_account.own_ticks_of(call), slot.mailbox.size() + calls_.size());
  }

  const rank_context own_;
  const parts below_;
  const hooks others_;
  actor_restarts restarts_;
  actor_slots slots_;
  message_queue calls_;  // that nobody has looked at
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/actor_host.ipp"
#endif
