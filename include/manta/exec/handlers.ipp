// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which function of which part handles which kind of message, by conversation
// as in messages.hpp. What a handler does stands beside its conversation.
#pragma once

#include "manta/exec/handlers.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/rank/dispatch.hpp"

namespace manta::exec {

struct handlers {
  /// The handlers of all kinds.
  static constexpr dispatch_table<rank_parts> of_all_kinds();

  /// Tasks between their home, rank 0 and their executor.
  static constexpr void set_tasks(dispatch_table<rank_parts>& table);
  /// References to values of other ranks.
  static constexpr void set_references(dispatch_table<rank_parts>& table);
  /// Values and copies of them.
  static constexpr void set_values(dispatch_table<rank_parts>& table);
  /// Calls of actors, their ends and their names.
  static constexpr void set_actors(dispatch_table<rank_parts>& table);
  /// Members of gangs and their leaders.
  static constexpr void set_gangs(dispatch_table<rank_parts>& table);
  /// Ranks that have died, and what was lost with them.
  static constexpr void set_deaths(dispatch_table<rank_parts>& table);
  /// Questions of users, and those of rank 0 about what still goes on.
  static constexpr void set_questions(dispatch_table<rank_parts>& table);
  /// The phases in which a run ends.
  static constexpr void set_run(dispatch_table<rank_parts>& table);

