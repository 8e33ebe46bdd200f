// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// References across ranks. Handles on one rank share one count and cost no
// message. The home counts the references that other ranks owe it; a rank that
// knows an object of another home has a stand-in node that counts how many it
// owes and returns them together when its last handle dies.
//
// A rank that passes on a handle it does not own lends it: it keeps its
// stand-in until the receiver has got a reference of its own from the home
// (borrow, granted, repaid), so that the count at the home never falls to zero
// too early. A rank that owes two or gives up its last handle passes on the
// reference itself and nothing else is said.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL node& engine::make_node(std::uint32_t function, std::uint32_t type, std::uint32_t refs) {
  node& n = graph_.nodes.make();
  n.function = function;
  n.type = type;
  n.refs.store(refs, std::memory_order_relaxed);
  return n;
}

MANTA_DECL void engine::drop_handle(node& n) {
  // What may be the last references are given up with the lock only: handlers may find the node and hold it again, and
  // release() looks for the last and the last but one.
  std::uint32_t count = n.refs.load(std::memory_order_relaxed);
  while (count > 2) {
    if (n.refs.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
  }
  if (role_ != role::none && current_->graph_.nodes.owns(n)) {
    const guard g(*current_);
    return current_->release(n);
  }
  foreign_drops::leave(n);
}

MANTA_DECL void engine::drain_foreign_drops() {
  for (node* n : foreign_drops_.take()) {
    if (graph_.nodes.owns(*n)) release(*n);  // else it outlived its runtime
  }
}

// Destroying a value may drop the last handle of others: a list instead of recursion keeps a chain of a million
// values from needing a stack of that depth.
MANTA_DECL void engine::reclaim(node& n) {
  const bool owns_nothing = n.form == form::plain || (n.form == form::none && n.state == state::ready);
  if (owns_nothing && n.links == nullptr && n.flags == 0 && !lineage_.has_tasks() && !journaling_.has_records()) {
    n.form = form::none;  // the usual end: nobody is to be told
    return graph_.nodes.free(n);
  }
  if (!to_reclaim_.add(&n)) return;
  for (node* next = nullptr; to_reclaim_.take(next);) reclaim_one(*next);
}

MANTA_DECL void engine::reclaim_one(node& n) {
  if (n.state == state::failed && !n.has(node::observed)) note_unobserved(*store::failure_of(n));
  std::uint64_t calls = 0;
  if (n.has(node::actor)) {
    if (const std::uint64_t* made = calls_made_.find(n.index)) {
      calls = *made;
      calls_made_.erase(n.index);
    }
  }
  if (is_stand_in(n)) {
    link* home = n.links;
    if (lineage_.has_members()) leave_family(n, calls);
    hide(n);
    if (home->count > 0) post_.send(home->rank, message::drop, drop_message{home->index, home->count, calls});
    n.links = home->next;
    graph_.links.free(home);
  } else if (n.has(node::actor)) {
    if (n.state == state::ready) {
      const actor_place place = actor_place_in(n.bytes);
      post_.send(place.rank, message::end_actor, end_actor_message{place.slot, std::uncaught_exceptions() != 0, calls});
      if (!members_.is_dead(place.rank)) names_.keep_until_end(n.index, {place.rank, place.slot});
    }
    if (names_.free(n.index)) answer_names();
  } else if (drop_replicas(n)) {
    return;  // until they have answered, for the index must not be used again before
  } else if (n.form == form::remote || n.has(node::leaving)) {
    // the place keeps the value until it hears of this, and the index is not used again before it has answered
    n.refs.store(1, std::memory_order_relaxed);
    if (n.form == form::remote) post_.send(n.remote.place, message::release, index_message{n.index, rank_});
    store::clear(n);
    n.reset(node::leaving);
    return;
  }
  graph_.drop_links(n);  // only at the end of a run can others still be linked
  if (n.form == form::record) free_task(n.record);
  if (lineage_.has_tasks()) forget_lineage(n);
  journaling_.forget(n);
  store::clear(n);
  graph_.nodes.free(n);
}

MANTA_DECL void engine::note_unobserved(const store::failure& f) {
  if (f.kind == store::failure::kind::cancelled || f.kind == store::failure::kind::deadlock) return;  // told already
  if (unobserved_.note()) unobserved_.add_text(store::describe(f));
}

/// Of the references on this rank only the one that keeps the home's value here is left: what we owe the home must
/// not keep the home waiting for us.
MANTA_DECL void engine::return_debts(node& n) {
  if (!is_stand_in(n) || n.links->count == 0) return;
  post_.send(n.links->rank, message::drop, drop_message{n.links->index, std::exchange(n.links->count, 0), 0});
}

MANTA_DECL reference_message engine::export_reference(node& n) {
  if (is_stand_in(n)) {
    link* home = n.links;
    if (home->count >= 2) {
      --home->count;
      return {home->rank, home->index, rank_, no_index};
    }
    hold(n);
    return {home->rank, home->index, rank_, n.index};
  }
  if (n.links == nullptr || n.links->kind != link_kind::exported) {
    link* exported = graph_.links.make();
    exported->kind = link_kind::exported;
    exported->next = n.links;
    n.links = exported;
    hold(n);
  }
  ++n.links->count;
  return {rank_, n.index, rank_, no_index};
}

MANTA_DECL node& engine::stand_in(std::uint32_t home_rank, std::uint32_t home_index, std::uint32_t type) {
  if (node* n = known(home_rank, home_index)) {
    hold(*n);
    return *n;
  }
  node& n = make_node(no_index, type);
  stands_for(n, home_rank, home_index);
  return n;
}

MANTA_DECL void engine::stands_for(node& n, std::uint32_t home_rank, std::uint32_t home_index) {
  stand_ins_.insert(key(home_rank, home_index), n.index);
  link* home = graph_.links.make();
  home->kind = link_kind::home;
  home->rank = home_rank;
  home->index = home_index;
  home->next = n.links;
  n.links = home;
}

MANTA_DECL node& engine::import_reference(const reference_message& r, std::uint32_t type) {
  if (r.home_rank == rank_) {
    node& n = graph_.nodes.at(r.home_index);
    hold(n);
    if (r.lender_index == no_index) {
      on_drop({r.home_index, 1, 0});
    } else {
      post_.send(r.lender_rank, message::repaid, index_message{r.lender_index, 0});
    }
    return n;
  }
  node& n = stand_in(r.home_rank, r.home_index, type);
  if (n.type == no_index) n.type = type;
  if (r.lender_index == no_index) {
    ++n.links->count;
  } else if (is_dead(r.home_rank)) {
    post_.send(r.lender_rank, message::repaid, index_message{r.lender_index, 0});
  } else if (r.lender_rank == rank_) {
    release(n);  // lent to ourselves: the loan and the new handle are on the same node
  } else {
    hold(n);  // until granted
    post_.send(r.home_rank, message::borrow, borrow_message{r.home_index, n.index, r.lender_rank, r.lender_index});
  }
  return n;
}

MANTA_DECL void engine::on_drop(const drop_message& m) {
  node& n = graph_.nodes.at(m.index);
  if (m.calls != 0) calls_made_.insert(n.index) += m.calls;
  link* exported = n.links;
  exported->count -= m.count;
  if (exported->count == 0) {
    n.links = exported->next;
    graph_.links.free(exported);
    release(n);
  }
}

/// At the place of a value, or of a copy that is kept: the home needs it no more, and may use its index again.
MANTA_DECL void engine::on_release(std::uint32_t from, const index_message& m) {
  post_.send(from, message::released, m);
  node* const n = known(from, m.index);
  if (n == nullptr || !n->has(node::primary)) return;
  n->reset(node::primary);
  if (store::large* const l = store::large_of(*n)) ledger_.is_copy(*l);
  if (n->links->count == 0) hide(*n);  // it may still be in use here
  release(*n);
}

MANTA_DECL void engine::on_borrow(std::uint32_t from, const borrow_message& m) {
  node& n = graph_.nodes.at(m.home_index);
  export_reference(n);
  post_.send(from, message::granted, index_message{m.index, 0});
  post_.send(m.lender_rank, message::repaid, index_message{m.lender_index, 0});
}

}  // namespace manta::exec
