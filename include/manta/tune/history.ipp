// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>
#include <tuple>

#include "manta/tune/front.hpp"
#include "manta/tune/history.hpp"

namespace manta::tune {

MANTA_DECL void history::ended(trial_number t, const outcome& o) {
  const auto at = under_way_.find(t);
  if (at == under_way_.end()) return;
  succeeded_ += is_finite(o.loss);
  done_.push_back({std::move(at->second), o});
  under_way_.erase(at);
}

MANTA_DECL void history::trim(std::size_t most) {
  if (done_.size() < most + most / 4) return;
  std::vector<double> places(done_.size(), infinity);
  const std::vector<const tried*> order = detail::ranked(done_);
  for (std::size_t i = 0; i < order.size(); ++i)
    places[static_cast<std::size_t>(order[i] - done_.data())] = static_cast<double>(i);
  const std::vector<bool> stays = detail::worth_keeping(places, most);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < done_.size(); ++i) {
    if (!stays[i]) continue;
    if (kept != i) done_[kept] = std::move(done_[i]);
    ++kept;
  }
  done_.resize(kept);
}

namespace detail {

MANTA_DECL std::vector<bool> worth_keeping(const std::vector<double>& losses, std::size_t most) {
  std::vector<bool> stays(losses.size(), true);
  if (losses.size() <= most) return stays;
  const std::size_t best = most / 4, old = losses.size() - (most - best);
  std::vector<double> of_old(losses.begin(), losses.begin() + static_cast<std::ptrdiff_t>(old));
  const auto cut = of_old.begin() + static_cast<std::ptrdiff_t>(best - 1);
  std::nth_element(of_old.begin(), cut, of_old.end());
  const double bound = *cut;
  std::size_t room = best;
  for (std::size_t i = 0; i < old; ++i) {
    stays[i] = losses[i] <= bound && room > 0;
    room -= stays[i];
  }
  return stays;
}

MANTA_DECL double comparable_time(const std::vector<tried>& all, std::size_t fewest) {
  constexpr std::size_t share = 8;
  std::vector<double> reached;
  for (const tried& t : all) {
    if (!t.result.has_failed()) reached.push_back(t.result.was_stopped ? t.result.at : infinity);
  }
  if (reached.empty()) return infinity;
  std::sort(reached.rbegin(), reached.rend());
  return reached[std::min(reached.size(), std::max(fewest, reached.size() / share)) - 1];
}

/// The loss of a trial that did not fail, with all that it had reported by this time.
inline double loss_by(const tried& t, double time) {
  const outcome& o = t.result;
  if (is_infinite(time) || o.course.empty() || is_infinite(t.loss())) return t.loss();
  return o.is_mean ? o.course.last_by(time) : o.course.best_by(time);
}

inline bool has_come_to(double time, const tried& t) {
  return t.result.has_failed() || !t.result.was_stopped || t.result.at >= time;
}

MANTA_DECL std::vector<compared> compared_at(const std::vector<tried>& all, double time) {
  std::vector<compared> trials;
  for (const tried& t : all) {
    if (has_come_to(time, t)) trials.push_back({&t, loss_by(t, time)});
  }
  return trials;
}

MANTA_DECL std::vector<compared> comparable(const std::vector<tried>& all) {
  return compared_at(all, comparable_time(all));
}

MANTA_DECL std::vector<const tried*> ranked(const std::vector<tried>& all) {
  struct entry {
    double violation, first, second;  ///< compared in this order
    const tried* which;
    auto key() const { return std::tie(violation, first, second); }
  };
  std::vector<entry> order;
  std::vector<loss_vector> points;
  for (const auto& [which, loss] : comparable(all)) {
    const outcome& o = which->result;
    order.push_back({is_infinite(loss) ? infinity : o.violation(), loss, 0, which});
    if (!o.losses.empty() && is_finite(loss)) points.push_back(o.losses);
  }
  if (!points.empty()) {
    const std::vector<std::size_t> ranks = front_ranks(points);
    const std::vector<double> distances = crowding_distances(points);
    std::size_t i = 0;
    for (entry& e : order) {
      if (is_infinite(e.first)) continue;
      e.first = static_cast<double>(ranks[i]);
      e.second = -distances[i++];
    }
  }
  std::stable_sort(order.begin(), order.end(), [](const entry& a, const entry& b) { return a.key() < b.key(); });
  std::vector<const tried*> trials;
  for (const entry& e : order) trials.push_back(e.which);
  return trials;
}

}  // namespace detail

}  // namespace manta::tune
