// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The ids of graph/ids.hpp under their short names.
#pragma once

#include <cstdint>

#include "manta/graph/ids.hpp"

namespace manta::exec {

using graph::function_id;
using graph::node_index;
using graph::rank_id;
using graph::slot_index;
using graph::type_id;

/// A task of this rank, which may have ended since.
struct task_place {
  std::uint64_t id;
  node_index index;  ///< index of its node
};

}  // namespace manta::exec
