// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "manta/tune/bayesian.hpp"
#include "manta/tune/front.hpp"

namespace manta::tune {

MANTA_DECL double log_expected_improvement(double best, double mean, double deviation) {
  const double u = (best - mean) / deviation;
  if (u > -5) return std::log(deviation * (u * normal_cdf(u) + normal_density(u)) + 1e-300);
  // the leading term of the tail: phi(u) / u^2
  return std::log(deviation) - 0.5 * u * u - 0.5 * std::log(2 * std::numbers::pi) - 2 * std::log(-u);
}

namespace detail {

/// Gives failed trials the worst value of each row, and cuts off a few terrible losses, which must not
/// flatten what matters.
inline void fill_failed(Eigen::MatrixXd& values, Eigen::Index objectives) {
  for (Eigen::Index k = 0; k < values.rows(); ++k) {
    double worst = -infinity;
    for (const double x : values.row(k)) worst = is_finite(x) ? std::max(worst, x) : worst;
    for (double& x : values.row(k)) x = is_finite(x) ? x : worst;
    if (k >= objectives) continue;
    std::vector<double> sorted(values.row(k).begin(), values.row(k).end());
    std::sort(sorted.begin(), sorted.end());
    const double middle = sorted_quantile(sorted, 0.5), high = middle + 5 * (middle - sorted.front());
    if (is_finite(high) && high > middle) values.row(k) = values.row(k).cwiseMin(high);
  }
}

/// The logarithm of the expected gain of a function of several normal numbers, by a fixed sample of these.
template <class Function>
double log_gain(const Eigen::VectorXd& mean, const Eigen::VectorXd& deviation, double best, Function f) {
  constexpr Eigen::Index samples = 32;
  static const Eigen::MatrixXd sample = [&] {
    const sobol_sequence points(16, 1);
    Eigen::MatrixXd all(16, samples);
    for (Eigen::Index i = 0; i < samples; ++i) {
      const std::vector<double> u = points[static_cast<std::uint64_t>(i)];
      for (Eigen::Index k = 0; k < 16; ++k)
        all(k, i) = normal_quantile(std::clamp(u[static_cast<std::size_t>(k)], 1e-3, 0.999));
    }
    return all;
  }();
  double sum = 0;
  Eigen::VectorXd y(mean.size());
  for (Eigen::Index i = 0; i < samples; ++i) {
    for (Eigen::Index k = 0; k < y.size(); ++k) y(k) = mean(k) + deviation(k) * sample(k % 16, i);
    sum += std::max(0.0, best - f(y));
  }
  return sum > 0 ? std::log(sum / samples) : -700 - std::max(0.0, f(mean) - best);
}

}  // namespace detail

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
  processes_.clear();
}

MANTA_DECL std::optional<config> bayesian::ask(trial_number t) {
  random r(seed_, asked_, 0x6770ULL);
  config c;
  if (is_starting()) {
    random dependent = r;
    c = cube_.at(start_[asked_], dependent);
    if (!cube_.where().allows(c)) c = cube_.where().draw(r);
  } else {
    const std::vector<double> u = propose(r);
    c = cube_.where().first_allowed(r, [&] { return cube_.at(u, r); });  // what is drawn from others may be forbidden
  }
  ++asked_;
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
  return std::max(asked_, history_.done().size()) < startup || history_.succeeded() < 2 || cube_.dimensions() == 0;
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
      into(at + static_cast<Eigen::Index>(d.option_at(u[i]))) = std::numbers::sqrt2 / 2;
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
  const auto end = history_.done().begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<tried> known(history_.done().begin(), end);
  std::vector<detail::compared> used = detail::comparable(known);
  if (used.size() > options_.most) {  // half by age, half by loss
    const auto newest = static_cast<std::ptrdiff_t>(options_.most / 2);
    std::sort(used.begin(), used.end() - newest, [](const auto& a, const auto& b) { return a.loss < b.loss; });
    used.erase(used.begin() + static_cast<std::ptrdiff_t>(options_.most) - newest, used.end() - newest);
  }
  observations o;
  std::size_t limits = 0;
  for (const auto& [which, loss] : used) {
    o.objectives = std::max(o.objectives, which->result.losses.size());
    limits = std::max(limits, which->result.excess.size());
  }
  const auto rows = static_cast<Eigen::Index>(o.objectives + limits);
  o.values = matrix::Constant(rows, static_cast<Eigen::Index>(used.size()), infinity);
  double least = infinity, least_violation = infinity;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const outcome& result = used[i].which->result;
    const auto column = static_cast<Eigen::Index>(i);
    o.at.push_back(cube_.position(used[i].which->parameters));
    const bool has_failed = is_infinite(used[i].loss);
    o.is_feasible.push_back(!has_failed && result.violation() <= 0);
    if (has_failed) continue;
    o.values(0, column) = used[i].loss;
    for (std::size_t k = 1; k < result.losses.size(); ++k)
      o.values(static_cast<Eigen::Index>(k), column) = result.losses[k];
    for (std::size_t k = 0; k < result.excess.size(); ++k)
      o.values(static_cast<Eigen::Index>(o.objectives + k), column) = std::clamp(result.excess[k], -3.0, 3.0);
    if (std::pair(result.violation(), used[i].loss) >= std::pair(least_violation, least)) continue;
    least_violation = result.violation();
    least = used[i].loss;
    o.best = i;
  }
  detail::fill_failed(o.values, static_cast<Eigen::Index>(o.objectives));
  return o;
}

