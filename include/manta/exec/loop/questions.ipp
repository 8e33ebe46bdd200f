// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "manta/base/clock.hpp"
#include "manta/base/error.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/loop/questions.hpp"
#include "manta/exec/work/explanations.hpp"

namespace manta::exec {

MANTA_DECL void questions::on_ask(const std::byte* data, std::size_t bytes) {
  ask_message m;
  std::memcpy(&m, data, sizeof m);
  wire::source in(data + sizeof m, bytes - sizeof m);
  switch (m.kind) {
    case ask_message::explain: {
      bool placed_by_zero = false;
      const std::string text = explain_here(own_.graph.nodes.at(m.home_index), placed_by_zero);
      // What this home has given to rank 0, rank 0 explains: the question goes on to it, with the
      // ticket of the rank that asked.
      if (!placed_by_zero || own_.rank == 0) return below_.tickets.answer(m, text.data(), text.size());
      m.kind = ask_message::explain_placed;
      m.home_rank = own_.rank;
      m.id = place_key_of(own_.graph.nodes.at(m.home_index), own_.rank);
      return own_.post.send(0, message::ask, m);
    }
    case ask_message::explain_placed: {
      const std::string text = explain_placed(m.home_rank, m.home_index, m.id);
      return below_.tickets.answer(m, text.data(), text.size());
    }
    case ask_message::available: {
      const wire::buffer all = describe_free(*below_.scheduler, own_.size);
      return below_.tickets.answer(m, all.data(), all.size());
    }
    case ask_message::free_name: {
      if (below_.named.free(m.home_index)) below_.named.attach(own_.graph.nodes.at(m.home_index));
      return below_.tickets.answer(m, nullptr, 0);
    }
    case ask_message::reserve: {
      graph::bundles wanted(in.get<std::size_t>());
      for (graph::bundle& b : wanted) b.read(in);
      const auto how = static_cast<graph::strategy>(m.how);
      const std::uint64_t id = below_.placement.reserve(m.asker, m.home_index, how, std::move(wanted));
      return below_.tickets.answer(m, &id, sizeof id);
    }
    case ask_message::release: return below_.placement.release(m.id);
    case ask_message::cancel: {
      const char cancelled = below_.withdrawal.cancel(m.home_index, m.how != 0, m.asker,
                                                      {reinterpret_cast<const char*>(in.position()), bytes - sizeof m});
      return below_.tickets.answer(m, &cancelled, 1);
    }
    // What the run tells of itself is asked for by the parts of seeing, which are built after this one.
    case ask_message::report:
    case ask_message::situation:
    case ask_message::numbers:
    case ask_message::state:
    case ask_message::trace:
    case ask_message::arrow:
    case ask_message::clock: return others_.seen(others_.rank, m);
    case ask_message::memory: {
      const wire::buffer told = describe_memory();
      return below_.tickets.answer(m, told.data(), told.size());
    }
  }
  throw error(
      base::text("rank {} asks rank {} a question of kind {}, which it does not know; this is a mistake in manta",
                 m.asker, own_.rank.number(), m.kind));
}

MANTA_DECL std::uint64_t questions::reserve(const wire::buffer& wanted, graph::strategy how, node& ready) {
  // Until it is met or given up, of which the home hears as if a task had ended.
  own_.refs.hold(ready);
  below_.elsewhere.note_sent();
  const ask_message m{ask_message::reserve, 0, 0, 0, ready.index, static_cast<std::uint32_t>(how), 0};
  const wire::buffer bytes = below_.tickets.ask(0, m, wanted.data(), wanted.size());
  std::uint64_t id = 0;
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

MANTA_DECL void questions::give_up_reservation(std::uint64_t id) {
  own_.post.send(0, message::ask, ask_message{ask_message::release, 0, 0, 0, 0, 0, id});
}

MANTA_DECL wire::buffer questions::available() {
  return below_.tickets.ask(0, ask_message{ask_message::available, 0, 0, 0, 0, 0, 0});
}

MANTA_DECL std::string questions::explain(node& n) {
  if (n.state == state::pending) (void)available();           // a wait: so that a loop around it comes to an end
  if (below_.scheduler != nullptr) below_.placement.place();  // what can be decided is, before it is asked about
  bool placed_by_zero = false;
  const bool elsewhere = is_stand_in(n) && n.state == state::pending;
  if (elsewhere && own_.members.is_dead(n.links->rank)) {
    return base::text("its owner, rank {}, has died: it is looked for on the others, or made again", n.links->rank);
  }
  if (!elsewhere) {
    std::string text = explain_here(n, placed_by_zero);
    if (!placed_by_zero || own_.rank == 0) return text;
  }
  const node_place home = own_.refs.home_of(n);
  const ask_message m{elsewhere ? ask_message::explain : ask_message::explain_placed,
                      0,
                      0,
                      home.rank,
                      home.index,
                      0,
                      elsewhere ? 0 : place_key_of(n, own_.rank)};
  const wire::buffer bytes = below_.tickets.ask(elsewhere ? home.rank : rank_id(0), m);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

MANTA_DECL std::vector<wire::buffer> questions::memory_of_all() {
  std::vector<wire::buffer> all(own_.size);
  all[own_.rank.number()] = describe_memory();
  std::vector<node*> tickets(own_.size, nullptr);
  for (std::uint32_t r = 0; r < own_.size; ++r) {
    // All ranks are asked before the first answer is awaited, so the time is that of the slowest.
    if (r != own_.rank.number())
      tickets[r] = &below_.tickets.send(r, ask_message{ask_message::memory, 0, 0, 0, 0, 0, 0});
  }
  for (std::uint32_t r = 0; r < own_.size; ++r) {
    try {
      if (tickets[r] != nullptr) all[r] = below_.tickets.take_answer(*std::exchange(tickets[r], nullptr));
    } catch (const rank_lost&) {
    } catch (...) {  // the task that asked is to end
      for (node* const left : tickets) {
        if (left != nullptr) below_.tickets.give_up(*left);
      }
      throw;
    }
  }
  return all;
}

MANTA_DECL wire::buffer questions::describe_memory() const {
  std::uint64_t bytes = 0, shared = 0;
  own_.ledger.values().for_each([&](const store::large& l) {
    bytes += l.bytes;
    if (l.is_shared()) shared += l.bytes;
  });
  wire::buffer out;
  for (const std::uint64_t number : {std::uint64_t{own_.graph.nodes.live()}, std::uint64_t{own_.ledger.values().size()},
                                     bytes, own_.ledger.memory().charged(), shared, own_.ledger.files().kept_bytes(),
                                     own_.ledger.disk().bytes(), own_.ledger.dropped(), own_.ledger.memory().share()}) {
    wire::put(out, number);
  }
  base::list<const store::large*> largest;
  own_.ledger.values().largest(5, [&](const store::large& l) { largest.push_back(&l); });
  wire::put(out, largest.size());
  for (const store::large* l : largest) {
    wire::put(out, std::uint64_t{l->bytes});
    wire::put(out, maker_of(*l));
    wire::put(out, static_cast<int>(own_.refs.home_of(*l->node).rank));
    wire::put(out, l->copy || l->peers);
  }
  return out;
}

MANTA_DECL std::string questions::explain_here(node& n, bool& placed_by_zero) {
  if (n.state == state::failed) return "it has ended: " + store::describe(*store::failure_of(n)).substr(7);
  if (n.state == state::ready) {
    const std::uint32_t place = place_of(n, own_.rank);
    if (n.has(node::actor)) return base::text("the actor lives on rank {}", place);
    const std::string value = base::text("its value lies on rank {}", place);
    if (n.missing == 0 || is_stand_in(n)) return "it has ended: " + value;
    return "it has ended: it ran " + describe(graph::grant_of(n.missing)) + "; " + value;
  }
  if (n.missing != 0) return explain_missing(n);
  if (n.has(node::queued)) {
    return base::text("waits for its turn on rank {}, which made it and runs the newest first; {} tasks wait there",
                      own_.rank, below_.local.size());
  }
  if (below_.late.has(n)) {
    return below_.late.explain(n, below_.scheduler == nullptr ? -1 : below_.scheduler->expected(n),
                               below_.departure.left_ns(base::ticks()), below_.departure);
  }
  if (n.function == no_index) return "waits for rank 0 to meet the reservation";
  if (n.form == form::none && n.sent.at == no_index) return "waits for its actor to be constructed";
  if (n.form == form::none && n.sent.slot != no_index) {
    return base::text("a call of the actor on rank {}, which has not ended there", n.sent.at);
  }
  if (n.form == form::record && n.record->place == graph::place::resting) {
    return "has failed; waits for its next attempt";
  }
  if (n.form == form::none && n.sent.at == own_.rank && own_.rank != 0) {
    return base::text("runs on rank {}, which made it", own_.rank);
  }
  placed_by_zero = true;
  return own_.rank == 0 ? explain_placed(0, n.index, place_key_of(n, own_.rank)) : std::string();
}

MANTA_DECL std::string questions::explain_placed(rank_id home_rank, node_index home_index, std::uint64_t place_key) {
  const auto is_it = [&](node& n) {
    if (n.form != form::record) return home_rank == 0 && n.index == home_index;
    return n.record->home_rank == home_rank && n.record->home_index == home_index;
  };
  if (const node* const n = below_.late.find(is_it)) {
    return below_.late.explain(*n, below_.scheduler->expected(*n), below_.departure.left_ns(base::ticks()),
                               below_.departure);
  }
  node* const waiting = below_.scheduler->find_waiting(is_it);
  if (waiting != nullptr) {
    if (waiting->form == form::record && waiting->record->request != nullptr) {
      return explain_waiting(*waiting->record->request, *below_.scheduler, below_.world);
    }
    return base::text("waits at rank 0: no rank has room; {} tasks wait there", below_.scheduler->waiting());
  }
  if (home_rank == 0) return explain_own(own_.graph.nodes.at(home_index));
  if (const task_places::place where = below_.placement.places().find(place_key); where.is_sent())
    return describe(where.why());
  return base::text("runs on rank {}, which made it, or on one that had nothing to do", home_rank);
}

MANTA_DECL std::string questions::explain_own(const node& n) const {
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

MANTA_DECL bool questions::cancel(node& n, bool children) {
  if (n.state != state::pending || (!is_stand_in(n) && n.function == no_index)) return false;
  const std::uint16_t flags = children ? cancel_message::children : 0;
  if (!is_stand_in(n)) {
    below_.withdrawal.withdraw(n, cancel_failure(task_name(n), below_.running->name(), own_.rank), flags);
    own_.net.pump(true);
    return true;
  }
  const std::string_view who = below_.running->name();
  const std::uint32_t home = n.links->rank;
  const ask_message m{ask_message::cancel, 0, 0, home, n.links->index, children, 0};
  try {
    return below_.tickets.ask(home, m, who.data(), who.size()).data()[0] != std::byte{0};
  } catch (const rank_lost&) {
    // The home has died before it answered, and the node has been ended by its death.
    if (n.state != state::pending) return false;
  }
  below_.completion.fail(
      n, cancel_failure(base::text("a task of rank {}", home), who, own_.rank));  // before it is made again
  return true;
}

}  // namespace manta::exec
