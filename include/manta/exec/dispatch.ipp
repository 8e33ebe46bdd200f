// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which function of the engine handles which kind of message, by conversation
// as in messages.hpp. What a handler does stands beside its conversation.
#pragma once

#include "manta/exec/dispatch.hpp"
#include "manta/exec/engine.hpp"

namespace manta::exec {

struct engine::handlers {
  /// The handlers of all kinds.
  static constexpr dispatch_table<engine> all();

  /// Tasks between their home, rank 0 and their executor.
  static constexpr void set_tasks(dispatch_table<engine>& table);
  /// References to values of other ranks.
  static constexpr void set_references(dispatch_table<engine>& table);
  /// Values and copies of them.
  static constexpr void set_values(dispatch_table<engine>& table);
  /// Calls of actors, their ends and their names.
  static constexpr void set_actors(dispatch_table<engine>& table);
  /// Members of gangs and their leaders.
  static constexpr void set_gangs(dispatch_table<engine>& table);
  /// Ranks that have died, and what was lost with them.
  static constexpr void set_deaths(dispatch_table<engine>& table);
  /// Questions of users, and those of rank 0 about what still goes on.
  static constexpr void set_questions(dispatch_table<engine>& table);
  /// The phases in which a run ends.
  static constexpr void set_run(dispatch_table<engine>& table);

  /// The answer to a question of this rank.
  static constexpr auto answer = [](engine& e, arrival& m) { e.homes_.tickets.on_answer(m.data, m.bytes); };
};

constexpr void engine::handlers::set_tasks(dispatch_table<engine>& table) {
  table.set(message::run, [](engine& e, arrival& m) {
    e.work_.executor.receive(m.from, m.data, m.bytes);
  });
  table.set(message::submit, [](engine& e, arrival& m) { e.work_.placement.on_submit(m.from, m.data, false); });
  table.set(message::come_back, [](engine& e, arrival& m) {
    if ((flags_of_task(m.data) & task_message::ahead) != 0) {
      e.work_.placement.note_answer(m.from);
      return e.work_.ahead.on_come_back(m.from, m.read<task_message>());
    }
    e.work_.placement.on_submit(m.from, m.data, true);
  });
  table.set(message::result, [](engine& e, arrival& m) {
    const auto header = m.read<result_message>();
    e.homes_.tasks.on_result(m.from, header, m.data, m.bytes);
  });
  table.set(message::made, [](engine& e, arrival& m) {
    const auto header = m.read<result_message>();
    e.work_.executor.on_made(m.from, header, m.data, m.bytes);
  });
  table.set(message::ended, [](engine& e, arrival& m) {
    const auto header = m.read<ended_message>();
    graph::request request;
    wire::source in(m.data, m.bytes);
    const bool has_request = m.bytes != 0;
    if (has_request) request.read(in);
    e.work_.placement.on_ended(m.from, header, has_request ? &request : nullptr);
  });
  table.set(message::blocked, [](engine& e, arrival& m) {
    e.work_.placement.on_blocked(m.from, m.read<blocked_message>());
  });
  table.set(message::demand, [](engine& e, arrival& m) {
    e.homes_.tasks.on_demand(m.read<demand_message>());
  });
  table.set(message::cancel, [](engine& e, arrival& m) { e.homes_.withdrawal.on_cancel(m.read<cancel_message>()); });
}

constexpr void engine::handlers::set_references(dispatch_table<engine>& table) {
  table.set(message::drop, [](engine& e, arrival& m) { e.values_.refs.on_drop(m.read<drop_message>()); });
  table.set(message::borrow, [](engine& e, arrival& m) { e.values_.refs.on_borrow(m.from, m.read<borrow_message>()); });
  table.set(message::granted, [](engine& e, arrival& m) { e.values_.refs.on_granted(m.read<index_message>()); });
  table.set(message::repaid, [](engine& e, arrival& m) { e.values_.refs.on_repaid(m.read<index_message>()); });
  table.set(message::release,
            [](engine& e, arrival& m) { e.values_.refs.on_release(m.from, m.read<index_message>()); });
  table.set(message::released, [](engine& e, arrival& m) { e.values_.refs.on_released(m.read<index_message>()); });
}

constexpr void engine::handlers::set_values(dispatch_table<engine>& table) {
  table.set(message::want, [](engine& e, arrival& m) { e.values_.supply.on_want(m.from, m.read<want_message>()); });
  table.set(message::value, [](engine& e, arrival& m) {
    const auto header = m.read<result_message>();
    e.values_.fetches.on_value(m.from, header, m.data, m.bytes);
  });
  table.set(message::pull, [](engine& e, arrival& m) { e.values_.fetches.on_pull(m.from, m.read<pull_message>()); });
  table.set(message::data, [](engine& e, arrival& m) {
    const auto header = m.read<data_message>();
    e.values_.fetches.on_data(m.from, header, m.data, m.bytes);
  });
  table.set(message::mapped,
            [](engine& e, arrival& m) { e.values_.supply.on_mapped(m.from, m.read<index_message>().index); });
  table.set(message::unavailable,
            [](engine& e, arrival& m) { e.values_.fetches.on_unavailable(m.read<unavailable_message>()); });
  table.set(message::not_saved, [](engine& e, arrival& m) {
    node& n = e.rank_.graph.nodes.at(m.read<result_message>().index);
    store::is_here(n) ? e.values_.fetches.not_fetched(n)
                      : e.values_.fetches.cannot_come(n, store::decode_failure(m.data, m.bytes));
  });
  table.set(message::cut_off,
            [](engine& e, arrival& m) { e.values_.fetches.on_cut_off(m.from, m.read<cut_off_message>()); });
  table.set(message::replicate,
            [](engine& e, arrival& m) { e.values_.fetches.on_replicate(m.from, m.read<replicate_message>()); });
}

constexpr void engine::handlers::set_actors(dispatch_table<engine>& table) {
  table.set(message::call, [](engine& e, arrival& m) { e.work_.actors.on_call(m.from, m.data, m.bytes); });
  table.set(message::end_actor,
            [](engine& e, arrival& m) { e.work_.actors.on_end_actor(m.read<end_actor_message>()); });
  table.set(message::kill_actor, [](engine& e, arrival& m) {
    const std::uint32_t slot = m.read<end_actor_message>().slot;
    e.work_.actors.kill(slot, m.text());
  });
  table.set(message::actor_gone, [](engine& e, arrival& m) {
    const std::uint32_t slot = m.read<index_message>().index;
    graph::request request;
    wire::source in(m.data, m.bytes);
    request.read(in);
    e.homes_.named.on_actor_gone(request.name, {m.from, slot});
    e.rank_.scheduler->give_back(m.from, request);
  });
  table.set(message::checkpoint, [](engine& e, arrival& m) {
    const auto header = m.read<checkpoint_message>();
    e.values_.recovery.on_checkpoint(header, m.data, m.bytes);
  });
  table.set(message::name_ask, [](engine& e, arrival& m) { e.homes_.named.on_ask(m.data, m.bytes); });
  table.set(message::name_spawn, [](engine& e, arrival& m) { e.homes_.named.on_spawn(m.from, m.data); });
  table.set(message::name_gone, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.homes_.named.on_gone(m.from, m.text());
  });
  table.set(message::name_answer, answer);
}