  /// The answer to a question of this rank.
  static constexpr auto answer = [](rank_parts& all, arrival& m) { all.homes.tickets.on_answer(m.data, m.bytes); };
};

constexpr void handlers::set_tasks(dispatch_table<rank_parts>& table) {
  table.set(message::run, [](rank_parts& all, arrival& m) { all.work.executor.receive(m.from, m.data, m.bytes); });
  table.set(message::submit, [](rank_parts& all, arrival& m) { all.work.placement.on_submit(m.from, m.data, false); });
  table.set(message::come_back, [](rank_parts& all, arrival& m) {
    if ((flags_of_task(m.data) & task_message::ahead) != 0) {
      all.work.placement.note_answer(m.from);
      return all.work.ahead.on_come_back(m.from, m.read<task_message>());
    }
    all.work.placement.on_submit(m.from, m.data, true);
  });
  table.set(message::result, [](rank_parts& all, arrival& m) {
    const auto header = m.read<result_message>();
    all.homes.home.on_result(m.from, header, m.data, m.bytes);
  });
  table.set(message::made, [](rank_parts& all, arrival& m) {
    const auto header = m.read<result_message>();
    all.work.executor.on_made(m.from, header, m.data, m.bytes);
  });
  table.set(message::ended, [](rank_parts& all, arrival& m) {
    const auto header = m.read<ended_message>();
    graph::request request;
    wire::source in(m.data, m.bytes);
    const bool has_request = m.bytes != 0;
    if (has_request) request.read(in);
    all.work.placement.on_ended(m.from, header, has_request ? &request : nullptr);
  });
  table.set(message::blocked,
            [](rank_parts& all, arrival& m) { all.work.placement.on_blocked(m.from, m.read<blocked_message>()); });
  table.set(message::demand, [](rank_parts& all, arrival& m) { all.homes.home.on_demand(m.read<demand_message>()); });
  table.set(message::cancel,
            [](rank_parts& all, arrival& m) { all.homes.withdrawal.on_cancel(m.read<cancel_message>()); });
}

constexpr void handlers::set_references(dispatch_table<rank_parts>& table) {
  table.set(message::drop,
            [](rank_parts& all, arrival& m) { all.values.refs.on_drop(m.from, m.read<drop_message>()); });
  table.set(message::borrow,
            [](rank_parts& all, arrival& m) { all.values.refs.on_borrow(m.from, m.read<borrow_message>()); });
  table.set(message::claim,
            [](rank_parts& all, arrival& m) { all.values.refs.on_claim(m.from, m.read<index_message>()); });
  table.set(message::lend,
            [](rank_parts& all, arrival& m) { all.values.refs.on_lend(m.from, m.read<lend_message>()); });
  table.set(message::granted, [](rank_parts& all, arrival& m) { all.values.refs.on_granted(m.read<index_message>()); });
  table.set(message::repaid, [](rank_parts& all, arrival& m) { all.values.refs.on_repaid(m.read<index_message>()); });
  table.set(message::release,
            [](rank_parts& all, arrival& m) { all.values.refs.on_release(m.from, m.read<index_message>()); });
  table.set(message::released,
            [](rank_parts& all, arrival& m) { all.values.refs.on_released(m.read<index_message>()); });
}

constexpr void handlers::set_values(dispatch_table<rank_parts>& table) {
  table.set(message::want,
            [](rank_parts& all, arrival& m) { all.values.supply.on_want(m.from, m.read<want_message>()); });
  table.set(message::value, [](rank_parts& all, arrival& m) {
    const auto header = m.read<result_message>();
    all.values.fetches.on_value(m.from, header, m.data, m.bytes);
  });
  table.set(message::pull,
            [](rank_parts& all, arrival& m) { all.values.fetches.on_pull(m.from, m.read<pull_message>()); });
  table.set(message::data, [](rank_parts& all, arrival& m) {
    const auto header = m.read<data_message>();
    all.values.fetches.on_data(m.from, header, m.data, m.bytes);
  });
  table.set(message::mapped,
            [](rank_parts& all, arrival& m) { all.values.supply.on_mapped(m.from, m.read<index_message>().index); });
  table.set(message::unavailable,
            [](rank_parts& all, arrival& m) { all.values.fetches.on_unavailable(m.read<unavailable_message>()); });
  table.set(message::not_saved, [](rank_parts& all, arrival& m) {
    node& n = all.rank.graph.nodes.at(m.read<result_message>().index);
    store::is_here(n) ? all.values.fetches.not_fetched(n)
                      : all.values.fetches.cannot_come(n, store::decode_failure(m.data, m.bytes));
  });
  table.set(message::cut_off,
            [](rank_parts& all, arrival& m) { all.values.fetches.on_cut_off(m.from, m.read<cut_off_message>()); });
  table.set(message::replicate,
            [](rank_parts& all, arrival& m) { all.values.fetches.on_replicate(m.from, m.read<replicate_message>()); });
}

constexpr void handlers::set_actors(dispatch_table<rank_parts>& table) {
  table.set(message::call, [](rank_parts& all, arrival& m) { all.work.actors.on_call(m.from, m.data, m.bytes); });
  table.set(message::end_actor,
            [](rank_parts& all, arrival& m) { all.work.actors.on_end_actor(m.read<end_actor_message>()); });
  table.set(message::kill_actor, [](rank_parts& all, arrival& m) {
    const std::uint32_t slot = m.read<end_actor_message>().slot;
    all.work.actors.kill(slot, m.text());
  });
  table.set(message::actor_gone, [](rank_parts& all, arrival& m) {
    const std::uint32_t slot = m.read<index_message>().index;
    graph::request request;
    wire::source in(m.data, m.bytes);
    request.read(in);
    all.homes.named.on_actor_gone(request.name, {m.from, slot});
    all.rank.scheduler->give_back(m.from, request);
  });
  table.set(message::checkpoint, [](rank_parts& all, arrival& m) {
    const auto header = m.read<checkpoint_message>();
    all.values.recovery.on_checkpoint(header, m.data, m.bytes);
  });
  table.set(message::name_ask, [](rank_parts& all, arrival& m) { all.homes.named.on_ask(m.data, m.bytes); });
  table.set(message::name_spawn, [](rank_parts& all, arrival& m) { all.homes.named.on_spawn(m.from, m.data); });
  table.set(message::name_gone, [](rank_parts& all, arrival& m) {
    m.read<index_message>();
    all.homes.named.on_gone(m.from, m.text());
  });
  table.set(message::name_answer, answer);
}

constexpr void handlers::set_gangs(dispatch_table<rank_parts>& table) {
  table.set(message::gang_meets,
            [](rank_parts& all, arrival& m) { all.work.gangs.ends().note_arrival(m.read<gang_message>().gang); });
  table.set(message::gang_ended, [](rank_parts& all, arrival& m) {
    const auto header = m.read<gang_message>();
    all.work.gangs.on_ended(m.from, header, m.data, m.bytes);
  });
  table.set(message::stuck, [](rank_parts& all, arrival& m) { all.work.gang_guard.on_stuck(m.read<stuck_message>()); });
}

constexpr void handlers::set_deaths(dispatch_table<rank_parts>& table) {
  table.set(message::rank_died, [](rank_parts& all, arrival& m) {
    const auto header = m.read<death_message>();
    all.deaths.rank_died(header, m.text());
  });
  table.set(message::where_is,
            [](rank_parts& all, arrival& m) { all.work.placement.on_where_is(m.from, m.read<where_message>()); });
  table.set(message::task_lost,
            [](rank_parts& all, arrival& m) { all.homes.lost.on_task_lost(m.read<where_message>()); });
  table.set(message::ask_holders, [](rank_parts& all, arrival& m) {
    const auto header = m.read<holders_message>();
    all.homes.orphans.on_ask(m.from, header, m.data, m.bytes);
  });
  table.set(message::holders, [](rank_parts& all, arrival& m) {
    const auto header = m.read<holders_message>();
    all.homes.orphans.on_answer(m.from, header, m.data, m.bytes);
  });
  table.set(message::seek,
            [](rank_parts& all, arrival& m) { all.values.fetches.on_seek(m.from, m.read<seek_message>()); });
  table.set(message::not_kept,
            [](rank_parts& all, arrival& m) { all.values.fetches.on_not_kept(m.read<seek_message>()); });
}

constexpr void handlers::set_questions(dispatch_table<rank_parts>& table) {
  table.set(message::ask, [](rank_parts& all, arrival& m) { all.loops.questions.on_ask(m.data, m.bytes); });
  table.set(message::answer, answer);
  table.set(message::probe,
            [](rank_parts& all, arrival& m) { all.loops.quiet.on_probe(m.from, m.read<probe_message>()); });
  table.set(message::probe_answer,
            [](rank_parts& all, arrival& m) { all.loops.quiet.on_answer(m.read<probe_message>()); });
  table.set(message::report, [](rank_parts& all, arrival&) { all.loops.quiet.describe_waits(); });
  table.set(message::report_answer, [](rank_parts& all, arrival& m) {
    m.read<index_message>();
    all.loops.quiet.on_report(m.text());
  });
}

constexpr void handlers::set_run(dispatch_table<rank_parts>& table) {
  table.set(message::fail_waits, [](rank_parts& all, arrival& m) {
    m.read<index_message>();
    all.run.waiters.fail_all(m.text());
  });
  table.set(message::drop_tasks, [](rank_parts& all, arrival&) { all.run.phase.stop_and_drop(); });
  table.set(message::end_actors, [](rank_parts& all, arrival&) { all.ending.end_actors(); });
  table.set(message::unobserved, [](rank_parts& all, arrival& m) {
    const std::uint32_t count = m.read<index_message>().index;
    all.run.unobserved.add(count, m.text());
  });
  table.set(message::leave, [](rank_parts& all, arrival& m) {
    m.read<index_message>();
    if (all.rank.rank != 0) return all.loops.leaving.leave(m.text());
    all.run.departure.ask(m.text());  // the other ranks are told at the top level
  });
  table.set(message::stop, [](rank_parts& all, arrival& m) {
    m.read<index_message>();
    all.run.phase.note_outcome(m.data, m.bytes);
    all.run.phase.end_stop();
    all.run.early.begin();  // what follows belongs to the next run
    all.run.waiters.end_last();
  });
}

constexpr dispatch_table<rank_parts> handlers::of_all_kinds() {
  dispatch_table<rank_parts> table;
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

MANTA_DECL void handle_message(rank_parts& all, rank_id from, message kind, const std::byte* data, std::size_t bytes) {
  static constexpr dispatch_table<rank_parts> table = handlers::of_all_kinds();
  static_assert(table.is_complete(), "each kind of message needs a handler");
  if (all.run.early.are_kept()) return all.run.early.keep(from, kind, data, bytes);
  if (all.rank.members.is_dead(from)) [[unlikely]]
    return;  // what it had to do is done elsewhere
  all.rank.post.note_received(from, kind);
  table(kind, all, from, data, bytes);
}

}  // namespace manta::exec
