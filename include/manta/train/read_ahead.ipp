// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/train/read_ahead.hpp"

namespace manta::train::detail {

MANTA_DECL void check_read_ahead(const read_ahead_options& o) {
  if (o.tasks < 1)
    throw error("manta: train: read_ahead: .tasks is " + std::to_string(o.tasks) + "; at least one is needed");
  if (o.window < o.tasks)
    throw error("manta: train: read_ahead: .window is " + std::to_string(o.window) + "; " + std::to_string(o.tasks) +
                (o.tasks == 1 ? " task needs" : " tasks need") + " a window of at least " + std::to_string(o.tasks));
}

}  // namespace manta::train::detail
