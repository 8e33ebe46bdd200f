// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the parts of value/ and task/ are given of the engine: what else is done
// when a handle dies, a node ends or a value comes.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::drop_handle(node& n) {
  // What may be the last references are given up with the lock only: handlers may find the node and hold it again, and
  // refs_.release() looks for the last and the last but one.
  std::uint32_t count = n.refs.load(std::memory_order_relaxed);
  while (count > 2) {
    if (n.refs.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
  }
  if (role_ != role::none && current_->rank_.graph.nodes.owns(n)) {
    const guard g(*current_);
    return current_->values_.refs.release(n);
  }
  foreign_drops::leave(n);
}

/// Each function gives the hooks of one part.
struct engine::hooks {
  static engine& of(void* rank) { return *static_cast<engine*>(rank); }  ///< The first argument of each hook.
  static exec::references<net::network>::hooks of_references(engine& e);  ///< What ends with the last handle of a node.
  static exec::task_records<net::network>::hooks of_records(
      engine& e);  ///< Inputs of received tasks that lie elsewhere.
  static exec::completion<net::network>::hooks of_completion(engine& e);  ///< What is done when a node ends.
  static exec::supply<net::network>::hooks of_supply(engine& e);  ///< Pulls that were put off.
  static exec::fetches<net::network>::hooks of_fetches(engine& e);  ///< Values that have to be made again.
  static exec::recovery<net::network>::hooks of_recovery(engine& e);  ///< Tasks that run once more.
  static exec::attempts<net::network>::hooks of_attempts(engine& e);  ///< Tasks that start again or are too late.
  static exec::runner::hooks of_runner(engine& e);  ///< Functions that run in processes of their own.
  static exec::executor<net::network>::hooks of_executor(engine& e);  ///< What is no plain task of another rank.
  static exec::actor_host<net::network>::hooks of_actors(engine& e);  ///< Actors on several ranks.
  static exec::actor_calls<net::network>::hooks of_calls(engine& e);  ///< Waits of those who call actors.
  static exec::named_actors<net::network>::hooks of_named(engine& e);  ///< Tasks that construct actors.
  static exec::tasks_ahead<net::network>::hooks of_ahead(engine& e);  ///< Tasks that come back.
  static exec::placement<net::network>::hooks of_placement(engine& e);  ///< Tasks that were cancelled on their way.
  static exec::withdrawal<net::network>::hooks of_withdrawal(engine& e);  ///< Members of gangs.
  static exec::lost_tasks<net::network>::hooks of_lost(engine& e);  ///< Tasks that run again.
  static exec::tickets<net::network>::hooks of_tickets(engine& e);  ///< Waits for answers.
  static exec::home<net::network>::hooks of_home(engine& e);  ///< Submitters that run ahead.
  static exec::rank_loop<net::network>::hooks of_loop(engine& e);  ///< What a rank does when it looks around.
  static exec::quiet_watch<net::network>::hooks of_quiet(engine& e);  ///< Gangs that are about to end.
  static exec::helper::duties of_helper(engine& e);  ///< What the helper does for its rank.
  static isolated_calls::hooks of_isolated(engine& e);  ///< What a rank does while its task runs in a child.
};

MANTA_DECL part_hooks engine::hooks_of(engine& e) {
  return {
      .references = hooks::of_references(e),
      .records = hooks::of_records(e),
      .completion = hooks::of_completion(e),
      .supply = hooks::of_supply(e),
      .fetches = hooks::of_fetches(e),
      .attempts = hooks::of_attempts(e),
      .recovery = hooks::of_recovery(e),
      .runner = hooks::of_runner(e),
      .executor = hooks::of_executor(e),
      .actors = hooks::of_actors(e),
      .ahead = hooks::of_ahead(e),
      .placement = hooks::of_placement(e),
      .withdrawal = hooks::of_withdrawal(e),
      .lost = hooks::of_lost(e),
      .tickets = hooks::of_tickets(e),
      .named = hooks::of_named(e),
      .calls = hooks::of_calls(e),
      .home = hooks::of_home(e),
      .loop = hooks::of_loop(e),
      .quiet = hooks::of_quiet(e),
      .helper = hooks::of_helper(e),
      .isolated = hooks::of_isolated(e),
      .rouse = &engine::rouse_helper,
  };
}

MANTA_DECL exec::references<net::network>::hooks engine::hooks::of_references(engine& e) {
  return {
      .rank = &e,
      .stand_in_gone = [](void* rank, node& n,
                          std::uint64_t calls) { of(rank).values_.recovery.leave_family(n, calls); },
      .actor_gone = [](void* rank, node& n) { of(rank).homes_.named.handle_gone(n); },
      .free_task = [](void* rank, task* t) { of(rank).values_.records.free(t); },
  };
}

