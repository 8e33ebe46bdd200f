// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The settings of a rank, as runtime_options, the environment and the command line
// give them (options.ipp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "manta/graph/quantity.hpp"
#include "manta/net/network.hpp"
#include "manta/report/output_settings.hpp"

namespace manta::exec {

/// Where results outlive the program, and which.
struct journal_options {
  std::string folder = {};  ///< empty: there is no journal
  double least = 0.01;      ///< seconds that a task took whose result is kept
};

struct engine_options {
  graph::quantities resources;
  int cpus = 0;      ///< 0: found out
  double gpus = -1;  ///< below 0: found out
  bool rank0_tasks = false;
  int spares = 0;  ///< ranks, the last ones, that stand by; rank 0's setting holds
  bool progress_thread = true;
  bool concurrent_mpi = false;  ///< MPI_THREAD_MULTIPLE
  std::uint64_t seed = 0;
  std::size_t max_queued = std::size_t{1} << 22;
  std::size_t max_waiting = 100'000;
  std::uint64_t store_memory = 0;       ///< bytes; 0: its share of the node's
  std::uint64_t node_store_memory = 0;  ///< 0: half of the ranks' memory
  std::string spill_folder;
  int ranks_per_node = net::network::any_number;
  bool recovery = false;        ///< the launcher lets the others go on when a rank dies
  bool handles_deaths = false;  ///< the program's own code goes on after a death
  std::int64_t heartbeat_ns = 0;
  std::int64_t watchdog_ns = 0;     ///< a task without a call to us for so long is taken for hung; 0: none is
  journal_options journal;          ///< rank 0's setting holds, as that of `recovery`
  std::int64_t end_time = 0;        ///< end of the allocation, seconds since 1970; 0: not known
  std::int64_t end_margin = 60;     ///< seconds
  double term_grace = 30;           ///< seconds from SIGTERM to the end; 0: any number
  std::string keep_failed = {};     ///< folder for failed tasks; empty: they are not kept
  report::output_settings outputs;  ///< what the run says of itself; rank 0's settings hold
  std::vector<std::pair<std::string, std::string>>
      changed_settings;  ///< given by the environment or on the command line
  std::string mistake;   ///< what is wrong with this rank's settings: reported on all ranks
};

}  // namespace manta::exec
