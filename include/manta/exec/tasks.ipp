// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// From submission to the end of a task. A task waits for its inputs on the rank
// that submitted it. When they exist it may start: on this rank at once if it
// executes tasks and nothing else was asked for, else rank 0 places it. What a
// rank has too much of it gives to rank 0 when rank 0 asks because others idle.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// Makes a request where there is none.
MANTA_DECL graph::request_ptr mark_for_member(graph::request_ptr request) {
  if (request == nullptr) request = graph::request_ptr(new graph::request);
  request->for_member = true;
  return request;
}

MANTA_DECL node& engine::submit(std::uint32_t function, std::uint32_t type, const std::byte* arguments,
                                std::size_t bytes, node* const* inputs, std::uint32_t input_count,
                                graph::request_ptr request) {
  node& n = refs_.make_node(function, type, 2);  // one is the engine's own, until the task has ended
  const std::uint64_t id = running_->next_child();
  if (request != nullptr && request->actor) n.set(node::actor);
  if (running_->stops_children || running_->for_member || phase_.is_stopping()) [[unlikely]] {
    if (running_->stops_children || (phase_.is_stopping() && departure_.is_leaving())) {
      return refuse_child(n, id, inputs, input_count, stopped_child(n));
    }
    if (running_->for_member) request = mark_for_member(std::move(request));
  }
  if (members_.has_tolls()) [[unlikely]] {
    if (const store::failure_ptr why = tried_too_often(n, id, request))
      return refuse_child(n, id, inputs, input_count, why);
  }
  if (input_count == 0 && request == nullptr && bytes < most_compact_) {
    if (hands_out()) {
      std::uint32_t charge = 0;
      const std::uint32_t to = scheduler_->take_room(function, charge);
      if (to != no_index) {  // straight into the outgoing batch
        const task_message m{id, function, rank_, n.index, charge, static_cast<std::uint32_t>(bytes), 0,
                             task_message::by_scheduler, 0};
        post_.send(to, message::run, m, arguments, bytes);
        note_sent(n, id, to);
        if (members_.recovers()) keep_arguments(n, arguments, bytes);
        elsewhere_.note_sent();
        if (throttle_.is_time_to_help()) relieve();
        return n;
      }
    }
    n.form = form::compact;
    n.compact.id = id;
    n.size = static_cast<std::uint8_t>(bytes);
    if (bytes != 0) std::memcpy(n.compact.arguments, arguments, bytes);
    task_ready(n);
  } else {
    task* const t = records_.make(id, function, arguments, bytes, inputs, input_count, std::move(request));
    t->home_index = n.index;
    if (members_.has_tolls()) [[unlikely]] t->attempt = static_cast<std::uint16_t>(members_.toll_of(id).blamed());
    n.form = form::record;
    n.record = t;
    if (has_journal() && take_from_journal(n)) return n;
    if (t->request != nullptr && t->request->deadline != graph::request::never) {
      if (t->request->deadline <= 0) {
        completion_.fail(n, timeout_failure(task_name(n), t->request->deadline));
        refs_.release(n);
        return n;
      }
      attempts_.start_timer(n, t->request->due, 0);
    }
    start_when_possible(n);
  }
  if (throttle_.is_time_to_help() || ledger_.memory().is_short()) relieve();
  return n;
}

MANTA_DECL void engine::start_when_possible(node& n) {
  for (std::uint32_t i = 0; i < n.record->input_count; ++i) fetches_.need(*n.record->inputs()[i]);
  if (graph_.depend(n)) return task_ready(n);
  send_ahead(n);
}