MANTA_DECL void bayesian::fit() {
  plan_fit();
  if (is_fitted_) return;
  const observations o = look(fitted_);
  random starts(seed_, fitted_, 0x666974ULL);
  objectives_ = o.objectives;
  processes_.assign(static_cast<std::size_t>(o.values.rows()), gaussian_process(std::max<Eigen::Index>(1, width_)));
  const matrix at = features(o.at);
  for (std::size_t k = 0; k < processes_.size(); ++k)
    processes_[k].fit(at, o.values.row(static_cast<Eigen::Index>(k)).transpose(), 2, 40, starts);
  is_fitted_ = true;
}

MANTA_DECL double bayesian::aim::of(const vector& losses) const {
  if (weights.size() == 0) return losses(0);
  const Eigen::ArrayXd distances = weights.array() * (losses - ideal).array();
  return distances.maxCoeff() + 0.05 * distances.sum();
}

MANTA_DECL bayesian::aim bayesian::choose_aim(const observations& seen, random& r) const {
  aim a;
  const auto m = static_cast<Eigen::Index>(seen.objectives);
  a.spread = std::max(1e-12, seen.values.row(0).maxCoeff() - seen.values.row(0).minCoeff());
  if (m > 1) {
    std::vector<loss_vector> feasible;
    for (std::size_t i = 0; i < seen.at.size(); ++i) {
      const vector y = seen.values.col(static_cast<Eigen::Index>(i)).head(m);
      if (seen.is_feasible[i]) feasible.emplace_back(y.data(), y.data() + m);
    }
    const std::vector<std::size_t> ranks = front_ranks(feasible);
    vector nadir = a.ideal = seen.values.topRows(m).rowwise().minCoeff();
    for (std::size_t i = 0; i < feasible.size(); ++i) {
      if (ranks[i] == 0) nadir = nadir.cwiseMax(Eigen::Map<const vector>(feasible[i].data(), m));
    }
    a.weights.resize(m);
    for (double& w : a.weights) w = -std::log(r.uniform());
    a.weights = (a.weights / a.weights.sum()).cwiseQuotient((nadir - a.ideal).cwiseMax(1e-9 * a.spread));
  }
  for (std::size_t i = 0; i < seen.at.size(); ++i) {
    if (seen.is_feasible[i])
      a.incumbent = std::min(a.incumbent, a.of(seen.values.col(static_cast<Eigen::Index>(i)).head(m)));
  }
  return a;
}

MANTA_DECL std::vector<double> bayesian::propose(random& r) {
  fit();
  const observations seen = look(history_.done().size());
  const matrix at = features(seen.at);
  for (std::size_t k = 0; k < processes_.size(); ++k)
    processes_[k].condition(at, seen.values.row(static_cast<Eigen::Index>(k)).transpose());
  if (!history_.under_way().empty()) believe(seen);
  return climb(candidates(seen, r), choose_aim(seen, r), r);
}

MANTA_DECL bayesian::points bayesian::candidates(const observations& seen, random& r) const {
  points all;
  const std::size_t d = cube_.dimensions();
  for (std::size_t i = 0; i < options_.candidates; ++i) {
    std::vector<double> u(d);
    for (double& x : u) x = r.uniform();
    u = cube_.settled(std::move(u), r);
    if (cube_.allows(u, r)) all.push_back(std::move(u));
  }
  for (std::size_t i = 0; i < options_.candidates / 4; ++i) {
    if (auto u = near(seen.at[seen.best], i % 2 == 0 ? 0.1 : 0.02, r)) all.push_back(*std::move(u));
  }
  if (all.empty()) all.push_back(cube_.position(cube_.where().draw(r)));
  return all;
}

