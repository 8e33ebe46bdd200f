// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <tuple>

#include "manta/tune/cma_es.hpp"

namespace manta::tune {

MANTA_DECL cma_strategy::cma_strategy(vector mean, double sigma, std::size_t lambda)
    : mean_(std::move(mean)), sigma_(sigma) {
  const auto n = static_cast<double>(mean_.size());
  lambda_ = lambda > 0 ? lambda : 4 + static_cast<std::size_t>(3 * std::log(n));
  const std::size_t mu = lambda_ / 2;
  weights_.resize(static_cast<Eigen::Index>(mu));
  for (std::size_t i = 0; i < mu; ++i) {
    weights_(static_cast<Eigen::Index>(i)) =
        std::log((static_cast<double>(lambda_) + 1) / 2) - std::log(static_cast<double>(i) + 1);
  }
  weights_ /= weights_.sum();
  mu_eff_ = 1 / weights_.squaredNorm();
  c_sigma_ = (mu_eff_ + 2) / (n + mu_eff_ + 5);
  d_sigma_ = 1 + 2 * std::max(0.0, std::sqrt((mu_eff_ - 1) / (n + 1)) - 1) + c_sigma_;
  c_c_ = (4 + mu_eff_ / n) / (n + 4 + 2 * mu_eff_ / n);
  c_1_ = 2 / ((n + 1.3) * (n + 1.3) + mu_eff_);
  c_mu_ = std::min(1 - c_1_, 2 * (mu_eff_ - 2 + 1 / mu_eff_) / ((n + 2) * (n + 2) + mu_eff_));
  expected_norm_ = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  p_sigma_ = p_c_ = vector::Zero(mean_.size());
  covariance_ = basis_ = Eigen::MatrixXd::Identity(mean_.size(), mean_.size());
  lengths_ = vector::Ones(mean_.size());
}

MANTA_DECL double cma_strategy::deviation(std::size_t i) const {
  return sigma_ * std::sqrt(covariance_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)));
}

MANTA_DECL cma_strategy::vector cma_strategy::ask(random& r) const {
  vector z(mean_.size());
  for (double& x : z) x = r.normal();
  return mean_ + sigma_ * (basis_ * lengths_.cwiseProduct(z));
}

MANTA_DECL void cma_strategy::tell(const std::vector<vector>& best_first) {
  const auto n = static_cast<double>(mean_.size());
  const vector before = mean_;
  mean_.setZero();
  for (Eigen::Index i = 0; i < weights_.size(); ++i)
    mean_ += weights_(i) * best_first[static_cast<std::size_t>(i)];  // (42)
  const vector step = (mean_ - before) / sigma_;
  const vector whitened = basis_ * (basis_.transpose() * step).cwiseQuotient(lengths_);
  p_sigma_ = (1 - c_sigma_) * p_sigma_ + std::sqrt(c_sigma_ * (2 - c_sigma_) * mu_eff_) * whitened;  // (43)
  ++generation_;
  const double norm = p_sigma_.norm();
  const bool h_sigma = norm / std::sqrt(1 - std::pow(1 - c_sigma_, 2.0 * static_cast<double>(generation_))) <
                       (1.4 + 2 / (n + 1)) * expected_norm_;
  p_c_ = (1 - c_c_) * p_c_;
  if (h_sigma) p_c_ += std::sqrt(c_c_ * (2 - c_c_) * mu_eff_) * step;          // (45)
  covariance_ *= 1 - c_1_ - c_mu_ + (h_sigma ? 0 : c_1_ * c_c_ * (2 - c_c_));  // (47)
  covariance_ += c_1_ * p_c_ * p_c_.transpose();
  for (Eigen::Index i = 0; i < weights_.size(); ++i) {
    const vector y = (best_first[static_cast<std::size_t>(i)] - before) / sigma_;
    covariance_ += c_mu_ * weights_(i) * y * y.transpose();
  }
  sigma_ *= std::exp(std::min(1.0, c_sigma_ / d_sigma_ * (norm / expected_norm_ - 1)));  // (44)
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance_);
  basis_ = eigen.eigenvectors();
  lengths_ = eigen.eigenvalues().cwiseMax(1e-30).cwiseSqrt();
}

MANTA_DECL void cma_es::begin(const space& where, std::uint64_t seed) {
  cube_ = cube(where, "cma_es");
  seed_ = seed;
  asked_ = 0;
  generation_ = 0;
  is_lost_ = false;
  open_.clear();
  before_.clear();
  start_.reset();
  told_.clear();
  if (size() > 0) restart(cma_strategy::vector::Constant(size(), 0.5), options_.lambda);
}

MANTA_DECL std::pair<cma_strategy::vector, config> cma_es::draw() {
  random r(seed_, asked_++, 0x636d61ULL);
  if (size() == 0) return {{}, cube_.at({}, r)};  // constants alone
  random dependent(seed_, asked_);
  cma_strategy::vector x;
  const auto next = [&] {
    x = is_lost_ ? anywhere(r) : inside(r);
    return cube_.at({x.data(), x.data() + x.size()}, dependent);
  };
  if (auto c = cube_.where().allowed_one(100, next)) return {std::move(x), *std::move(c)};
  config c = cube_.where().draw(r);
  return {position(c), std::move(c)};
}