/// All inputs of a task of ours have ended.
MANTA_DECL void engine::task_ready(node& n) {
  if (n.state != state::pending) [[unlikely]] return refs_.release(n);  // it was cancelled
  if (phase_.is_stopping() && departure_.is_leaving()) [[unlikely]] {
    completion_.fail(n, leaving_failure(departure_.why()));
    return refs_.release(n);
  }
  if (n.form == form::record) {
    task& t = *n.record;
    if (has_failed_input(t)) return fail_dependent(n);
    if (t.request != nullptr && t.request->near != graph::request::nowhere) {
      t.request->near = static_cast<int>(place_of(*t.inputs()[t.seen_inputs()], rank_));
    }
    if (t.request != nullptr && !t.request->anywhere() && scheduler_ == nullptr) {  // rank 0 places it
      const task_message m{t.id, t.function, rank_, n.index, 0, t.argument_bytes, t.attempt, 0, 0};
      records_.send(0, message::submit, m, t.request.get(), t.arguments(), t.argument_bytes, t.inputs(),
                    t.seen_inputs(), nullptr, t.digest);
      elsewhere_.note_sent();
      t.place = graph::place::elsewhere;
      t.caller = 0;
      if (!keeps(t)) {
        note_sent(n, t.id, 0);
        records_.free(&t);
      }
      return;
    }
    t.place = graph::place::here;
    if (scheduler_ != nullptr && ((t.request != nullptr && !t.request->anywhere()) || hands_out())) {
      t.place = graph::place::scheduler;
      return to_scheduler(n);
    }
  } else if (hands_out()) {
    return to_scheduler(n);
  }
  n.set(node::queued);
  local_.push_back(n);
  if (owed_.tasks > 0) give_away(false);
}

MANTA_DECL void engine::decide() {
  place_tasks();
  ask_for_work();
}

MANTA_DECL void engine::dispatch(node& n, std::uint32_t to, std::uint32_t charge) {
  if (n.form == form::compact) {
    const task_message m{n.compact.id, n.function, rank_, n.index, charge, n.size, 0, task_message::by_scheduler, 0};
    post_.send(to, message::run, m, n.compact.arguments, n.size);
    send_compact_away(n, to);
    if (n.links != nullptr) follow_ahead(n, to);
    return;
  }
  task& t = *n.record;
  if (t.request != nullptr && t.request->ranks > 0) {
    dispatch_gang(n, charge);
  } else {
    const task_message m{t.id,  t.function,       t.home_rank, t.home_index,
                         charge, t.argument_bytes, t.attempt,   task_message::by_scheduler, 0};
    records_.send(to, message::run, m, t.request.get(), t.arguments(), t.argument_bytes, t.inputs(), t.seen_inputs(),
                nullptr, t.digest);
  }
  if (t.home_rank != rank_) {  // placed for another rank: nothing is left to do here
    places_.note_sent(place_key(t), to, t.request.get());
    return refs_.release(n);
  }
  if (t.home_index != n.index) {  // ours, on its second way
    places_.forget(place_key(t));
    node& home = graph_.nodes.at(t.home_index);
    if (home.form == form::record) {
      home.record->caller = to;
    } else {
      home.sent.at = to;
    }
    return refs_.release(n);
  }
  elsewhere_.note_sent();
  t.ahead = false;
  t.place = graph::place::elsewhere;
  t.caller = to;
  if (members_.recovers()) {
    if (n.links != nullptr) follow_ahead(n, to);
  } else if (t.request == nullptr) {
    note_sent(n, t.id, to);
    n.sent.near_bytes = scheduler_->bytes_there();  // for those who ask why
    records_.free(&t);
    if (n.links != nullptr) follow_ahead(n, to);
  } else if (!t.request->kept()) {
    records_.drop_inputs(&t);  // the request is needed when it ends
  }
}

/// A compact task of ours has been sent.
MANTA_DECL void engine::send_compact_away(node& n, std::uint32_t to) {
  std::byte arguments[sizeof n.sent.kept];
  if (members_.recovers()) std::memcpy(arguments, n.compact.arguments, sizeof arguments);
  note_sent(n, n.compact.id, to);
  if (members_.recovers()) keep_arguments(n, arguments, n.size);
  elsewhere_.note_sent();
}

// --- tasks that came to be run here

MANTA_DECL void engine::await_input(task* t, node& input) {
  if (input.state != state::pending) {
    fetches_.fetch(input);
  } else if (!t->ahead || input.missing == 0) {  // else it is made here, or rank 0 sends it
    fetches_.need(input);
  }
  graph_.add_link(input, link_kind::staged).pointer = t;
  ++t->missing;
}

/// Has what is not here brought here; when all is, the task is ready or its actor is listed.
MANTA_DECL void engine::stage(task* t) {
  for (std::uint32_t i = 0; i < t->input_count; ++i) {
    if (!store::is_here(*t->inputs()[i])) await_input(t, *t->inputs()[i]);
  }
  t->missing == 0 ? staged(t) : staging_.add_waiting(t);
}

