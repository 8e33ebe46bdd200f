// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "manta/tune/fanova.hpp"
#include "manta/tune/history.hpp"

namespace manta::tune {

namespace detail {

// ---- trees ------------------------------------------------------------------------------------------

MANTA_DECL regression_tree::regression_tree(const samples& from, std::vector<std::size_t> chosen, std::size_t leaf,
                                            random& r)
    : from_(from), chosen_(std::move(chosen)), leaf_(std::max<std::size_t>(1, leaf)) {
  const std::size_t axes = from.points.front().size();
  grow({0, chosen_.size()}, {std::vector<double>(axes, 0), std::vector<double>(axes, 1), 0, 1}, r);
}

MANTA_DECL void regression_tree::grow(range of, box within, random& r) {
  const auto [begin, end] = of;
  const cut c = best_cut(of, r);
  if (c.gain <= 0) {
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += from_.values[chosen_[i]];
    within.value = sum / static_cast<double>(end - begin);
    for (std::size_t k = 0; k < within.low.size(); ++k) within.volume *= within.high[k] - within.low[k];
    boxes_.push_back(std::move(within));
    return;
  }
  sort(of, c.axis);
  const auto first = chosen_.begin() + static_cast<std::ptrdiff_t>(begin),
             last = chosen_.begin() + static_cast<std::ptrdiff_t>(end);
  const auto is_below = [&](std::size_t i) { return from_.points[i][c.axis] < c.at; };
  const auto middle = static_cast<std::size_t>(std::partition_point(first, last, is_below) - chosen_.begin());
  box above = within;
  within.high[c.axis] = above.low[c.axis] = c.at;
  grow({begin, middle}, std::move(within), r);
  grow({middle, end}, std::move(above), r);
}

MANTA_DECL regression_tree::cut regression_tree::best_cut(range of, random& r) {
  cut best;
  const auto [begin, end] = of;
  if (end - begin < 2 * leaf_) return best;
  double sum = 0, squares = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const double value = from_.values[chosen_[i]];
    sum += value;
    squares += value * value;
  }
  best.gain = 1e-12 * squares;  // less is an error of rounding
  const double least = best.gain;
  for (const std::size_t axis : r.permutation(from_.points.front().size())) look_for_cut(of, axis, sum, best);
  if (best.gain <= least) best.gain = 0;
  return best;
}

MANTA_DECL void regression_tree::look_for_cut(range of, std::size_t axis, double sum, cut& best) {
  const auto [begin, end] = of;
  sort(of, axis);
  const auto n = static_cast<double>(end - begin);
  double below = 0;
  for (std::size_t i = begin; i + leaf_ < end; ++i) {
    below += from_.values[chosen_[i]];
    const double here = from_.points[chosen_[i]][axis], next = from_.points[chosen_[i + 1]][axis];
    if (i + 1 < begin + leaf_ || !(here < next)) continue;
    const auto count = static_cast<double>(i + 1 - begin);
    const double above = sum - below;
    const double gain = below * below / count + above * above / (n - count) - sum * sum / n;
    if (gain > best.gain) best = {axis, (here + next) / 2, gain};
  }
}

MANTA_DECL void regression_tree::sort(range of, std::size_t axis) {
  const auto nearer = [&](std::size_t a, std::size_t b) {
    return std::pair(from_.points[a][axis], a) < std::pair(from_.points[b][axis], b);
  };
  std::sort(chosen_.begin() + static_cast<std::ptrdiff_t>(of.first),
            chosen_.begin() + static_cast<std::ptrdiff_t>(of.second), nearer);
}

// ---- variances --------------------------------------------------------------------------------------

/// What two boxes have in common on an axis, beyond that of two independent intervals: 0 if one of them is the whole
/// axis. With it the variance of a set of axes is the sum over all pairs of boxes of the product of their values and
/// volumes, and of these numbers of the axes.
inline double common_part(const regression_tree::box& a, const regression_tree::box& b, std::size_t axis) {
  const double both = std::min(a.high[axis], b.high[axis]) - std::max(a.low[axis], b.low[axis]);
  return std::max(0.0, both) / ((a.high[axis] - a.low[axis]) * (b.high[axis] - b.low[axis])) - 1;
}

MANTA_DECL void variance_table::add(const std::vector<regression_tree::box>& a,
                                    const std::vector<regression_tree::box>& b) {
  const auto mean_of = [](const std::vector<regression_tree::box>& boxes) {
    double mean = 0;
    for (const auto& each : boxes) mean += each.volume * each.value;
    return mean;
  };
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  for (const auto& one : a) {
    for (const auto& other : b) {
      add_boxes(one, other, one.volume * other.volume * (one.value - mean_a) * (other.value - mean_b));
    }
  }
}

MANTA_DECL void variance_table::add_boxes(const regression_tree::box& a, const regression_tree::box& b, double weight) {
  parts_.clear();
  double whole = 1;
  for (std::size_t k = 0; k < alone_and_in_pairs_.size(); ++k) {
    const double part = common_part(a, b, k);
    if (part < 0 || part > 0) parts_.emplace_back(k, part);
    whole *= 1 + part;
  }
  whole_ += weight * whole;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const auto [axis, part] = parts_[k];
    alone_and_in_pairs_[axis][axis] += weight * part;
    for (std::size_t l = k + 1; l < parts_.size(); ++l)
      alone_and_in_pairs_[axis][parts_[l].first] += weight * part * parts_[l].second;
  }
}

