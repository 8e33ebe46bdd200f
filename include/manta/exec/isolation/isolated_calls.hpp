// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A part: calls whose functions run in child processes of this rank, which may crash. The rank encodes the arguments
// and the inputs, waits outside its lock for the answer, and decodes the result.
//
// This part sends nothing to other ranks. run() waits.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/isolation/child_messages.hpp"
#include "manta/exec/loop/helper.hpp"
#include "manta/exec/rank/failure_writer.hpp"
#include "manta/exec/state/departure.hpp"
#include "manta/exec/state/run_phase.hpp"
#include "manta/exec/state/watchdog.hpp"

namespace manta::exec {

class isolated_calls {
 public:
  /// What a child is told of its rank.
  struct rank_facts {
    rank_id rank;
    std::uint32_t size;
    int node;
    const std::uint64_t& seed;
  };
  /// The parts that this one uses.
  struct parts {
    biased_lock& lock;
    const failure_writer& failures;
    const run_phase& phase;
    const exec::departure& departure;
    const exec::helper& helper;
    const watchdog& over_tasks;
  };
  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    /// The task waits, and there is no helper: does the rank's duties, and gives the thread back to the task.
    void (*attend)(void* rank, running_task& waits);
  };

  isolated_calls(const rank_facts& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  /// Runs the function in a child, in the place of the function's own run(): of a task in any child, of an actor in the
  /// actor's own. Throws isolated_failure if the function has thrown or the child has ended, and error if the inputs
  /// cannot go there. Waits.
  MANTA_DECL void run(invocation& call, function_id function, running_task& task);

 private:
  class one;  // a call under way

  const rank_facts own_;
  const parts below_;
  const hooks others_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/isolation/isolated_calls.ipp"
#endif
