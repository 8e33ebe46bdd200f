// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/tune/kernels.hpp"

namespace manta::tune::detail {

MANTA_DECL parzen::parzen(const domain& d, const std::vector<double>& at, const std::vector<double>& weights)
    : domain_(&d) {
  double total = 1;
  for (const double w : weights) total += w;
  if (d.type() == domain::kind::choice) {
    for (std::size_t i = 0; i < d.options().size(); ++i) shares_.push_back(d.share(i) / total);
    for (std::size_t i = 0; i < at.size(); ++i) shares_[d.option_at(at[i])] += weights[i] / total;
    return;
  }
  if (d.is_quantised() && !d.is_normal()) {
    const double levels = (d.high() - d.low()) / d.step() + 1;
    if (!d.is_log() && levels < 1e6) cell_ = 1 / levels;
  }
  const std::size_t n = at.size();
  for (std::size_t i = 0; i < n; ++i) kernels_.push_back({at[i], 0, weights[i]});
  kernels_.push_back({0.5, 1, 1});
  widen(n);
  for (kernel& k : kernels_) {
    k.below = normal_cdf(-k.mean / k.deviation);
    k.mass = normal_cdf((1 - k.mean) / k.deviation) - k.below;
    k.weight /= total;
    k.height = k.weight / k.mass;
    k.half = -0.5 / (k.deviation * k.deviation);
  }
}

MANTA_DECL double parzen::draw(random& r) const {
  if (!shares_.empty())
    return domain_->middle_of(pick(
        shares_, [](double s) { return s; }, r));
  const kernel& k = kernels_[pick(
      kernels_, [](const kernel& x) { return x.weight; }, r)];
  return std::clamp(k.mean + k.deviation * normal_quantile(k.below + k.mass * r.uniform()), 0.0, 1.0);
}

MANTA_DECL double parzen::log_density(double u) const {
  if (!shares_.empty()) return std::log(shares_[domain_->option_at(u)] + 1e-300);
  double sum = 0;
  if (cell_ > 0) {
    const auto below = [](const kernel& k, double x) { return normal_cdf((x - k.mean) / k.deviation); };
    for (const kernel& k : kernels_) sum += k.weight / k.mass * (below(k, u + cell_ / 2) - below(k, u - cell_ / 2));
  } else {
    for (const kernel& k : kernels_) sum += k.height * std::exp(k.half * (u - k.mean) * (u - k.mean));
  }
  return std::log(sum + 1e-300);
}

template <class All, class Weight>
std::size_t parzen::pick(const All& all, Weight weight, random& r) {
  double u = r.uniform();
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    if ((u -= weight(all[i])) < 0) return i;
  }
  return all.size() - 1;
}

MANTA_DECL void parzen::widen(std::size_t n) {
  std::vector<kernel*> order;
  for (kernel& k : kernels_) order.push_back(&k);
  std::sort(order.begin(), order.end(), [](const kernel* a, const kernel* b) { return a->mean < b->mean; });
  const double least = 1 / std::min(100.0, static_cast<double>(n) + 3);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double left = i > 0 ? order[i]->mean - order[i - 1]->mean : 0;
    const double right = i + 1 < order.size() ? order[i + 1]->mean - order[i]->mean : 0;
    order[i]->deviation = std::clamp(std::max(left, right), least, 1.0);
  }
  kernels_.back().deviation = 1;  // the one of what is known before
}

/// The newest 25 weigh 1, older ones less, linearly.
inline std::vector<double> recency_weights(std::size_t n) {
  std::vector<double> w(n, 1.0);
  if (n <= 25) return w;
  const std::size_t older = n - 25;
  for (std::size_t i = 0; i < older; ++i) {
    const double share = older > 1 ? static_cast<double>(i) / static_cast<double>(older - 1) : 0;
    w[i] = 1 / static_cast<double>(n) + (1 - 1 / static_cast<double>(n)) * share;
  }
  return w;
}

inline std::vector<double> weighted_configs::all_weights() const {
  return weights.empty() ? recency_weights(all.size()) : weights;
}

inline std::vector<double> weighted_configs::weights_of(const std::vector<std::size_t>& which) const {
  if (weights.empty()) return recency_weights(which.size());
  std::vector<double> chosen;
  for (const std::size_t i : which) chosen.push_back(weights[i]);
  return chosen;
}

