// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The counts by which the ranks know who holds what. Handles on one rank share one count and cost no
// message. The home counts the references that other ranks owe it; a rank that
// knows an object of another home has a stand-in node that counts how many it
// owes and returns them together when its last handle dies.
//
// A rank that passes on a handle it does not own lends it: it keeps its
// stand-in until the receiver has got a reference of its own from the home
// (borrow, granted, repaid), so that the count at the home never falls to zero
// too early. A rank that owes two or gives up its last handle passes on the
// reference itself and nothing else is said.
//
// No function waits.
#pragma once

#include <atomic>
#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/node_views.hpp"
#include "manta/exec/rank/post.hpp"
#include "manta/exec/rank/work_list.hpp"
#include "manta/exec/state/unobserved.hpp"
#include "manta/exec/value/journaling.hpp"
#include "manta/exec/value/lineage.hpp"
#include "manta/graph/task_graph.hpp"

namespace manta::exec {

template <class Network>
class references {
 public:
  /// What others do when the last handle of a node is gone, each with `rank` first.
  struct hooks {
    void* rank;
    /// A stand-in goes, through whose handles `calls` were made, if it is an actor's.
    void (*stand_in_gone)(void* rank, graph::node& n, std::uint64_t calls);
    /// The home's handle of an actor goes.
    void (*actor_gone)(void* rank, graph::node& n);
    /// Frees the record of a task, and gives up its inputs.
    void (*free_task)(void* rank, graph::task* t);
  };
  /// The parts of the rank `here` that know of nodes by their index.
  struct books {
    store::ledger& values;
    lineage& made_by;
    journaling& journal;
    exec::unobserved& failures;
  };

  references(rank_id here, graph::task_graph& graph, post<Network>& out, const membership& members, books of_it,
             hooks others)
      : rank_(here), graph_(graph), post_(out), members_(members), books_(of_it), others_(others) {}

  /// A new node, pending, with `refs` references on this rank.
  MANTA_DECL graph::node& make_node(function_id function, type_id type, std::uint32_t refs = 1);
  /// Likewise for a value that no function makes.
  graph::node& make_node(type_id type) { return make_node(graph::no_index, type); }
  /// One reference more on this rank.
  void hold(graph::node& n) { n.refs.fetch_add(1, std::memory_order_relaxed); }
  /// One reference less. The last one frees the node; what is owed to a home is returned by one message.
  void release(graph::node& n) {
    if (n.refs.load(std::memory_order_acquire) ==
        1) {  // ours: nobody else can touch the count, which needs no atomic operation
      n.refs.store(0, std::memory_order_relaxed);
      reclaim(n);
    } else if (n.refs.fetch_sub(1, std::memory_order_acq_rel) == 2 && n.has(graph::node::primary)) {
      return_debts(n);
    }
  }

  /// The node by which this rank knows an object of another home; null if it does not know it.
  graph::node* known(rank_id home_rank, node_index home_index) {
    const std::uint64_t* at = stand_ins_.find(key(home_rank, home_index));
    return at == nullptr ? nullptr : &graph_.nodes.at(static_cast<std::uint32_t>(*at));
  }
  /// The stand-in of an object, with one reference more; a new one if this rank does not know the object.
  graph::node& stand_in(rank_id home_rank, node_index home_index, type_id type);
  /// From now on the node stands for the object of another home.
  void stands_for(graph::node& n, rank_id home_rank, node_index home_index);
  /// A later use of the object on this rank does not find this stand-in.
  void hide(graph::node& n) {
    if (is_stand_in(n) && known(n.links->rank, n.links->index) == &n)
      stand_ins_.erase(key(n.links->rank, n.links->index));
  }
  /// The name of an object on all ranks: its home, and its node there.
  node_place home_of(const graph::node& n) const {
    return is_stand_in(n) ? node_place{n.links->rank, n.links->index} : node_place{rank_, n.index};
  }

  /// What another rank is to be told of this handle; sends nothing. The stand-in stays until that rank
  /// has its reference.
  MANTA_DECL reference_message export_reference(graph::node& n);
  /// The node of a handle that has come, with one more count. May send `borrow` to its home, or `repaid` to the lender.
  MANTA_DECL graph::node& import_reference(const reference_message& reference, type_id type);

  /// Counts calls made through the actor's handles on this rank, or by ranks that have returned references.
  void add_calls(const graph::node& handle, std::uint64_t calls) { calls_made_.insert(handle.index) += calls; }
  /// The actor is made again: no call was made to the new one.
  void forget_calls(const graph::node& handle) { calls_made_.erase(handle.index); }
  /// Takes out the number of calls that were made through the handles of an actor.
  std::uint64_t take_calls(const graph::node& handle);

  // --- messages

  /// At the home: a rank returns references.
  void on_drop(const drop_message& m);
  /// At the home: a rank has been lent a handle, and asks for a reference of its own. Sends `granted` and `repaid`.
  void on_borrow(rank_id from, const borrow_message& m);
  /// The home has granted a reference of its own to a handle that was lent to this rank.
  void on_granted(const index_message& m);
  /// At the place of a value, or of a copy that is kept: the home needs it no more, and may use its index
  /// again. Sends `released`.
  void on_release(rank_id from, const index_message& m);
  /// At the home: the place of a value needs the index no more.
  void on_released(const index_message& m);
  /// At the lender: the handle that was lent has a reference of its own, and the count held for it is given up.
  void on_repaid(const index_message& m) { release(graph_.nodes.at(m.index)); }

 private:
  static std::uint64_t key(rank_id home_rank, node_index home_index) {
    return static_cast<std::uint64_t>(home_rank) << 32 | home_index;
  }
  /// Nobody holds the node any more: frees it, and all whose last handle was in its value. May send.
  MANTA_DECL void reclaim(graph::node& n);
  void reclaim_one(graph::node& n);  ///< Frees the node alone, and lists those whose last handle was in its value.
  /// Gives up an object of this home that other ranks have to let go first. False if there is none such.
  bool waits_for_others(graph::node& n);
  /// Sends `release` to the ranks that keep replicas. True if there are any.
  bool drop_replicas(graph::node& n);
  /// Sends the home what this rank owes it.
  MANTA_DECL void return_debts(graph::node& n);

  const rank_id rank_;
  graph::task_graph& graph_;
  post<Network>& post_;
  const membership& members_;
  books books_;
  hooks others_;
  base::index_table stand_ins_;   // objects of other ranks that are known here -> node
  base::index_table calls_made_;  // node of an actor's handle -> calls
  work_list<graph::node*> to_reclaim_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/references.ipp"
#endif
