// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0 of a world without MPI, whose failed and lost tasks do not start again: the test sees which ones would.
#pragma once

#include <cstdint>
#include <vector>

#include "whole_rank.hpp"

struct noting_rank {
  using node = manta::graph::node;

  explicit noting_rank(std::uint32_t size) : world_((whole_rank::change_hooks = &note, size)) {
    whole_rank::change_hooks = nullptr;
    for (auto* const each : {&ready, &started, &withdrawn}) each->clear();
  }
  /// A task of this rank with a record, held by a handle and by the engine.
  node& submit(std::uint64_t id, manta::graph::request* wanted) {
    node& n = refs.make_node(0, 0, 2);
    manta::graph::task* const t = its.graph.tasks.make(0, 0);
    t->id = id;
    t->home_rank = 0;
    t->home_index = n.index;
    t->request = manta::graph::request_ptr(wanted);
    n.form = manta::graph::form::record;
    n.record = t;
    return n;
  }

  static inline std::vector<std::uint32_t> ready, started, withdrawn;  // nodes, in this order

 private:
  static void note(manta::exec::part_hooks& all) {
    all.attempts.task_ready = [](void*, node& n) { ready.push_back(n.index); };
    all.attempts.withdraw = [](void* parts, node& n, const manta::store::failure_ptr& why, std::uint16_t) {
      withdrawn.push_back(n.index);
      whole_rank::of(parts).completion.fail(n, why);
    };
    all.recovery.start = [](void*, node& n) { started.push_back(n.index); };
  }

  whole_world world_;

 public:
  whole_rank& its = world_.look_at(0);
  manta::exec::references& refs = its.refs;
  manta::exec::completion& completion = its.completion;
  manta::exec::attempts& attempts = its.attempts;
  manta::exec::recovery& recovery = its.values.recovery;
};
