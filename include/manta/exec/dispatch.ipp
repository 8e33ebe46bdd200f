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
  static constexpr void tasks(dispatch_table<engine>& table);
  /// References to values of other ranks.
  static constexpr void references(dispatch_table<engine>& table);
  /// Values and copies of them.
  static constexpr void values(dispatch_table<engine>& table);
  /// Calls of actors, their ends and their names.
  static constexpr void actors(dispatch_table<engine>& table);
  /// Members of gangs and their leaders.
  static constexpr void gangs(dispatch_table<engine>& table);
  /// Ranks that have died, and what was lost with them.
  static constexpr void deaths(dispatch_table<engine>& table);
  /// Questions of users, and those of rank 0 about what still goes on.
  static constexpr void questions(dispatch_table<engine>& table);
  /// The phases in which a run ends.
  static constexpr void run(dispatch_table<engine>& table);

  /// The answer to a question of this rank: completes its ticket.
  static constexpr auto answer = [](engine& e, arrival& m) {
    std::uint32_t ticket = 0;
    std::memcpy(&ticket, m.data, sizeof ticket);
    node& n = e.graph_.nodes.at(ticket);
    if (n.state != state::pending) return e.refs_.release(n);  // it was asked again meanwhile, for a rank had died
    n.missing = 0;
    store::set_blob(n, m.data, m.bytes, false);
    e.completion_.complete(n);
    e.refs_.release(n);
  };
};

constexpr void engine::handlers::tasks(dispatch_table<engine>& table) {
  table.set(message::run, [](engine& e, arrival& m) {
    ++e.received_tasks_;
    if ((flags_of_task(m.data) & task_message::ahead) != 0) return e.on_run_ahead(m.from, m.data);
    e.inbox_.push(m.from, m.data, m.bytes);
  });
  table.set(message::submit, [](engine& e, arrival& m) { e.on_submit(m.from, m.data, false); });
  table.set(message::come_back, [](engine& e, arrival& m) {
    if ((flags_of_task(m.data) & task_message::ahead) != 0) return e.on_ahead_back(m.from, m.read<task_message>());
    e.on_submit(m.from, m.data, true);
  });
  table.set(message::result, [](engine& e, arrival& m) {
    const auto header = m.read<result_message>();
    e.on_result(m.from, header, m.data, m.bytes);
  });
  table.set(message::made, [](engine& e, arrival& m) {
    const auto header = m.read<result_message>();
    e.on_made(m.from, header, m.data, m.bytes);
  });
  table.set(message::ended, [](engine& e, arrival& m) {
    const auto header = m.read<ended_message>();
    graph::request request;
    wire::source in(m.data, m.bytes);
    const bool has_request = m.bytes != 0;
    if (has_request) request.read(in);
    e.places_.note_ended(header.key, m.from, e.members_.recovers());
    e.scheduler_->ended(m.from, header.function, header.charge, whole(header.nanoseconds),
                        has_request ? &request : nullptr);
    if (header.failed != 0 && request.actor) e.scheduler_->give_back(m.from, request);
  });
  table.set(message::blocked, [](engine& e, arrival& m) {
    const auto of_it = m.read<blocked_message>();
    e.short_ranks_.set(m.from, of_it.is_short != 0);
    e.scheduler_->blocked(m.from, of_it.tasks, of_it.own_work != 0, of_it.in_call != 0);
  });
  table.set(message::demand, [](engine& e, arrival& m) {
    e.owed_ = m.read<demand_message>();
    e.give_away(e.scheduler_ != nullptr);  // rank 0 has asked itself: it runs none that others have time for
  });
  table.set(message::cancel, [](engine& e, arrival& m) { e.on_cancel(m.read<cancel_message>()); });
}

constexpr void engine::handlers::references(dispatch_table<engine>& table) {
  table.set(message::drop, [](engine& e, arrival& m) { e.refs_.on_drop(m.read<drop_message>()); });
  table.set(message::borrow, [](engine& e, arrival& m) { e.refs_.on_borrow(m.from, m.read<borrow_message>()); });
  table.set(message::granted, [](engine& e, arrival& m) { e.refs_.on_granted(m.read<index_message>()); });
  table.set(message::repaid, [](engine& e, arrival& m) {
    const std::uint32_t lent = m.read<index_message>().index;
    e.refs_.release(e.graph_.nodes.at(lent));
  });
  table.set(message::release, [](engine& e, arrival& m) { e.refs_.on_release(m.from, m.read<index_message>()); });
  table.set(message::released, [](engine& e, arrival& m) { e.refs_.on_released(m.read<index_message>()); });
}

constexpr void engine::handlers::values(dispatch_table<engine>& table) {
  table.set(message::want, [](engine& e, arrival& m) {
    const auto wanted = m.read<want_message>();
    node& n = e.graph_.nodes.at(wanted.home_index);
    if (n.state != state::pending) return e.supply_.tell_value(m.from, wanted.index, n);
    link& l = e.graph_.add_link(n, link_kind::subscriber);
    l.rank = m.from;
    l.index = wanted.index;
  });
  table.set(message::value, [](engine& e, arrival& m) {
    const auto header = m.read<result_message>();
    e.fetches_.on_value(m.from, header, m.data, m.bytes);
  });
  table.set(message::pull, [](engine& e, arrival& m) { e.fetches_.on_pull(m.from, m.read<pull_message>()); });
  table.set(message::data, [](engine& e, arrival& m) {
    const auto header = m.read<data_message>();
    e.fetches_.on_data(m.from, header, m.data, m.bytes);
  });
  table.set(message::mapped, [](engine& e, arrival& m) { e.supply_.on_mapped(m.from, m.read<index_message>().index); });
  table.set(message::unavailable,
            [](engine& e, arrival& m) { e.fetches_.on_unavailable(m.read<unavailable_message>()); });
  table.set(message::not_saved, [](engine& e, arrival& m) {
    node& n = e.graph_.nodes.at(m.read<result_message>().index);
    store::is_here(n) ? e.fetches_.not_fetched(n) : e.fetches_.cannot_come(n, store::decode_failure(m.data, m.bytes));
  });
  table.set(message::cut_off, [](engine& e, arrival& m) { e.fetches_.on_cut_off(m.from, m.read<cut_off_message>()); });
  table.set(message::replicate,
            [](engine& e, arrival& m) { e.fetches_.on_replicate(m.from, m.read<replicate_message>()); });
}

