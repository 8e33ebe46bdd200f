// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/exec/value/references.hpp"

namespace manta::exec {

MANTA_DECL graph::node& references::make_node(function_id function, type_id type, std::uint32_t refs) {
  graph::node& n = graph_.nodes.make();
  n.function = function;
  n.type = type;
  n.refs.store(refs, std::memory_order_relaxed);
  return n;
}

// Destroying a value may drop the last handle of others: a list instead of recursion keeps a chain of a million
// values from needing a stack of that depth.
MANTA_DECL void references::reclaim(graph::node& n) {
  const bool owns_nothing =
      n.form == graph::form::plain || (n.form == graph::form::none && n.state == graph::state::ready);
  if (owns_nothing && n.links == nullptr && n.flags == 0 && !books_.lineage.has_tasks() &&
      !books_.journaling.has_records() && !debts_.has_losses()) {
    n.form = graph::form::none;  // the usual end: nobody is to be told
    return graph_.nodes.free(n);
  }
  if (!to_reclaim_.add(&n)) return;
  for (graph::node* next = nullptr; to_reclaim_.take(next);) reclaim_one(*next);
}

MANTA_DECL void references::reclaim_one(graph::node& n) {
  if (n.state == graph::state::failed && !n.has(graph::node::observed))
    books_.unobserved.note_failure(*store::failure_of(n));
  const std::uint64_t calls = n.has(graph::node::actor) ? take_calls(n) : 0;
  if (is_stand_in(n)) {
    graph::link* const home = n.links;
    if (books_.lineage.has_members()) others_.stand_in_gone(others_.rank, n, calls);
    hide(n);
    if (home->count > 0) post_.send(home->rank, message::drop, drop_message{home->index, home->count, calls});
    n.links = home->next;
    graph_.links.free(home);
  } else if (n.has(graph::node::actor)) {
    if (n.state == graph::state::ready) {
      const actor_place place = actor_place_in(n.bytes);
      const bool is_least = debts_.lost_with(n.index) != nullptr;
      post_.send(place.rank, message::end_actor,
                 end_actor_message{place.slot, std::uncaught_exceptions() != 0, calls, is_least, 0});
    }
    others_.actor_gone(others_.rank, n);
  } else if (waits_for_others(n)) {
    return;  // the index must not be used again before they have answered
  }
  graph_.drop_links(n);  // only at the end of a run can others still be linked
  if (n.form == graph::form::record) others_.free_task(others_.rank, n.record);
  if (books_.lineage.has_tasks()) {
    if (graph::task* const t = books_.lineage.take(n)) others_.free_task(others_.rank, t);
  }
  books_.journaling.forget(n);
  store::clear(n);
  free_node(n);
}

MANTA_DECL void references::free_node(graph::node& n) {
  const std::uint64_t* const dead = debts_.lost_with(n.index);
  if (dead == nullptr) return graph_.nodes.free(n);
  n.refs.store(1, std::memory_order_relaxed);  // for ever
  store::set_failure(n, others_.given_up(others_.rank, n, static_cast<std::uint32_t>(*dead)));
  n.state = graph::state::failed;
  n.flags &= graph::node::actor;
  n.set(graph::node::observed);
}

MANTA_DECL bool references::waits_for_others(graph::node& n) {
  if (drop_replicas(n)) return true;
  if (n.form == graph::form::remote && members_.is_dead(n.remote.place)) return false;
  if (n.form != graph::form::remote && !n.has(graph::node::leaving)) return false;
  n.refs.store(1, std::memory_order_relaxed);  // the place keeps the value until it hears of this
  if (n.form == graph::form::remote) post_.send(n.remote.place, message::release, index_message{n.index, rank_});
  store::clear(n);
  n.reset(graph::node::leaving);
  return true;
}

MANTA_DECL bool references::drop_replicas(graph::node& n) {
  std::uint32_t copies = 0;
  for (graph::link* l = n.links; l != nullptr; l = l->next) {
    if (l->kind != graph::link_kind::replica) continue;
    l->kind = graph::link_kind::reader;
    if (members_.is_dead(l->rank)) continue;
    ++copies;
    post_.send(l->rank, message::release, index_message{n.index, rank_});
  }
  if (copies != 0) n.refs.store(copies, std::memory_order_relaxed);
  return copies != 0;
}

/// Only the reference that keeps the home's value here is left on this rank: what the rank owes the home must not keep
/// the home waiting for it.
MANTA_DECL void references::return_debts(graph::node& n) {
  if (!is_stand_in(n) || n.links->count == 0) return;
  post_.send(n.links->rank, message::drop, drop_message{n.links->index, std::exchange(n.links->count, 0), 0});
}

MANTA_DECL std::uint64_t references::take_calls(const graph::node& handle) {
  const std::uint64_t* const made = calls_made_.find(handle.index);
  if (made == nullptr) return 0;
  const std::uint64_t calls = *made;
  calls_made_.erase(handle.index);
  return calls;
}

MANTA_DECL reference_message references::export_reference(graph::node& n) {
  if (is_stand_in(n)) return lend(n);
  count(n);
  if (receiver_ == graph::no_index || !keeps_debts_of(receiver_)) return {rank_, n.index, rank_, graph::no_index};
  debts_.add(n.index, receiver_);
  return {rank_, n.index, receiver_, graph::no_index};
}

MANTA_DECL reference_message references::lend(graph::node& n) {
  graph::link* const home = n.links;
  const bool may_die = rank_ != 0 && members_.recovers();
  if (home->count >= 2 && !may_die) {
    --home->count;
    return {home->rank, home->index, rank_, graph::no_index};
  }
  hold(n);
  if (members_.is_dead(home->rank)) {
    ++orphans_lent_;
  } else if (may_die) {
    post_.send(home->rank, message::lend, lend_message{home->index, 1});
  }
  return {home->rank, home->index, rank_, n.index};
}

MANTA_DECL void references::count(graph::node& n) {
  if (n.links == nullptr || n.links->kind != graph::link_kind::exported) {
    graph::link* const exported = graph_.links.make();
    exported->kind = graph::link_kind::exported;
    exported->next = n.links;
    n.links = exported;
    hold(n);
  }
  ++n.links->count;
}

MANTA_DECL void references::uncount(graph::node& n, std::uint32_t less) {
  graph::link* const exported = n.links;
  exported->count -= less;
  if (exported->count != 0) return;
  n.links = exported->next;
  graph_.links.free(exported);
  release(n);
}

MANTA_DECL graph::node& references::stand_in(rank_id home_rank, node_index home_index, type_id type) {
  if (graph::node* const n = known(home_rank, home_index)) {
    hold(*n);
    return *n;
  }
  graph::node& n = make_node(type);
  stands_for(n, home_rank, home_index);
  return n;
}

MANTA_DECL void references::stands_for(graph::node& n, rank_id home_rank, node_index home_index) {
  stand_ins_.insert(key(home_rank, home_index), n.index);
  graph::link* const home = graph_.links.make();
  home->kind = graph::link_kind::home;
  home->rank = home_rank;
  home->index = home_index;
  home->next = n.links;
  n.links = home;
}

MANTA_DECL graph::node& references::import_reference(const reference_message& r, type_id type) {
  if (r.home_rank == rank_) return take_back(r);
  graph::node& n = stand_in(r.home_rank, r.home_index, type);
  if (n.type == graph::no_index) n.type = type;
  if (r.lender_index != graph::no_index) {
    take_loan(n, r);
  } else {
    ++n.links->count;
    if (r.lender_rank != rank_ && rank_ != 0 && members_.recovers() && !members_.is_dead(r.home_rank))
      post_.send(r.home_rank, message::claim, index_message{r.home_index, 0});
  }
  return n;
}

MANTA_DECL graph::node& references::take_back(const reference_message& r) {
  graph::node& n = graph_.nodes.at(r.home_index);
  hold(n);
  if (r.lender_index == graph::no_index) {
    on_drop(r.lender_rank, {r.home_index, 1, 0});
  } else {
    end_loan(n, r.lender_rank);
    post_.send(r.lender_rank, message::repaid, index_message{r.lender_index, 0});
  }
  return n;
}

MANTA_DECL void references::take_loan(graph::node& n, const reference_message& r) {
  if (members_.is_dead(r.home_rank)) {
    post_.send(r.lender_rank, message::repaid, index_message{r.lender_index, 0});
  } else if (r.lender_rank == rank_) {
    if (rank_ != 0 && members_.recovers()) post_.send(r.home_rank, message::lend, lend_message{r.home_index, -1});
    release(n);  // lent to ourselves: the loan and the new handle are on the same node
  } else {
    hold(n);  // until granted
    post_.send(r.home_rank, message::borrow, borrow_message{r.home_index, n.index, r.lender_rank, r.lender_index});
  }
}

MANTA_DECL void references::on_drop(rank_id from, const drop_message& m) {
  graph::node& n = graph_.nodes.at(m.index);
  if (m.calls != 0) add_calls(n, m.calls);
  if (keeps_debts_of(from)) debts_.pay(m.index, from, m.count);
  uncount(n, m.count);
}

MANTA_DECL void references::on_borrow(rank_id from, const borrow_message& m) {
  graph::node& n = graph_.nodes.at(m.home_index);
  count(n);
  if (keeps_debts_of(from)) debts_.add(m.home_index, from);
  end_loan(n, m.lender_rank);
  post_.send(from, message::granted, index_message{m.index, 0});
  post_.send(m.lender_rank, message::repaid, index_message{m.lender_index, 0});
}

MANTA_DECL void references::on_lend(rank_id from, const lend_message& m) {
  graph::node& n = graph_.nodes.at(m.index);
  if (m.change < 0) return end_loan(n, from);
  if (debts_.begin_loan(m.index, from)) count(n);
}

MANTA_DECL void references::end_loan(graph::node& n, rank_id lender) {
  if (keeps_debts_of(lender) && debts_.end_loan(n.index, lender, !members_.is_dead(lender))) uncount(n, 1);
}

MANTA_DECL void references::rank_died(rank_id dead) {
  for (const debts::loss& lost : debts_.forget(dead)) {
    if (lost.count != 0) uncount(graph_.nodes.at(lost.object), lost.count);
  }
}

MANTA_DECL void references::on_granted(const index_message& m) {
  graph::node& n = graph_.nodes.at(m.index);
  ++n.links->count;
  release(n);
}

MANTA_DECL void references::on_release(rank_id from, const index_message& m) {
  post_.send(from, message::released, m);
  graph::node* const n = known(from, m.index);
  if (n != nullptr && n->has(graph::node::primary)) give_up_copy(*n);
}

MANTA_DECL void references::give_up_copy(graph::node& n) {
  n.reset(graph::node::primary);
  if (store::large* const l = store::large_of(n)) books_.ledger.is_copy(*l);
  if (n.links->count == 0) hide(n);  // it may still be in use here
  release(n);
}

MANTA_DECL void references::on_released(const index_message& m) {
  graph::node& n = graph_.nodes.at(m.index);
  n.has(graph::node::leaving) ? n.reset(graph::node::leaving) : release(n);
}

}  // namespace manta::exec
