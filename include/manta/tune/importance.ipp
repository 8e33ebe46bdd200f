// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of importance.hpp.
#pragma once

#include "manta/tune/importance.hpp"

namespace manta::tune {

MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<trial_record>& trials,
                                                                            bool best_may_fail) {
  std::vector<std::pair<double, const trial_record*>> done;
  for (const trial_record& t : trials) {
    const bool has_failed = t.state == status::failed && !best_may_fail;
    if (has_failed || is_finite(t.best_loss)) done.emplace_back(has_failed ? infinity : t.best_loss, &t);
  }
  std::vector<std::pair<std::string, double>> shares;
  if (done.size() < 8) return shares;
  std::stable_sort(done.begin(), done.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<double> rank(done.size());
  for (std::size_t i = 0, end = 0; i < done.size(); i = end) {  // equal ones share the middle of their ranks
    while (end < done.size() && done[end].first == done[i].first) ++end;
    std::fill(rank.begin() + static_cast<std::ptrdiff_t>(i), rank.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<double>(i + end - 1) / 2);
  }

  for (const parameter& p : where.parameters()) {
    if (p.where.is_closed()) shares.emplace_back(p.name, 0.0);
    if (p.where.type() != domain::kind::choice && p.where.type() != domain::kind::number) continue;
    std::vector<std::pair<double, double>> points;  // (position, rank) of the trials that have it
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (const value* v = done[i].second->parameters.find(p.name)) points.emplace_back(p.where.position(*v), rank[i]);
    }
    if (points.size() < 8) continue;
    std::sort(points.begin(), points.end());
    const auto n = static_cast<double>(points.size());
    double mean = 0, variance = 0;
    for (const auto& [u, y] : points) mean += y / n;
    for (const auto& [u, y] : points) variance += (y - mean) * (y - mean) / n;
    const std::size_t bins = p.where.type() == domain::kind::choice ? p.where.options().size()
                                                                    : std::min<std::size_t>(10, points.size() / 4);
    double between = 0, used = 0;
    for (std::size_t b = 0; b < bins; ++b) {
      double sum = 0, count = 0;
      if (p.where.type() == domain::kind::choice) {
        for (const auto& [u, y] : points) {
          if (static_cast<std::size_t>(u * static_cast<double>(bins)) == b) sum += y, count += 1;
        }
      } else {
        for (std::size_t i = b * points.size() / bins; i < (b + 1) * points.size() / bins; ++i)
          sum += points[i].second, count += 1;
      }
      if (count == 0) continue;
      between += count * (sum / count - mean) * (sum / count - mean) / n;
      used += 1;
    }
    // what means of bins vary by chance alone is taken off
    const double chance = n > used ? (used - 1) * (variance - between) / (n - used) : 0;
    shares.emplace_back(p.name, variance > 1e-6 ? std::clamp((between - chance) / variance, 0.0, 1.0) : 0.0);
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

}  // namespace manta::tune
