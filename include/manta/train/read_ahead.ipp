// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/train/read_ahead.hpp"

namespace manta::train::detail {

MANTA_DECL void check_read_ahead(const read_ahead_options& o) {
  if (o.tasks < 1) throw error(base::text("manta: train: read_ahead: .tasks is {}; at least one is needed", o.tasks));
  if (o.window < o.tasks)
    throw error(base::text("manta: train: read_ahead: .window is {}; {}{} a window of at least {}", o.window, o.tasks,
                           o.tasks == 1 ? " task needs" : " tasks need", o.tasks));
}

}  // namespace manta::train::detail
