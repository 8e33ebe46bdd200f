// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "manta/exec/rank/messages.hpp"
#include "manta/exec/work/executor.hpp"

namespace manta::exec {

// --- tasks come

MANTA_DECL void executor::receive(rank_id from, const std::byte* data, std::size_t bytes) {
  ++received_;
  // A task that was sent ahead is read at once: its inputs may be made by the tasks in front of it, and must find it.
  if ((flags_of_task(data) & task_message::ahead) == 0) return inbox_.push(from, data, bytes);
  task* const t = below_.records.read(from, data);
  t->ahead = true;
  below_.staging.note_maker(t);
  stage(t);
}

MANTA_DECL bool executor::has_unread_inputs() const {
  return inbox_.any(
      [](const message_queue::view& v) { return (flags_of_task(v.data) & task_message::has_inputs) != 0; });
}

MANTA_DECL void executor::on_made(rank_id from, const result_message& m, const std::byte* data, std::size_t bytes) {
  node* n = own_.refs.known(from, m.index);
  const bool owed = static_cast<form>(m.form) == form::remote;  // until it has been fetched
  if (owed) {
    n = &own_.refs.stand_in(from, m.index, m.charge);
    ++n->links->count;
  }
  if (n != nullptr && n->state == state::pending) {
    n->missing = 0;
    below_.fetches.accept_value(*n, m, data, bytes);
    if (n->state == state::failed) n->set(node::observed);
  } else if ((m.flags & result_message::references) != 0) {
    below_.fetches.give_back_references(m.charge, m, data, bytes);
  }
  if (owed) own_.refs.release(*n);
}

MANTA_DECL void executor::await_input(task* t, node& input) {
  if (input.state != state::pending) {
    below_.fetches.fetch(input);
  } else if (!t->ahead || input.missing == 0) {  // else it is made here, or rank 0 sends it
    below_.fetches.need(input);
  }
  own_.graph.add_link(input, link_kind::staged).pointer = t;
  ++t->missing;
}

MANTA_DECL void executor::stage(task* t) {
  for (std::uint32_t i = 0; i < t->input_count; ++i) {
    if (!store::is_here(*t->inputs()[i])) await_input(t, *t->inputs()[i]);
  }
  t->missing == 0 ? staged(t) : below_.staging.add_waiting(t);
}

MANTA_DECL void executor::staged(task* t) {
  if (t->slot != no_index && !t->by_scheduler) {
    others_.call_ready(others_.rank, t->slot);
  } else {
    below_.staging.add_ready(t);
  }
}

MANTA_DECL void executor::input_arrived(task* t, node& input) {
  --t->missing;
  if (!store::is_here(input)) return await_input(t, input);
  if (t->missing != 0) return;
  below_.staging.remove_waiting(t);
  staged(t);
}

MANTA_DECL void executor::unstage(task* t) {
  for (std::uint32_t i = 0; i < t->input_count; ++i) {
    node& input = *t->inputs()[i];
    if (store::is_here(input)) continue;
    own_.graph.remove_link(input, link_kind::staged, t);
    if (t->ahead && input.state == state::pending && input.missing != 0 && !is_task(input)) --input.missing;
  }
}

// --- tasks run

MANTA_DECL bool executor::run_received() {
  if (below_.staging.has_ready()) {
    run_staged(below_.staging.pop_ready());
  } else if (may_begin()) {
    run_message(inbox_.pop());
  } else {
    return false;
  }
  return true;
}

MANTA_DECL void executor::run_message(const message_queue::view& v) {
  task_message m;
  std::memcpy(&m, v.data, sizeof m);
  if ((m.flags & (task_message::has_inputs | task_message::has_request | task_message::has_digest)) != 0) {
    task* const t = below_.records.read(v.from, v.data);
    below_.staging.note_maker(t);
    return stage(t);
  }
  store::failure_ptr why;
  std::uint64_t ns = 0;
  running_task identity{m.id, m.function, m.attempt};
  invocation call(below_.lock, v.data + sizeof m, m.argument_bytes);
  const bool ok = below_.runner.invoke(call, m.function, identity, why, &ns);
  const bool by_scheduler = (m.flags & task_message::by_scheduler) != 0;
  ended({m.home_rank, m.home_index, m.function, m.charge_or_slot, by_scheduler, nullptr,
         m.home_rank == 0 ? 0 : place_key(m)},
        call, ok, why, ns);
}

MANTA_DECL void executor::run_staged(task* t) {
  if (t->home_rank == own_.rank && !t->by_scheduler && t->slot == no_index) {
    return others_.run_own(others_.rank, own_.graph.nodes.at(t->home_index));
  }
  if (!has_inputs_here(*t)) {
    t->ahead = false;
    return stage(t);
  }
  if (t->gang != nullptr) return others_.run_part(others_.rank, t);
  store::failure_ptr why = own_.failures.of_input(*t);  // bringing it here failed
  std::uint64_t ns = 0;
  running_task identity{t->id, t->function, t->attempt, t->request.get()};
  if (t->request != nullptr) below_.journaling.identify_actor(*t);
  invocation call(below_.lock, t->arguments(), t->argument_bytes, t->inputs(), t->seen_inputs());
  call.keeps_inputs = t->request != nullptr && t->request->restarts > 0;
  const bool ok = why == nullptr && below_.runner.invoke(call, t->function, identity, why, &ns) &&
                  below_.runner.load_checkpoint(call, *t, why);
  bool kept = false;
  if (ok && call.actor != nullptr) {
    kept = t->request->restarts > 0;
    const actor_place place{own_.rank, others_.new_actor(others_.rank, call, *t, kept ? t : nullptr)};
    call.form = form::plain;
    std::memcpy(call.plain, &place, sizeof place);
    call.type = wire::type_index<std::uint64_t>::value;
    call.actor = nullptr;
  }
  if (ok && t->digest != 0) below_.journaling.write(*t, call, ns);
  end_received(t, kept, call, ok, why, ns);
}

// --- tasks end

MANTA_DECL void executor::end_received(task* t, bool kept, invocation& call, bool ok, const store::failure_ptr& why,
                                       std::uint64_t ns) {
  node* const awaited = std::exchange(t->result, nullptr);
  const task of = *t;
  if (!kept) below_.records.free(t);
  ended(
      {of.home_rank, of.home_index, of.function, of.charge, of.by_scheduler, of.request.get(), place_key(of), awaited},
      call, ok, why, ns);
  if (awaited != nullptr) own_.refs.release(*awaited);
}

MANTA_DECL void executor::ended(const task_origin& of, invocation& call, bool ok, const store::failure_ptr& why,
                                std::uint64_t ns) {
  if (of.by_scheduler) {
    --received_;
    if (of.home_rank != 0) {  // rank 0 hears of its own tasks by their results
      const ended_message m{of.function, of.charge, rounded(ns), ok ? 0u : 1u, of.key};
      wire::buffer bytes;
      if (of.request != nullptr) of.request->write(bytes);
      own_.post.send(0, message::ended, m, bytes.data(), bytes.size());
    }
  }
  // A rank sends no result to itself.
  if (of.home_rank == own_.rank) return others_.ended_here(others_.rank, of, call, ok, why, ns);
  ended_task at_home{of.home_rank, of.home_index, of.function, of.charge, ns, of.by_scheduler && of.home_rank == 0};
  node* const expected = expected_here(of);
  if (!ok) return below_.supply.send_failure(at_home, why, expected);
  if (of.request != nullptr) at_home.reason = of.request->granted.reason;
  at_home.at_once = of.at_once;
  below_.supply.send_result(at_home, call, expected);
}

MANTA_DECL void executor::end_part(const task& t, bool ok, std::uint64_t ns) {
  --received_;
  wire::buffer request;
  t.request->write(request);
  own_.post.send(0, message::ended, ended_message{t.function, t.charge, rounded(ns), ok ? 0u : 1u, place_key(t)},
                 request.data(), request.size());
}

MANTA_DECL node* executor::expected_here(const task_origin& of) {
  node* const result = of.awaited;
  if (of.home_rank != 0 || (result == nullptr && !below_.staging.has_ahead())) return nullptr;
  node* const n = own_.refs.known(of.home_rank, of.home_index);
  if (n == nullptr || n == result) return result;
  if (result != nullptr) hand_over(*result, *n);
  return n->missing != 0 && n->state == state::pending ? n : nullptr;
}

MANTA_DECL void executor::hand_over(node& result, node& proxy) {
  for (link* l = std::exchange(result.links, nullptr); l != nullptr;) {
    task* const t = static_cast<task*>(l->pointer);
    own_.graph.links.free(std::exchange(l, l->next));
    node** input = t->inputs();
    while (*input != &result) ++input;
    *input = &proxy;
    own_.refs.hold(proxy);
    own_.refs.release(result);
    if (proxy.state != state::pending) {
      input_arrived(t, proxy);
    } else {
      own_.graph.add_link(proxy, link_kind::staged).pointer = t;
      ++proxy.missing;
    }
  }
  result.missing = 0;
}

// --- tasks that have not begun

MANTA_DECL bool executor::has_unstarted(std::uint64_t id) const {
  const auto is_it = [&](const task& t) { return t.id == id; };
  return below_.staging.find_waiting(id, is_it) != nullptr || below_.staging.find_ready(is_it) != nullptr ||
         inbox_.any([&](const message_queue::view& v) { return id_of_task(v.data) == id; });
}

MANTA_DECL task* executor::take_unstarted(std::uint64_t id) {
  const auto is_it = [&](const task& t) { return t.id == id; };
  if (task* const waits = below_.staging.find_waiting(id, is_it)) {
    below_.staging.remove_waiting(waits);
    unstage(waits);
    return waits;
  }
  task* found = below_.staging.take_ready(is_it);
  if (found == nullptr) {
    inbox_.take([&](const message_queue::view& v) { return id_of_task(v.data) == id; },
                [&](const message_queue::view& v) { found = below_.records.read(v.from, v.data); });
  }
  return found;
}

MANTA_DECL void executor::give_back(std::uint32_t& wanted) {
  if (wanted > 0) give_back_ahead();
  // Each message is popped once; what stays goes to the back of the queue, in its order.
  for (std::size_t i = inbox_.size(); wanted > 0 && i > 0; --i) {
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
    --wanted;
    --received_;
    std::byte* const at = own_.post.begin(0, message::come_back, v.bytes);
    std::memcpy(at, v.data, v.bytes);
    own_.post.commit(0, message::come_back, v.bytes);
  }
}

MANTA_DECL void executor::give_back_ahead() {
  const auto give_back = [&](task* t) {
    const task_message m{t->id, t->function, t->home_rank, t->home_index, t->charge, 0, t->attempt, task_message::ahead,
                         0};
    own_.post.send(0, message::come_back, m);
    --received_;
    below_.records.free(t);
  };
  while (below_.staging.has_ahead()) {
    task* const t = below_.staging.first_ahead();
    below_.staging.remove_waiting(t);
    unstage(t);
    give_back(t);
  }
  while (task* const t = below_.staging.take_ready([](const task& staged) { return staged.ahead; })) give_back(t);
}

MANTA_DECL void executor::fail_inbox(const store::failure_ptr& why) {
  for (std::size_t i = inbox_.size(); i > 0; --i) {
    const message_queue::view v = inbox_.pop();
    task_message m;
    std::memcpy(&m, v.data, sizeof m);
    if ((m.flags & task_message::has_gang) != 0) {  // the other members may have started already
      inbox_.put_back(v);
      continue;
    }
    task* const t = below_.records.read(v.from, v.data);
    const task of = *t;
    below_.records.free(t);
    invocation none(below_.lock);
    ended({of.home_rank, of.home_index, of.function, of.charge, true, of.request.get()}, none, false, why, 0);
  }
}

}  // namespace manta::exec
