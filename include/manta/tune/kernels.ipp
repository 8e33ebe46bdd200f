// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of kernels.hpp.
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

MANTA_DECL parzen conditional_densities::of(const parameter& p) {
  with_it_.clear();
  positions_.clear();
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const value* v = trials_[i]->find(p.name);
    if (v == nullptr) continue;
    with_it_.push_back(i);
    positions_.push_back(p.where.position(*v));
  }
  std::vector<double> weights = given_.empty() ? recency_weights(with_it_.size()) : std::vector<double>();
  for (std::size_t i = 0; i < with_it_.size(); ++i) {
    if (!given_.empty()) weights.push_back(given_[with_it_[i]]);
    if (!coupling_.empty()) weights[i] *= coupling_[with_it_[i]];
  }
  return {p.where, positions_, weights};
}

MANTA_DECL double conditional_densities::reach(double u) const {
  constexpr double least = 0.1, most = 0.2;
  if (positions_.empty()) return most;
  std::vector<double> distances;
  for (const double x : positions_) distances.push_back(std::abs(x - u));
  const auto nth = distances.begin() + static_cast<std::ptrdiff_t>(std::min(
                                           distances.size() - 1, std::max<std::size_t>(2, distances.size() / 5)));
  std::nth_element(distances.begin(), nth, distances.end());
  return std::clamp(*nth, least, most);
}

MANTA_DECL void conditional_densities::choose(const parameter& p, double u, double reach) {
  constexpr double of_other_options = 0.3;
  coupling_.resize(trials_.size(), 1);
  for (std::size_t i = 0; i < with_it_.size(); ++i) {
    const double x = positions_[i], z = (u - x) / reach;
    coupling_[with_it_[i]] *= p.where.type() != domain::kind::choice         ? std::exp(-0.5 * z * z)
                              : p.where.option_at(u) == p.where.option_at(x) ? 1
                                                                             : of_other_options;
  }
}

MANTA_DECL config promising(const space& where, conditional_densities good, conditional_densities others,
                            std::size_t candidates, bool joint, random& r) {
  const auto choose = [&](const parameter& p, const config&) {
    const parzen l = good.of(p), g = others.of(p);
    double best = -infinity, at = 0.5;
    for (std::size_t i = 0; i < candidates; ++i) {
      const double u = l.draw(r);
      const double score = l.log_density(u) - g.log_density(u);
      if (score <= best) continue;
      best = score;
      at = u;
    }
    if (joint) {
      const double reach = good.reach(at);
      good.choose(p, at, reach);
      others.choose(p, at, reach);
    }
    return p.where.at(at);
  };
  return where.make(choose, r);
}

}  // namespace manta::tune::detail
