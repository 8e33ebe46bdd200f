// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "manta/base/clock.hpp"
#include "manta/exec/home/home.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

/// Makes a request where there is none.
MANTA_DECL graph::request_ptr mark_for_member(graph::request_ptr request) {
  if (request == nullptr) request = graph::request_ptr(new graph::request);
  request->for_member = true;
  return request;
}

MANTA_DECL node& home::submit(function_id function, type_id type, const task_arguments& given,
                              graph::request_ptr request) {
  node& n = own_.refs.make_node(function, type, 2);  // one is the engine's own, until the task has ended
  const std::uint64_t id = below_.running->next_child();
  own_.counts.note_child(below_.running->function, function);
  if (own_.trace.is_on()) [[unlikely]]
    trace_submitted(own_, n, id, given);
  if (request != nullptr && request->actor) n.set(node::actor);
  if (below_.running->stops_children || below_.running->for_member || below_.phase.is_stopping()) [[unlikely]] {
    if (below_.withdrawal.refuses_children())
      return below_.withdrawal.refuse_child(n, id, given, below_.withdrawal.stopped_child(n));
    if (below_.running->for_member) request = mark_for_member(std::move(request));
  }
  if (own_.members.has_tolls()) [[unlikely]] {
    if (const store::failure_ptr why = below_.lost.tried_too_often(n, id, request))
      return below_.withdrawal.refuse_child(n, id, given, why);
  }
  // A small task without inputs and conditions fits into its node. It needs no record, and is sent
  // at once if a rank has room.
  if (given.input_count == 0 && request == nullptr && given.bytes < most_compact_) {
    if (hands_out() && send_compact(n, id, given.data, given.bytes)) {
      if (below_.throttle.is_time_to_help()) others_.relieve(others_.rank);
      return n;
    }
    n.form = form::compact;
    n.compact.id = id;
    n.size = static_cast<std::uint8_t>(given.bytes);
    if (given.bytes != 0) std::memcpy(n.compact.arguments, given.data, given.bytes);
    task_ready(n);
  } else {
    if (given.bytes >= task_counts::many_bytes) own_.counts.note_arguments(function, given.data, given.bytes);
    task* const t = below_.records.make(id, function, given, std::move(request));
    if (!submit_record(n, t)) return n;
  }
  if (below_.throttle.is_time_to_help() || own_.ledger.memory().is_short()) others_.relieve(others_.rank);
  return n;
}

MANTA_DECL bool home::send_compact(node& n, std::uint64_t id, const std::byte* arguments, std::size_t bytes) {
  std::uint32_t charge = 0;
  const std::uint32_t to = below_.scheduler->take_room(n.function, charge);
  if (to == no_index) return false;
  const task_message m{
      id, n.function, own_.rank, n.index, charge, static_cast<std::uint32_t>(bytes), 0, task_message::by_scheduler, 0};
  own_.post.send(to, message::run, m, arguments, bytes);  // straight into the outgoing batch
  note_sent(n, id, to);
  if (own_.members.recovers()) keep_arguments(n, arguments, bytes);
  below_.elsewhere.note_sent();
  return true;
}

MANTA_DECL bool home::submit_record(node& n, task* t) {
  t->home_index = n.index;
  if (own_.members.has_tolls()) [[unlikely]] {
    t->attempt = static_cast<std::uint16_t>(own_.members.toll_of(t->id).blamed());
  }
  n.form = form::record;
  n.record = t;
  // The result of a former run is taken before anything is placed or timed.
  if (below_.journaling.is_open() && take_from_journal(n)) return false;
  if (t->request != nullptr && t->request->deadline != graph::request::never) {
    // The deadline is over before the clock could run.
    if (t->request->deadline <= 0) {
      below_.completion.fail(n, timeout_failure(task_name(n), t->request->deadline));
      own_.refs.release(n);
      return false;
    }
    below_.attempts.start_timer(n, t->request->due, 0);
  }
  start(n);
  return true;
}

MANTA_DECL void home::start(node& n) {
  for (std::uint32_t i = 0; i < n.record->input_count; ++i) {
    node& input = *n.record->inputs()[i];
    below_.fetches.need(input);
    // One that has not ended counts when it ends (completion.hpp).
    if (input.state == state::ready) own_.counts.note_edge(input.function, n.function, store::bytes_of(input));
  }
  if (own_.graph.depend(n)) return task_ready(n);
  below_.ahead.send(n);
}

