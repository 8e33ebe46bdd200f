// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// For ranks without MPI that end with nodes that live, as a rank does that dies.
#pragma once

#include "manta/graph/task_graph.hpp"
#include "manta/store/value.hpp"

/// Gives up the values and the records of tasks that nodes of this graph hold, so that no memory is left.
inline void clear_nodes(manta::graph::task_graph& graph) {
  graph.nodes.for_each([&](manta::graph::node& n) {
    if (n.form == manta::graph::form::record) {
      graph.tasks.free(n.record);
      n.form = manta::graph::form::none;
    } else {
      manta::store::clear(n);
    }
  });
}