MANTA_DECL std::vector<double> bayesian::climb(points from, const aim& to, random& r) const {
  std::vector<std::size_t> order(from.size());
  std::vector<double> scores = acquire(from, to);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t best_so_many = std::min<std::size_t>(5, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(best_so_many), order.end(),
                    [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  points peaks;
  std::vector<double> heights;
  for (std::size_t i = 0; i < best_so_many; ++i) {
    peaks.push_back(from[order[i]]);
    heights.push_back(scores[order[i]]);
  }
  constexpr std::size_t each = 24;
  double width = 0.08;
  for (int round = 0; round < 14; ++round, width *= 0.65) {
    from.clear();
    for (const auto& p : peaks) {
      for (std::size_t k = 0; k < each; ++k) from.push_back(near(p, width, r).value_or(p));
    }
    scores = acquire(from, to);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t p = i / each;
      if (scores[i] <= heights[p]) continue;
      heights[p] = scores[i];
      peaks[p] = from[i];
    }
  }
  return peaks[static_cast<std::size_t>(std::max_element(heights.begin(), heights.end()) - heights.begin())];
}

MANTA_DECL void bayesian::believe(const observations& seen) {
  points open;
  for (const auto& [t, c] : history_.under_way()) open.push_back(cube_.position(c));
  const matrix at = features(open);
  points all = seen.at;
  all.insert(all.end(), open.begin(), open.end());
  const matrix with_open = features(all);
  for (std::size_t k = 0; k < processes_.size(); ++k) {
    const vector values = seen.values.row(static_cast<Eigen::Index>(k)).transpose();
    vector mean, deviation;
    processes_[k].predict(at, mean, deviation);
    if (k < seen.objectives) {
      if (options_.parallel == pending::lie_min) mean.setConstant(values.minCoeff());
      if (options_.parallel == pending::lie_mean) mean.setConstant(values.mean());
      if (options_.parallel == pending::lie_max) mean.setConstant(values.maxCoeff());
    }
    vector with(values.size() + mean.size());
    with << values, mean;
    processes_[k].condition(with_open, with);
  }
}

MANTA_DECL std::optional<std::vector<double>> bayesian::near(const std::vector<double>& centre, double width,
                                                             random& r) const {
  std::vector<double> u;
  for (int attempt = 0; attempt < 8; ++attempt) {
    u = centre;
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
    u = cube_.settled(std::move(u), r);
    if (cube_.allows(u, r)) return u;
  }
  return std::nullopt;
}

MANTA_DECL std::vector<double> bayesian::acquire(const points& all, const aim& to) const {
  const matrix at = features(all);
  const auto count = static_cast<Eigen::Index>(all.size()), m = static_cast<Eigen::Index>(objectives_);
  matrix means(count, static_cast<Eigen::Index>(processes_.size())), deviations = means;
  for (std::size_t k = 0; k < processes_.size(); ++k) {
    vector mean, deviation;
    processes_[k].predict(at, mean, deviation);
    means.col(static_cast<Eigen::Index>(k)) = mean;
    deviations.col(static_cast<Eigen::Index>(k)) = deviation;
  }
  std::vector<double> scores(all.size(), 0);
  for (Eigen::Index i = 0; i < count; ++i) {
    double& score = scores[static_cast<std::size_t>(i)];
    for (Eigen::Index k = m; k < means.cols(); ++k)
      score += std::log(normal_cdf(-means(i, k) / deviations(i, k)) + 1e-300);
    if (options_.by == acquisition::confidence_bound) score *= to.spread;  // both in units of the loss
    if (is_infinite(to.incumbent)) continue;
    if (m > 1) {
      score += detail::log_gain(means.row(i).head(m), deviations.row(i).head(m), to.incumbent,
                                [&](const vector& y) { return to.of(y); });
    } else if (options_.by == acquisition::expected_improvement) {
      score += log_expected_improvement(to.incumbent, means(i, 0), deviations(i, 0));
    } else {
      score += options_.kappa * deviations(i, 0) - means(i, 0);
    }
  }
  return scores;
}

}  // namespace manta::tune