MANTA_DECL void engine::staged(task* t) {
  if (t->slot != no_index && !t->by_scheduler) {
    list_slot(t->slot);
  } else {
    staging_.add_ready(t);
  }
}

MANTA_DECL void engine::stage_input_arrived(task* t, node& input) {
  --t->missing;
  if (!store::is_here(input)) return await_input(t, input);
  if (t->missing != 0) return;
  staging_.remove_waiting(t);
  staged(t);
}

/// A task of ours fails with one of its inputs. One after the other: a chain of a million needs no stack of that depth.
MANTA_DECL void engine::fail_dependent(node& n) {
  if (!to_fail_.add({n.record->id, n.index})) return;
  for (task_place next{}; to_fail_.take(next);) {
    node& dependent = graph_.nodes.at(next.index);
    if (!is_waiting(dependent, next)) continue;
    const store::failure_ptr why = failures_.of_input(*dependent.record);
    if (dependent.record->place == graph::place::elsewhere) {  // it was sent ahead of the input
      withdraw(dependent, why, 0);
    } else {
      completion_.fail(dependent, why);
      refs_.release(dependent);
    }
  }
}

/// They will be needed here again.
MANTA_DECL void engine::keep_inputs(const invocation& call) {
  for (std::uint32_t i = 0; i < call.input_count; ++i) {
    if (store::large* const l = store::large_of(*call.inputs[i])) ledger_.keep(*l);
  }
}

/// Runs a function; false and the reason if it threw. `ns` is how long it took, for those who want to know: it costs a
/// look at the clock, a tenth of a small task.
MANTA_DECL bool engine::invoke(invocation& call, std::uint32_t function, running_task& identity,
                               store::failure_ptr& why, std::uint64_t* ns) {
  if (!started_.may_start()) [[unlikely]] {
    why = failures_.too_many_wait(identity, started_.count());
    return false;
  }
  const exec::current_task::scope running(running_, identity);
  identity.call = &call;
  started_.add(identity);
  const bool timed = ns != nullptr || departure_.has_end();
  const std::uint64_t begins = pace_.take_begin(), start = begins != 0 || !timed ? begins : base::ticks();
  bool ok = true;
  if (call.keeps_inputs) keep_inputs(call);
  try {
    const store::looking inputs(call.inputs, call.input_count);
    run_function(call, function, identity);
  } catch (...) {
    ok = false;
    why = failures_.here(*running_, call.reads_arguments);
  }
  pace_.note_end(base::ticks());
  if (timed) {
    const std::uint64_t took = base::nanoseconds_of(pace_.task_ended() - start);
    if (ns != nullptr) *ns = took;
    if (departure_.has_end()) late_.learn(function, took);
  }
  started_.remove(identity);
  return ok;
}

