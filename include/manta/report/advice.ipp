// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/sorting.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/advice.hpp"
#include "manta/report/rules.hpp"

namespace manta::report {

MANTA_DECL base::vector<advice> advice_for(const statistics& s) {
  const figures f(s);
  base::vector<advice> all;
  const auto consider = [&](finding found) {
    const bool is_given = found && found->share >= least_share;
    if (is_given) all.push_back(std::move(*found));
    return is_given;
  };
  consider(many_failures(f));
  if (s.seconds < least_seconds_of_advice) return all;
  // Each of the first three says why ranks have nothing to do; the most exact one stands for the others.
  consider(one_task_holds_all(f)) || consider(driver_is_the_neck(f)) || consider(too_little_parallelism(f));
  for (const auto rule : {tasks_too_short, same_value_sent_again, values_under_way, values_moved_to_disk,
                          calls_wait_for_one_actor, gangs_do_not_fit, more_threads_than_cores, time_limit}) {
    consider(rule(f));
  }
  base::sort_falling(all, &advice::share);
  if (all.size() > most_advice) all.resize(most_advice);
  return all;
}

}  // namespace manta::report
