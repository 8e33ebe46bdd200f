// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/clock.hpp"
#include "manta/exec/home/actor_calls.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

MANTA_DECL std::size_t actor_calls::longest_argument(const node& handle) const {
  constexpr std::size_t longest = std::size_t{128} << 10;
  // Nobody knows yet where the actor will live. If it is this rank, a long argument is fetched without a copy.
  if (handle.state != state::ready) return store::inline_bytes;
  const actor_place place = actor_place_in(handle.bytes);
  return place.rank == own_.rank || sent_.is_too_much(own_.size) ? store::inline_bytes : longest;
}

MANTA_DECL node& actor_calls::call(node& handle, function_id function, type_id type, const task_arguments& given) {
  node& n = own_.refs.make_node(function, type, 2);  // one is the engine's own, until the call has ended
  const std::uint64_t id = below_.running->next_child();
  own_.counts.note_child(below_.running->function, function);
  if (own_.trace.is_on()) [[unlikely]]
    trace_submitted(own_, n, id, given);
  if (below_.running->stops_children) [[unlikely]] {
    return below_.withdrawal.refuse_child(n, id, given, below_.withdrawal.stopped_child(n));
  }
  // The call has cost a rank before, when the task that makes it ran on one that has died.
  if (own_.members.has_tolls() && own_.members.toll_of(id).blamed() != 0) [[unlikely]] {
    return below_.withdrawal.refuse_child(n, id, given, own_.failures.died_with(n, own_.members.toll_of(id).last));
  }
  // Most calls take this way: no record is made, and the arguments go straight into the outgoing batch.
  if (handle.state == state::ready && given.input_count == 0) {
    const actor_place place = actor_place_in(handle.bytes);
    own_.refs.add_calls(handle, 1);
    const std::uint8_t flags = flags_of_call(function, below_.running->for_member);
    const auto bytes = static_cast<std::uint32_t>(given.bytes);
    const task_message m{id, function, own_.rank, n.index, place.slot, bytes, 0, flags, 0};
    own_.post.send(place.rank, message::call, m, given.data, given.bytes);
    note_sent(n, id, place.rank, place.slot);
    sent_.add(n.index, bytes, place.rank != own_.rank);
    below_.elsewhere.note_sent();
    // A task may compute for long after its call. The driver's calls are sent when it waits, in larger batches.
    if (place.rank != own_.rank && !below_.running.is_driver()) send_soon();
  } else {
    task* const t = below_.records.make(id, function, given, nullptr);
    t->home_index = n.index;
    t->for_member = below_.running->for_member;
    send_or_wait(handle, t);
  }
  if (below_.throttle.is_time_to_help() || own_.ledger.memory().is_short()) others_.relieve(others_.rank);
  return n;
}

MANTA_DECL node& actor_calls::call_on_terms(node& handle, function_id function, type_id type,
                                            const task_arguments& given, const call_terms& terms) {
  // The call consumes its inputs. The copy from which it is repeated needs references of its own.
  for (std::uint32_t i = 0; terms.retries > 0 && i < given.input_count; ++i) own_.refs.hold(*given.inputs[i]);
  task* const copy = terms.retries > 0 ? below_.records.make(0, function, given, nullptr) : nullptr;
  node& n = call(handle, function, type, given);
  if (n.state != state::pending) {
    if (copy != nullptr) below_.records.free(copy);
    return n;
  }
  if (copy != nullptr) {
    copy->id = n.sent.id;
    copy->home_index = n.index;
    copy->for_member = below_.running->for_member;
    // The call may be repeated after the program has dropped its handle.
    own_.refs.hold(handle);
    repeatable_.add(n.index, {copy, &handle, terms.retries});
  }
  if (terms.deadline != graph::request::never)
    below_.attempts.start_timer_of_call(n, base::now_ns() + terms.deadline, terms.deadline);
  return n;
}