constexpr void engine::handlers::set_gangs(dispatch_table<engine>& table) {
  table.set(message::gang_meets,
            [](engine& e, arrival& m) { e.work_.gangs.ends().note_arrival(m.read<gang_message>().gang); });
  table.set(message::gang_ended, [](engine& e, arrival& m) {
    const auto header = m.read<gang_message>();
    e.work_.gangs.on_ended(m.from, header, m.data, m.bytes);
  });
  table.set(message::stuck, [](engine& e, arrival& m) { e.work_.gang_guard.on_stuck(m.read<stuck_message>()); });
}

constexpr void engine::handlers::set_deaths(dispatch_table<engine>& table) {
  table.set(message::rank_died, [](engine& e, arrival& m) {
    const auto header = m.read<death_message>();
    e.on_rank_died(header, m.text());
  });
  table.set(message::where_is,
            [](engine& e, arrival& m) { e.work_.placement.on_where_is(m.from, m.read<where_message>()); });
  table.set(message::task_lost, [](engine& e, arrival& m) {
    e.homes_.lost.on_task_lost(m.read<where_message>());
  });
  table.set(message::seek, [](engine& e, arrival& m) { e.values_.fetches.on_seek(m.from, m.read<seek_message>()); });
  table.set(message::not_kept, [](engine& e, arrival& m) { e.values_.fetches.on_not_kept(m.read<seek_message>()); });
}

constexpr void engine::handlers::set_questions(dispatch_table<engine>& table) {
  table.set(message::ask, [](engine& e, arrival& m) { e.loops_.questions.on_ask(m.data, m.bytes); });
  table.set(message::answer, answer);
  table.set(message::probe, [](engine& e, arrival& m) { e.loops_.quiet.on_probe(m.from, m.read<probe_message>()); });
  table.set(message::probe_answer, [](engine& e, arrival& m) { e.loops_.quiet.on_answer(m.read<probe_message>()); });
  table.set(message::report, [](engine& e, arrival&) { e.loops_.quiet.describe_waits(); });
  table.set(message::report_answer, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.loops_.quiet.on_report(m.text());
  });
}

constexpr void engine::handlers::set_run(dispatch_table<engine>& table) {
  table.set(message::fail_waits, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.run_.waiters.fail_all(m.text());
  });
  table.set(message::drop_tasks, [](engine& e, arrival&) { e.run_.phase.stop_and_drop(); });
  table.set(message::end_actors, [](engine& e, arrival&) { e.end_all_actors(); });
  table.set(message::unobserved, [](engine& e, arrival& m) {
    const std::uint32_t count = m.read<index_message>().index;
    e.run_.unobserved.add(count, m.text());
  });
  table.set(message::leave, [](engine& e, arrival& m) {
    m.read<index_message>();
    if (e.rank_.rank != 0) return e.leave(m.text());
    e.run_.departure.ask(m.text());  // the other ranks are told at the top level
  });
  table.set(message::stop, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.run_.phase.note_outcome(m.data, m.bytes);
    e.run_.phase.end_stop();
    e.run_.early.begin();  // what follows belongs to the next run
    e.run_.waiters.end_last();
  });
}

constexpr dispatch_table<engine> engine::handlers::all() {
  dispatch_table<engine> table;
  set_tasks(table);
  set_references(table);
  set_values(table);
  set_actors(table);
  set_gangs(table);
  set_deaths(table);
  set_questions(table);
  set_run(table);
  return table;
}

}  // namespace manta::exec
