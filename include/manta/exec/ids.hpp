// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The ids of graph/ids.hpp under their short names.
#pragma once

#include "manta/graph/ids.hpp"

namespace manta::exec {

using graph::function_id;
using graph::node_index;
using graph::rank_id;
using graph::slot_index;
using graph::type_id;

}  // namespace manta::exec
