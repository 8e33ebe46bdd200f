// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a run has done so far. manta counts always: tasks by function, durations, what each rank did with its time.
//
//   const manta::statistics s = manta::statistics_now();           // in the driver
//   std::printf("%llu tasks of %s\n", s.functions[0].tasks, s.functions[0].name.c_str());
//   manta::phase assembly("assembly");                             // until the object goes: a stretch with a name
//
// At the end of a run MANTA_SUMMARY=1 prints them as a table, MANTA_SUMMARY=run.json writes them to a file.
#pragma once

#include <cstddef>
#include <string>

#include "manta/base/config.hpp"
#include "manta/report/statistics.hpp"

namespace manta {

/// Collects the statistics of all ranks; to be called in the driver. Waits for the answers of the other ranks. A rank
/// that does not answer within two seconds is left out: its `is_known` is false.
MANTA_DECL statistics statistics_now();

/// The state of the run in words, as SIGUSR2 has it printed: what runs where and for how long, which ranks have
/// nothing to do, what waits for what. To be called in the driver. Waits for the answers of the other ranks, at
/// most two seconds.
MANTA_DECL std::string state();

/// A named stretch of the driver: from now until the object goes.
class phase {
 public:
  MANTA_DECL explicit phase(std::string name);
  MANTA_DECL ~phase();
  phase(const phase&) = delete;
  phase& operator=(const phase&) = delete;

 private:
  std::size_t number_;  // among the stretches of the run
};

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/statistics.ipp"
#endif
