// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of wilcoxon_stopping.hpp.
#pragma once

#include "manta/base/text.hpp"
#include "manta/tune/wilcoxon_stopping.hpp"

namespace manta::tune {

MANTA_DECL wilcoxon_stopping::wilcoxon_stopping(options o) : options_(o) {
  if (is_nan(o.p) || o.p < 0 || o.p > 1 || o.startup == 0)
    throw error("manta: wilcoxon_stopping needs 0 <= p <= 1 and startup >= 1");
}

MANTA_DECL std::vector<double> wilcoxon_stopping::differences(const series& of) const {
  std::vector<double> all;
  for (const auto& [at, loss] : of.losses) {
    const auto other = best_.losses.find(at);
    if (other != best_.losses.end()) all.push_back(loss - other->second);
  }
  return all;
}

MANTA_DECL verdict wilcoxon_stopping::report(trial_number t, double at, double loss) {
  series& own = running_.at(t);
  if (!own.losses.emplace(at, loss).second) return verdict::go_on();  // a retried trial comes by again
  own.sum += loss;
  if (best_.losses.empty()) return verdict::go_on();
  (best_.losses.contains(at) ? has_compared_ : has_missed_) = true;
  const std::vector<double> worse_by = differences(own);
  // A trial that is the best one by its mean goes on, whatever the test says about single pairs.
  if (worse_by.size() < options_.startup || own.mean() <= best_.mean()) return verdict::go_on();
  const double p = signed_rank_p(worse_by);
  if (!(p < options_.p)) return verdict::go_on();
  const std::string why =
      base::text("at {}: worse than trial {}, the best complete one, at {} common points (p = {}): mean loss {} and {}",
                 detail::number_text(at), best_trial_, worse_by.size(), detail::number_text(p),
                 detail::number_text(own.mean()), detail::number_text(best_.mean()));
  running_.erase(t);
  return verdict::stop(why);
}

MANTA_DECL void wilcoxon_stopping::complete(trial_number t) {
  series& own = running_.at(t);
  if (own.losses.empty() || (!best_.losses.empty() && own.mean() >= best_.mean())) return;
  best_ = std::move(own);
  best_trial_ = t;
}

MANTA_DECL std::string wilcoxon_stopping::remark(double longest) const {
  if (longest <= 0 || has_compared_ || !has_missed_) return {};
  return "wilcoxon_stopping: no trial has reported at a point of the best one, so none was compared; let all trials "
         "report at the same points, or give .clock the metric with the number of the seed, fold or instance";
}

}  // namespace manta::tune
