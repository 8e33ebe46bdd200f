// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/tune/front.hpp"
#include "manta/tune/math.hpp"

namespace manta::tune {

MANTA_DECL bool dominates(const loss_vector& a, const loss_vector& b) {
  bool is_better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    is_better = is_better || a[i] < b[i];
  }
  return is_better;
}

MANTA_DECL std::vector<std::size_t> front_ranks(const std::vector<loss_vector>& points) {
  // In lexicographic order no point is dominated by a later one.
  std::vector<std::size_t> order(points.size()), rank(points.size(), 0);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  std::vector<std::vector<std::size_t>> fronts;
  for (const std::size_t i : order) {
    const auto is_free = [&](const std::vector<std::size_t>& front) {
      return std::none_of(front.rbegin(), front.rend(), [&](std::size_t j) { return dominates(points[j], points[i]); });
    };
    const auto at = std::find_if(fronts.begin(), fronts.end(), is_free);
    rank[i] = static_cast<std::size_t>(at - fronts.begin());
    (at == fronts.end() ? fronts.emplace_back() : *at).push_back(i);
  }
  return rank;
}

MANTA_DECL std::vector<double> crowding_distances(const std::vector<loss_vector>& points) {
  std::vector<double> distance(points.size(), 0);
  if (points.empty()) return distance;
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t k = 0; k < points.front().size(); ++k) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return points[a][k] < points[b][k]; });
    const double range = points[order.back()][k] - points[order.front()][k];
    distance[order.front()] = distance[order.back()] = infinity;
    for (std::size_t i = 1; i + 1 < order.size() && range > 0; ++i)
      distance[order[i]] += (points[order[i + 1]][k] - points[order[i - 1]][k]) / range;
  }
  return distance;
}

namespace detail {

/// In two dimensions, of points in ascending order of the first loss.
inline double area(std::vector<loss_vector>& points, const loss_vector& reference) {
  std::sort(points.begin(), points.end());
  double sum = 0, height = reference[1];
  for (const loss_vector& p : points) {
    if (p[1] >= height || p[0] >= reference[0]) continue;
    sum += (reference[0] - p[0]) * (height - p[1]);
    height = p[1];
  }
  return sum;
}

inline double volume(std::vector<loss_vector> points, const loss_vector& reference) {
  if (points.empty()) return 0;
  const std::size_t d = reference.size();
  if (d == 1) return std::max(0.0, reference[0] - std::min_element(points.begin(), points.end())->front());
  if (d == 2) return area(points, reference);
  // Each point adds its box, less what the box shares with the boxes of the points after it.
  std::sort(points.begin(), points.end(),
            [&](const loss_vector& a, const loss_vector& b) { return a[d - 1] > b[d - 1]; });
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double box = 1;
    for (std::size_t k = 0; k < d; ++k) box *= std::max(0.0, reference[k] - points[i][k]);
    if (box <= 0) continue;
    std::vector<loss_vector> shared;
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      loss_vector limited = points[j];
      for (std::size_t k = 0; k < d; ++k) limited[k] = std::max(limited[k], points[i][k]);
      const auto covers = [&](const loss_vector& other) { return other == limited || dominates(other, limited); };
      if (std::any_of(shared.begin(), shared.end(), covers)) continue;
      std::erase_if(shared, [&](const loss_vector& other) { return dominates(limited, other); });
      shared.push_back(std::move(limited));
    }
    sum += box - volume(std::move(shared), reference);
  }
  return sum;
}

}  // namespace detail

MANTA_DECL double hypervolume(const std::vector<loss_vector>& points, const loss_vector& reference) {
  std::vector<loss_vector> front;
  const std::vector<std::size_t> rank = front_ranks(points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (rank[i] == 0) front.push_back(points[i]);
  }
  return detail::volume(std::move(front), reference);
}

MANTA_DECL std::vector<double> hypervolume_shares(const std::vector<loss_vector>& points,
                                                  const loss_vector& reference) {
  const double whole = detail::volume(points, reference);
  std::vector<double> shares;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<loss_vector> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    shares.push_back(std::max(0.0, whole - detail::volume(std::move(others), reference)));
  }
  return shares;
}

MANTA_DECL loss_vector reference_of(const std::vector<loss_vector>& points) {
  loss_vector worst = points.front(), best = points.front();
  for (const loss_vector& p : points) {
    for (std::size_t k = 0; k < p.size(); ++k) {
      worst[k] = std::max(worst[k], p[k]);
      best[k] = std::min(best[k], p[k]);
    }
  }
  for (std::size_t k = 0; k < worst.size(); ++k) worst[k] += 0.1 * std::max(worst[k] - best[k], 1e-12);
  return worst;
}

}  // namespace manta::tune