MANTA_DECL double variance_table::share(std::size_t k, std::size_t l) const {
  return whole_ > 0 ? std::clamp(alone_and_in_pairs_[k][l] / whole_, 0.0, 1.0) : 0;
}

MANTA_DECL variance_table forest_variances(const samples& from, const fanova_options& o) {
  variance_table table(from.points.front().size());
  std::vector<regression_tree::box> first, before;
  for (std::size_t t = 0; t < o.trees; ++t) {
    random r(o.seed, t, 0x66616e6f7661ULL);
    std::vector<std::size_t> chosen(from.points.size());
    for (std::size_t& i : chosen) i = r.index(chosen.size());
    const regression_tree tree(from, std::move(chosen), o.leaf, r);
    if (t == 0) first = tree.boxes();
    else table.add(before, tree.boxes());
    before = tree.boxes();
  }
  table.add(before, first);
  return table;
}

// ---- trials -----------------------------------------------------------------------------------------

/// An option of a choice lies where it would with equal weights, so that each counts alike.
inline double position_on(const parameter& axis, const config& c) {
  const value* const v = c.find(axis.name);
  if (v == nullptr) return 0.5;
  if (axis.where.type() != domain::kind::choice) return axis.where.position(*v);
  return (static_cast<double>(axis.where.option_index(*v)) + 0.5) / static_cast<double>(axis.where.options().size());
}

/// Replaces the values by their ranks; equal ones share the middle of theirs.
inline void make_ranks(std::vector<double>& values) {
  std::vector<double> ascending = values;
  std::sort(ascending.begin(), ascending.end());
  for (double& x : values) {
    const auto [first, last] = std::equal_range(ascending.begin(), ascending.end(), x);
    x = static_cast<double>((first - ascending.begin()) + (last - ascending.begin()) - 1) / 2;
  }
}

/// A forest that learns from fewer trials takes chance for effects.
constexpr std::size_t least_trials = 20;

inline std::vector<tried> ended_of(const std::vector<trial_record>& trials, const fanova_options& o) {
  std::vector<tried> ended;
  for (const trial_record& t : trials) {
    if (!t.ended() || (t.state != status::failed && !is_finite(t.best_loss))) continue;
    tried& each = ended.emplace_back(tried{t.parameters, t.result()});
    if (o.best_may_fail && is_finite(t.best_loss)) each.result.loss = t.best_loss;
  }
  return ended;
}

inline samples samples_of(const std::vector<parameter>& axes, const std::vector<tried>& ended, double at,
                          const fanova_options& o) {
  std::vector<compared> all = compared_at(ended, at);
  if (!o.by_rank) std::erase_if(all, [](const compared& c) { return !is_finite(c.loss); });
  const std::size_t n = std::min(all.size(), o.most_trials);
  samples chosen;
  for (std::size_t i = 0; i < n; ++i) {
    const compared& c = all[i * all.size() / n];
    auto& point = chosen.points.emplace_back();
    for (const parameter& axis : axes) point.push_back(position_on(axis, c.which->parameters));
    chosen.values.push_back(c.loss);
  }
  if (o.by_rank) make_ranks(chosen.values);
  return chosen;
}

}  // namespace detail

MANTA_DECL std::vector<effect> fanova(const space& where, const std::vector<trial_record>& trials,
                                      const fanova_options& o) {
  if (o.trees == 0 || o.leaf == 0 || o.most_trials < 8)
    throw error("manta: tune: fanova needs trees >= 1, leaf >= 1 and most_trials >= 8");
  const std::vector<parameter> axes = where.searched();
  std::vector<effect> effects;
  if (axes.empty()) return effects;
  const std::vector<tried> ended = detail::ended_of(trials, o);
  const detail::samples from = detail::samples_of(axes, ended, detail::comparable_time(ended, detail::least_trials), o);
  if (from.points.size() < 8) return effects;
  const detail::variance_table shares = detail::forest_variances(from, o);
  for (std::size_t k = 0; k < axes.size(); ++k) {
    for (std::size_t l = k; l < axes.size(); ++l) {
      effects.push_back({{axes[k].name}, shares.share(k, l)});
      if (l != k) effects.back().parameters.push_back(axes[l].name);
    }
  }
  std::stable_sort(effects.begin(), effects.end(), [](const effect& a, const effect& b) { return a.share > b.share; });
  return effects;
}

MANTA_DECL fanova_basis fanova_trials(const std::vector<trial_record>& trials, const fanova_options& o) {
  const std::vector<tried> ended = detail::ended_of(trials, o);
  const double at = detail::comparable_time(ended, detail::least_trials);
  return {detail::samples_of({}, ended, at, o).points.size(), at};
}

MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<trial_record>& trials,
                                                                            bool best_may_fail) {
  fanova_options o;
  o.best_may_fail = best_may_fail;
  return parameter_importance(where, fanova(where, trials, o));
}

MANTA_DECL std::vector<std::pair<std::string, double>> parameter_importance(const space& where,
                                                                            const std::vector<effect>& effects) {
  std::vector<std::pair<std::string, double>> shares;
  if (effects.empty()) return shares;
  for (const parameter& p : where.parameters()) {
    if (!p.where.is_searched() && !p.where.is_closed()) continue;
    double share = 0;
    for (const effect& e : effects) {
      if (std::find(e.parameters.begin(), e.parameters.end(), p.name) != e.parameters.end())
        share += e.share / static_cast<double>(e.parameters.size());
    }
    shares.emplace_back(p.name, share);
  }
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return shares;
}

}  // namespace manta::tune
