// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What can be asked of another rank. About placement: what is free, why a task is where it is
// or waits; and reservations, which rank 0 grants. Nothing here is on the way
// of a task without options: answers are made up when somebody asks, from what
// the parts remember anyway.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

/// A node that an answer completes: its index goes with the question.
MANTA_DECL node& engine::make_ticket(std::uint32_t asked) {
  node& ticket = refs_.make_node(no_index, wire::type_index<void>::value);
  ticket.missing = asked + 1;  // should it die
  refs_.hold(ticket);
  return ticket;
}
/// Waits for the answer; its bytes begin with the ticket's index.
MANTA_DECL wire::buffer engine::answer_to(node& ticket) {
  wait_for_end(ticket, false);
  if (ticket.state == state::failed) checked(ticket);
  wire::buffer bytes(ticket.blob.data, ticket.blob.bytes);
  refs_.release(ticket);
  return bytes;
}

/// Sends a question and waits for the answer's bytes.
MANTA_DECL wire::buffer engine::ask(std::uint32_t to, ask_message m, const void* tail, std::size_t tail_bytes) {
  node& ticket = make_ticket(to);
  m.asker = rank_;
  m.ticket = ticket.index;
  if (is_dead(to)) {
    recovery_.value_lost(ticket, to);
  } else {
    post_.send(to, message::ask, m, tail, tail_bytes);
  }
  const wire::buffer bytes = answer_to(ticket);
  return wire::buffer(bytes.data() + sizeof m.ticket, bytes.size() - sizeof m.ticket);
}

MANTA_DECL void engine::answer(const ask_message& m, const void* data, std::size_t bytes) {
  post_.send(m.asker, message::answer, m.ticket, data, bytes);
}

MANTA_DECL void engine::on_ask(const std::byte* data, std::size_t bytes) {
  ask_message m;
  std::memcpy(&m, data, sizeof m);
  wire::source in(data + sizeof m, bytes - sizeof m);
  switch (m.kind) {
    case ask_message::explain: {
      bool placed_by_zero = false;
      const std::string text = explain_here(graph_.nodes.at(m.home_index), placed_by_zero);
      if (!placed_by_zero || rank_ == 0) return answer(m, text.data(), text.size());
      m.kind = ask_message::explain_placed;
      m.home_rank = rank_;
      m.id = place_key_of(graph_.nodes.at(m.home_index), rank_);
      return post_.send(0, message::ask, m);
    }
    case ask_message::explain_placed: {
      const std::string text = explain_placed(m.home_rank, m.home_index, m.id);
      return answer(m, text.data(), text.size());
    }
    case ask_message::available: {
      const wire::buffer all = describe_free(*scheduler_, size_);
      return answer(m, all.data(), all.size());
    }
    case ask_message::free_name: {
      if (names_.free(m.home_index)) {
        answer_names();
        node& handle = graph_.nodes.at(m.home_index);
        if (detached_.remove(&handle)) refs_.release(handle);
      }
      return answer(m, nullptr, 0);
    }
    case ask_message::reserve: {
      graph::bundles wanted(in.get<std::size_t>());
      for (graph::bundle& b : wanted) b.read(in);
      auto* const r =
          new graph::reservation(++reservations_made_, static_cast<graph::strategy>(m.how), std::move(wanted));
      r->home_rank = m.asker;
      r->home_index = m.home_index;
      const std::uint64_t id = r->id;
      scheduler_->reserve(r);
      return answer(m, &id, sizeof id);
    }
    case ask_message::release:
      return release_reservation(m.id);
    case ask_message::cancel: {
      const char cancelled = cancel_here(m.home_index, m.how != 0, m.asker,
                                         {reinterpret_cast<const char*>(in.position()), bytes - sizeof m});
      return answer(m, &cancelled, 1);
    }
    case ask_message::memory: {
      const wire::buffer told = describe_memory();
      return answer(m, told.data(), told.size());
    }
  }
}

// --- reservations

