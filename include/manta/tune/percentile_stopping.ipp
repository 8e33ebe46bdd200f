// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/tune/percentile_stopping.hpp"

namespace manta::tune {

MANTA_DECL percentile_stopping::percentile_stopping(options o) : options_(o) {
  const bool in_range = o.percentile >= 0 && o.percentile <= 100 && o.grace >= 0 && o.interval >= 0;
  if (is_nan(o.percentile + o.grace + o.interval) || !in_range || o.min_samples == 0) {
    throw error(
        "manta: percentile_stopping needs 0 <= percentile <= 100, grace >= 0, interval >= 0 and min_samples >= 1");
  }
}

MANTA_DECL double percentile_stopping::stretch_of(double at) const {
  if (at < options_.grace) return -1;
  return options_.interval > 0 ? std::floor((at - options_.grace) / options_.interval) : at;
}

MANTA_DECL bool percentile_stopping::is_due(double at, double before) const {
  return at >= options_.grace && (before < options_.grace || stretch_of(at) > stretch_of(before));
}

MANTA_DECL verdict percentile_stopping::report(trial_number t, double at, double loss) {
  course& c = running_.at(t);
  if (at <= c.last) return verdict::go_on();  // a retried trial comes by again
  const double before = std::exchange(c.last, at);
  c.best = std::min(c.best, loss);
  c.losses.emplace_back(at, loss);
  if (!is_due(at, before) || complete_.size() < options_.startup) return verdict::go_on();
  const std::vector<double>& others = losses_at(at);
  if (others.size() < options_.min_samples) return verdict::go_on();
  const double bound = sorted_quantile(others, options_.percentile / 100);
  if (!(c.best > bound)) return verdict::go_on();
  const std::string why = base::text("at {}: best loss {} is above {}, percentile {} of {} complete trials",
                                     detail::number_text(at), detail::number_text(c.best), detail::number_text(bound),
                                     detail::number_text(options_.percentile), others.size());
  running_.erase(t);
  return verdict::stop(why);
}

MANTA_DECL void percentile_stopping::complete(trial_number t) {
  const course& c = complete_.emplace_back(std::move(running_.at(t)));
  for (auto& [at, losses] : losses_at_) enter(losses, c, at);
}

MANTA_DECL void percentile_stopping::enter(std::vector<double>& ascending, const course& c, double at) {
  if (c.last < at) return;
  const auto after = std::upper_bound(c.losses.begin(), c.losses.end(), std::pair(at, infinity));
  if (after == c.losses.begin()) return;
  const double loss = std::prev(after)->second;
  ascending.insert(std::upper_bound(ascending.begin(), ascending.end(), loss), loss);
}

MANTA_DECL const std::vector<double>& percentile_stopping::losses_at(double at) {
  const auto [place, is_new] = losses_at_.try_emplace(at);
  if (is_new) {
    for (const course& c : complete_) enter(place->second, c, at);
  }
  return place->second;
}

MANTA_DECL double percentile_stopping::silent_until(trial_number t) const {
  const auto c = running_.find(t);
  if (c == running_.end() || c->second.last < options_.grace) return options_.grace;
  return options_.interval > 0 ? options_.grace + (stretch_of(c->second.last) + 1) * options_.interval : 0;
}

MANTA_DECL std::string percentile_stopping::remark(double longest) const {
  if (longest <= 0 || longest >= options_.grace) return {};
  return base::text("percentile_stopping: trials end at {}, before .grace = {}, so none is judged; give a smaller one",
                    detail::number_text(longest), detail::number_text(options_.grace));
}

}  // namespace manta::tune
