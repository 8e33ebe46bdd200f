// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of bayesian.hpp.
#pragma once

#include "manta/tune/bayesian.hpp"

namespace manta::tune {

MANTA_DECL double log_expected_improvement(double best, double mean, double deviation) {
  const double u = (best - mean) / deviation;
  if (u > -5) return std::log(deviation * (u * normal_cdf(u) + normal_density(u)) + 1e-300);
  // the leading term of the tail: phi(u) / u^2
  return std::log(deviation) - 0.5 * u * u - 0.5 * std::log(2 * std::numbers::pi) - 2 * std::log(-u);
}

MANTA_DECL bayesian::bayesian(options o) : options_(o) {
  if (o.candidates == 0 || o.most < 2 || is_nan(o.kappa))
    throw error("manta: bayesian needs candidates > 0, most > 1 and a number for kappa");
}

MANTA_DECL void bayesian::begin(const space& where, std::uint64_t seed) {
  cube_ = cube(where, "bayesian");
  seed_ = seed;
  asked_ = fitted_ = 0;
  is_fitted_ = false;
  history_.clear();
  start_ = sobol_sequence(cube_.dimensions(), seed);
  width_ = 0;
  for (const parameter& p : cube_.axes()) {
    width_ += p.where.type() == domain::kind::choice ? static_cast<Eigen::Index>(p.where.options().size()) : 1;
  }
  process_ = gaussian_process(std::max<Eigen::Index>(1, width_));
}

MANTA_DECL std::optional<config> bayesian::ask(trial_number t) {
  random r(seed_, asked_, 0x6770ULL);
  const std::vector<double> u = is_starting() ? start_[asked_] : propose(r);
  ++asked_;
  config c = cube_.at(u, r);
  history_.began(t, c);
  return c;
}

MANTA_DECL void bayesian::again(trial_number t, const config& c) {
  if (!is_starting()) plan_fit();
  ++asked_;
  history_.began(t, c);
}

MANTA_DECL bool bayesian::is_starting() const {
  const std::size_t startup = options_.startup > 0 ? options_.startup : 2 * cube_.dimensions() + 1;
  return asked_ < startup || history_.succeeded() < 2 || cube_.dimensions() == 0;
}

MANTA_DECL void bayesian::plan_fit() {
  const std::size_t seen = history_.done().size();
  if (fitted_ > 0 && seen < fitted_ + std::max<std::size_t>(1, fitted_ / 20)) return;
  fitted_ = seen;
  is_fitted_ = false;
}

MANTA_DECL void bayesian::features(const std::vector<double>& u, Eigen::Ref<vector> into) const {
  Eigen::Index at = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    const domain& d = cube_.axes()[i].where;
    if (d.type() == domain::kind::choice) {
      const auto n = static_cast<Eigen::Index>(d.options().size());
      into.segment(at, n).setZero();
      into(at + std::min(static_cast<Eigen::Index>(u[i] * static_cast<double>(n)), n - 1)) = std::numbers::sqrt2 / 2;
      at += n;
    } else {
      into(at++) = d.is_quantised() ? d.position(d.at(u[i])) : u[i];
    }
  }
}

MANTA_DECL bayesian::matrix bayesian::features(const std::vector<std::vector<double>>& all) const {
  matrix m(width_, static_cast<Eigen::Index>(all.size()));
  for (std::size_t i = 0; i < all.size(); ++i) features(all[i], m.col(static_cast<Eigen::Index>(i)));
  return m;
}

MANTA_DECL bayesian::observations bayesian::look(std::size_t count) const {
  std::vector<const tried*> used;
  for (std::size_t i = 0; i < count; ++i) used.push_back(&history_.done()[i]);
  if (used.size() > options_.most) {  // half by age, half by loss
    const auto newest = static_cast<std::ptrdiff_t>(options_.most / 2);
    std::sort(used.begin(), used.end() - newest, [](const tried* a, const tried* b) { return a->loss < b->loss; });
    used.erase(used.begin() + static_cast<std::ptrdiff_t>(options_.most) - newest, used.end() - newest);
  }
  double worst = -infinity;
  for (const tried* u : used) worst = is_finite(u->loss) ? std::max(worst, u->loss) : worst;
  observations o;
  o.values.resize(static_cast<Eigen::Index>(used.size()));
  for (std::size_t i = 0; i < used.size(); ++i) {
    o.points.push_back(cube_.position(used[i]->parameters));
    o.values(static_cast<Eigen::Index>(i)) =
        is_finite(used[i]->loss) ? used[i]->loss : worst;  // what failed is as bad as the worst
    if (used[i]->loss < used[o.best]->loss) o.best = i;
  }
  // a few terrible losses must not flatten what matters
  std::vector<double> sorted(o.values.data(), o.values.data() + o.values.size());
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted_quantile(sorted, 0.5), high = middle + 5 * (middle - sorted.front());
  if (high > middle) o.values = o.values.cwiseMin(high);
  return o;
}

