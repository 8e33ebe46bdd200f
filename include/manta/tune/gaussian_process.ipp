// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/gaussian_process.hpp"

namespace manta::tune {

MANTA_DECL Eigen::ArrayXXd detail::squared_distances(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) {
  Eigen::ArrayXXd d = (-2 * x.transpose() * y).array();
  d.colwise() += x.colwise().squaredNorm().transpose().array();
  d.rowwise() += y.colwise().squaredNorm().array();
  return d.max(0);
}

MANTA_DECL gaussian_process::gaussian_process(Eigen::Index dimensions) {
  parameters_.log_lengths = vector::Constant(dimensions, std::log(0.4));
}

MANTA_DECL void gaussian_process::fit(const matrix& points, const vector& values, int starts, int steps, random& r) {
  set_data(points, values);
  parameters best = parameters_;
  double most = climb(best, steps);
  for (int s = 0; s < starts; ++s) {
    parameters p = parameters_;
    for (double& l : p.log_lengths) l = std::log(0.4) + 0.8 * r.normal();
    p.log_variance = 0.5 * r.normal();
    p.log_noise = std::log(1e-4) + r.normal();
    const double reached = climb(p, steps);
    if (reached > most) {
      most = reached;
      best = std::move(p);
    }
  }
  parameters_ = std::move(best);
  factorise();
}

MANTA_DECL void gaussian_process::condition(const matrix& points, const vector& values) {
  set_data(points, values);
  factorise();
}

MANTA_DECL void gaussian_process::predict(const matrix& at, vector& mean, vector& deviation) const {
  const double a = std::exp(parameters_.log_variance);
  matrix k = kernel(scaled_, scale(at, parameters_.log_lengths), a);
  mean = (k.transpose() * alpha_).array() * deviation_ + offset_;
  lower_.triangularView<Eigen::Lower>().solveInPlace(k);
  deviation = (a - k.colwise().squaredNorm().transpose().array()).max(1e-12 * a).sqrt() * deviation_;
}

MANTA_DECL gaussian_process::matrix gaussian_process::scale(const matrix& points, const vector& log_lengths) {
  return (-log_lengths).array().exp().matrix().asDiagonal() * points;
}

MANTA_DECL gaussian_process::matrix gaussian_process::kernel(const matrix& x, const matrix& y, double a) {
  const Eigen::ArrayXXd r = (5 * detail::squared_distances(x, y)).sqrt();
  return a * (1 + r + r.square() / 3) * (-r).exp();
}

MANTA_DECL void gaussian_process::set_data(const matrix& points, const vector& values) {
  points_ = points;
  // Their sums and squares must be finite, and there are values above 1e154.
  const double unit = std::max(1.0, values.cwiseAbs().maxCoeff());
  const Eigen::ArrayXd scaled = values.array() / unit;
  const double mean = scaled.mean();
  double deviation = std::sqrt((scaled - mean).square().mean());
  if (is_nan(deviation) || deviation <= 1e-12 * (1 / unit + std::abs(mean))) deviation = 1 / unit;
  values_ = (scaled - mean) / deviation;
  offset_ = mean * unit;
  deviation_ = deviation * unit;
}

MANTA_DECL bool gaussian_process::decompose(const matrix& k, Eigen::LLT<matrix>& factor) {
  for (double jitter = 1e-9; jitter < 1; jitter *= 10) {
    factor.compute(k + jitter * matrix::Identity(k.rows(), k.cols()));
    if (factor.info() == Eigen::Success) return true;
  }
  return false;
}

MANTA_DECL void gaussian_process::factorise() {
  scaled_ = scale(points_, parameters_.log_lengths);
  matrix k = kernel(scaled_, scaled_, std::exp(parameters_.log_variance));
  k.diagonal().array() += std::exp(parameters_.log_noise);
  Eigen::LLT<matrix> factor;
  decompose(k, factor);
  lower_ = factor.matrixLLT();
  alpha_ = factor.solve(values_);
}

MANTA_DECL double gaussian_process::posterior(const parameters& p, vector& gradient) const {
  const Eigen::Index n = points_.cols(), d = points_.rows();
  const double a = std::exp(p.log_variance), noise = std::exp(p.log_noise);
  const matrix x = scale(points_, p.log_lengths);
  const Eigen::ArrayXXd r = (5 * detail::squared_distances(x, x)).sqrt();
  const Eigen::ArrayXXd decay = (-r).exp();
  const matrix m = (1 + r + r.square() / 3) * decay;
  matrix k = a * m;
  k.diagonal().array() += noise;
  Eigen::LLT<matrix> factor;
  if (!decompose(k, factor)) return -infinity;
  const vector alpha = factor.solve(values_);
  const matrix inverse = factor.solve(matrix::Identity(n, n));
  double value = -0.5 * values_.dot(alpha) - factor.matrixLLT().diagonal().array().log().sum();
  const matrix w = alpha * alpha.transpose() - inverse;  // half its trace with dK is the derivative
  gradient.resize(d + 2);
  const Eigen::ArrayXXd common = w.array() * ((5.0 / 3) * a * (1 + r) * decay);
  for (Eigen::Index i = 0; i < d; ++i) {
    const Eigen::ArrayXd row = x.row(i).transpose().array();
    const Eigen::ArrayXXd difference = row.replicate(1, n) - row.transpose().replicate(n, 1);
    gradient(i) = 0.5 * (common * difference.square()).sum();
  }
  gradient(d) = 0.5 * a * (w.array() * m.array()).sum();
  gradient(d + 1) = 0.5 * noise * w.trace();
  // log-normal priors
  const auto prior = [&](double x0, double mean, double sd, double& g) {
    value -= 0.5 * (x0 - mean) * (x0 - mean) / (sd * sd);
    g -= (x0 - mean) / (sd * sd);
  };
  for (Eigen::Index i = 0; i < d; ++i)
    prior(p.log_lengths(i), std::log(0.4), 0.4, gradient(i));  // wider ones waste the first dozens
  prior(p.log_variance, 0, 1, gradient(d));
  prior(p.log_noise, std::log(1e-4), 2, gradient(d + 1));
  return value;
}

MANTA_DECL double gaussian_process::climb(parameters& p, int steps) const {
  const Eigen::Index d = p.log_lengths.size() + 2;
  vector gradient;
  double value = posterior(p, gradient);
  matrix h = 0.1 * matrix::Identity(d, d);
  for (int s = 0; s < steps; ++s) {
    vector direction = h * gradient;
    if (direction.dot(gradient) <= 0) {
      h = 0.1 * matrix::Identity(d, d);
      direction = h * gradient;
    }
    const double longest = direction.cwiseAbs().maxCoeff();
    double length = longest > 1 ? 1 / longest : 1;  // at most a factor of e
    bool better = false;
    for (int halving = 0; halving < 6; ++halving, length /= 3) {
      parameters q = p;
      q.log_lengths =
          (q.log_lengths + length * direction.head(d - 2)).cwiseMax(std::log(0.01)).cwiseMin(std::log(20.0));
      q.log_variance = std::clamp(q.log_variance + length * direction(d - 2), -5.0, 7.0);
      q.log_noise = std::clamp(q.log_noise + length * direction(d - 1), std::log(1e-7), std::log(1.0));
      vector next;
      const double reached = posterior(q, next);
      if (is_nan(reached) || reached <= value) continue;
      vector step(d);
      step << q.log_lengths - p.log_lengths, q.log_variance - p.log_variance, q.log_noise - p.log_noise;
      const vector change = gradient - next;  // of the negative
      const double curvature = step.dot(change);
      if (curvature > 1e-12) {
        const vector hy = h * change;
        h += (1 + change.dot(hy) / curvature) / curvature * step * step.transpose() -
             (hy * step.transpose() + step * hy.transpose()) / curvature;
      }
      better = reached - value > 1e-4;
      value = reached;
      gradient = std::move(next);
      p = std::move(q);
      break;
    }
    if (!better) break;
  }
  return value;
}

}  // namespace manta::tune
