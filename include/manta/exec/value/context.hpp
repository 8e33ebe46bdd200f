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
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/rank/node_views.hpp"
#include "manta/exec/rank/post.hpp"
#include "manta/exec/state/task_contents.hpp"
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

struct rank_context {
  rank_id rank;
  std::uint32_t size;
  network& net;
  graph::task_graph& graph;
  store::ledger& ledger;
  exec::post& post;
  const membership& members;
  const failure_writer& failures;
  references& refs;
  task_counts& counts;
  task_trace& trace;
};

/// A task of this home is submitted, and the run is traced. Homes of inputs that are results of tasks of other homes
/// are told: they know which tasks these were.
[[gnu::noinline, gnu::cold]] inline void trace_submitted(const rank_context& own, const node& n, std::uint64_t id,
                                                         const task_arguments& given) {
  own.trace.note_maker(n, id, given.inputs, given.input_count);
  for (std::uint32_t i = 0; i < given.input_count; ++i) {
    const node& input = *given.inputs[i];
    if (!is_stand_in(input) || input.links->count == 0 || own.members.is_dead(input.links->rank)) continue;
    ask_message m{};
    m.kind = ask_message::arrow;
    m.home_index = input.links->index;
    m.id = id;
    own.post.send(input.links->rank, message::ask, m);
  }
}

}  // namespace manta::exec
