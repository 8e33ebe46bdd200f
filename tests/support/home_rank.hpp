// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A rank without MPI, as far as nodes and their ends go: for parts that are given
// a rank_context and a completion.
#pragma once

#include <vector>

#include "clear_nodes.hpp"
#include "loopback_blocks.hpp"
#include "manta/exec/value/completion.ipp"
#include "manta/exec/value/references.ipp"

/// Its hooks note what they are called for, and change nothing.
struct home_rank {
  using context = manta::exec::rank_context<block_loopback>;
  using completion = manta::exec::completion<block_loopback>;
  using node = manta::graph::node;
  using task = manta::graph::task;

  explicit home_rank(block_world& world, std::uint32_t number = 0, std::uint32_t size = 1)
      : net(number, world),
        members(size),
        in_words(number, members),
        out(net, size),
        refs(number, graph, out, members, {ledger, made_by, journal, failures},
             {this, [](void*, node&, std::uint64_t) {}, [](void*, node&) {},
              [](void* self, task* t) { of(self).graph.tasks.free(t); },
              [](void*, const node&, manta::exec::rank_id) { return manta::store::share(manta::store::failure{}); }}),
        own{number, size, net, graph, ledger, out, members, in_words, refs, counts, trace},
        ends(own, hooks()) {}
  ~home_rank() { clear_nodes(graph); }
  home_rank(const home_rank&) = delete;
  home_rank& operator=(const home_rank&) = delete;

  static home_rank& of(void* self) { return *static_cast<home_rank*>(self); }
  completion::hooks hooks() {
    return {
        .rank = this,
        .task_ready = [](void* self, node& n) { of(self).ready.push_back(n.index); },
        .wake = [](void*, manta::exec::wait_record&) {},
        .announce = [](void*, const manta::graph::link&, node&) {},
        .input_arrived = [](void*, task*, node&) {},
        .send_call = [](void*, node&, task*) {},
        .pulled = [](void*, const manta::graph::link&, node&) {},
        .send_after = [](void*, const manta::graph::link&, node&) {},
        .inherit = [](void*, node&) {},
        .await_return = [](void*, std::uint32_t) {},
        .stop_timer = [](void*, node& n) { n.reset(node::timed); },
        .free_task = [](void* self, task* t) { of(self).graph.tasks.free(t); },
    };
  }
  /// A task of this rank with a record, held by a handle and by the engine.
  node& submit(std::uint64_t id, manta::graph::request* wanted) {
    node& n = refs.make_node(0, 0, 2);
    task* const t = graph.tasks.make(0, 0);
    t->id = id;
    t->home_rank = own.rank;
    t->home_index = n.index;
    t->request = manta::graph::request_ptr(wanted);
    n.form = manta::graph::form::record;
    n.record = t;
    return n;
  }

  block_loopback net;
  manta::store::ledger ledger;
  manta::graph::task_graph graph;
  manta::exec::membership members;
  manta::exec::failure_writer in_words;
  manta::exec::lineage made_by;
  manta::exec::journaling journal;
  manta::exec::unobserved failures;
  manta::exec::post<block_loopback> out;
  manta::exec::references<block_loopback> refs;
  manta::exec::task_counts counts;
  manta::exec::task_trace trace;
  context own;
  completion ends;
  std::vector<std::uint32_t> ready;  // tasks that may start
};
