// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Why a task is where it is, or waits, in words. These functions look at the
// scheduler and at nodes, and change neither.
#pragma once

#include <string>

#include "manta/base/config.hpp"
#include "manta/graph/scheduler.hpp"
#include "manta/wire/bytes.hpp"

namespace manta::exec {

/// Why a task was placed where it was.
MANTA_DECL std::string describe(const graph::grant& g);
/// The inputs that a task of this rank misses.
MANTA_DECL std::string explain_missing(const graph::node& n);
/// At rank 0: what a task asks for, and why none of the ranks takes it, the nearest first.
MANTA_DECL std::string explain_waiting(const graph::request& wanted, const graph::scheduler& scheduler,
                                       const graph::offers& world);
/// At rank 0: what is free on each rank, as numbers: cpus, gpu units, tasks, actors, quantities.
MANTA_DECL wire::buffer describe_free(const graph::scheduler& scheduler, std::uint32_t ranks);

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/work/explanations.ipp"
#endif