MANTA_DECL exec::task_records<net::network>::hooks engine::hooks::of_records(engine& e) {
  return {&e, [](void* rank, node& n, rank_id place, std::uint64_t bytes) {
            of(rank).values_.completion.lies_at(n, place, bytes);
          }};
}

MANTA_DECL exec::completion<net::network>::hooks engine::hooks::of_completion(engine& e) {
  return {
      .rank = &e,
      .task_ready = [](void* rank, node& dependent) { of(rank).homes_.tasks.task_ready(dependent); },
      .wake = [](void* rank, wait_record& record) { of(rank).run_.waiters.wake(record); },
      .announce = [](void* rank, const link& l, node& n) { of(rank).values_.supply.tell_value({l.rank, l.index}, n); },
      .input_arrived = [](void* rank, task* t, node& input) { of(rank).work_.executor.input_arrived(t, input); },
      .send_call = [](void* rank, node& handle, task* call) { of(rank).homes_.calls.send(handle, call); },
      .pulled =
          [](void* rank, const link& l, node& n) {
            engine& owner = of(rank);
            const node_place home = owner.values_.refs.home_of(n);
            owner.values_.fetches.on_pull(l.rank, pull_message{home.rank, home.index, l.index, l.count, 0});
          },
      .send_after = [](void* rank, const link& l, node& input) { of(rank).work_.ahead.send_after(l, input); },
      .inherit = [](void* rank, node& heir_of) { of(rank).values_.recovery.inherit(heir_of); },
      .await_return =
          [](void* rank, std::uint32_t of_family) { of(rank).values_.recovery.await_return(of_family); },
      .stop_timer = [](void* rank, node& n) { of(rank).values_.attempts.stop_timer(n); },
      .free_task = [](void* rank, task* t) { of(rank).values_.records.free(t); },
  };
}

MANTA_DECL exec::supply<net::network>::hooks engine::hooks::of_supply(engine& e) {
  return {&e, [](void* rank, rank_id from, const pull_message& m) {
            of(rank).values_.fetches.on_pull(from, m);
          }};
}

MANTA_DECL exec::fetches<net::network>::hooks engine::hooks::of_fetches(engine& e) {
  return {&e, [](void* rank, node& n) { return of(rank).values_.recovery.await_heir(n); }};
}

MANTA_DECL exec::recovery<net::network>::hooks engine::hooks::of_recovery(engine& e) {
  return {&e, [](void* rank, node& n) { of(rank).homes_.tasks.start(n); }};
}

MANTA_DECL exec::attempts<net::network>::hooks engine::hooks::of_attempts(engine& e) {
  return {&e, [](void* rank, node& n) { of(rank).homes_.tasks.task_ready(n); },
          [](void* rank, node& n, const store::failure_ptr& why, std::uint16_t flags) {
            of(rank).homes_.withdrawal.withdraw(n, why, flags);
          }};
}

MANTA_DECL exec::runner::hooks engine::hooks::of_runner(engine& e) {
  return {&e, [](void* rank, invocation& call, function_id function, running_task& identity) {
            of(rank).loops_.isolated.run(call, function, identity);
          }};
}

MANTA_DECL exec::executor<net::network>::hooks engine::hooks::of_executor(engine& e) {
  return {
      .rank = &e,
      .run_own = [](void* rank, node& n) { of(rank).homes_.tasks.run(n); },
      .run_part = [](void* rank, task* t) { of(rank).work_.gangs.run_part(t); },
      .call_ready = [](void* rank, slot_index slot) { of(rank).work_.actors.list(slot); },
      .new_actor =
          [](void* rank, const invocation& call, const task& made_by, task* constructor) {
            return of(rank).work_.actors.add(call, made_by.function, made_by.request, constructor);
          },
      .ended_here =
          [](void* rank, const task_origin& ended, invocation& call, bool ok, const store::failure_ptr& why,
             std::uint64_t ns) {
            of(rank).homes_.tasks.ended(ended, call, ok, why, ns);
          },
  };
}

MANTA_DECL exec::actor_host<net::network>::hooks engine::hooks::of_actors(engine& e) {
  return {
      .rank = &e,
      .note_stop = [](void* rank) { of(rank).run_.waiters.note_stop(); },
      .run_part = [](void* rank, slot_index slot, task* call) { of(rank).work_.gangs.run_call(slot, call); },
      .part_failed = [](void* rank, const task& call,
                        const store::failure_ptr& why) { of(rank).work_.gangs.part_failed(call, why); },
  };
}

