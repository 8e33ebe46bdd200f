// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0 drives, and runs no tasks as long as other ranks can. A driver that asks for as many workers as there are
// ranks means rank 0 as well.
#pragma once

#include "manta/capacity.hpp"
#include "manta/run.hpp"

namespace manta::rl::detail {

/// Lets rank 0 work while the driver waits, where the driver wants as many workers as ranks, or more.
inline void let_rank_0_work(int workers) {
  if (manta::rank() == 0 && manta::size() > 1 && workers >= manta::size()) let_rank_0_run_tasks();
}

}  // namespace manta::rl::detail