MANTA_DECL void home::task_ready(node& n) {
  if (n.state != state::pending) [[unlikely]]
    return own_.refs.release(n);  // it was cancelled
  if (below_.phase.is_stopping() && below_.departure.is_leaving()) [[unlikely]] {
    below_.completion.fail(n, leaving_failure(below_.departure.why()));
    return own_.refs.release(n);
  }
  if (n.form == form::record) {
    task& t = *n.record;
    if (has_failed_input(t)) return fail_dependent(n);
    if (t.request != nullptr && t.request->near != graph::request::nowhere) {
      node& near = *t.inputs()[t.seen_inputs()];
      t.request->near =
          near.state == state::failed ? graph::request::not_known : static_cast<int>(place_of(near, own_.rank));
      if (near.state == state::failed) near.set(node::observed);
    }
    if (t.request != nullptr && !t.request->anywhere() && below_.scheduler == nullptr) {
      return send_to_rank_0(n);
    }
    t.place = graph::place::here;
    if (below_.scheduler != nullptr && ((t.request != nullptr && !t.request->anywhere()) || hands_out())) {
      t.place = graph::place::scheduler;
      return below_.placement.add(n);
    }
  } else if (hands_out()) {
    return below_.placement.add(n);
  }
  n.set(node::queued);
  below_.local.push_back(n);
  if (owed_.tasks > 0) give_away(false);
}

MANTA_DECL void home::send_to_rank_0(node& n) {
  task& t = *n.record;
  const task_message m{t.id, t.function, own_.rank, n.index, 0, t.argument_bytes, t.attempt, 0, 0};
  below_.records.send(0, message::submit, m, seen_arguments_of(t), {t.request.get(), nullptr, t.digest});
  below_.elsewhere.note_sent();
  t.place = graph::place::elsewhere;
  t.caller = 0;
  if (keeps(t)) return;
  note_sent(n, t.id, 0);
  below_.records.free(&t);
}

MANTA_DECL void home::fail_dependent(node& n) {
  // A failure fails its dependents, and these theirs: the list takes the place of a recursion as deep as the chain.
  if (!to_fail_.add({n.record->id, n.index})) return;
  for (task_place next{}; to_fail_.take(next);) {
    node& dependent = own_.graph.nodes.at(next.index);
    if (!is_waiting(dependent, next)) continue;
    const store::failure_ptr why = own_.failures.of_input(*dependent.record);
    if (dependent.record->place == graph::place::elsewhere) {  // it was sent ahead of the input
      below_.withdrawal.withdraw(dependent, why, 0);
    } else {
      below_.completion.fail(dependent, why);
      own_.refs.release(dependent);
    }
  }
}