MANTA_DECL exec::actor_calls<net::network>::hooks engine::hooks::of_calls(engine& e) {
  return {&e, [](void* rank, node& n) { of(rank).loops_.waiting.wait_for_end(n, false); },
          [](void* rank) { of(rank).loops_.waiting.relieve(); }};
}

MANTA_DECL exec::named_actors<net::network>::hooks engine::hooks::of_named(engine& e) {
  return {&e, [](void* rank, node& n) { of(rank).homes_.tasks.start(n); }};
}

MANTA_DECL exec::tasks_ahead<net::network>::hooks engine::hooks::of_ahead(engine& e) {
  return {
      .rank = &e,
      .start = [](void* rank, node& n) { of(rank).homes_.tasks.start(n); },
      .fail_dependent = [](void* rank, node& n) { of(rank).homes_.tasks.fail_dependent(n); },
      .discard =
          [](void* rank, node& n) {
            const result_message none{n.index, 0, 0, static_cast<std::uint8_t>(form::none), 0, 0};
            of(rank).homes_.withdrawal.discard(n, none, nullptr, 0);
          },
  };
}

MANTA_DECL exec::placement<net::network>::hooks engine::hooks::of_placement(engine& e) {
  return {&e, [](void* rank, task& t) { return of(rank).homes_.withdrawal.is_withdrawn(t); }};
}

MANTA_DECL exec::withdrawal<net::network>::hooks engine::hooks::of_withdrawal(engine& e) {
  return {&e, [](void* rank, std::uint64_t id, std::uint16_t flags) {
            of(rank).run_.waiters.note_stop();
            of(rank).work_.gangs.stop_members(id, flags);
          }};
}

MANTA_DECL exec::lost_tasks<net::network>::hooks engine::hooks::of_lost(engine& e) {
  return {&e, [](void* rank, node& n) { of(rank).homes_.tasks.start(n); },
          [](void* rank, node& n) { of(rank).homes_.tasks.task_ready(n); }};
}

MANTA_DECL exec::tickets<net::network>::hooks engine::hooks::of_tickets(engine& e) {
  return {&e, [](void* rank, node& n) { of(rank).loops_.waiting.wait_for_end(n, false); }};
}

MANTA_DECL exec::home<net::network>::hooks engine::hooks::of_home(engine& e) {
  return {&e, [](void* rank) { of(rank).loops_.waiting.relieve(); }};
}

MANTA_DECL exec::rank_loop<net::network>::hooks engine::hooks::of_loop(engine& e) {
  return {
      .rank = &e,
      .progress = [](void* rank) { return of(rank).progress(); },
      .look_for_deadlock = [](void* rank) { of(rank).loops_.quiet.look(); },
      .watch =
          [](void* rank) {
            engine& owner = of(rank);
            if (!owner.work_.gangs.ends().empty()) owner.work_.gang_guard.watch_members();
            if (owner.rank_.scheduler != nullptr) owner.work_.gang_guard.watch_waiting();
          },
      .serve_others = [](void* rank) { of(rank).serve_others(); },
  };
}

MANTA_DECL exec::quiet_watch<net::network>::hooks engine::hooks::of_quiet(engine& e) {
  return {&e, [](void* rank) {
            const exec::gangs& gangs = of(rank).work_.gangs;
            return !gangs.ends().has_complete() && !gangs.watch().has_broken();
          }};
}

MANTA_DECL isolated_calls::hooks engine::hooks::of_isolated(engine& e) {
  return {&e, [](void* rank, running_task& waits) {
            engine& owner = of(rank);
            owner.progress();
            owner.rank_.net.pump(true);
            owner.run_.running.resume(waits);
          }};
}

MANTA_DECL exec::helper::duties engine::hooks::of_helper(engine& e) {
  return {
      .rank = &e,
      .begin = [](void*) { role_ = role::helper; },
      .sleep = [](void* rank, std::int64_t most_ns) { of(rank).rank_.net.sleep(most_ns); },
      .rouse = &engine::rouse_helper,
      .owner_is_here = [](void* rank) {
        of(rank).work_.gang_guard.watch_lonely();
        of(rank).loops_.watch.watch_task(true);
        of(rank).work_.gang_guard.watch_part(true);
      },
      .do_duties = [](void* rank, bool owner_was_here) {
        const bool sent = of(rank).progress_from_helper();
        of(rank).loops_.watch.watch_lock(owner_was_here);
        of(rank).loops_.watch.watch_task(owner_was_here);
        of(rank).work_.gang_guard.watch_part(owner_was_here);
        return sent;
      },
      .patience_ns = [](void* rank, unsigned in_vain) { return of(rank).may_sleep_ns(in_vain); },
  };
}

}  // namespace manta::exec
