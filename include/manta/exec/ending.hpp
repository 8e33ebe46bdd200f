// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a run ends: what has not started is dropped if the driver has failed, and the
// actors end when nothing goes on any more, which rank 0 finds with rank/waves.hpp.
#pragma once

#include "manta/base/config.hpp"

namespace manta::exec {

struct rank_parts;

class ending {
 public:
  explicit ending(rank_parts& all) : all_(all) {}

  /// Rank 0: serves until all is done, or with `drop` all that has started. Ends the actors of all ranks. Sends
  /// `drop_tasks` and `end_actors`. Waits.
  MANTA_DECL void finish(bool drop, bool is_deadlock = false);
  /// Fails the tasks of this rank that have not started with `cancelled`.
  MANTA_DECL void drop_unstarted();
  /// Ends the actors of this rank, and sends rank 0 the failures that nobody has looked at (`unobserved`).
  MANTA_DECL void end_actors();

 private:
  void drive_until_quiet();  ///< Rank 0: serves until nothing goes on anywhere. Waits.

  rank_parts& all_;
};

}  // namespace manta::exec
