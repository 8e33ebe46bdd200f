// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/tune/scheduling.hpp"

namespace manta::tune::detail {

MANTA_DECL void scheduling::begin(const experiment& e, const space& where, std::size_t limit) {
  scheduler_ = e.scheduler.clone();
  scheduler_->begin(where, e.seed, limit);
}

MANTA_DECL action scheduling::next(bool may_add) {
  return guarded([&] { return scheduler_->next(may_add); });
}
MANTA_DECL void scheduling::add(trial_number t, const config& c) {
  guarded([&] { scheduler_->add(t, c); });
}
MANTA_DECL verdict scheduling::report(const trial_record& r, double so_far) {
  return guarded([&] { return scheduler_->report(r.id, r.at, scheduler_->compares_reports() ? r.loss : so_far); });
}
MANTA_DECL void scheduling::remove(trial_number t, status how) {
  guarded([&] {
    if (how == status::complete) scheduler_->complete(t);
    scheduler_->remove(t);
  });
}
MANTA_DECL double scheduling::silent_until(trial_number t) {
  return guarded([&] { return scheduler_->silent_until(t); });
}
MANTA_DECL std::vector<trial_number> scheduling::take_dropped() {
  return guarded([&] { return scheduler_->take_dropped(); });
}

MANTA_DECL bool scheduling::may_resume(trial_number t, const trial_record* r) {
  if (r != nullptr && r->state == status::paused) return true;
  guarded([&] {
    throw error(
        base::text("manta: tune: the scheduler resumes trial {}, which {}{}: next() may resume trials that it has "
                   "paused",
                   t, r != nullptr ? "is " : "does not exist", r != nullptr ? name_of(r->state) : ""));
  });
  return false;
}

MANTA_DECL std::string scheduling::nothing_kept() {
  keeps_nothing_ = true;
  return guarded([&] { return scheduler_->nothing_kept(); });
}

MANTA_DECL std::string scheduling::remark(const std::vector<trial_record>& all) const {
  const auto nearer = [](const trial_record& a, const trial_record& b) { return a.at < b.at; };
  const auto longest = std::max_element(all.begin(), all.end(), nearer);
  if (longest == all.end()) return scheduler_->remark(0);
  return longest->state == status::complete ? scheduler_->remark(longest->at) : "";  // else it would have come farther
}

}  // namespace manta::tune::detail