MANTA_DECL void home::run(node& n) {
  n.reset(node::queued);
  if (below_.departure.has_end() && below_.late.is_too_long(n, below_.departure.left_ns(base::ticks()))) [[unlikely]] {
    if (n.has(node::timed)) below_.attempts.stop_timer(n);
    return below_.late.set_aside(n);
  }
  store::failure_ptr why;
  bool ok = false;
  if (n.form == form::compact) {
    // The node's bytes become the task's place and then its result, so the arguments move to the stack.
    std::byte arguments[graph::compact_bytes];
    std::memcpy(arguments, n.compact.arguments, sizeof arguments);
    running_task identity{n.compact.id, n.function};
    note_sent(n, identity.id, own_.rank);
    invocation call(below_.lock, arguments, n.size);
    ok = below_.runner.invoke(call, n.function, identity, why);
    return finish(n, call, ok, why);
  }
  task* t = n.record;
  if (const store::failure_ptr input = own_.failures.of_input(*t)) {  // bringing it here failed
    below_.completion.fail(n, input);
    return own_.refs.release(n);
  }
  if (!has_inputs_here(*t)) {  // brought here first; the node stays pending and comes back as a staged task
    t->slot = no_index;
    t->by_scheduler = false;
    return below_.executor.stage(t);
  }
  if (n.has(node::timed) && below_.attempts.overdue(n)) return;
  running_task identity{t->id, t->function, t->attempt, t->request.get()};
  if (t->request != nullptr) below_.journaling.identify_actor(*t);
  invocation call(below_.lock, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.keeps_inputs = t->request != nullptr && (t->request->retries > t->attempt || t->request->restarts > 0);
  std::uint64_t ns = 0;
  ok = below_.runner.invoke(call, t->function, identity, why, &ns) && below_.runner.load_checkpoint(call, *t, why);
  if (ok && t->digest != 0) below_.journaling.write(*t, call, ns);
  finish(n, call, ok, why);
}

MANTA_DECL void home::finish(node& n, invocation& call, bool ok, const store::failure_ptr& why) {
  if (n.state != state::pending) [[unlikely]]
    return below_.withdrawal.discard_here(n, call);
  if (!ok && below_.attempts.may_retry(n) && below_.attempts.judge(n, why)) return;
  if (ok && call.actor != nullptr) {
    task* const constructor = n.record;
    const bool kept = constructor->request->restarts > 0;
    const actor_place place{own_.rank, below_.actors.add(call, *constructor, kept ? constructor : nullptr)};
    // An actor that may restart keeps its constructor's task.
    if (!kept) below_.records.free(constructor);
    store::set_plain(n, &place, sizeof place);
    below_.completion.complete(n);
    return own_.refs.release(n);
  }
  if (!ok) {
    below_.completion.fail(n, why);
    return own_.refs.release(n);
  }
  if (n.form == form::record) below_.records.free(n.record);
  n.missing = graph::where_it_ran(own_.rank, graph::placement_reason::none);
  if (call.form == form::box) {
    n.form = form::none;
    const store::saving result(call.type, n.function, call.task);
    below_.completion.complete_object(n, call.box, n.function);
    return own_.refs.release(n);
  }
  n.form = call.form == form::none ? form::none : call.form;
  if (call.form == form::plain) std::memcpy(n.bytes, call.plain, sizeof call.plain);
  below_.completion.complete(n);
  own_.refs.release(n);
}

MANTA_DECL bool home::take_from_journal(node& n) {
  task* const t = n.record;
  below_.journaling.identify(*t, n);
  if (!below_.journaling.take(*t, n)) return false;
  own_.counts.note_from_journal();
  below_.records.free(t);
  below_.completion.complete(n);
  own_.refs.release(n);
  return true;
}

MANTA_DECL void home::on_result(rank_id from, const result_message& m, const std::byte* data, std::size_t bytes) {
  node& n = own_.graph.nodes.at(m.index);
  below_.elsewhere.note_back();
  below_.calls.note_result(n.index);
  if ((m.flags & result_message::by_scheduler) != 0) {
    const task* t = n.form == form::record ? n.record : nullptr;
    if (n.state != state::pending) {
      if (const task* const kept = below_.withdrawal.record_of(n)) t = kept;
    }
    if (t != nullptr && t->ahead) below_.elsewhere.note_ahead_back();
    const graph::request* request = t == nullptr ? nullptr : t->request.get();
    below_.scheduler->ended(from, n.function, m.charge, whole(m.nanoseconds), request);
    if (request != nullptr && request->actor && static_cast<form>(m.form) == form::failure) {
      below_.scheduler->give_back(from, *request);
    }
  }
  if (below_.calls.any_repeatable()) [[unlikely]] {
    const bool has_failed = static_cast<form>(m.form) == form::failure;
    const store::failure_ptr why = has_failed ? store::decode_failure(data, bytes) : nullptr;
    if (below_.calls.repeats_after(n, why.get())) return;
  }
  if (n.state != state::pending) [[unlikely]]
    return below_.withdrawal.discard(n, m, data, bytes);
  if (m.reached != 0) below_.ahead.note_reached(n, from, m.reached, bytes_of_value(m, data, bytes));
  // Only a task with a record can be run again: a compact one has no retries.
  if (static_cast<form>(m.form) == form::failure && n.form == form::record) {
    const store::failure_ptr why = store::decode_failure(data, bytes);
    if (why->kind == store::failure::kind::rank && n.record->request != nullptr && n.record->request->ranks > 0) {
      below_.elsewhere.note_sent();
      return below_.lost.submit_again(n,
                                      static_cast<std::uint32_t>(why->details.rank));  // a member of the gang has died
    }
    if (below_.attempts.may_retry(n)) return below_.attempts.retry_or_fail_later(n, why);
  }
  const auto told = static_cast<graph::placement_reason>(m.flags >> result_message::reason_bit);
  const std::uint32_t ran = graph::where_it_ran(from, told != graph::placement_reason::none ? told : why_there(n));
  if (!below_.recovery.keep_lineage(n, m) && n.form == form::record) {
    below_.records.free(n.record);
    n.form = form::none;
  }
  n.missing = ran;
  below_.fetches.accept_value(n, m, data, bytes);
  own_.refs.release(n);
}

MANTA_DECL void home::ended(const task_origin& of, invocation& call, bool ok, const store::failure_ptr& why,
                            std::uint64_t ns) {
  below_.elsewhere.note_back();
  below_.calls.note_result(of.home_index);
  if (of.by_scheduler && of.home_rank == 0) {
    below_.scheduler->ended(own_.rank, of.function, of.charge, ns, of.request);
    if (!ok && of.request != nullptr && of.request->actor) below_.scheduler->give_back(own_.rank, *of.request);
  }
  node& n = own_.graph.nodes.at(of.home_index);
  if (below_.calls.any_repeatable() && below_.calls.repeats_after(n, ok ? nullptr : why.get())) [[unlikely]]
    return;
  finish(n, call, ok, why);
}

MANTA_DECL void home::on_demand(const demand_message& m) {
  owed_ = m;
  give_away(below_.scheduler != nullptr);  // rank 0 has asked itself: it runs none that others have time for
}

MANTA_DECL void home::give_away(bool overdue) {
  std::size_t may_give = below_.local.size() / 2 + (overdue ? below_.local.size() % 2 : 0);
  while (owed_.tasks > 0 && may_give > 0) {
    --may_give;
    if (owed_.of_members_too == 0 && is_for_member(below_.local.front())) break;
    node& n = below_.local.pop_front();
    n.reset(node::queued);
    --owed_.tasks;
    if (n.form == form::compact) {
      const task_message m{n.compact.id, n.function, own_.rank, n.index, 0, n.size, 0, 0, 0};
      own_.post.send(0, message::submit, m, n.compact.arguments, n.size);
      note_compact_sent(n, 0, own_.members.recovers());
      below_.elsewhere.note_sent();
      continue;
    }
    send_to_rank_0(n);
  }
  // what runs here takes longer than was thought: what was sent here ahead of time can go elsewhere
  if (overdue) below_.executor.give_back(owed_.tasks);
}

}  // namespace manta::exec
