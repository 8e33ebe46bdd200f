// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rules of advice.hpp. Each looks at the figures of a run and gives advice, or none.
#pragma once

#include <optional>

#include "manta/base/vector.hpp"
#include "manta/report/advice.hpp"
#include "manta/report/shares.hpp"

namespace manta::report {

/// What the rules look at.
struct figures {
  explicit figures(const statistics& run)
      : s(run),
        ranks(working_ranks_of(run)),
        tasks(totals_of(run)),
        values(values_of(run)),
        bins(bins_of_working_ranks(run)) {}

  const statistics& s;
  working_ranks ranks;
  task_totals tasks;
  value_totals values;
  base::vector<state_seconds> bins;

  /// The share of a state in the time of the working ranks.
  double share(rank_state state) const { return ranks.share(state); }
  /// The share of advice about a part of all bytes.
  double byte_share(double part) const;
};

using finding = std::optional<advice>;

/// One task runs while most ranks have nothing to do.
MANTA_DECL finding one_task_holds_all(const figures& f);
/// There were fewer tasks than ranks.
MANTA_DECL finding too_little_parallelism(const figures& f);
/// Ranks have nothing to do while the driver works.
MANTA_DECL finding driver_is_the_neck(const figures& f);
/// manta's work for a task is not small beside the task.
MANTA_DECL finding tasks_too_short(const figures& f);
/// One large value is sent as an argument again and again.
MANTA_DECL finding same_value_sent_again(const figures& f);
/// Ranks wait for values under way.
MANTA_DECL finding values_under_way(const figures& f);
/// Values did not fit into the memory.
MANTA_DECL finding values_moved_to_disk(const figures& f);
/// Calls wait for one actor.
MANTA_DECL finding calls_wait_for_one_actor(const figures& f);
/// Ranks are kept for gangs.
MANTA_DECL finding gangs_do_not_fit(const figures& f);
/// More threads than cores compute.
MANTA_DECL finding more_threads_than_cores(const figures& f);
/// The time of the allocation does not fit the run.
MANTA_DECL finding time_limit(const figures& f);
/// Many tasks of a function fail.
MANTA_DECL finding many_failures(const figures& f);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/rules.ipp"
#endif
