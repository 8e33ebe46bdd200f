// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of ranking.hpp.
#pragma once

#include <algorithm>

#include "manta/tune/ranking.hpp"

namespace manta::tune::detail {

MANTA_DECL void ranking::begin(const experiment& e) {
  sign_ = e.maximise.empty() ? 1 : -1;
  metric_ = e.maximise.empty() ? e.minimise : e.maximise;
  failed_may_be_best_ = e.best_may_fail;
}

MANTA_DECL void ranking::passed(double seconds) { overview_.seconds = seconds; }

MANTA_DECL void ranking::count_report(double seconds) {
  ++overview_.reports;
  overview_.seconds = seconds;
  overview_.maximised = maximises();
}

MANTA_DECL void ranking::reported(const trial_record& r, double value) {
  if (best_ == none || r.loss < overview_.best) {
    best_ = r.id;
    overview_.best = r.loss;
    overview_.best_metric = value;
    overview_.ended_since_best = 0;
  } else if (r.loss == overview_.best) {
    best_ = std::min(best_, r.id);
  }
}

MANTA_DECL void ranking::failed(const trial_record& r, const std::vector<trial_record>& all) {
  if (r.id == best_) find_best(all);
}

MANTA_DECL void ranking::ended(const trial_record& r) {
  ++overview_.ended;
  overview_.ended_since_best += r.id != best_;
}

MANTA_DECL void ranking::revived(const trial_record& r, const std::vector<trial_record>& all) {
  --overview_.ended;
  if (may_be_best(r) && r.best_loss < overview_.best) find_best(all);
}

MANTA_DECL bool ranking::may_be_best(const trial_record& r) const {
  return is_finite(r.best_loss) && (r.state != status::failed || failed_may_be_best_);
}

MANTA_DECL void ranking::find_best(const std::vector<trial_record>& all) {
  const trial_number before = best_;
  best_ = none;
  overview_.best = infinity;
  overview_.best_metric = 0;
  for (const trial_record& r : all) {
    if (!may_be_best(r) || r.best_loss >= overview_.best) continue;
    best_ = r.id;
    overview_.best = r.best_loss;
    overview_.best_metric = flipped(r.best_loss);
  }
  if (best_ != before) overview_.ended_since_best = 0;
}

}  // namespace manta::tune::detail
