// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of references.hpp.
#pragma once

#include <utility>

#include "manta/exec/value/references.hpp"

namespace manta::exec {

template <class Network>
graph::node& references<Network>::make_node(function_id function, type_id type, std::uint32_t refs) {
  graph::node& n = graph_.nodes.make();
  n.function = function;
  n.type = type;
  n.refs.store(refs, std::memory_order_relaxed);
  return n;
}

// Destroying a value may drop the last handle of others: a list instead of recursion keeps a chain of a million
// values from needing a stack of that depth.
template <class Network>
void references<Network>::reclaim(graph::node& n) {
  const bool owns_nothing =
      n.form == graph::form::plain || (n.form == graph::form::none && n.state == graph::state::ready);
  if (owns_nothing && n.links == nullptr && n.flags == 0 && !books_.made_by.has_tasks() &&
      !books_.journal.has_records()) {
    n.form = graph::form::none;  // the usual end: nobody is to be told
    return graph_.nodes.free(n);
  }
  if (!to_reclaim_.add(&n)) return;
  for (graph::node* next = nullptr; to_reclaim_.take(next);) reclaim_one(*next);
}

template <class Network>
void references<Network>::reclaim_one(graph::node& n) {
  if (n.state == graph::state::failed && !n.has(graph::node::observed))
    books_.failures.note_failure(*store::failure_of(n));
  const std::uint64_t calls = n.has(graph::node::actor) ? take_calls(n) : 0;
  if (is_stand_in(n)) {
    graph::link* const home = n.links;
    if (books_.made_by.has_members()) others_.stand_in_gone(others_.rank, n, calls);
    hide(n);
    if (home->count > 0) post_.send(home->rank, message::drop, drop_message{home->index, home->count, calls});
    n.links = home->next;
    graph_.links.free(home);
  } else if (n.has(graph::node::actor)) {
    if (n.state == graph::state::ready) {
      const actor_place place = actor_place_in(n.bytes);
      post_.send(place.rank, message::end_actor, end_actor_message{place.slot, std::uncaught_exceptions() != 0, calls});
    }
    others_.actor_gone(others_.rank, n);
  } else if (waits_for_others(n)) {
    return;  // the index must not be used again before they have answered
  }
  graph_.drop_links(n);  // only at the end of a run can others still be linked
  if (n.form == graph::form::record) others_.free_task(others_.rank, n.record);
  if (books_.made_by.has_tasks()) {
    if (graph::task* const t = books_.made_by.take(n)) others_.free_task(others_.rank, t);
  }
  books_.journal.forget(n);
  store::clear(n);
  graph_.nodes.free(n);
}

template <class Network>
bool references<Network>::waits_for_others(graph::node& n) {
  if (drop_replicas(n)) return true;
  if (n.form != graph::form::remote && !n.has(graph::node::leaving)) return false;
  n.refs.store(1, std::memory_order_relaxed);  // the place keeps the value until it hears of this
  if (n.form == graph::form::remote) post_.send(n.remote.place, message::release, index_message{n.index, rank_});
  store::clear(n);
  n.reset(graph::node::leaving);
  return true;
}

template <class Network>
bool references<Network>::drop_replicas(graph::node& n) {
  std::uint32_t copies = 0;
  for (graph::link* l = n.links; l != nullptr; l = l->next) {
    if (l->kind != graph::link_kind::replica) continue;
    l->kind = graph::link_kind::reader;
    ++copies;
    post_.send(l->rank, message::release, index_message{n.index, rank_});
  }
  if (copies != 0) n.refs.store(copies, std::memory_order_relaxed);
  return copies != 0;
}

/// Only the reference that keeps the home's value here is left on this rank: what the rank owes the home must not keep
/// the home waiting for it.
template <class Network>
void references<Network>::return_debts(graph::node& n) {
  if (!is_stand_in(n) || n.links->count == 0) return;
  post_.send(n.links->rank, message::drop, drop_message{n.links->index, std::exchange(n.links->count, 0), 0});
}

template <class Network>
std::uint64_t references<Network>::take_calls(const graph::node& handle) {
  const std::uint64_t* const made = calls_made_.find(handle.index);
  if (made == nullptr) return 0;
  const std::uint64_t calls = *made;
  calls_made_.erase(handle.index);
  return calls;
}

template <class Network>
reference_message references<Network>::export_reference(graph::node& n) {
  if (is_stand_in(n)) {
    graph::link* const home = n.links;
    if (home->count >= 2) {
      --home->count;
      return {home->rank, home->index, rank_, graph::no_index};
    }
    hold(n);
    return {home->rank, home->index, rank_, n.index};
  }
  if (n.links == nullptr || n.links->kind != graph::link_kind::exported) {
    graph::link* const exported = graph_.links.make();
    exported->kind = graph::link_kind::exported;
    exported->next = n.links;
    n.links = exported;
    hold(n);
  }
  ++n.links->count;
  return {rank_, n.index, rank_, graph::no_index};
}

template <class Network>
graph::node& references<Network>::stand_in(rank_id home_rank, node_index home_index, type_id type) {
  if (graph::node* const n = known(home_rank, home_index)) {
    hold(*n);
    return *n;
  }
  graph::node& n = make_node(type);
  stands_for(n, home_rank, home_index);
  return n;
}

template <class Network>
void references<Network>::stands_for(graph::node& n, rank_id home_rank, node_index home_index) {
  stand_ins_.insert(key(home_rank, home_index), n.index);
  graph::link* const home = graph_.links.make();
  home->kind = graph::link_kind::home;
  home->rank = home_rank;
  home->index = home_index;
  home->next = n.links;
  n.links = home;
}

template <class Network>
graph::node& references<Network>::import_reference(const reference_message& r, type_id type) {
  if (r.home_rank == rank_) {
    graph::node& n = graph_.nodes.at(r.home_index);
    hold(n);
    if (r.lender_index == graph::no_index) {
      on_drop({r.home_index, 1, 0});
    } else {
      post_.send(r.lender_rank, message::repaid, index_message{r.lender_index, 0});
    }
    return n;
  }
  graph::node& n = stand_in(r.home_rank, r.home_index, type);
  if (n.type == graph::no_index) n.type = type;
  if (r.lender_index == graph::no_index) {
    ++n.links->count;
  } else if (members_.is_dead(r.home_rank)) {
    post_.send(r.lender_rank, message::repaid, index_message{r.lender_index, 0});
  } else if (r.lender_rank == rank_) {
    release(n);  // lent to ourselves: the loan and the new handle are on the same node
  } else {
    hold(n);  // until granted
    post_.send(r.home_rank, message::borrow, borrow_message{r.home_index, n.index, r.lender_rank, r.lender_index});
  }
  return n;
}

template <class Network>
void references<Network>::on_drop(const drop_message& m) {
  graph::node& n = graph_.nodes.at(m.index);
  if (m.calls != 0) add_calls(n, m.calls);
  graph::link* const exported = n.links;
  exported->count -= m.count;
  if (exported->count == 0) {
    n.links = exported->next;
    graph_.links.free(exported);
    release(n);
  }
}

template <class Network>
void references<Network>::on_borrow(rank_id from, const borrow_message& m) {
  graph::node& n = graph_.nodes.at(m.home_index);
  export_reference(n);
  post_.send(from, message::granted, index_message{m.index, 0});
  post_.send(m.lender_rank, message::repaid, index_message{m.lender_index, 0});
}

template <class Network>
void references<Network>::on_granted(const index_message& m) {
  graph::node& n = graph_.nodes.at(m.index);
  ++n.links->count;
  release(n);
}

template <class Network>
void references<Network>::on_release(rank_id from, const index_message& m) {
  post_.send(from, message::released, m);
  graph::node* const n = known(from, m.index);
  if (n == nullptr || !n->has(graph::node::primary)) return;
  n->reset(graph::node::primary);
  if (store::large* const l = store::large_of(*n)) books_.values.is_copy(*l);
  if (n->links->count == 0) hide(*n);  // it may still be in use here
  release(*n);
}

template <class Network>
void references<Network>::on_released(const index_message& m) {
  graph::node& n = graph_.nodes.at(m.index);
  n.has(graph::node::leaving) ? n.reset(graph::node::leaving) : release(n);
}

}  // namespace manta::exec
