// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of loss.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/loss.hpp"

namespace manta::nn {

MANTA_DECL loss cross_entropy(const cross_entropy_options& options) {
  detail::check_option(options.smoothing >= 0 && options.smoothing < 1, "cross_entropy", ".smoothing",
                       options.smoothing, "at least 0 and below 1");
  for (const double weight : options.weights)
    detail::check_option(weight >= 0, "cross_entropy", "a number of .weights", weight, "at least 0");
  return {loss::kind::cross_entropy, options, 1};
}
MANTA_DECL loss mse() { return loss(loss::kind::mse); }
MANTA_DECL loss huber(double delta) {
  detail::check_option(delta > 0, "huber", "delta", delta, "above 0");
  return {loss::kind::huber, {}, delta};
}
MANTA_DECL loss binary_cross_entropy() { return loss(loss::kind::binary); }

MANTA_DECL std::string loss::name() const {
  switch (kind_) {
    case kind::none: break;
    case kind::cross_entropy: return "cross_entropy";
    case kind::mse: return "mse";
    case kind::huber: return "huber";
    case kind::binary: return "binary_cross_entropy";
  }
  return "none";
}

MANTA_DECL std::string loss::describe() const {
  std::string settings;
  const auto add = [&](const std::string& text) { settings += (settings.empty() ? "" : ", ") + text; };
  if (kind_ == kind::cross_entropy && smoothing_ != 0) add(base::text("smoothing {}", smoothing_));
  if (kind_ == kind::huber) add(base::text("delta {}", delta_));
  if (!weights_.empty()) {
    std::string all;
    for (const double w : weights_) all += base::text(" {}", w);
    add("weights" + all);
  }
  return base::text("{}({})", name(), settings);
}

namespace detail {

/// Throws unless targets suit the outputs y.
template <class T>
void check_targets(const loss& l, const matrix<T>& y, const targets<T>& t) {
  const auto refuse = [&](const std::string& what) { throw error(base::text("manta: nn: {}: {}", l.name(), what)); };
  if (l.has_classes() != t.has_labels())
    refuse(l.has_classes() ? "the targets have to be classes, one for each sample"
                           : "the targets have to be a matrix like the outputs, not classes");
  if (!t.has_labels()) {
    if (t.values().rows() != y.rows() || t.values().cols() != y.cols())
      refuse(base::text("the outputs are {} x {} and the targets {} x {}", y.rows(), y.cols(), t.values().rows(),
                        t.values().cols()));
    return;
  }
  const Eigen::Index per_sample = y.cols() > 0 ? t.samples() / y.cols() : 1;
  if (t.samples() != y.cols() * per_sample || (per_sample > 1 && y.rows() % per_sample != 0))
    refuse(base::text("there are outputs for {} samples, and {} classes", y.cols(), t.samples()));
  const Eigen::Index classes = y.rows() / std::max<Eigen::Index>(1, per_sample);
  for (std::size_t i = 0; i < t.labels().size(); ++i) {
    const int label = t.labels()[i];
    if (label >= 0 && label < classes) continue;
    throw sample_error(
        base::text("manta: nn: {}: ", l.name()), static_cast<std::size_t>(static_cast<Eigen::Index>(i) / per_sample),
        base::text(" has the class {}; the network's {} outputs are the classes 0 to {}", label, classes, classes - 1));
  }
}

/// The sum of the samples' losses, in double; dy becomes the gradient of sum / divisor. A column for each label.
template <class T>
double softmax_loss(const Eigen::Map<const matrix<T>>& y, std::span<const int> labels,
                    const std::vector<double>& weights, double smoothing, Eigen::Map<matrix<T>> dy, double divisor) {
  double sum = 0;
  const T uniform = static_cast<T>(smoothing / static_cast<double>(y.rows()));
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const int label = labels[static_cast<std::size_t>(i)];
    const auto weight = [&](Eigen::Index k) {
      return weights.empty() ? T(1) : static_cast<T>(weights[static_cast<std::size_t>(k)]);
    };
    // The maximum is taken off first: exponentials of large outputs would overflow.
    const T greatest = y.col(i).maxCoeff();
    dy.col(i).array() = (y.col(i).array() - greatest).exp();
    const T total = dy.col(i).sum();
    const T log_sum = greatest + std::log(total);
    const T scale = static_cast<T>(1 / divisor);
    const T hard = static_cast<T>(1 - smoothing) * weight(label);
    sum += static_cast<double>(hard * (log_sum - y(label, i)));
    T mass = hard;
    if (smoothing > 0) {
      for (Eigen::Index k = 0; k < y.rows(); ++k) {
        mass += uniform * weight(k);
        sum += static_cast<double>(uniform * weight(k) * (log_sum - y(k, i)));
      }
    }
    dy.col(i) *= scale * mass / total;
    dy(label, i) -= scale * hard;
    if (smoothing > 0) {
      for (Eigen::Index k = 0; k < y.rows(); ++k) dy(k, i) -= scale * uniform * weight(k);
    }
  }
  return sum;
}

}  // namespace detail