/// The position of a parameter; nothing if the configuration has none, or has what the domain does not, which a program
/// may have given under this name.
inline std::optional<double> position_in(const config& c, const parameter& p) {
  const value* v = c.find(p.name);
  if (v == nullptr || (p.where.type() == domain::kind::choice ? !p.where.find(*v) : !v->is_number()))
    return std::nullopt;
  return p.where.position(*v);
}

/// The density of one parameter, from the configurations that have it.
inline parzen density_of(const parameter& p, const weighted_configs& from) {
  std::vector<std::size_t> with_it;
  std::vector<double> positions;
  for (std::size_t i = 0; i < from.all.size(); ++i) {
    const std::optional<double> u = position_in(*from.all[i], p);
    if (!u) continue;
    with_it.push_back(i);
    positions.push_back(*u);
  }
  return {p.where, positions, from.weights_of(with_it)};
}

// ---- whole configurations --------------------------------------------------------------------------

constexpr double other_option = 0.3;  // the probability that a kernel draws an option by what is known before

inline joint_density::joint_density(const axes& on, std::vector<point> at, const std::vector<double>& weights)
    : axes_(&on) {
  double total = 1;
  for (const double w : weights) total += w;
  for (const double w : weights) weights_.push_back(w / total);
  weights_.push_back(1 / total);
  for (std::size_t n = 0; n < at.size(); ++n) {
    kernel k{at[n], widths(n, at), point(on.size(), 0)};
    for (std::size_t i = 0; i < on.size(); ++i) {
      const double mass = normal_cdf((1 - k.at[i]) / k.width[i]) - normal_cdf(-k.at[i] / k.width[i]);
      k.log_height[i] = -std::log(k.width[i] * mass * std::sqrt(2 * std::numbers::pi));
    }
    kernels_.push_back(std::move(k));
  }
}

inline double joint_density::distance(const point& a, const point& b) const {
  constexpr double apart = 0.5;  // other options, or one of them does not have the parameter
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_nan(a[i]) && is_nan(b[i])) continue;
    const double d = std::abs(a[i] - b[i]);
    sum += is_nan(d) || (is_choice(i) && d > 1e-9) ? apart : d;
  }
  return sum;
}

inline joint_density::point joint_density::widths(std::size_t of, const std::vector<point>& all) const {
  constexpr std::size_t nearest = 3;
  constexpr double share = 0.6, alone = 0.2;
  const double least = 0.5 / std::min(100.0, static_cast<double>(all.size()) + 3);
  std::vector<std::pair<double, std::size_t>> near;
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (j != of) near.emplace_back(distance(all[of], all[j]), j);
  }
  const std::size_t count = std::min(nearest, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  point width(axes_->size(), 1);
  for (std::size_t i = 0; i < width.size(); ++i) {
    double sum = 0, with_it = 0;
    for (std::size_t n = 0; n < count; ++n) {
      const double d = std::abs(all[near[n].second][i] - all[of][i]);
      if (is_nan(d)) continue;
      sum += d;
      ++with_it;
    }
    const auto values = (*axes_)[i].where.count();  // or an integer would never become its neighbour
    const double cell = values ? 0.5 / static_cast<double>(*values) : 0;
    width[i] = std::clamp(with_it > 0 ? share * sum / with_it : alone, std::min(1.0, std::max(least, cell)), 1.0);
  }
  return width;
}

inline std::size_t joint_density::pick(random& r) const {
  double u = r.uniform();
  std::size_t i = 0;
  while (i < kernels_.size() && (u -= weights_[i]) >= 0) ++i;
  return i;
}

inline double joint_density::draw(std::size_t number, std::size_t axis, random& r) const {
  const bool is_even = number == kernels_.size() || is_nan(kernels_[number].at[axis]);
  if (is_even || (is_choice(axis) && r.chance(other_option))) return r.uniform();
  const double at = kernels_[number].at[axis], width = kernels_[number].width[axis];
  if (is_choice(axis)) return at;
  const double below = normal_cdf(-at / width), above = normal_cdf((1 - at) / width);
  return std::clamp(at + width * normal_quantile(below + (above - below) * r.uniform()), 0.0, 1.0);
}

