// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "manta/tune/ranking.hpp"

namespace manta::tune::detail {

MANTA_DECL std::vector<objective> objectives_of(const experiment& e) {
  std::vector<objective> all;
  for (const std::string& metric : e.minimise) all.push_back({metric, false});
  for (const std::string& metric : e.maximise) all.push_back({metric, true});
  return all;
}

MANTA_DECL void ranking::begin(const experiment& e) {
  objectives_ = objectives_of(e);
  limits_.clear();
  for (const constraint& c : e.subject_to) {
    if (c.is_bound()) limits_.push_back(c.limit());
  }
  failed_may_be_best_ = e.best_may_fail;
  counts_mean_ = e.counts == counted::mean;
}

MANTA_DECL bool ranking::takes(trial_record& r, const metrics& m) const {
  r.excess.resize(limits_.size(), infinity);
  for (std::size_t i = 0; i < limits_.size(); ++i) {  // what a report does not hold is as it was before
    if (const double* x = m.find(limits_[i].metric)) r.excess[i] = limits_[i].excess(*x);
  }
  const double before = r.best.empty() ? infinity : r.violation();
  const bool is_better = std::pair(violation_of(r.excess), r.loss) < std::pair(before, r.best_loss);
  if (!has_several() && !counts_mean_ && !is_better) return false;
  r.best_loss = r.averaged == 0 ? r.loss : r.best_loss + (r.loss - r.best_loss) / static_cast<double>(r.averaged + 1);
  r.best_at = r.at;
  r.best = m;
  if (counts_mean_) {
    ++r.averaged;
    r.best.set(metric(), flipped(r.best_loss));
  }
  r.best_excess = r.excess;
  r.best_losses.clear();
  for (const objective& o : objectives_) r.best_losses.push_back(o.flipped(*m.find(o.metric)));
  if (!has_several()) r.best_losses.clear();
  return true;
}

MANTA_DECL void ranking::passed(double seconds) { overview_.seconds = seconds; }

MANTA_DECL void ranking::count_report(double seconds) {
  ++overview_.reports;
  overview_.seconds = seconds;
  overview_.maximised = maximises();
}

MANTA_DECL void ranking::reported(const trial_record& r) {
  if (!counts_mean_) compare_with_best(r);
}

MANTA_DECL void ranking::compare_with_best(const trial_record& r) {
  if (!r.is_feasible()) return;
  if (best_ == none || r.best_loss < overview_.best) {
    best_ = r.id;
    overview_.best = r.best_loss;
    overview_.best_metric = flipped(r.best_loss);
    if (!has_several()) overview_.ended_since_best = 0;
  } else if (r.best_loss == overview_.best) {
    best_ = std::min(best_, r.id);
  }
}

MANTA_DECL void ranking::failed(const trial_record& r, const std::vector<trial_record>& all) {
  if (r.id == best_) find_best(all);
}

MANTA_DECL void ranking::ended(const trial_record& r) {
  if (counts_mean_ && may_be_best(r)) compare_with_best(r);
  ++overview_.ended;
  overview_.complete += r.state == status::complete;
  overview_.stopped += r.state == status::stopped;
  overview_.failed += r.state == status::failed;
  overview_.best_after.push_back(overview_.best);
  overview_.ended_since_best += has_several() || r.id != best_;
  if (has_several()) note_in_front(r);
}

MANTA_DECL void ranking::note_in_front(const trial_record& r) {
  const auto covers = [&](const loss_vector& p) { return p == r.best_losses || dominates(p, r.best_losses); };
  if (!may_be_best(r) || std::any_of(front_.begin(), front_.end(), covers)) return;
  std::erase_if(front_, [&](const loss_vector& p) { return dominates(r.best_losses, p); });
  front_.push_back(r.best_losses);
  overview_.ended_since_best = 0;
}

MANTA_DECL void ranking::revived(const trial_record& r, const std::vector<trial_record>& all) {
  --overview_.ended;
  --overview_.failed;
  if (may_be_best(r) && r.best_loss < overview_.best) find_best(all);
}

MANTA_DECL bool ranking::may_be_best(const trial_record& r) const {
  if (counts_mean_ && r.state != status::complete) return false;  // the mean of few reports may be good by chance
  return is_finite(r.best_loss) && r.is_feasible() && (r.state != status::failed || failed_may_be_best_);
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
