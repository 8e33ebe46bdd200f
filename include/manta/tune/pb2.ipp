// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of pb2.hpp.
#pragma once

#include "manta/tune/pb2.hpp"

namespace manta::tune {

namespace detail {

MANTA_DECL void drifting_process::fit(const data& d, random& r) {
  const Eigen::ArrayXXd distances = squared_distances(d.x, d.x), ages = age_differences(d.t, d.t);
  double most = -infinity;
  drifting_process best = *this;
  for (int i = 0; i <= 20; ++i) {
    drifting_process p = *this;
    if (i > 0) {
      p.length_ = std::exp(r.uniform(std::log(0.1), std::log(2.0)));
      p.noise_ = std::exp(r.uniform(std::log(1e-4), std::log(0.5)));
      p.forgetting_ = i % 4 == 0 ? 0 : std::exp(r.uniform(std::log(1e-3), std::log(0.5)));
    }
    Eigen::MatrixXd k = p.kernel(distances, ages);
    k.diagonal().array() += p.noise_ + 1e-8;
    const Eigen::LLT<Eigen::MatrixXd> factor(k);
    if (factor.info() != Eigen::Success) continue;
    const double likelihood = -0.5 * d.y.dot(factor.solve(d.y)) - factor.matrixLLT().diagonal().array().log().sum();
    if (likelihood > most) {
      most = likelihood;
      best = p;
    }
  }
  *this = best;
}

MANTA_DECL Eigen::MatrixXd drifting_process::gram(const data& d) const {
  Eigen::MatrixXd k = kernel(d.x, d.t, d.x, d.t);
  k.diagonal().array() += noise_ + 1e-8;
  return k;
}

MANTA_DECL Eigen::MatrixXd drifting_process::kernel(const Eigen::MatrixXd& x, const Eigen::VectorXd& t,
                                                    const Eigen::MatrixXd& x2, const Eigen::VectorXd& t2) const {
  return kernel(squared_distances(x, x2), age_differences(t, t2));
}

MANTA_DECL Eigen::MatrixXd drifting_process::kernel(const Eigen::ArrayXXd& distances,
                                                    const Eigen::ArrayXXd& ages) const {
  return (distances * (-0.5 / (length_ * length_)) + ages * (0.5 * std::log1p(-forgetting_))).exp();
}

MANTA_DECL Eigen::ArrayXXd drifting_process::squared_distances(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) {
  Eigen::ArrayXXd d = (-2 * x.transpose() * y).array();
  d.colwise() += x.colwise().squaredNorm().transpose().array();
  d.rowwise() += y.colwise().squaredNorm().array();
  return d.max(0);
}

MANTA_DECL Eigen::ArrayXXd drifting_process::age_differences(const Eigen::VectorXd& t, const Eigen::VectorXd& t2) {
  return (t.replicate(1, t2.size()) - t2.transpose().replicate(t.size(), 1)).array().abs();
}

}  // namespace detail

MANTA_DECL pb2::pb2(options o)
    : options_(o),
      population_(pbt_options{.interval = o.interval, .quantile = o.quantile, .synchronous = o.synchronous}) {}

MANTA_DECL void pb2::begin(const space& where, std::uint64_t seed, std::size_t trials) {
  population_.begin(seed, trials);
  space_ = where;
  axes_ = detail::mutable_parameters(where, options_.mutate, "pb2");
  for (const parameter& p : axes_) {
    if (p.where.type() == domain::kind::number && !p.where.is_normal()) continue;
    throw error("manta: pb2 changes numbers with bounds only, but " + p.name + " is " + p.where.text() +
                "; name in .mutate those that it may change, or use pbt");
  }
  const auto& all = where.parameters();
  if (axes_.empty() && std::none_of(all.begin(), all.end(), [](const parameter& p) { return p.where.is_closed(); })) {
    throw error("manta: pb2: the space has no number with bounds to change; use pbt, or name some in .mutate");
  }
}

MANTA_DECL void pb2::add(trial_number t, const config& c) {
  population_.add(t, c);
  members_[t].current = c;
}

MANTA_DECL verdict pb2::report(trial_number t, double at, double loss) {
  member& m = members_.at(t);
  if (at >= m.at + options_.interval) {
    if (m.known) rows_.push_back({at, m.loss, detail::position_of(axes_, m.current), (m.loss - loss) / (at - m.at)});
    if (rows_.size() > options_.rows) rows_.erase(rows_.begin());
    m.at = at;
    m.loss = loss;
    m.known = true;
  }
  verdict v = population_.report(t, at, loss, explorer());
  if (v.change) become(t, *v.change);
  return v;
}

MANTA_DECL void pb2::remove(trial_number t) {
  population_.remove(t);
  members_.erase(t);
  population_.release_if_complete(explorer());
}

MANTA_DECL action pb2::next(bool may_add) {
  action a = population_.next(may_add);
  if (a.change) become(a.trial, *a.change);
  return a;
}

MANTA_DECL void pb2::become(trial_number t, const exploit& e) {
  const auto s = members_.find(e.source);
  member& m = members_.at(t);
  m.current = e.to;
  if (s != members_.end()) {
    m.at = std::min(m.at, s->second.at);
    m.loss = s->second.loss;
    m.known = s->second.known;
  }
}

MANTA_DECL detail::population::explorer pb2::explorer() {
  return [this](trial_number t, const config& from, random& r) { return explore(t, from, r); };
}

MANTA_DECL config pb2::explore(trial_number t, const config& from, random& r) {
  config to = from;
  std::vector<double> best(axes_.size());
  for (double& x : best) x = r.uniform();
  if (rows_.size() >= 4 && !axes_.empty()) best = choose(t, from, r);
  for (std::size_t i = 0; i < axes_.size(); ++i) to.set(axes_[i].name, axes_[i].where.at(best[i]));
  return space_.mended(to, from, r);
}

MANTA_DECL std::vector<double> pb2::choose(trial_number t, const config& from, random& r) {
  const auto n = static_cast<Eigen::Index>(rows_.size());
  const auto d = static_cast<Eigen::Index>(axes_.size());
  double first = rows_.front().at, last = rows_.front().at, low = rows_.front().before, high = low;
  for (const row& w : rows_) {
    first = std::min(first, w.at);
    last = std::max(last, w.at);
    low = std::min(low, w.before);
    high = std::max(high, w.before);
  }
  double now = last, loss = low;
  for (const auto& [other, m] : members_) {
    if (m.known && m.current == from) {
      now = m.at;
      loss = m.loss;
    }
  }
  const auto time = [&](double at) { return (at - first) / options_.interval; };
  const auto fill = [&](Eigen::Ref<Eigen::VectorXd> into, double at, double before, const std::vector<double>& u) {
    into(0) = last > first ? (at - first) / (last - first) : 0;
    into(1) = high > low ? std::clamp((before - low) / (high - low), -0.5, 1.5) : 0;
    for (Eigen::Index i = 0; i < d; ++i) into(2 + i) = u[static_cast<std::size_t>(i)];
  };
  // others that train already: where they are the gain will be known, so the uncertainty there is small
  std::vector<std::vector<double>> open;
  for (const auto& [other, m] : members_) {
    if (other != t) open.push_back(detail::position_of(axes_, m.current));
  }
  detail::drifting_process::data real, all;
  real.x.resize(2 + d, n);
  real.t.resize(n);
  real.y.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const row& w = rows_[static_cast<std::size_t>(i)];
    fill(real.x.col(i), w.at, w.before, w.u);
    real.t(i) = time(w.at);
    real.y(i) = w.gain;
  }
  const double mean = real.y.mean();
  double deviation = std::sqrt((real.y.array() - mean).square().mean());
  if (is_nan(deviation) || deviation <= 0) deviation = 1;
  real.y = (real.y.array() - mean) / deviation;
  detail::drifting_process& process = process_;
  process.fit(real, r);
  const auto extra = static_cast<Eigen::Index>(open.size());
  const double next = now + options_.interval;
  all.x.resize(2 + d, n + extra);
  all.t.resize(n + extra);
  all.x.leftCols(n) = real.x;
  all.t.head(n) = real.t;
  for (Eigen::Index i = 0; i < extra; ++i) {
    fill(all.x.col(n + i), next, loss, open[static_cast<std::size_t>(i)]);
    all.t(n + i) = time(next);
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(process.gram(real)), factor_all(process.gram(all));
  const Eigen::VectorXd alpha = factor.solve(real.y);
  const double kappa = std::sqrt(0.2 * std::log(std::max(3.0, 0.4 * static_cast<double>(n))) + 1);

  // random points, then some around the best of them
  std::vector<std::vector<double>> candidates(200, std::vector<double>(axes_.size()));
  for (auto& u : candidates) {
    for (double& x : u) x = r.uniform();
  }
  std::vector<double> best;
  double most = -infinity;
  for (int round = 0; round < 2; ++round) {
    const auto count = static_cast<Eigen::Index>(candidates.size());
    Eigen::MatrixXd x(2 + d, count);
    for (Eigen::Index i = 0; i < count; ++i) fill(x.col(i), next, loss, candidates[static_cast<std::size_t>(i)]);
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(count, time(next));
    const Eigen::VectorXd m = process.kernel(x, at, real.x, real.t) * alpha;
    const Eigen::MatrixXd k = factor_all.matrixL().solve(process.kernel(all.x, all.t, x, at));
    for (Eigen::Index i = 0; i < count; ++i) {
      const double bound = m(i) + kappa * std::sqrt(std::max(0.0, 1 - k.col(i).squaredNorm()));
      if (bound <= most) continue;
      most = bound;
      best = candidates[static_cast<std::size_t>(i)];
    }
    candidates.assign(100, best);
    for (auto& u : candidates) {
      for (double& y : u) y = std::clamp(y + 0.05 * r.normal(), 0.0, 1.0);
    }
  }
  return best;
}

}  // namespace manta::tune
