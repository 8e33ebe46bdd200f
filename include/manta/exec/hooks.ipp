// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What each part is given of those that are built after it: what else is done when
// a handle dies, a node ends or a value comes.
#pragma once

#include "manta/exec/layers.hpp"

namespace manta::exec {

/// The first argument of each hook.
inline rank_parts& parts_of(void* rank) { return *static_cast<rank_parts*>(rank); }

/// What the owner has left to be done should not wait until the helper wakes by itself.
MANTA_DECL void rouse_helper(void* rank) { parts_of(rank).rank.net.wake(); }

/// What ends with the last handle of a node.
MANTA_DECL exec::references::hooks hooks_of_references(rank_parts& all) {
  return {
      .rank = &all,
      .stand_in_gone = [](void* rank, node& n,
                          std::uint64_t calls) { parts_of(rank).values.recovery.leave_family(n, calls); },
      .actor_gone = [](void* rank, node& n) { parts_of(rank).homes.named.handle_gone(n); },
      .free_task = [](void* rank, task* t) { parts_of(rank).values.records.free(t); },
      .given_up = [](void* rank, const node& n,
                     rank_id dead) { return parts_of(rank).rank.failures.given_up(n, dead); },
  };
}

/// What is done when a node ends.
MANTA_DECL exec::completion::hooks hooks_of_completion(rank_parts& all) {
  return {
      .rank = &all,
      .task_ready = [](void* rank, node& dependent) { parts_of(rank).homes.home.task_ready(dependent); },
      .announce =
          [](void* rank, const link& l, node& n) {
            parts_of(rank).values.supply.tell_value({l.rank, l.index}, n);
          },
      .input_arrived = [](void* rank, task* t, node& input) { parts_of(rank).work.executor.input_arrived(t, input); },
      .send_call = [](void* rank, node& handle, task* call) { parts_of(rank).homes.calls.send(handle, call); },
      .pulled =
          [](void* rank, const link& l, node& n) {
            rank_parts& owner = parts_of(rank);
            const node_place home = owner.values.refs.home_of(n);
            owner.values.fetches.on_pull(l.rank, pull_message{home.rank, home.index, l.index, l.count, 0});
          },
      .send_after = [](void* rank, const link& l, node& input) { parts_of(rank).work.ahead.send_after(l, input); },
      .inherit = [](void* rank, node& heir_of) { parts_of(rank).values.recovery.inherit(heir_of); },
      .await_return = [](void* rank,
                         std::uint32_t of_family) { parts_of(rank).values.recovery.await_return(of_family); },
      .stop_timer = [](void* rank, node& n) { parts_of(rank).values.attempts.stop_timer(n); },
      .free_task = [](void* rank, task* t) { parts_of(rank).values.records.free(t); },
  };
}

/// Pulls that were put off.
MANTA_DECL exec::supply::hooks hooks_of_supply(rank_parts& all) {
  return {&all,
          [](void* rank, rank_id from, const pull_message& m) { parts_of(rank).values.fetches.on_pull(from, m); }};
}

/// Values that have to be made again.
MANTA_DECL exec::fetches::hooks hooks_of_fetches(rank_parts& all) {
  return {&all, [](void* rank, node& n) { return parts_of(rank).values.recovery.await_heir(n); },
          [](void* rank, node_place home) { return parts_of(rank).work.actors.slot_of(home); }};
}

/// Tasks that run once more.
MANTA_DECL exec::recovery::hooks hooks_of_recovery(rank_parts& all) {
  return {&all, [](void* rank, node& n) { parts_of(rank).homes.home.start(n); }};
}

/// Tasks that start again or are too late.
MANTA_DECL exec::attempts::hooks hooks_of_attempts(rank_parts& all) {
  return {&all, [](void* rank, node& n) { parts_of(rank).homes.home.task_ready(n); },
          [](void* rank, node& n, const store::failure_ptr& why, std::uint16_t flags) {
            parts_of(rank).homes.withdrawal.withdraw(n, why, flags);
          }};
}

/// Functions that run in processes of their own, and tasks that fail.
MANTA_DECL exec::runner::hooks hooks_of_runner(rank_parts& all) {
  return {&all,
          [](void* rank, invocation& call, function_id function, running_task& identity) {
            parts_of(rank).loops.isolated.run(call, function, identity);
          },
          [](void* rank, const invocation& call, const running_task& task, const store::failure_ptr& why) {
            parts_of(rank).keeping.keep(call, task, store::describe(*why));
          }};
}

/// What is no plain task of another rank.
MANTA_DECL exec::executor::hooks hooks_of_executor(rank_parts& all) {
  return {
      .rank = &all,
      .run_own = [](void* rank, node& n) { parts_of(rank).homes.home.run(n); },
      .run_part = [](void* rank, task* t) { parts_of(rank).work.gangs.run_part(t); },
      .call_ready = [](void* rank, slot_index slot) { parts_of(rank).work.actors.list(slot); },
      .new_actor = [](void* rank, const invocation& call, const task& made_by,
                      task* constructor) { return parts_of(rank).work.actors.add(call, made_by, constructor); },
      .ended_here = [](void* rank, const task_origin& ended, invocation& call, bool ok, const store::failure_ptr& why,
                       std::uint64_t ns) { parts_of(rank).homes.home.ended(ended, call, ok, why, ns); },
  };
}

/// Actors on several ranks.
MANTA_DECL exec::actor_host::hooks hooks_of_actors(rank_parts& all) {
  return {
      .rank = &all,
      .run_part = [](void* rank, slot_index slot, task* call) { parts_of(rank).work.gangs.run_call(slot, call); },
      .part_failed = [](void* rank, const task& call,
                        const store::failure_ptr& why) { parts_of(rank).work.gangs.part_failed(call, why); },
  };
}

/// Waits of those who call actors.
MANTA_DECL exec::actor_calls::hooks hooks_of_calls(rank_parts& all) {
  return {&all, [](void* rank, node& n) { parts_of(rank).loops.waiting.wait_for_end(n, false); },
          [](void* rank) { parts_of(rank).loops.waiting.relieve(); }};
}

/// Tasks that construct actors.
MANTA_DECL exec::named_actors::hooks hooks_of_named(rank_parts& all) {
  return {&all, [](void* rank, node& n) { parts_of(rank).homes.home.start(n); }};
}

/// Tasks that come back.
MANTA_DECL exec::tasks_ahead::hooks hooks_of_ahead(rank_parts& all) {
  return {
      .rank = &all,
      .start = [](void* rank, node& n) { parts_of(rank).homes.home.start(n); },
      .fail_dependent = [](void* rank, node& n) { parts_of(rank).homes.home.fail_dependent(n); },
      .discard =
          [](void* rank, node& n) {
            const result_message none{n.index, 0, 0, static_cast<std::uint8_t>(form::none), 0, 0};
            parts_of(rank).homes.withdrawal.discard(n, none, nullptr, 0);
          },
  };
}

/// Tasks that were cancelled on their way.
MANTA_DECL exec::placement::hooks hooks_of_placement(rank_parts& all) {
  return {&all, [](void* rank, task& t) { return parts_of(rank).homes.withdrawal.is_withdrawn(t); }};
}

/// Tasks that run again.
MANTA_DECL exec::lost_tasks::hooks hooks_of_lost(rank_parts& all) {
  return {&all, [](void* rank, node& n) { parts_of(rank).homes.home.start(n); },
          [](void* rank, node& n) { parts_of(rank).homes.home.task_ready(n); },
          [](void* rank, node& n) { return parts_of(rank).homes.calls.repeats(n); }};
}

/// Waits for answers.
MANTA_DECL exec::tickets::hooks hooks_of_tickets(rank_parts& all) {
  return {&all, [](void* rank, node& n) { parts_of(rank).loops.waiting.wait_for_end(n, false); }};
}

/// Submitters that run ahead.
MANTA_DECL exec::home::hooks hooks_of_home(rank_parts& all) {
  return {&all, [](void* rank) { parts_of(rank).loops.waiting.relieve(); }};
}

/// What a rank does when it looks around.
MANTA_DECL exec::rank_loop::hooks hooks_of_loop(rank_parts& all) {
  return {
      .rank = &all,
      .progress = [](void* rank) { return parts_of(rank).duties.progress(); },
      .look_for_deadlock = [](void* rank) { parts_of(rank).loops.quiet.look(); },
      .serve_others = [](void* rank) { parts_of(rank).duties.serve_others(); },
  };
}

/// The statistics of this rank.
MANTA_DECL exec::questions::hooks hooks_of_questions(rank_parts& all) {
  return {&all, [](void* rank, const ask_message& m) {
            const bool is_traced = m.kind >= ask_message::trace;
            is_traced ? parts_of(rank).tracing.on_ask(m) : parts_of(rank).seeing.on_ask(m);
          }};
}

/// What is said when nothing can go on.
MANTA_DECL exec::quiet_watch::hooks hooks_of_quiet(rank_parts& all) {
  return {&all, [](void* rank) { parts_of(rank).seeing.tell_state("at a deadlock: nothing can go on"); }};
}

/// What a rank does while its task runs in a child.
MANTA_DECL isolated_calls::hooks hooks_of_isolated(rank_parts& all) {
  return {&all, [](void* rank, running_task& waits) {
            rank_parts& owner = parts_of(rank);
            owner.duties.progress();
            owner.rank.net.pump(true);
            owner.run.running.resume(waits);
          }};
}

/// What the helper does for its rank.
MANTA_DECL exec::helper::duties hooks_of_helper(rank_parts& all) {
  return {
      .rank = &all,
      .sleep = [](void* rank, std::int64_t most_ns) { parts_of(rank).rank.net.sleep(most_ns); },
      .rouse = &rouse_helper,
      .owner_is_here =
          [](void* rank) {
            parts_of(rank).work.gang_guard.watch_lonely();
            parts_of(rank).loops.watch.watch_task(true);
            parts_of(rank).work.gang_guard.watch_part(true);
          },
      .do_duties =
          [](void* rank, bool owner_was_here) {
            const bool sent = parts_of(rank).duties.answer_for_owner();
            parts_of(rank).loops.watch.watch_lock(owner_was_here);
            parts_of(rank).loops.watch.watch_task(owner_was_here);
            parts_of(rank).work.gang_guard.watch_part(owner_was_here);
            return sent;
          },
      .patience_ns = [](void* rank, unsigned in_vain) { return parts_of(rank).duties.may_sleep_ns(in_vain); },
  };
}

/// What the helper does for a rank that is alone: it makes no calls of MPI.
MANTA_DECL exec::helper::duties hooks_of_watching_helper(rank_parts& all) {
  return {
      .rank = &all,
      .sleep = [](void*, std::int64_t most_ns) { base::state_signal::sleep(most_ns); },
      .rouse = [](void*) { base::state_signal::rouse(); },
      .owner_is_here = [](void* rank) { parts_of(rank).loops.watch.watch_task(true); },
      .do_duties =
          [](void* rank, bool owner_was_here) {
            if (base::state_signal::has_come()) parts_of(rank).seeing.on_signal();
            parts_of(rank).seeing.look_closely();
            parts_of(rank).loops.watch.watch_task(owner_was_here);
            return false;
          },
      .patience_ns = nullptr,
      .pause_ns =
          [](void* rank) {
            constexpr std::int64_t soon_ns = 1'000'000;  // the owner is in the library, and may leave it at once
            const rank_parts& owner = parts_of(rank);
            if (base::state_signal::has_come()) return soon_ns;
            const std::int64_t watch = owner.loops.watch.pause_ns(), files = owner.seeing.pause_ns();
            return watch < 0 ? files : files < 0 ? watch : std::min(watch, files);
          },
  };
}

MANTA_DECL part_hooks hooks_of(rank_parts& all) {
  return {
      .references = hooks_of_references(all),
      .completion = hooks_of_completion(all),
      .supply = hooks_of_supply(all),
      .fetches = hooks_of_fetches(all),
      .attempts = hooks_of_attempts(all),
      .recovery = hooks_of_recovery(all),
      .runner = hooks_of_runner(all),
      .executor = hooks_of_executor(all),
      .actors = hooks_of_actors(all),
      .ahead = hooks_of_ahead(all),
      .placement = hooks_of_placement(all),
      .lost = hooks_of_lost(all),
      .tickets = hooks_of_tickets(all),
      .named = hooks_of_named(all),
      .calls = hooks_of_calls(all),
      .home = hooks_of_home(all),
      .loop = hooks_of_loop(all),
      .quiet = hooks_of_quiet(all),
      .questions = hooks_of_questions(all),
      .helper = hooks_of_helper(all),
      .watching_helper = hooks_of_watching_helper(all),
      .isolated = hooks_of_isolated(all),
      .rouse = &rouse_helper,
  };
}

}  // namespace manta::exec