inline double joint_density::log_density(const point& u) const {
  point log_same(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (is_nan(u[i]) || !is_choice(i)) continue;
    const domain& d = (*axes_)[i].where;
    log_same[i] = std::log(other_option + (1 - other_option) / d.share(d.option_at(u[i])));
  }
  double sum = weights_.back();
  for (std::size_t n = 0; n < kernels_.size(); ++n) {
    const kernel& k = kernels_[n];
    double log_part = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      const double d = std::abs(u[i] - k.at[i]);
      if (is_nan(d)) continue;
      if (is_choice(i)) log_part += d < 1e-9 ? log_same[i] : std::log(other_option);
      else log_part += k.log_height[i] - 0.5 * (d / k.width[i]) * (d / k.width[i]);
    }
    sum += weights_[n] * std::exp(log_part);
  }
  return std::log(sum);
}

/// The parameters that are searched; those of a program are the ones that it asks for to make these configurations.
inline std::vector<parameter> axes_of(const space& where, const std::vector<const config*>& configs, random r) {
  std::vector<parameter> axes = where.searched();
  for (std::size_t i = 0; where.is_program() && i < configs.size(); ++i) {
    (void)where.make(
        [&](const parameter& p, const config& before) {
          const auto is_same = [&](const parameter& other) { return other.name == p.name; };
          if (std::none_of(axes.begin(), axes.end(), is_same)) axes.push_back(p);
          const value* v = configs[i]->find(p.name);
          return v != nullptr ? *v : p.where.draw(before, r);
        },
        r);
  }
  return axes;
}

inline std::vector<joint_density::point> points_on(const std::vector<parameter>& axes,
                                                   const std::vector<const config*>& configs) {
  std::vector<joint_density::point> points;
  for (const config* c : configs) {
    auto& u = points.emplace_back();
    for (const parameter& p : axes) u.push_back(position_in(*c, p).value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return points;
}

inline config promising_whole(const space& where, const weighted_configs& good, const weighted_configs& others,
                              std::size_t candidates, random& r) {
  const std::vector<parameter> axes = axes_of(where, good.all, r);
  const joint_density l(axes, points_on(axes, good.all), good.all_weights());
  const joint_density g(axes, points_on(axes, others.all), others.all_weights());
  config best;
  double most = -infinity;
  std::size_t attempts = 64 * candidates;
  for (std::size_t n = 0; n < candidates && attempts > 0; --attempts) {
    const std::size_t kernel = l.pick(r);
    joint_density::point u(axes.size(), std::numeric_limits<double>::quiet_NaN());
    config c = where.make(
        [&](const parameter& p, const config& before) {
          const auto axis = static_cast<std::size_t>(
              std::find_if(axes.begin(), axes.end(), [&](const parameter& a) { return a.name == p.name; }) -
              axes.begin());
          if (axis == axes.size()) return p.where.draw(before, r);
          value v = p.where.at(l.draw(kernel, axis, r));
          u[axis] = p.where.position(v);
          return v;
        },
        r);
    if (best.empty()) best = c;
    if (!where.allows(c)) continue;
    ++n;
    const double score = l.log_density(u) - g.log_density(u);
    if (score <= most) continue;
    most = score;
    best = std::move(c);
  }
  return best;
}

// ---- one parameter after the other -----------------------------------------------------------------

inline config promising_parts(const space& where, const weighted_configs& good, const weighted_configs& others,
                              std::size_t candidates, random& r) {
  const auto choose = [&](const parameter& p, const config&) {
    const parzen l = density_of(p, good), g = density_of(p, others);
    double best = -infinity, at = 0.5;
    for (std::size_t i = 0; i < candidates; ++i) {
      const double u = l.draw(r);
      const double score = l.log_density(u) - g.log_density(u);
      if (score <= best) continue;
      best = score;
      at = u;
    }
    return p.where.at(at);
  };
  return where.make(choose, r);
}

MANTA_DECL config promising(const space& where, const weighted_configs& good, const weighted_configs& others,
                            std::size_t candidates, bool joint, random& r) {
  return (joint ? promising_whole : promising_parts)(where, good, others, candidates, r);
}

}  // namespace manta::tune::detail