MANTA_DECL std::uint64_t engine::reserve(const wire::buffer& wanted, graph::strategy how, node& ready) {
  refs_.hold(ready);  // until it is met or given up,
  elsewhere_.note_sent();      // which the home hears of as if a task had ended
  const ask_message m{ask_message::reserve, 0, 0, 0, ready.index, static_cast<std::uint32_t>(how), 0};
  const wire::buffer bytes = ask(0, m, wanted.data(), wanted.size());
  std::uint64_t id = 0;
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

MANTA_DECL void engine::give_up_reservation(std::uint64_t id) {
  post_.send(0, message::ask, ask_message{ask_message::release, 0, 0, 0, 0, 0, id});
}

/// Rank 0.
MANTA_DECL void engine::release_reservation(std::uint64_t id) {
  base::list<node*> refused;
  graph::reservation* const r = scheduler_->release(id, [&](node& n) { refused.push_back(&n); });
  if (r == nullptr) return;
  for (node* n : refused) refuse_task(*n, reservation_gone());
  if (!r->met) {
    supply_.send_failure({r->home_rank, r->home_index}, reservation_given_up());
  }
  delete r;
}

/// Rank 0: a task that will not be placed fails at its home.
MANTA_DECL void engine::refuse_task(node& n, const store::failure_ptr& why) {
  if (n.form == form::record) {
    if (n.record->home_index != n.index || n.record->home_rank != rank_) places_.forget(place_key_of(n, rank_));
    if (n.record->home_rank != rank_) {
      supply_.send_failure({n.record->home_rank, n.record->home_index}, why);
      return refs_.release(n);
    }
  }
  node& home = n.form == form::record ? graph_.nodes.at(n.record->home_index) : n;
  if (&home != &n) {
    elsewhere_.note_back();
    refs_.release(n);
  }
  completion_.fail(home, why);
  refs_.release(home);
}


/// Rank 0: a task that may start, to be placed.
MANTA_DECL void engine::to_scheduler(node& n) {
  if (departure_.is_leaving()) [[unlikely]]
    return refuse_task(n, leaving_failure(departure_.why()));  // it was on its way here
  const graph::request* const wanted = n.form == form::record ? n.record->request.get() : nullptr;
  if (wanted != nullptr && wanted->needs_rank_0) scheduler_->rank_0_executes(true);
  if (wanted != nullptr && (members_.deaths() != 0 || (wanted->ranks > 0 && wanted->reservation != 0)) &&
      !scheduler_->is_possible(*wanted)) {
    return refuse_task(n, never_possible(n));
  }
  if (!scheduler_->ready(n, !short_ranks_.empty() && takes_large(n))) refuse_task(n, reservation_gone());
}

/// Rank 0: takes decisions and tells who has what was reserved.
MANTA_DECL void engine::place_tasks() {
  if (departure_.has_end()) scheduler_->set_time_left(time_left_ns());
  scheduler_->decide([&](node& n, std::uint32_t to, std::uint32_t charge) { dispatch(n, to, charge); });
  while (node* const n = scheduler_->take_late()) {
    if (n->has(node::timed)) attempts_.stop_timer(*n);
    late_.set_aside(*n);
  }
  if (!waiting_ahead_.empty()) send_waiting_ahead();
  while (const graph::reservation* r = scheduler_->take_met()) {
    post_.send(r->home_rank, message::result,
               result_message{r->home_index, 0, 0, static_cast<std::uint8_t>(form::plain), 0, 0});
    // gangs for which its bundles lie on too few ranks
    scheduler_->refuse_impossible([&](node& n) { refuse_task(n, never_possible(n)); }, r->id);
  }
}

/// Rank 0: why what the ranks have cannot be enough for this task any more.
MANTA_DECL store::failure_ptr engine::never_possible(const node& n) const {
  const graph::request* const wanted = n.form == form::record ? n.record->request.get() : nullptr;
  if (members_.deaths() == 0) return gang_failure(n, scheduler_->held().find_reservation(wanted->reservation)->wanted);
  if (wanted == nullptr || wanted->cost < 0) return failures_.nobody_left(n, false);
  const int cost = std::exchange(wanted->cost, graph::request::nowhere);
  const bool but_rank_0 = scheduler_->is_possible(*wanted);
  wanted->cost = cost;
  return failures_.nobody_left(n, but_rank_0);
}

MANTA_DECL wire::buffer engine::available() { return ask(0, ask_message{ask_message::available, 0, 0, 0, 0, 0, 0}); }

// --- why is it there, why does it wait?

MANTA_DECL std::string engine::explain(node& n) {
  if (n.state == state::pending) (void)available();  // a wait: so that a loop around it comes to an end
  if (scheduler_ != nullptr) place_tasks();  // what can be decided is, before it is asked about
  bool placed_by_zero = false;
  const bool elsewhere = is_stand_in(n) && n.state == state::pending;
  if (elsewhere && is_dead(n.links->rank)) {
    return "its owner, rank " + std::to_string(n.links->rank) +
           ", has died: it is looked for on the others, or made again";
  }
  if (!elsewhere) {
    std::string text = explain_here(n, placed_by_zero);
    if (!placed_by_zero || rank_ == 0) return text;
  }
  const references<net::network>::node_place home = refs_.home_of(n);
  const ask_message m{elsewhere ? ask_message::explain : ask_message::explain_placed, 0, 0, home.rank, home.index, 0,
                      elsewhere ? 0 : place_key_of(n, rank_)};
  const wire::buffer bytes = ask(elsewhere ? home.rank : 0, m);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// --- what do the values take?

MANTA_DECL wire::buffer engine::memory_of(std::uint32_t rank) {
  if (rank == rank_) return describe_memory();
  return ask(rank, ask_message{ask_message::memory, 0, 0, 0, 0, 0, 0});
}

MANTA_DECL wire::buffer engine::describe_memory() const {
  std::uint64_t bytes = 0, shared = 0;
  ledger_.values().for_each([&](const store::large& l) {
    bytes += l.bytes;
    if (l.is_shared()) shared += l.bytes;
  });
  wire::buffer out;
  for (const std::uint64_t number :
       {std::uint64_t{graph_.nodes.live()}, std::uint64_t{ledger_.values().size()}, bytes, ledger_.memory().charged(),
        shared, ledger_.files().kept_bytes(), ledger_.disk().bytes(), ledger_.dropped(), ledger_.memory().share()}) {
    wire::put(out, number);
  }
  base::list<const store::large*> largest;
  ledger_.values().largest(5, [&](const store::large& l) { largest.push_back(&l); });
  wire::put(out, largest.size());
  for (const store::large* l : largest) {
    wire::put(out, std::uint64_t{l->bytes});
    wire::put(out, maker_of(*l));
    wire::put(out, static_cast<int>(refs_.home_of(*l->node).rank));
    wire::put(out, l->copy || l->peers);
  }
  return out;
}

/// At the home. `placed_by_zero`: the answer is only a guess, rank 0 may know more.
MANTA_DECL std::string engine::explain_here(node& n, bool& placed_by_zero) {
  if (n.state == state::failed) return "it has ended: " + store::describe(*store::failure_of(n)).substr(7);
  if (n.state == state::ready) {
    const std::uint32_t place = place_of(n, rank_);
    if (n.has(node::actor)) return "the actor lives on rank " + std::to_string(place);
    const std::string value = "its value lies on rank " + std::to_string(place);
    if (n.missing == 0 || is_stand_in(n)) return "it has ended: " + value;
    return "it has ended: it ran " + describe(graph::grant_of(n.missing)) + "; " + value;
  }
  if (n.missing != 0) return explain_missing(n);
  if (n.has(node::queued)) {
    return "waits for its turn on rank " + std::to_string(rank_) + ", which made it and runs the newest first; " +
           std::to_string(local_.size()) + " tasks wait there";
  }
  if (late_.has(n)) {
    return late_.explain(n, scheduler_ == nullptr ? -1 : scheduler_->expected(n), time_left_ns(), departure_);
  }
  if (n.function == no_index) return "waits for rank 0 to meet the reservation";
  if (n.form == form::none && n.sent.at == no_index) return "waits for its actor to be constructed";
  if (n.form == form::none && n.sent.slot != no_index) {
    return "a call of the actor on rank " + std::to_string(n.sent.at) + ", which has not ended there";
  }
  if (n.form == form::record && n.record->place == graph::place::resting) {
    return "has failed; waits for its next attempt";
  }
  if (n.form == form::none && n.sent.at == rank_ && rank_ != 0) {
    return "runs on rank " + std::to_string(rank_) + ", which made it";
  }
  placed_by_zero = true;
  return rank_ == 0 ? explain_placed(0, n.index, place_key_of(n, rank_)) : std::string();
}

/// At rank 0.
MANTA_DECL std::string engine::explain_placed(std::uint32_t home_rank, std::uint32_t home_index,
                                          std::uint64_t place_key) {
  const auto is_it = [&](node& n) {
    if (n.form != form::record) return home_rank == 0 && n.index == home_index;
    return n.record->home_rank == home_rank && n.record->home_index == home_index;
  };
  if (const node* const n = late_.find(is_it)) {
    return late_.explain(*n, scheduler_->expected(*n), time_left_ns(), departure_);
  }
  node* const waiting = scheduler_->find_waiting(is_it);
  if (waiting != nullptr) {
    if (waiting->form == form::record && waiting->record->request != nullptr) {
      return explain_waiting(*waiting->record->request, *scheduler_, world_);
    }
    return "waits at rank 0: no rank has room; " + std::to_string(scheduler_->waiting()) + " tasks wait there";
  }
  if (home_rank == 0) {
    const node& n = graph_.nodes.at(home_index);
    if (n.form == form::record && n.record->request != nullptr && n.record->request->granted.rank >= 0) {
      return describe(n.record->request->granted);
    }
    graph::grant g;
    if (n.form == form::none) {
      g.rank = static_cast<std::int32_t>(n.sent.at);
      g.near_bytes = n.size != 0 ? 0 : n.sent.near_bytes;
    } else if (n.form == form::record && n.record->place == graph::place::elsewhere) {
      g.rank = static_cast<std::int32_t>(n.record->caller);
    }
    if (g.rank <= 0) return "runs on rank 0, which made it";
    g.reason = why_there(n);
    return describe(g);
  }
  if (const task_places::place where = places_.find(place_key); where.is_sent()) return describe(where.why());
  return "runs on rank " + std::to_string(home_rank) + ", which made it, or on one that had nothing to do";
}

}  // namespace manta::exec
