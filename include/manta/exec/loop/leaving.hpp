// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A run that has to end before its work is done: the allocation ends soon, or a
// signal has asked for it. Nothing more is started: what has not begun, and what
// is submitted from then on, fails with `cancelled`; what runs sees
// stop_requested(); calls of actors still go through, so that the driver can
// save what they hold.
//
// A task that is known to take longer than the time that is left is not begun
// either, but set aside: there may be others that fit. When nothing else is
// left to do, the end has come.
#pragma once

#include <string>

#include "manta/base/allocation.hpp"
#include "manta/base/config.hpp"
#include "manta/exec/state/departure.hpp"
#include "manta/exec/state/run_phase.hpp"
#include "manta/exec/value/context.hpp"

namespace manta::exec {

class leaving {
 public:
  leaving(const rank_context& own, departure& reasons, run_phase& phase)
      : own_(own), departure_(reasons), phase_(phase) {}

  /// Has this rank a reason to end the run that it has not told yet?
  bool is_due() const {
    if (departure_.is_leaving()) return false;
    return base::end_signals::came() != nullptr || departure_.is_asked() ||
           (own_.rank == 0 && departure_.has_end() && departure_.is_time(base::ticks()));
  }
  /// At the top level, if is_due(): rank 0 has the run end on all ranks; another rank asks rank 0 for
  /// it. Sends `leave`.
  MANTA_DECL void announce();
  /// Rank 0 says that nothing more is started.
  MANTA_DECL void leave(const std::string& why);

 private:
  const rank_context own_;
  departure& departure_;
  run_phase& phase_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/loop/leaving.ipp"
#endif