/// A task of ours, on this rank.
MANTA_DECL void engine::run_node(node& n) {
  n.reset(node::queued);
  if (departure_.has_end() && late_.is_too_long(n, time_left_ns())) [[unlikely]] {
    if (n.has(node::timed)) attempts_.stop_timer(n);
    return late_.set_aside(n);
  }
  store::failure_ptr why;
  bool ok = false;
  if (n.form == form::compact) {
    std::byte arguments[graph::compact_bytes];
    std::memcpy(arguments, n.compact.arguments, sizeof arguments);
    running_task identity{n.compact.id, n.function};
    note_sent(n, identity.id, rank_);
    invocation call(lock_, arguments, n.size);
    ok = invoke(call, n.function, identity, why);
    return finish_here(n, call, ok, why);
  }
  task* t = n.record;
  if (const store::failure_ptr input = failures_.of_input(*t)) {  // bringing it here failed
    completion_.fail(n, input);
    return refs_.release(n);
  }
  if (!has_inputs_here(*t)) {  // brought here first; the node stays pending and comes back as a staged task
    t->slot = no_index;
    t->by_scheduler = false;
    return stage(t);
  }
  if (n.has(node::timed) && attempts_.overdue(n)) return;
  running_task identity{t->id, t->function, t->attempt, t->request.get()};
  invocation call(lock_, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.keeps_inputs = t->request != nullptr && (t->request->retries > t->attempt || t->request->restarts > 0);
  std::uint64_t ns = 0;
  ok = invoke(call, t->function, identity, why, &ns) && load_checkpoint(call, *t, why);
  if (ok && t->digest != 0) journaling_.write(*t, call, ns);
  finish_here(n, call, ok, why);
}

MANTA_DECL void engine::finish_here(node& n, invocation& call, bool ok, const store::failure_ptr& why) {
  if (n.state != state::pending) [[unlikely]] return discard_here(n, call);
  if (!ok && attempts_.may_retry(n) && attempts_.judge(n, why)) return;
  if (ok && call.actor != nullptr) {
    task* const constructor = n.record;
    const bool kept = constructor->request->restarts > 0;
    const actor_place place{rank_, new_slot(call, n.function, constructor->request, kept ? constructor : nullptr)};
    if (!kept) records_.free(constructor);
    store::set_plain(n, &place, sizeof place);
    completion_.complete(n);
    return refs_.release(n);
  }
  if (!ok) {
    completion_.fail(n, why);
    return refs_.release(n);
  }
  if (n.form == form::record) records_.free(n.record);
  n.missing = graph::where_it_ran(rank_, graph::placement_reason::none);
  if (call.form == form::box) {
    n.form = form::none;
    completion_.complete_object(n, call.box, n.function);
    return refs_.release(n);
  }
  n.form = call.form == form::none ? form::none : call.form;
  if (call.form == form::plain) std::memcpy(n.bytes, call.plain, sizeof call.plain);
  completion_.complete(n);
  refs_.release(n);
}

MANTA_DECL bool engine::take_from_journal(node& n) {
  task* const t = n.record;
  journaling_.identify(*t, n);
  if (!journaling_.take(*t, n)) return false;
  records_.free(t);
  completion_.complete(n);
  refs_.release(n);
  return true;
}

/// A received task whose inputs are all here; or one of ours that had to fetch some.
MANTA_DECL void engine::run_staged(task* t) {
  if (t->home_rank == rank_ && !t->by_scheduler && t->slot == no_index) return run_node(graph_.nodes.at(t->home_index));
  if (!has_inputs_here(*t)) {
    t->ahead = false;
    return stage(t);
  }
  if (t->gang != nullptr) return run_member(t);
  store::failure_ptr why = failures_.of_input(*t);  // bringing it here failed
  std::uint64_t ns = 0;
  running_task identity{t->id, t->function, t->attempt, t->request.get()};
  invocation call(lock_, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.keeps_inputs = t->request != nullptr && t->request->restarts > 0;
  const bool ok = why == nullptr && invoke(call, t->function, identity, why, &ns) && load_checkpoint(call, *t, why);
  bool kept = false;
  if (ok && call.actor != nullptr) {
    kept = t->request->restarts > 0;
    const actor_place place{rank_, new_slot(call, t->function, t->request, kept ? t : nullptr)};
    call.form = form::plain;
    std::memcpy(call.plain, &place, sizeof place);
    call.type = wire::type_index<std::uint64_t>::value;
    call.actor = nullptr;
  }
  if (ok && t->digest != 0) journaling_.write(*t, call, ns);
  finish_received(t, kept, call, ok, why, ns);
}

/// Reports the end of a received task, and frees its record unless it is kept.
MANTA_DECL void engine::finish_received(task* t, bool kept, invocation& call, bool ok, const store::failure_ptr& why,
                                        std::uint64_t ns) {
  node* const awaited = std::exchange(t->result, nullptr);
  const task ended = *t;
  if (!kept) records_.free(t);
  finish_foreign(ended.home_rank, ended.home_index, ended.function, ended.charge, ended.request.get(),
                 ended.by_scheduler, call, ok, why, ns, place_key(ended), awaited);
  if (awaited != nullptr) refs_.release(*awaited);
}

/// For an actor that has lived before, in this start or the one before: what its constructor has made goes for its last
/// checkpoint.
MANTA_DECL bool engine::load_checkpoint(invocation& call, const task& t, store::failure_ptr& why) {
  if (call.actor == nullptr) return true;
  std::string& state = t.request->checkpoint;
  wire::buffer known;
  if (state.empty() && journaling_.find_state(*t.request, t.function, known)) {
    state.assign(reinterpret_cast<const char*>(known.data()), known.size());
  }
  if (state.empty()) return true;
  wire::source in(reinterpret_cast<const std::byte*>(state.data()), state.size());
  try {
    const outside user(lock_);
    call.actor_type->destroy(std::exchange(call.actor, nullptr));
    call.actor = call.actor_type->load(in);
    return true;
  } catch (...) {
    why = failures_.here(*running_);
    return false;
  }
}

MANTA_DECL void engine::run_message(const message_queue::view& v) {
  task_message m;
  std::memcpy(&m, v.data, sizeof m);
  if ((m.flags & (task_message::has_inputs | task_message::has_request | task_message::has_digest)) != 0) {
    task* const t = records_.read(v.from, v.data);
    staging_.note_maker(t);
    return stage(t);
  }
  store::failure_ptr why;
  std::uint64_t ns = 0;
  running_task identity{m.id, m.function, m.attempt};
  invocation call(lock_, v.data + sizeof m, m.argument_bytes);
  const bool ok = invoke(call, m.function, identity, why, &ns);
  finish_foreign(m.home_rank, m.home_index, m.function, m.charge_or_slot, nullptr,
                 (m.flags & task_message::by_scheduler) != 0, call, ok, why, ns, m.home_rank == 0 ? 0 : place_key(m));
}

MANTA_DECL void engine::finish_foreign(std::uint32_t home_rank, std::uint32_t home_index, std::uint32_t function,
                                   std::uint32_t charge, const graph::request* request, bool by_scheduler,
                                   invocation& call, bool ok, const store::failure_ptr& why, std::uint64_t ns,
                                   std::uint64_t place_key, node* awaited) {
  if (by_scheduler) {
    --received_tasks_;
    if (home_rank != 0) {  // rank 0 hears of its own tasks by their results
      const ended_message m{function, charge, rounded(ns), ok ? 0u : 1u, place_key};
      wire::buffer bytes;
      if (request != nullptr) request->write(bytes);
      post_.send(0, message::ended, m, bytes.data(), bytes.size());
    }
  }
  const bool tell_scheduler = by_scheduler && home_rank == 0;
  if (home_rank == rank_) {
    elsewhere_.note_back();
    if (tell_scheduler) scheduler_->ended(rank_, function, charge, ns, request);
    if (tell_scheduler && !ok && request != nullptr && request->actor) scheduler_->give_back(rank_, *request);
    return finish_here(graph_.nodes.at(home_index), call, ok, why);
  }
  ended_task ended{home_rank, home_index, function, charge, ns, tell_scheduler};
  node* const expected = expected_here(home_rank, home_index, awaited);
  if (!ok) return supply_.send_failure(ended, why, expected);
  if (request != nullptr) ended.reason = request->granted.reason;
  supply_.send_result(ended, call, expected);
}

/// At the home.
MANTA_DECL void engine::on_result(std::uint32_t from, const result_message& m, const std::byte* data,
                                  std::size_t bytes) {
  node& n = graph_.nodes.at(m.index);
  elsewhere_.note_back();
  if (!sent_arguments_.empty()) sent_arguments_.remove(n.index);
  if ((m.flags & result_message::by_scheduler) != 0) {
    const task* t = n.form == form::record ? n.record : nullptr;
    if (n.state != state::pending) {
      if (const std::uint64_t* kept = cancelled_.find(n.index)) t = reinterpret_cast<const task*>(*kept);
    }
    if (t != nullptr && t->ahead) elsewhere_.note_ahead_back();
    const graph::request* request = t == nullptr ? nullptr : t->request.get();
    scheduler_->ended(from, n.function, m.charge, whole(m.nanoseconds), request);
    if (request != nullptr && request->actor && static_cast<form>(m.form) == form::failure) {
      scheduler_->give_back(from, *request);
    }
  }
  if (n.state != state::pending) [[unlikely]] return discard(n, m, data, bytes);
  if (m.reached != 0) note_reached(n, from, m.reached);
  if (static_cast<form>(m.form) == form::failure && n.form == form::record) {
    const store::failure_ptr why = store::decode_failure(data, bytes);
    if (why->kind == store::failure::kind::rank && n.record->request != nullptr && n.record->request->ranks > 0) {
      elsewhere_.note_sent();
      return submit_again(n, static_cast<std::uint32_t>(why->details.rank));  // a member of the gang has died
    }
    if (attempts_.may_retry(n)) return attempts_.retry_or_fail_later(n, why);
  }
  const auto told = static_cast<graph::placement_reason>(m.flags >> result_message::reason_bit);
  const std::uint32_t ran = graph::where_it_ran(from, told != graph::placement_reason::none ? told : why_there(n));
  if (!recovery_.keep_lineage(n, m) && n.form == form::record) {
    records_.free(n.record);
    n.form = form::none;
  }
  n.missing = ran;
  fetches_.accept_value(n, m, data, bytes);
  refs_.release(n);
}

// --- sharing work

MANTA_DECL void engine::on_submit(std::uint32_t from, const std::byte* data, bool returned) {
  task* t = records_.read(from, data);
  t->slot = no_index;
  if (returned && t->by_scheduler) {
    scheduler_->returned(from, t->charge);
    t->by_scheduler = false;
  }
  asked_.erase(from);
  if (returned && is_withdrawn(*t)) return;
  node& n = refs_.make_node(t->function, no_index);
  places_.note_waiting(place_key(*t), n);
  n.form = form::record;
  n.record = t;
  to_scheduler(n);
}

/// Rank 0: some executors idle and nothing waits to be placed: ask those that are busy for what they have.
MANTA_DECL void engine::ask_for_work() {
  if (scheduler_->load().executing().size() < 2 || scheduler_->waiting() != 0) return;
  constexpr std::uint32_t tasks_a_rank = 16;  // more than one, for asking takes its time
  std::uint32_t wanted = 0;
  bool of_members_too = false;
  for (const std::uint32_t r : scheduler_->load().executing()) {
    if (!scheduler_->load().idle(r)) continue;
    wanted += scheduler_->load().in_team(r) ? 0 : tasks_a_rank;
    of_members_too = of_members_too || !scheduler_->load().in_gang(r);
  }
  if (wanted == 0) return;
  const auto own = static_cast<std::uint32_t>(std::min<std::size_t>(wanted, inbox_.size() / 2));
  if (own != 0) post_.send(rank_, message::demand, demand_message{own, of_members_too});  // of members of gangs
  for (const std::uint32_t r : scheduler_->load().executing()) {
    if (r == rank_ || asked_.has(r) || scheduler_->load().idle(r)) continue;
    asked_.insert(r);
    post_.send(r, message::demand, demand_message{wanted, of_members_too});
  }
}

/// Gives rank 0 some of what it asked for, oldest first: the oldest tasks are the largest subtrees.
MANTA_DECL void engine::give_away(bool overdue) {
  std::size_t may_give = local_.size() / 2 + (overdue ? local_.size() % 2 : 0);
  while (owed_.tasks > 0 && may_give > 0) {
    --may_give;
    if (owed_.of_members_too == 0 && is_for_member(local_.front())) break;
    node& n = local_.pop_front();
    n.reset(node::queued);
    --owed_.tasks;
    if (n.form == form::compact) {
      const task_message m{n.compact.id, n.function, rank_, n.index, 0, n.size, 0, 0, 0};
      post_.send(0, message::submit, m, n.compact.arguments, n.size);
      send_compact_away(n, 0);
      continue;
    }
    task& t = *n.record;
    const task_message m{t.id, t.function, rank_, n.index, 0, t.argument_bytes, t.attempt, 0, 0};
    records_.send(0, message::submit, m, t.request.get(), t.arguments(), t.argument_bytes, t.inputs(), t.input_count,
                nullptr, t.digest);
    elsewhere_.note_sent();
    t.place = graph::place::elsewhere;
    t.caller = 0;
    if (!keeps(t)) {
      note_sent(n, t.id, 0);
      records_.free(&t);
    }
  }
  if (!overdue) return;
  if (owed_.tasks > 0) give_back_ahead();
  // what runs here takes longer than was thought: what was sent here ahead of time can go elsewhere
  for (std::size_t i = inbox_.size(); owed_.tasks > 0 && i > 0; --i) {
    const message_queue::view v = inbox_.pop();
    task_message m;
    std::memcpy(&m, v.data, sizeof m);
    if ((m.flags & task_message::has_request) != 0) {
      graph::request request;
      read_request(v.data + sizeof m, request);
      if (!request.unconditional()) {  // it was placed here for a reason
        inbox_.put_back(v);
        continue;
      }
    }
    --owed_.tasks;
    --received_tasks_;
    std::byte* at = post_.begin(0, message::come_back, v.bytes);
    std::memcpy(at, v.data, v.bytes);
    post_.commit(0, message::come_back, v.bytes);
  }
}

}  // namespace manta::exec