MANTA_DECL bool actor_calls::repeats(node& n) {
  repeatable_call* const again = repeatable_.find(n.index);
  if (again == nullptr || again->retries == 0) {
    end_repeatable(n.index);
    return false;
  }
  --again->retries;
  task& copy = *again->copy;
  for (std::uint32_t i = 0; i < copy.input_count; ++i) own_.refs.hold(*copy.inputs()[i]);
  task* const t = below_.records.make(copy.id, copy.function, arguments_of(copy), nullptr);
  t->home_index = n.index;
  t->for_member = copy.for_member;
  send_or_wait(*again->actor, t);
  return true;
}

MANTA_DECL void actor_calls::send_or_wait(node& handle, task* t) {
  below_.elsewhere.note_sent();
  if (handle.state != state::pending) return send(handle, t);
  below_.fetches.need(handle);
  own_.graph.add_link(handle, link_kind::call).pointer = t;
  note_sent(own_.graph.nodes.at(t->home_index), t->id, no_index, no_index, t);
}

MANTA_DECL void actor_calls::end_repeatable(node_index call) {
  const repeatable_call* const found = repeatable_.find(call);
  if (found == nullptr) return;
  const repeatable_call ended = *found;
  repeatable_.remove(call);
  below_.records.free(ended.copy);
  own_.refs.release(*ended.actor);
}

MANTA_DECL std::uint8_t actor_calls::flags_of_call(function_id function, bool for_member) {
  const int at_once = below_.fetches.takes_result_at_once(function) ? task_message::result_at_once : 0;
  return static_cast<std::uint8_t>(at_once | (for_member ? task_message::for_member : 0));
}

MANTA_DECL void actor_calls::send_soon() {
  static const auto least = static_cast<std::uint64_t>(2'000 / base::nanoseconds_per_tick());
  const std::uint64_t now = base::ticks();
  if (below_.pace.is_time_to_send(now, least)) own_.net.pump(true);
}

MANTA_DECL void actor_calls::send(node& handle, task* t) {
  node& result = own_.graph.nodes.at(t->home_index);
  if (result.state != state::pending) {  // it was cancelled
    end_repeatable(result.index);
    // The failure of the actor is not reported at the end for a call that nobody wants any more.
    if (handle.state == state::failed) handle.set(node::observed);
    below_.elsewhere.note_back();
    below_.records.free(t);
    return own_.refs.release(result);
  }
  if (handle.state == state::failed) {
    end_repeatable(result.index);
    handle.set(node::observed);
    below_.elsewhere.note_back();
    below_.records.free(t);
    const store::failure& why = *store::failure_of(handle);
    // A failed handle holds either the end of an actor that has lived, or what its constructor threw.
    const bool has_lived = why.kind == store::failure::kind::actor;
    below_.completion.fail(result, actor_failure(has_lived ? why.message
                                                           : "the actor never lived: its constructor failed: " +
                                                                 store::describe(why).substr(7)));
    if (why.kind == store::failure::kind::cancelled) result.set(node::observed);  // told already
    return own_.refs.release(result);
  }
  const actor_place place = actor_place_in(handle.bytes);
  own_.refs.add_calls(handle, 1);
  const std::uint8_t flags = flags_of_call(t->function, t->for_member);
  const task_message m{t->id, t->function, own_.rank, t->home_index, place.slot, t->argument_bytes, 0, flags, 0};
  below_.records.send(place.rank, message::call, m, arguments_of(*t));
  note_sent(result, t->id, place.rank, place.slot);
  sent_.add(result.index, t->argument_bytes, place.rank != own_.rank);
  below_.records.free(t);
}

MANTA_DECL void actor_calls::kill(node& handle, const std::string& why) {
  // An actor under construction has no place to which the message could go.
  others_.wait_for_end(others_.rank, handle);
  below_.named.attach(handle);
  if (handle.state != state::ready) return;
  const actor_place place = actor_place_in(handle.bytes);
  own_.post.send(place.rank, message::kill_actor, end_actor_message{place.slot, 0, 0, 0, 0}, why.data(), why.size());
  if (!own_.members.recovers()) return;
  // The home keeps the constructor's task for the case that the actor's rank dies; a killed actor must not come back.
  const auto [home_rank, home_index] = own_.refs.home_of(handle);
  own_.post.send(home_rank, message::checkpoint, checkpoint_message{0, home_index, 0});
}

}  // namespace manta::exec
