// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/tune/experiment_check.hpp"
#include "manta/tune/rules.hpp"

namespace manta::tune::detail {

MANTA_DECL void rules::begin(const experiment& e) {
  of_trials_ = e.stop;
  of_all_ = e.stop_all;
  unreported_ = metrics_of_rules(e);
}

MANTA_DECL double rules::silent_until(trial_number t) const {
  double until = infinity;
  for (const stop_rule& rule : running_.at(t)) until = std::min(until, rule.silent_until());
  return until;
}

MANTA_DECL std::optional<std::string> rules::judge(const progress& p, stop_reason& stop) {
  std::optional<std::string> why;
  for (stop_rule& rule : running_.at(p.trial)) {
    if (!why) why = stop.guarded("a rule of .stop", [&] { return rule(p); });
  }
  return why;
}

MANTA_DECL void rules::judge_all(const ranking& ranks, stop_reason& stop) const {
  for (const experiment_rule& rule : of_all_) {
    if (stop.is_set()) return;
    if (const auto why = stop.guarded("a rule of .stop_all", [&] { return rule(ranks.summary()); })) stop.set(*why);
  }
}

MANTA_DECL void rules::note_reported(const metrics& m) {
  std::erase_if(unreported_, [&](const std::string& name) { return m.find(name) != nullptr; });
}

MANTA_DECL void rules::miss_metrics(const trial_record& r, stop_reason& stop) const {
  if (unreported_.empty() || stop.is_set()) return;
  stop.set_mistake(base::text(
      ".stop, .subject_to or .checkpoints looks at \"{}\", which nobody has reported; trial {} reported {}: mend the "
      "name, or report it in each trial",
      unreported_.front(), r.id, r.last.names()));
}

}  // namespace manta::tune::detail
