// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What every part that sends is given: the rank's number, its stores, and the way
// out. The objects are the engine's.
#pragma once

#include <cstdint>

#include "manta/exec/account/task_counts.hpp"
#include "manta/exec/account/task_trace.hpp"
#include "manta/exec/rank/failure_writer.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/exec/rank/membership.hpp"
#include "manta/exec/rank/post.hpp"
#include "manta/exec/value/references.hpp"
#include "manta/graph/task_graph.hpp"
#include "manta/store/ledger.hpp"

namespace manta::exec {

using graph::form;
using graph::link;
using graph::link_kind;
using graph::no_index;
using graph::node;
using graph::state;
using graph::task;
using graph::task_list;

template <class Network>
struct rank_context {
  rank_id rank;
  std::uint32_t size;
  Network& net;
  graph::task_graph& graph;
  store::ledger& ledger;
  exec::post<Network>& post;
  const membership& members;
  const failure_writer& failures;
  references<Network>& refs;
  task_counts& counts;
  task_trace& trace;
};

}  // namespace manta::exec