MANTA_DECL std::optional<config> cma_es::ask(trial_number t) {
  auto [x, c] = draw();
  open_[t] = {generation_, std::move(x)};
  return c;
}

MANTA_DECL void cma_es::again(trial_number t, const config& c) {
  auto [x, own] = draw();
  open_[t] = {generation_, std::move(x)};
  if (!(own == c)) add(t, c);  // another searcher has asked for it
}

MANTA_DECL void cma_es::add(trial_number t, const config& c) {
  const auto asked = open_.find(t);
  if (asked != open_.end()) asked->second.second = position(c);
  else if (asked_ == 0) before_[t] = position(c);
}

MANTA_DECL cma_strategy::vector cma_es::position(const config& c) const {
  const std::vector<double> u = cube_.position(c);
  return Eigen::Map<const cma_strategy::vector>(u.data(), size());
}

MANTA_DECL void cma_es::begin_at_best(trial_number t, const outcome& o) {
  const auto known = before_.find(t);
  if (known == before_.end()) return;
  told its = {o.violation(), o.has_failed() ? infinity : o.loss, std::move(known->second)};
  before_.erase(known);
  if (asked_ > 0 || size() == 0 || is_infinite(its.loss)) return;
  if (start_ && std::tie(start_->violation, start_->loss) <= std::tie(its.violation, its.loss)) return;
  restart(its.at, options_.lambda);
  start_ = std::move(its);
}

MANTA_DECL void cma_es::tell(trial_number t, const outcome& o) {
  const auto asked = open_.find(t);
  if (asked == open_.end()) return begin_at_best(t, o);
  if (asked->second.first == generation_) {
    const double loss = o.has_failed() ? infinity : o.loss;
    told_.push_back({is_infinite(loss) ? infinity : o.violation(), loss, std::move(asked->second.second)});
  }
  open_.erase(asked);
  if (size() == 0 || told_.size() < strategy_.lambda()) return;
  const auto key = [](const told& x) { return std::tie(x.violation, x.loss); };
  std::stable_sort(told_.begin(), told_.end(), [&](const told& a, const told& b) { return key(a) < key(b); });
  const bool has_succeeded = is_finite(told_.front().loss), is_flat = key(told_.front()) == key(told_.back());
  std::vector<cma_strategy::vector> points;
  for (told& x : told_) points.push_back(std::move(x.at));
  told_.clear();
  ++generation_;
  if (std::exchange(is_lost_, !has_succeeded) || !has_succeeded) {
    if (has_succeeded) restart(std::move(points.front()), strategy_.lambda());
    return;
  }
  strategy_.tell(points);
  if (strategy_.extent() < 1e-9 || (is_flat && strategy_.extent() < 1e-5)) {
    random r(seed_, generation_, 0x72657374ULL);
    restart(anywhere(r), 2 * strategy_.lambda());
  }
}

MANTA_DECL cma_strategy::vector cma_es::anywhere(random& r) const {
  cma_strategy::vector x(size());
  for (double& each : x) each = r.uniform();
  return x;
}

MANTA_DECL void cma_es::restart(cma_strategy::vector mean, std::size_t lambda) {
  strategy_ = cma_strategy(std::move(mean), options_.sigma, lambda);
}

MANTA_DECL cma_strategy::vector cma_es::inside(random& r) const {
  cma_strategy::vector x;
  for (int attempt = 0; attempt < 100; ++attempt) {
    x = strategy_.ask(r);
    if (x.minCoeff() >= 0 && x.maxCoeff() <= 1) break;
  }
  x = x.cwiseMax(0.0).cwiseMin(1.0);
  // Where the distribution has become narrower than a cell of an integer or a choice, neighbours keep a small
  // probability, or the coordinate would be fixed for ever (the margin of Hamano et al. 2022).
  for (std::size_t i = 0; i < cube_.dimensions(); ++i) {
    const domain& d = cube_.axes()[i].where;
    double cell = 0;
    if (d.type() == domain::kind::choice) cell = d.share(d.option_at(x(static_cast<Eigen::Index>(i))));
    else if (d.is_quantised() && !d.is_log() && !d.is_normal()) cell = d.step() / (d.high() - d.low() + d.step());
    if (cell <= 0 || strategy_.deviation(i) > 0.5 * cell) continue;
    const double alpha = 1 / (static_cast<double>(cube_.dimensions()) * static_cast<double>(strategy_.lambda()));
    double& y = x(static_cast<Eigen::Index>(i));
    if (r.chance(alpha)) y = std::clamp(y + (r.chance(0.5) ? cell : -cell), 0.0, 1.0);
  }
  return x;
}

}  // namespace manta::tune
