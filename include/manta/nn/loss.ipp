// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of loss.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/error.hpp"
#include "manta/nn/loss.hpp"

namespace manta::nn {

MANTA_DECL loss cross_entropy(const cross_entropy_options& options) { return {loss::kind::cross_entropy, options, 1}; }
MANTA_DECL loss mse() { return loss(loss::kind::mse); }
MANTA_DECL loss huber(double delta) { return {loss::kind::huber, {}, delta}; }
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

namespace detail {

/// Throws unless targets suit the outputs y.
template <class T>
void check_targets(const loss& l, const matrix<T>& y, const targets<T>& t) {
  const auto say = [&](const std::string& what) { throw error("manta: nn: " + l.name() + ": " + what); };
  const auto size = [](Eigen::Index rows, Eigen::Index cols) {
    return std::to_string(rows) + " x " + std::to_string(cols);
  };
  if (l.has_classes() != t.has_labels())
    say(l.has_classes() ? "the targets have to be classes, one for each sample"
                        : "the targets have to be a matrix like the outputs, not classes");
  if (!t.has_labels() && (t.values().rows() != y.rows() || t.values().cols() != y.cols()))
    say("the outputs are " + size(y.rows(), y.cols()) + " and the targets " +
        size(t.values().rows(), t.values().cols()));
  if (!t.has_labels()) return;
  const Eigen::Index per_sample = y.cols() > 0 ? t.samples() / y.cols() : 1;
  if (t.samples() != y.cols() * per_sample || (per_sample > 1 && y.rows() % per_sample != 0))
    say("there are outputs for " + std::to_string(y.cols()) + " samples, and " + std::to_string(t.samples()) +
        " classes");
  const Eigen::Index classes = y.rows() / std::max<Eigen::Index>(1, per_sample);
  for (std::size_t i = 0; i < t.labels().size(); ++i) {
    if (t.labels()[i] < 0 || t.labels()[i] >= classes)
      say("sample " + std::to_string(static_cast<Eigen::Index>(i) / per_sample) + " of the batch has the class " +
          std::to_string(t.labels()[i]) + "; the network's " + std::to_string(classes) +
          " outputs are the classes 0 to " + std::to_string(classes - 1));
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
      throw error("manta: nn: cross_entropy: there is no weight for the class " + std::to_string(label) + "; " +
                  std::to_string(weights_.size()) + " weights were given");
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
      throw error("manta: nn: cross_entropy has " + std::to_string(weights_.size()) +
                  " weights of classes, and the network " + std::to_string(classes) + " outputs");
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