constexpr void engine::handlers::actors(dispatch_table<engine>& table) {
  table.set(message::call, [](engine& e, arrival& m) { e.on_call(m.from, m.data, m.bytes); });
  table.set(message::end_actor, [](engine& e, arrival& m) { e.on_end_actor(m.read<end_actor_message>()); });
  table.set(message::kill_actor, [](engine& e, arrival& m) {
    const std::uint32_t slot = m.read<end_actor_message>().slot;
    e.on_kill(slot, m.text());
  });
  table.set(message::actor_gone, [](engine& e, arrival& m) {
    const std::uint32_t slot = m.read<index_message>().index;
    graph::request request;
    wire::source in(m.data, m.bytes);
    request.read(in);
    e.free_name_of_ended(request.name, {m.from, slot});
    e.scheduler_->give_back(m.from, request);
  });
  table.set(message::checkpoint, [](engine& e, arrival& m) {
    const auto header = m.read<checkpoint_message>();
    e.recovery_.on_checkpoint(header, m.data, m.bytes);
  });
  table.set(message::name_ask, [](engine& e, arrival& m) { e.on_name_ask(m.data, m.bytes); });
  table.set(message::name_spawn, [](engine& e, arrival& m) { e.on_name_spawn(m.from, m.data); });
  table.set(message::name_gone, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.on_name_gone(m.from, m.text());
  });
  table.set(message::name_answer, answer);
}

constexpr void engine::handlers::gangs(dispatch_table<engine>& table) {
  table.set(message::gang_meets, [](engine& e, arrival& m) { e.gang_ends_.note_arrival(m.read<gang_message>().gang); });
  table.set(message::gang_ended, [](engine& e, arrival& m) {
    const auto header = m.read<gang_message>();
    e.on_gang_ended(m.from, header, m.data, m.bytes);
  });
  table.set(message::stuck, [](engine& e, arrival& m) { e.on_stuck(m.read<stuck_message>()); });
}

constexpr void engine::handlers::deaths(dispatch_table<engine>& table) {
  table.set(message::rank_died, [](engine& e, arrival& m) {
    const auto header = m.read<death_message>();
    e.on_rank_died(header, m.text());
  });
  table.set(message::where_is, [](engine& e, arrival& m) { e.on_where_is(m.from, m.read<where_message>()); });
  table.set(message::task_lost, [](engine& e, arrival& m) {
    const auto lost = m.read<where_message>();
    node& n = e.graph_.nodes.at(lost.index);
    if (is_task(n) && place_key_of(n, e.rank_) == lost.key) e.submit_again(n, lost.rank);
  });
  table.set(message::seek, [](engine& e, arrival& m) { e.fetches_.on_seek(m.from, m.read<seek_message>()); });
  table.set(message::not_kept, [](engine& e, arrival& m) { e.fetches_.on_not_kept(m.read<seek_message>()); });
}

constexpr void engine::handlers::questions(dispatch_table<engine>& table) {
  table.set(message::ask, [](engine& e, arrival& m) { e.on_ask(m.data, m.bytes); });
  table.set(message::answer, answer);
  table.set(message::probe, [](engine& e, arrival& m) {
    const auto probe = m.read<probe_message>();
    e.post_.send(m.from, message::probe_answer, probe_message{probe.wave, e.tally_here(e.quiet())});
  });
  table.set(message::probe_answer, [](engine& e, arrival& m) {
    const auto answer = m.read<probe_message>();
    e.waves_.add(answer.wave, answer.tally);
  });
  table.set(message::report, [](engine& e, arrival&) {
    const std::string text = e.waiters_.describe(e.rank_);
    e.post_.send(0, message::report_answer, index_message{0, 0}, text.data(), text.size());
  });
  table.set(message::report_answer, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.waiters_.report().add(m.text());
  });
}

constexpr void engine::handlers::run(dispatch_table<engine>& table) {
  table.set(message::fail_waits, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.waiters_.fail_all(m.text());
  });
  table.set(message::drop_tasks, [](engine& e, arrival&) { e.phase_.stop_and_drop(); });
  table.set(message::end_actors, [](engine& e, arrival&) { e.end_all_actors(); });
  table.set(message::unobserved, [](engine& e, arrival& m) {
    const std::uint32_t count = m.read<index_message>().index;
    e.unobserved_.add(count, m.text());
  });
  table.set(message::leave, [](engine& e, arrival& m) {
    m.read<index_message>();
    if (e.rank_ != 0) return e.leave(m.text());
    e.departure_.ask(m.text());  // the other ranks are told at the top level
  });
  table.set(message::stop, [](engine& e, arrival& m) {
    m.read<index_message>();
    e.phase_.note_outcome(m.data, m.bytes);
    e.phase_.end_stop();
    e.early_.begin();  // what follows belongs to the next run
    e.waiters_.end_last();
  });
}

constexpr dispatch_table<engine> engine::handlers::all() {
  dispatch_table<engine> table;
  tasks(table);
  references(table);
  values(table);
  actors(table);
  gangs(table);
  deaths(table);
  questions(table);
  run(table);
  return table;
}

}  // namespace manta::exec
