// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The median rule of Vizier (Golovin et al., KDD 2017): a trial stops when its
// best loss so far is worse than the median of what the others had on average up
// to the same point.
#pragma once

#include <map>

#include "manta/tune/scheduler.hpp"

namespace manta::tune {

class median_stopping {
 public:
  struct options {
    double grace = 1;               ///< nobody stops before, and what is before does not count
    std::size_t min_samples = 3;    ///< others that have come as far
  };
  median_stopping() : median_stopping(options{}) {}
  explicit median_stopping(options o) : options_(o) {}

  void add(trial_number t, const config&) { running_[t] = {}; }
  verdict report(trial_number t, double at, double loss) {
    history& h = running_.at(t);
    if (at < options_.grace) return verdict::go_on();
    if (at <= h.last) return verdict::go_on();  // a retried trial comes by again
    h.best = std::min(h.best, loss);
    const double mean_before = h.count > 0 ? h.sum / static_cast<double>(h.count) : 0;
    if (!means_at_.contains(at)) open(at);
    const std::vector<double>& others = means_at_.at(at);
    verdict v = verdict::go_on();
    if (others.size() >= options_.min_samples) {
      const double middle = sorted_quantile(others, 0.5);
      if (h.best > middle) {
        v = verdict::stop("at " + detail::number_text(at) + ": best loss " + detail::number_text(h.best) + " is above " +
                          detail::number_text(middle) + ", the median of the means of " +
                          std::to_string(others.size()) + " others");
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
  /// What it did still counts for the others.
  void remove(trial_number) {}
  action next(bool may_add) { return may_add ? action::add() : action::nothing(); }
  double silent_until(trial_number) const { return options_.grace; }

 private:
  struct history {
    double best = infinity, sum = 0, last = -infinity;
    std::size_t count = 0;
    std::vector<std::pair<double, double>> means;  ///< (at, mean up to there)
  };

  static void insert(std::vector<double>& ascending, double x) {
    ascending.insert(std::upper_bound(ascending.begin(), ascending.end(), x), x);
  }
  /// A point at which nobody has reported: collects the means of those that have passed it. Once per point, so the work per
  /// report does not grow with the number of trials.
  void open(double at) {
    std::vector<double>& here = means_at_[at];
    for (const auto& [t, h] : running_) {
      if (h.last < at) continue;
      auto m = std::upper_bound(h.means.begin(), h.means.end(), std::pair(at, infinity));
      if (m != h.means.begin()) insert(here, std::prev(m)->second);
    }
  }

  options options_;
  std::map<trial_number, history> running_;
  std::map<double, std::vector<double>> means_at_;
};

}  // namespace manta::tune
