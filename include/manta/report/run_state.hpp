// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The state of a run in words, as SIGUSR2 asks for it: how far it is, what runs for how long, who has nothing to do,
// where calls wait, and which ranks do not answer. At most 40 lines whatever the number of ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/children.hpp"
#include "manta/report/status.hpp"

namespace manta::report {

/// An actor for which calls wait.
struct waiting_actor {
  std::string name = {};
  int rank = -1;
  std::uint64_t calls = 0;  ///< that wait in its mailbox
};

/// A task that waits, on a stack of its own.
struct waiting_task {
  std::string text = {};                ///< a sentence such as "'solve' waits for 'sum'"
  double seconds = 0;                   ///< since when, from now
  std::vector<std::string> stack = {};  ///< the functions in which it waits, as running_task::stack
  friend bool operator==(const waiting_task&, const waiting_task&) = default;
};

/// What a rank says of this moment.
struct rank_situation {
  int rank = -1;
  std::string host = {};
  bool answers = true;  ///< false: it has not answered within two seconds, and the numbers are missing
  bool is_dead = false;
  bool is_spare = false;
  bool is_in_driver = false;              ///< rank 0, in the driver's own code
  std::vector<std::string> driver = {};   ///< the functions in which the driver is then, as running_task::stack
  task_numbers numbers = {};              ///< numbers of the tasks that it has submitted
  std::uint64_t queued = 0;               ///< tasks that can begin there
  std::uint64_t missing_inputs = 0;       ///< tasks that wait there for inputs from other ranks
  std::uint64_t memory_bytes = 0;         ///< bytes of values
  std::uint64_t memory_budget = 0;        ///< 0: any number
  base::vector<running_task> tasks = {};  ///< that have begun and not ended, the longest first; at most 8
  std::uint64_t task_count = 0;           ///< number of all of these
  base::vector<waiting_actor> actors = {};
  base::vector<submitted_tasks> submitted = {};  ///< which functions have submitted which here; at most 16
  base::vector<waiting_task> waits = {};         ///< the longest first; at most 5
  std::uint64_t wait_count = 0;                  ///< number of all of these
};

struct run_state {
  run_status status = {};
  std::string why = {};  ///< why it is told: "asked for by SIGUSR2"
  base::vector<rank_situation> ranks = {};
};

/// Functions of a stack in one line, "in smooth(mesh&) < refine(mesh const&)"; nothing if there are none.
MANTA_DECL std::string stack_text(const std::vector<std::string>& stack);
/// "rank 3", "ranks 3, 4", or "ranks 1, 2, 3, 4, 5, 6, 7, 8 and 12 others".
MANTA_DECL std::string ranks_text(const std::vector<int>& ranks);
/// The state as a block of lines, each with a line break.
MANTA_DECL std::string state_text(const run_state& s);
/// All of it as JSON, for programs; README.md beside this file has the members.
MANTA_DECL std::string state_json(const run_state& s);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/run_state.ipp"
#endif
