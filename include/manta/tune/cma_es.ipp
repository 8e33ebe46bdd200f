// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of cma_es.hpp.
#pragma once

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
  open_.clear();
  told_.clear();
  if (size() > 0) restart(cma_strategy::vector::Constant(size(), 0.5), options_.lambda);
}

MANTA_DECL std::optional<config> cma_es::ask(trial_number t) {
  random r(seed_, asked_++, 0x636d61ULL);
  if (size() == 0) return cube_.at({}, r);  // constants alone
  cma_strategy::vector x = inside(r);
  std::vector<double> u(x.data(), x.data() + x.size());
  random dependent(seed_, asked_);
  open_[t] = {generation_, std::move(x)};
  return cube_.at(u, dependent);
}

MANTA_DECL void cma_es::add(trial_number t, const config& c) {
  const auto asked = open_.find(t);
  if (asked == open_.end()) return;
  const std::vector<double> u = cube_.position(c);
  asked->second.second = Eigen::Map<const cma_strategy::vector>(u.data(), size());
}

MANTA_DECL void cma_es::tell(trial_number t, double loss) {
  const auto at = open_.find(t);
  if (at == open_.end()) return;
  if (at->second.first == generation_) {
    told_.emplace_back(is_nan(loss) ? infinity : loss, std::move(at->second.second));
  }
  open_.erase(at);
  if (told_.size() < strategy_.lambda()) return;
  std::stable_sort(told_.begin(), told_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<cma_strategy::vector> points;
  for (auto& p : told_) points.push_back(std::move(p.second));
  const bool flat = told_.front().first == told_.back().first;
  told_.clear();
  ++generation_;
  strategy_.tell(points);
  if (strategy_.extent() < 1e-9 || (flat && strategy_.extent() < 1e-5)) {
    random r(seed_, generation_, 0x72657374ULL);
    cma_strategy::vector mean(size());
    for (double& m : mean) m = r.uniform();
    restart(std::move(mean), 2 * strategy_.lambda());
  }
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
    if (d.type() == domain::kind::choice) cell = 1.0 / static_cast<double>(d.options().size());
    else if (d.is_quantised() && !d.is_log() && !d.is_normal()) cell = d.step() / (d.high() - d.low() + d.step());
    if (cell <= 0 || strategy_.deviation(i) > 0.5 * cell) continue;
    const double alpha = 1 / (static_cast<double>(cube_.dimensions()) * static_cast<double>(strategy_.lambda()));
    double& y = x(static_cast<Eigen::Index>(i));
    if (r.chance(alpha)) y = std::clamp(y + (r.chance(0.5) ? cell : -cell), 0.0, 1.0);
  }
  return x;
}

}  // namespace manta::tune