template <class T>
double loss::weight(const targets<T>& t) const {
  if (weights_.empty() || !t.has_labels()) return static_cast<double>(t.samples());
  double sum = 0;
  for (int label : t.labels()) {
    if (label < 0 || static_cast<std::size_t>(label) >= weights_.size())
      throw error(base::text("manta: nn: cross_entropy: there is no weight for the class {}; {} weights were given",
                             label, weights_.size()));
    sum += weights_[static_cast<std::size_t>(label)];
  }
  return sum;
}

template <class T>
T loss::over(const matrix<T>& y, const std::type_identity_t<targets<T>>& t, matrix<T>& dy, double divisor) const {
  if (kind_ == kind::none)
    throw error("manta: nn: this loss is empty; assign nn::cross_entropy(), nn::mse() or another to it");
  detail::check_targets(*this, y, t);
  if (kind_ == kind::cross_entropy) {
    const Eigen::Index classes = t.samples() > 0 ? y.size() / t.samples() : y.rows();
    if (!weights_.empty() && weights_.size() != static_cast<std::size_t>(classes))
      throw error(base::text("manta: nn: cross_entropy has {} weights of classes, and the network {} outputs",
                             weights_.size(), classes));
    dy.resize(y.rows(), y.cols());
    return static_cast<T>(detail::softmax_loss<T>({y.data(), classes, t.samples()}, t.labels(), weights_, smoothing_,
                                                  {dy.data(), classes, t.samples()}, divisor) /
                          divisor);
  }
  const double count = divisor * static_cast<double>(y.rows());
  const T scale = static_cast<T>(1 / count), delta = static_cast<T>(delta_);
  const auto a = y.array(), b = t.values().array();
  double sum = 0;
  switch (kind_) {
    case kind::mse:
      dy = 2 * scale * (y - t.values());
      sum = static_cast<double>((a - b).square().sum());
      break;
    case kind::huber:
      dy = scale * (a - b).min(delta).max(-delta);
      sum = static_cast<double>(
          ((a - b).abs() <= delta).select((a - b).square() / 2, delta * ((a - b).abs() - delta / 2)).sum());
      break;
    default:  // binary: log(1 + e^-|y|) + max(y, 0) - y t does not overflow
      dy = scale * (a.logistic() - b);
      sum = static_cast<double>(((-a.abs()).exp().log1p() + a.max(0) - a * b).sum());
  }
  return static_cast<T>(sum / count);
}

template <class T>
Eigen::Index correct(const matrix<T>& y, std::span<const int> labels) {
  Eigen::Index n = 0;
  if (labels.empty()) return 0;
  const auto count = static_cast<Eigen::Index>(labels.size());
  const Eigen::Map<const matrix<T>> columns(y.data(), y.size() / count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    Eigen::Index best = 0;
    columns.col(i).maxCoeff(&best);
    n += best == labels[static_cast<std::size_t>(i)];
  }
  return n;
}

}  // namespace manta::nn