MANTA_DECL void bayesian::fit() {
  plan_fit();
  if (is_fitted_) return;
  const observations o = look(fitted_);
  random starts(seed_, fitted_, 0x666974ULL);
  process_ = gaussian_process(width_);
  process_.fit(features(o.points), o.values, 2, 40, starts);
  is_fitted_ = true;
}

MANTA_DECL std::vector<double> bayesian::propose(random& r) {
  fit();
  const observations seen = look(history_.done().size());
  process_.condition(features(seen.points), seen.values);
  if (!history_.under_way().empty()) believe(seen);

  const double incumbent = seen.values.minCoeff();
  std::vector<std::vector<double>> candidates;
  const std::size_t d = cube_.dimensions();
  for (std::size_t i = 0; i < options_.candidates; ++i) {
    auto& u = candidates.emplace_back(d);
    for (double& x : u) x = r.uniform();
  }
  for (std::size_t i = 0; i < options_.candidates / 4; ++i)
    candidates.push_back(near(seen.points[seen.best], i % 2 == 0 ? 0.1 : 0.02, r));
  std::vector<std::size_t> order(candidates.size());
  std::vector<double> scores = acquire(candidates, incumbent);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t best_so_many = std::min<std::size_t>(5, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best_so_many), order.end(),
                    [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  std::vector<double> chosen = candidates[order[0]];
  double most = scores[order[0]];
  // the best five are refined by steps that become smaller
  std::vector<std::vector<double>> peaks;
  std::vector<double> heights;
  for (std::size_t i = 0; i < best_so_many; ++i) {
    peaks.push_back(candidates[order[i]]);
    heights.push_back(scores[order[i]]);
  }
  double width = 0.08;
  for (int round = 0; round < 14; ++round, width *= 0.65) {
    candidates.clear();
    constexpr std::size_t each = 24;
    for (const auto& p : peaks) {
      for (std::size_t k = 0; k < each; ++k) candidates.push_back(near(p, width, r));
    }
    scores = acquire(candidates, incumbent);
    for (std::size_t p = 0; p < peaks.size(); ++p) {
      const std::vector<double> centre = peaks[p];
      for (std::size_t k = p * each; k < (p + 1) * each; ++k) {
        if (scores[k] <= heights[p]) continue;
        heights[p] = scores[k];
        peaks[p] = candidates[k];
      }
      if (heights[p] > most) {
        most = heights[p];
        chosen = peaks[p];
      }
    }
  }
  return chosen;
}

MANTA_DECL void bayesian::believe(const observations& seen) {
  std::vector<std::vector<double>> open;
  for (const auto& [t, c] : history_.under_way()) open.push_back(cube_.position(c));
  const matrix at = features(open);
  vector mean, variance;
  process_.predict(at, mean, variance);
  if (options_.parallel == pending::lie_min) mean.setConstant(seen.values.minCoeff());
  if (options_.parallel == pending::lie_mean) mean.setConstant(seen.values.mean());
  if (options_.parallel == pending::lie_max) mean.setConstant(seen.values.maxCoeff());
  std::vector<std::vector<double>> all = seen.points;
  all.insert(all.end(), open.begin(), open.end());
  vector with(seen.values.size() + mean.size());
  with << seen.values, mean;
  process_.condition(features(all), with);
}

MANTA_DECL std::vector<double> bayesian::near(const std::vector<double>& centre, double width, random& r) const {
  std::vector<double> u = centre;
  bool moved = false;
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (u.size() > 1 && r.chance(0.3)) continue;  // along some of the axes only
    moved = true;
    const domain& d = cube_.axes()[i].where;
    if (d.type() == domain::kind::choice) {
      if (r.chance(0.2)) u[i] = r.uniform();
    } else {
      u[i] = std::clamp(u[i] + width * r.normal(), 0.0, 1.0);
    }
  }
  if (!moved) u[r.index(u.size())] = r.uniform();
  return u;
}

MANTA_DECL std::vector<double> bayesian::acquire(const std::vector<std::vector<double>>& candidates,
                                                 double incumbent) const {
  vector mean, variance;
  process_.predict(features(candidates), mean, variance);
  std::vector<double> scores(candidates.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double m = mean(static_cast<Eigen::Index>(i)), s = std::sqrt(variance(static_cast<Eigen::Index>(i)));
    scores[i] = options_.by == acquisition::expected_improvement ? log_expected_improvement(incumbent, m, s)
                                                                 : options_.kappa * s - m;
  }
  return scores;
}

}  // namespace manta::tune
