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
// Where ranks may die the home knows what each rank owes (value/debts.hpp): a reference that the home writes for a rank
// it knows is owed by that rank at once, the receiver of any other one says so (claim), and ranks that may die only
// lend, and say so (lend). What a dead rank owed is given up. A node that a dead rank knew is never used again, since a
// handle that this rank had lent may come later: it finds a failure in the place of the value.
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
#include "manta/exec/value/debts.hpp"
#include "manta/exec/value/journaling.hpp"
#include "manta/exec/value/lineage.hpp"
#include "manta/graph/task_graph.hpp"

namespace manta::exec {

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
    /// The failure of an object that nobody held any more after the death of a rank.
    store::failure_ptr (*given_up)(void* rank, const graph::node& n, rank_id dead);
  };
  /// The parts of the rank `here` that know of nodes by their index.
  struct books {
    store::ledger& ledger;
    exec::lineage& lineage;
    exec::journaling& journaling;
    exec::unobserved& unobserved;
  };

  references(rank_id here, graph::task_graph& graph, post& out, const membership& members, books of_it, hooks others)
      : rank_(here), graph_(graph), post_(out), members_(members), books_(of_it), others_(others) {}

  /// A new node, pending, with `refs` references on this rank.
  MANTA_DECL graph::node& make_node(function_id function, type_id type, std::uint32_t refs = 1);
  /// A new node for a value that no function makes.
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

  /// While it lives, handles are written for one rank.
  class addressed {
   public:
    addressed(references& refs, rank_id receiver) : refs_(refs) { refs_.receiver_ = receiver; }
    ~addressed() { refs_.receiver_ = graph::no_index; }
    addressed(const addressed&) = delete;
    addressed& operator=(const addressed&) = delete;

   private:
    references& refs_;
  };
  /// What another rank is to be told of this handle. The stand-in stays until that rank has its reference. May send
  /// `lend` to the home.
  MANTA_DECL reference_message export_reference(graph::node& n);
  /// The node of a handle that has come, with one more count. May send `borrow` or `claim` to its home,
  /// or `repaid` to the lender.
  MANTA_DECL graph::node& import_reference(const reference_message& reference, type_id type);

  /// Counts calls made through the actor's handles on this rank, or by ranks that have returned references.
  void add_calls(const graph::node& handle, std::uint64_t calls) { calls_made_.insert(handle.index) += calls; }
  /// The actor is made again: no call was made to the new one.
  void forget_calls(const graph::node& handle) { calls_made_.erase(handle.index); }
  /// Takes out the number of calls that were made through the handles of an actor.
  std::uint64_t take_calls(const graph::node& handle);

  // --- messages

  /// At the home: a rank returns references.
  void on_drop(rank_id from, const drop_message& m);
  /// At the home: a rank has been lent a handle, and asks for a reference of its own. Sends `granted` and `repaid`.
  void on_borrow(rank_id from, const borrow_message& m);
  /// At the home: a rank has received a reference that was written for no rank.
  void on_claim(rank_id from, const index_message& m) { debts_.add(m.index, from); }
  /// At the home: a rank has lent a handle, or has it back.
  void on_lend(rank_id from, const lend_message& m);
  /// The home has granted a reference of its own to a handle that was lent to this rank.
  void on_granted(const index_message& m);
  /// At the place of a value, or of a copy that is kept: the home needs it no more, and may use its index
  /// again. Sends `released`.
  void on_release(rank_id from, const index_message& m);
  /// At the home: the place of a value needs the index no more.
  void on_released(const index_message& m);
  /// At the lender: the handle that was lent has a reference of its own, and the count held for it is given up.
  void on_repaid(const index_message& m) { release(graph_.nodes.at(m.index)); }

  /// A rank has died: gives up what it owed. The members know of the death already.
  void rank_died(rank_id dead);
  /// The home of a value needs its copy here no more: it stays while handles of this rank use it.
  void give_up_copy(graph::node& n);
  /// Number of handles of dead ranks' objects that this rank has passed on.
  std::uint64_t orphans_lent() const { return orphans_lent_; }

 private:
  static std::uint64_t key(rank_id home_rank, node_index home_index) {
    return static_cast<std::uint64_t>(home_rank) << 32 | home_index;
  }
  /// Does this home have to know which rank owes what?
  bool keeps_debts_of(rank_id debtor) const { return debtor != 0 && debtor != rank_ && members_.recovers(); }
  void count(graph::node& n);  ///< Other ranks owe one reference more.
  /// Other ranks owe some references less. The node goes with the last one.
  void uncount(graph::node& n, std::uint32_t less);
  reference_message lend(graph::node& stand_in);  ///< This rank passes on a handle of another home.
  /// At the home: the receiver of a loan has its own reference.
  void end_loan(graph::node& n, rank_id lender);
  graph::node& take_back(const reference_message& r);          ///< A handle of this home has come back.
  void take_loan(graph::node& n, const reference_message& r);  ///< A handle has come that a rank has lent.
  /// The node is free, or stands for what died with a rank.
  void free_node(graph::node& n);
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
  post& post_;
  const membership& members_;
  books books_;
  hooks others_;
  debts debts_;
  rank_id receiver_ = graph::no_index;  // for which handles are written; no_index: not known
  std::uint64_t orphans_lent_ = 0;
  base::index_table stand_ins_;   // objects of other ranks that are known here -> node
  base::index_table calls_made_;  // node of an actor's handle -> calls
  work_list<graph::node*> to_reclaim_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/references.ipp"
#endif
