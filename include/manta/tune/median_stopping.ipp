// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/tune/median_stopping.hpp"

namespace manta::tune {

MANTA_DECL verdict median_stopping::report(trial_number t, double at, double loss) {
  history& h = running_.at(t);
  if (at < options_.grace) return verdict::go_on();
  if (at <= h.last) return verdict::go_on();  // a trial that is tried again passes its old points once more
  h.best = std::min(h.best, loss);
  const double mean_before = h.count > 0 ? h.sum / static_cast<double>(h.count) : 0;
  if (!means_at_.contains(at)) open(at);
  const std::vector<double>& others = means_at_.at(at);
  verdict v = verdict::go_on();
  if (others.size() >= options_.min_samples) {
    const double middle = sorted_quantile(others, 0.5);
    if (h.best > middle) {
      v = verdict::stop(base::text("at {}: best loss {} is above {}, the median of the means of {} others",
                                   detail::number_text(at), detail::number_text(h.best), detail::number_text(middle),
                                   others.size()));
    }
  }
  // the mean up to each point passed since the last report, and up to this one
  for (auto m = means_at_.upper_bound(h.last); m != means_at_.end() && m->first < at; ++m) {
    if (h.count > 0) insert(m->second, mean_before);
  }
  h.sum += loss;
  ++h.count;
  h.last = at;
  insert(means_at_.at(at), h.sum / static_cast<double>(h.count));
  h.means.emplace_back(at, h.sum / static_cast<double>(h.count));
  return v;
}

MANTA_DECL void median_stopping::insert(std::vector<double>& ascending, double x) {
  ascending.insert(std::upper_bound(ascending.begin(), ascending.end(), x), x);
}

MANTA_DECL void median_stopping::open(double at) {
  std::vector<double>& here = means_at_[at];
  for (const auto& [t, h] : running_) {
    if (h.last < at) continue;
    auto m = std::upper_bound(h.means.begin(), h.means.end(), std::pair(at, infinity));
    if (m != h.means.begin()) insert(here, std::prev(m)->second);
  }
}

}  // namespace manta::tune
