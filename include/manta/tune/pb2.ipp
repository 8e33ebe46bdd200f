// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

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
    if (m.known) learn({at, t, m.loss, detail::position_of(axes_, m.current), (m.loss - loss) / (at - m.at)});
    m.at = at;
    m.loss = loss;
    m.known = true;
  }
  verdict v = population_.report(t, at, loss, explorer());
  if (v.change) become(t, *v.change);
  return v;
}

inline void pb2::learn(row its) {
  const auto is_before = [](const row& a, const row& b) { return std::pair(a.at, a.trial) < std::pair(b.at, b.trial); };
  rows_.insert(std::upper_bound(rows_.begin(), rows_.end(), its, is_before), std::move(its));
  if (rows_.size() > options_.rows) rows_.erase(rows_.begin());
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
  const auto at = [&](const std::vector<double>& u) {
    config to = from;
    for (std::size_t i = 0; i < axes_.size(); ++i) to.set(axes_[i].name, axes_[i].where.at(u[i]));
    return space_.mended(to, from, r);
  };
  std::vector<double> u(axes_.size());
  for (double& x : u) x = r.uniform();
  if (rows_.size() >= 4 && !axes_.empty()) {
    const auto may = [&](const std::vector<double>& v) { return !space_.forbids_any() || space_.allows(at(v)); };
    if (auto chosen = choose(t, from, may, r); !chosen.empty()) u = std::move(chosen);
  }
  const auto next = [&] {
    config to = at(u);
    for (double& x : u) x = r.uniform();
    return to;
  };
  return space_.allowed_one(100, next).value_or(from);
}

MANTA_DECL void pb2::scales::fill(Eigen::Ref<Eigen::VectorXd> column, double at, double before,
                                  const std::vector<double>& u) const {
  column(0) = last > first ? (at - first) / (last - first) : 0;
  column(1) = high > low ? std::clamp((before - low) / (high - low), -0.5, 1.5) : 0;
  for (std::size_t i = 0; i < u.size(); ++i) column(static_cast<Eigen::Index>(2 + i)) = u[i];
}

MANTA_DECL pb2::scales pb2::scales_of_rows() const {
  scales s{rows_.front().at, rows_.front().at, rows_.front().before, rows_.front().before, options_.interval};
  for (const row& w : rows_) {
    s.first = std::min(s.first, w.at);
    s.last = std::max(s.last, w.at);
    s.low = std::min(s.low, w.before);
    s.high = std::max(s.high, w.before);
  }
  return s;
}

MANTA_DECL detail::drifting_process::data pb2::data_of_rows(const scales& s) const {
  const auto n = static_cast<Eigen::Index>(rows_.size());
  detail::drifting_process::data d;
  d.x.resize(2 + static_cast<Eigen::Index>(axes_.size()), n);
  d.t.resize(n);
  d.y.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const row& w = rows_[static_cast<std::size_t>(i)];
    s.fill(d.x.col(i), w.at, w.before, w.u);
    d.t(i) = s.time(w.at);
    d.y(i) = w.gain;
  }
  const double mean = d.y.mean();
  double deviation = std::sqrt((d.y.array() - mean).square().mean());
  if (is_nan(deviation) || deviation <= 0) deviation = 1;
  d.y = (d.y.array() - mean) / deviation;
  return d;
}

MANTA_DECL detail::drifting_process::data pb2::with_members(const detail::drifting_process::data& rows, const scales& s,
                                                            trial_number t, double next, double loss) const {
  std::vector<std::vector<double>> open;
  for (const auto& [other, m] : members_) {
    if (other != t) open.push_back(detail::position_of(axes_, m.current));
  }
  const Eigen::Index n = rows.t.size(), extra = static_cast<Eigen::Index>(open.size());
  detail::drifting_process::data all;
  all.x.resize(rows.x.rows(), n + extra);
  all.t.resize(n + extra);
  all.x.leftCols(n) = rows.x;
  all.t.head(n) = rows.t;
  for (Eigen::Index i = 0; i < extra; ++i) {
    s.fill(all.x.col(n + i), next, loss, open[static_cast<std::size_t>(i)]);
    all.t(n + i) = s.time(next);
  }
  return all;
}

MANTA_DECL std::vector<double> pb2::choose(trial_number t, const config& from,
                                           const std::function<bool(const std::vector<double>&)>& may, random& r) {
  const scales s = scales_of_rows();
  double now = s.last, loss = s.low;
  for (const auto& [other, m] : members_) {
    if (m.known && m.current == from) {
      now = m.at;
      loss = m.loss;
    }
  }
  const double next = now + options_.interval;
  const detail::drifting_process::data rows = data_of_rows(s);
  process_.fit(rows, r);
  const detail::drifting_process::data all = with_members(rows, s, t, next, loss);
  const Eigen::LLT<Eigen::MatrixXd> factor(process_.gram(rows)), factor_all(process_.gram(all));
  const Eigen::VectorXd alpha = factor.solve(rows.y);
  const double kappa = std::sqrt(0.2 * std::log(std::max(3.0, 0.4 * static_cast<double>(rows_.size()))) + 1);

  // The candidates are random points in the first round, and points around the best of them in the second.
  std::vector<std::vector<double>> candidates(200, std::vector<double>(axes_.size()));
  for (auto& u : candidates) {
    for (double& x : u) x = r.uniform();
  }
  std::vector<double> best;
  double most = -infinity;
  for (int round = 0; round < 2; ++round) {
    const auto count = static_cast<Eigen::Index>(candidates.size());
    Eigen::MatrixXd x(rows.x.rows(), count);
    for (Eigen::Index i = 0; i < count; ++i) s.fill(x.col(i), next, loss, candidates[static_cast<std::size_t>(i)]);
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(count, s.time(next));
    const Eigen::VectorXd mean = process_.kernel(x, at, rows.x, rows.t) * alpha;
    const Eigen::MatrixXd k = factor_all.matrixL().solve(process_.kernel(all.x, all.t, x, at));
    for (Eigen::Index i = 0; i < count; ++i) {
      const double bound = mean(i) + kappa * std::sqrt(std::max(0.0, 1 - k.col(i).squaredNorm()));
      if (bound <= most || !may(candidates[static_cast<std::size_t>(i)])) continue;
      most = bound;
      best = candidates[static_cast<std::size_t>(i)];
    }
    if (best.empty()) break;
    candidates.assign(100, best);
    for (auto& u : candidates) {
      for (double& y : u) y = std::clamp(y + 0.05 * r.normal(), 0.0, 1.0);
    }
  }
  return best;
}

}  // namespace manta::tune
