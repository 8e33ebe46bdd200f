// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An actor whose method has found it broken is built anew where it lives: from its
// checkpoint or by its constructor, and then it does again the calls that it has
// done since. This part keeps what that needs, in the actor's slot.
//
// Constructors, destructors, save(), load() and methods are the user's code: save()
// and restart() call them outside the lock, and they may wait.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/actor_slot.hpp"
#include "manta/exec/state/unobserved.hpp"
#include "manta/exec/value/journaling.hpp"
#include "manta/exec/value/task_records.hpp"
#include "manta/exec/work/runner.hpp"

namespace manta::exec {

class actor_restarts {
 public:
  /// The parts that it uses.
  struct parts {
    biased_lock& lock;
    exec::runner& runner;
    current_task& running;
    task_records& records;
    exec::journaling& journaling;
    exec::unobserved& unobserved;
  };

  actor_restarts(const rank_context& own, parts of_it) : own_(own), below_(of_it) {}

  /// Keeps a call that has ended well for a restart; when there are enough of them the object is saved instead.
  void log(actor_slot& slot, task* t);
  /// Saves the object as the actor's checkpoint, and sends it to the actor's home. If save() throws, the calls stay in
  /// the log, and the next one tries again.
  void save(actor_slot& slot);
  void forget(actor_slot& slot);     ///< Frees what was kept for a restart, but the copy.
  void drop_copy(actor_slot& slot);  ///< Destroys the copy that is the checkpoint, outside the lock.
  /// A method has said that the object is broken, and no call is under way: builds it anew. If the actor may not be, or
  /// that fails, the actor ends.
  void restart(actor_slot& slot);
  /// A call that has waited inside while another found the object broken has changed what is about to be thrown away:
  /// it has failed. (Unless the actor ends of it, when nobody can tell.) True if it has.
  bool lose_if_broken(const actor_slot& slot, std::uint32_t method, invocation& call, bool& ok,
                      store::failure_ptr& why) const;

 private:
  /// Writes the object. The copy is null, unless the state has futures or handles of actors.
  void* write(const actor_slot& slot, wire::buffer& state);
  void send_checkpoint(const actor_slot& slot);          ///< To the journal, and to the actor's home.
  void build(actor_slot& slot, running_task& identity);  ///< Makes the object by its checkpoint or its constructor.
  void repeat(actor_slot& slot);                         ///< Does again what the log has.

  const rank_context own_;
  const parts below_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/restarts.ipp"
#endif
