// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// CMA-ES (Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772): a
// normal distribution that moves, and learns its shape, from the ranks of the
// losses. cma_strategy is the method on vectors; cma_es searches a space with it.
// For numbers, from some dozens of trials on.
#pragma once

#include <Eigen/Core>  // not found? Install libeigen3-dev, add -I/usr/include/eigen3 (pkg-config --cflags eigen3)
#include <Eigen/Eigenvalues>

#include "manta/tune/cube.hpp"
#include "manta/tune/searcher.hpp"

namespace manta::tune {

/// Ask for points, tell a generation of them with their losses. The equations are numbered as in the tutorial.
class cma_strategy {
 public:
  using vector = Eigen::VectorXd;

  cma_strategy() = default;
  cma_strategy(vector mean, double sigma, std::size_t lambda = 0) : mean_(std::move(mean)), sigma_(sigma) {
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

  std::size_t lambda() const { return lambda_; }
  const vector& mean() const { return mean_; }
  double sigma() const { return sigma_; }
  /// The longest half-axis of the distribution.
  double extent() const { return sigma_ * lengths_.maxCoeff(); }
  double deviation(std::size_t i) const {
    return sigma_ * std::sqrt(covariance_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)));
  }

  vector ask(random& r) const {
    vector z(mean_.size());
    for (double& x : z) x = r.normal();
    return mean_ + sigma_ * (basis_ * lengths_.cwiseProduct(z));
  }
  /// Points of one generation, at least half of lambda, best first.
  void tell(const std::vector<vector>& best_first) {
    const auto n = static_cast<double>(mean_.size());
    const vector before = mean_;
    mean_.setZero();
    for (Eigen::Index i = 0; i < weights_.size(); ++i) mean_ += weights_(i) * best_first[static_cast<std::size_t>(i)];  // (42)
    const vector step = (mean_ - before) / sigma_;
    const vector whitened = basis_ * (basis_.transpose() * step).cwiseQuotient(lengths_);
    p_sigma_ = (1 - c_sigma_) * p_sigma_ + std::sqrt(c_sigma_ * (2 - c_sigma_) * mu_eff_) * whitened;  // (43)
    ++generation_;
    const double norm = p_sigma_.norm();
    const bool h_sigma = norm / std::sqrt(1 - std::pow(1 - c_sigma_, 2.0 * static_cast<double>(generation_))) <
                         (1.4 + 2 / (n + 1)) * expected_norm_;
    p_c_ = (1 - c_c_) * p_c_;
    if (h_sigma) p_c_ += std::sqrt(c_c_ * (2 - c_c_) * mu_eff_) * step;  // (45)
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

 private:
  vector mean_;
  double sigma_ = 1;
  std::size_t lambda_ = 4, generation_ = 0;
  vector weights_;
  double mu_eff_ = 1, c_sigma_ = 0, d_sigma_ = 1, c_c_ = 0, c_1_ = 0, c_mu_ = 0, expected_norm_ = 1;
  vector p_sigma_, p_c_, lengths_;
  Eigen::MatrixXd covariance_, basis_;
};

/// Begins in the middle of the space. A generation is complete when lambda of its trials have ended, in any order; those that end later
/// count for nothing. Trials that fail are its worst. When the distribution has shrunk to a point it begins
/// again at random, with twice the lambda (Auger, Hansen 2005).
class cma_es {
 public:
  struct options {
    double sigma = 1.0 / 6;   ///< of the width of the space
    std::size_t lambda = 0;   ///< trials of a generation; 0: 4 + 3 ln n
  };
  cma_es() : cma_es(options{}) {}
  explicit cma_es(options o) : options_(o) {}

  void begin(const space& where, std::uint64_t seed) {
    cube_ = cube(where, "cma_es");
    if (cube_.dimensions() == 0) throw error("manta: cma_es: the space has no parameter to search");
    seed_ = seed;
    asked_ = 0;
    generation_ = 0;
    open_.clear();
    told_.clear();
    restart(cma_strategy::vector::Constant(size(), 0.5), options_.lambda);
  }
  std::optional<config> ask(trial_number t) {
    random r(seed_, asked_++, 0x636d61ULL);
    cma_strategy::vector x = inside(r);
    std::vector<double> u(x.data(), x.data() + x.size());
    random dependent(seed_, asked_);
    open_[t] = {generation_, std::move(x)};
    return cube_.at(u, dependent);
  }
  void tell(trial_number t, double loss) {
    const auto at = open_.find(t);
    if (at == open_.end()) return;
    if (at->second.first == generation_) {
      told_.emplace_back(std::isnan(loss) ? infinity : loss, std::move(at->second.second));
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

 private:
  Eigen::Index size() const { return static_cast<Eigen::Index>(cube_.dimensions()); }
  void restart(cma_strategy::vector mean, std::size_t lambda) {
    strategy_ = cma_strategy(std::move(mean), options_.sigma, lambda);
  }
  /// A point in the cube: drawn until it is inside, in the end moved to the border.
  cma_strategy::vector inside(random& r) const {
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

  options options_;
  cube cube_;
  cma_strategy strategy_;
  std::uint64_t seed_ = 0, asked_ = 0, generation_ = 0;
  std::map<trial_number, std::pair<std::uint64_t, cma_strategy::vector>> open_;
  std::vector<std::pair<double, cma_strategy::vector>> told_;
};

}  // namespace manta::tune
