// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/loss.hpp"

namespace manta::nn {

MANTA_DECL loss::loss() = default;
MANTA_DECL loss::loss(const loss&) = default;
MANTA_DECL loss::loss(loss&&) noexcept = default;
MANTA_DECL loss& loss::operator=(const loss&) = default;
MANTA_DECL loss& loss::operator=(loss&&) noexcept = default;
MANTA_DECL loss::~loss() = default;
MANTA_DECL loss::loss(kind k) : kind_(k) {}
MANTA_DECL loss::loss(kind k, cross_entropy_options options, double delta)
    : kind_(k),
      weights_(std::move(options.weights)),
      smoothing_(options.smoothing),
      delta_(delta),
      ignore_(options.ignore) {}
MANTA_DECL loss::loss(std::vector<loss> parts, std::vector<int> outputs, std::vector<double> shares)
    : kind_(kind::several), parts_(std::move(parts)), outputs_(std::move(outputs)), shares_(std::move(shares)) {}

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

MANTA_DECL loss mae() { return loss(loss::kind::mae); }
MANTA_DECL loss quantile(double q) {
  detail::check_option(q > 0 && q < 1, "quantile", "the quantile", q, "above 0 and below 1");
  return {loss::kind::quantile, {}, q};
}
MANTA_DECL loss poisson() { return loss(loss::kind::poisson); }
MANTA_DECL loss kl_divergence() { return loss(loss::kind::kl_divergence); }

MANTA_DECL loss several(const std::vector<output_loss>& parts) {
  std::vector<loss> losses;
  std::vector<int> outputs;
  std::vector<double> shares;
  for (const output_loss& part : parts) {
    detail::check_option(part.outputs > 0, "several", ".outputs", part.outputs, "above 0");
    detail::check_option(part.weight >= 0, "several", ".weight", part.weight, "at least 0");
    if (part.loss.is_weighted() || part.loss.name() == "none" || part.loss.name() == "several")
      throw error(base::text("manta: nn: several: {} cannot be the loss of a part: it has no mean over all samples",
                             part.loss.describe()));
    losses.push_back(part.loss);
    outputs.push_back(part.outputs);
    shares.push_back(part.weight);
  }
  if (parts.empty()) throw error("manta: nn: several: there are no losses");
  return {std::move(losses), std::move(outputs), std::move(shares)};
}

MANTA_DECL std::string loss::name() const {
  switch (kind_) {
    case kind::none: break;
    case kind::cross_entropy: return "cross_entropy";
    case kind::mse: return "mse";
    case kind::huber: return "huber";
    case kind::binary: return "binary_cross_entropy";
    case kind::mae: return "mae";
    case kind::quantile: return "quantile";
    case kind::poisson: return "poisson";
    case kind::kl_divergence: return "kl_divergence";
    case kind::several: return "several";
  }
  return "none";
}

MANTA_DECL std::string loss::describe() const {
  std::string settings;
  const auto add = [&](const std::string& text) { settings += (settings.empty() ? "" : ", ") + text; };
  if (kind_ == kind::cross_entropy && smoothing_ != 0) add(base::text("smoothing {}", smoothing_));
  if (kind_ == kind::huber) add(base::text("delta {}", delta_));
  if (kind_ == kind::quantile) add(base::text("{}", delta_));
  if (ignore_) add(base::text("ignore {}", *ignore_));
  for (std::size_t i = 0; i < parts_.size(); ++i)
    add(base::text("{} * {} of {}", shares_[i], parts_[i].describe(), outputs_[i]));
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
  if (!t.weights().empty() && t.weights().size() != static_cast<std::size_t>(y.cols()))
    refuse(base::text("there are outputs for {} samples, and {} weights", y.cols(), t.weights().size()));
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
    if ((label >= 0 && label < classes) || label == l.ignored()) continue;
    throw sample_error(
        base::text("manta: nn: {}: ", l.name()), static_cast<std::size_t>(static_cast<Eigen::Index>(i) / per_sample),
        base::text(" has the class {}; the network's {} outputs are the classes 0 to {}", label, classes, classes - 1));
  }
}

/// The weight of a sample with this label number, of as many labels as `t` has.
template <class T>
float weight_of_label(const targets<T>& t, std::size_t label) {
  return t.weights().empty() ? 1 : t.weights()[label * t.weights().size() / t.labels().size()];
}

/// The sum of the samples' losses, in double; dy becomes the gradient of sum / divisor. A column for each label.
template <class T>
double softmax_loss(const Eigen::Map<const matrix<T>>& y, const targets<T>& t, const cross_entropy_options& options,
                    Eigen::Map<matrix<T>> dy, double divisor) {
  const auto& [weights, smoothing, ignore] = options;
  const std::span<const int> labels = t.labels();
  double sum = 0;
  const T uniform = static_cast<T>(smoothing / static_cast<double>(y.rows()));
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const int label = labels[static_cast<std::size_t>(i)];
    if (label == ignore) {
      dy.col(i).setZero();
      continue;
    }
    const T of_sample = static_cast<T>(weight_of_label(t, static_cast<std::size_t>(i)));
    const auto weight = [&weights = weights, of_sample](Eigen::Index k) {
      return weights.empty() ? of_sample : of_sample * static_cast<T>(weights[static_cast<std::size_t>(k)]);
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

/// Samples, a column each, that count alike: outputs, targets, and where the gradient goes.
template <class T>
struct loss_columns {
  Eigen::Map<const matrix<T>> y, target;
  Eigen::Map<matrix<T>> dy;
};

/// The sum of the losses of all outputs; dy becomes its gradient times `scale`. `setting`: delta of
/// huber, or the quantile.
template <class T>
double sum_of_losses(loss::kind kind, loss_columns<T> columns, T scale, T setting) {
  auto& [y, target, dy] = columns;
  const auto a = y.array(), b = target.array();
  const auto sum = [](const auto& numbers) { return static_cast<double>(numbers.sum()); };
  switch (kind) {
    case loss::kind::mse: dy = 2 * scale * (y - target); return sum((a - b).square());
    case loss::kind::huber:
      dy = scale * (a - b).min(setting).max(-setting);
      return sum(((a - b).abs() <= setting).select((a - b).square() / 2, setting * ((a - b).abs() - setting / 2)));
    case loss::kind::mae: dy = scale * (a - b).sign(); return sum((a - b).abs());
    case loss::kind::quantile:
      dy = scale * ((1 - setting) * (a > b).template cast<T>() - setting * (a < b).template cast<T>());
      return sum((a > b).select((1 - setting) * (a - b), setting * (b - a)));
    case loss::kind::poisson: dy = scale * (a.exp() - b); return sum(a.exp() - a * b);
    default:  // binary: log(1 + e^-|y|) + max(y, 0) - y t does not overflow
      dy = scale * (a.logistic() - b);
      return sum((-a.abs()).exp().log1p() + a.max(0) - a * b);
  }
}

/// The sum over samples of sum t (log t - log p); dy becomes its gradient times `scale`.
template <class T>
double sum_of_divergences(loss_columns<T> columns, T scale) {
  auto& [y, target, dy] = columns;
  double sum = 0;
  for (Eigen::Index i = 0; i < y.cols(); ++i) {
    const auto t = target.col(i).array();
    const T greatest = y.col(i).maxCoeff();
    dy.col(i).array() = (y.col(i).array() - greatest).exp();
    const T total = dy.col(i).sum(), log_sum = greatest + std::log(total);
    sum += static_cast<double>((t > 0).select(t * t.log(), t).sum() - (t * (y.col(i).array() - log_sum)).sum());
    dy.col(i).array() = scale * (dy.col(i).array() * (t.sum() / total) - t);
  }
  return sum;
}

}  // namespace detail

template <class T>
double loss::weight(const targets<T>& t) const {
  if (!t.has_labels() && !t.weights().empty()) return std::accumulate(t.weights().begin(), t.weights().end(), 0.);
  if (!t.has_labels() || (!is_weighted() && t.weights().empty())) return static_cast<double>(t.samples());
  double sum = 0;
  for (std::size_t i = 0; i < t.labels().size(); ++i) {
    const int label = t.labels()[i];
    if (label == ignore_) continue;
    const double of_sample = detail::weight_of_label(t, i);
    if (weights_.empty()) {
      sum += of_sample;
      continue;
    }
    if (label < 0 || static_cast<std::size_t>(label) >= weights_.size())
      throw error(base::text("manta: nn: cross_entropy: there is no weight for the class {}; {} weights were given",
                             label, weights_.size()));
    sum += of_sample * weights_[static_cast<std::size_t>(label)];
  }
  return sum;
}

template <class T>
T loss::over_parts(const matrix<T>& y, const targets<T>& all, matrix<T>& dy, double divisor) const {
  const matrix<T>& t = all.values();
  Eigen::Index outputs = 0, rows = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    outputs += outputs_[i];
    rows += parts_[i].has_classes() ? 1 : outputs_[i];
  }
  if (y.rows() != outputs || t.rows() != rows || t.cols() != y.cols())
    throw error(
        base::text("manta: nn: {}: the outputs are {} x {} and the targets {} x {}; the parts have {} outputs "
                   "and {} targets together",
                   name(), y.rows(), y.cols(), t.rows(), t.cols(), outputs, rows));
  dy.resize(y.rows(), y.cols());
  T sum = 0;
  matrix<T> d, values;
  std::vector<int> labels(static_cast<std::size_t>(y.cols()));
  Eigen::Index at = 0, row = 0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const bool has_classes = parts_[i].has_classes();
    const Eigen::Index its = has_classes ? 1 : outputs_[i];
    values = t.middleRows(row, its);
    for (Eigen::Index s = 0; has_classes && s < y.cols(); ++s)
      labels[static_cast<std::size_t>(s)] = static_cast<int>(values(0, s));
    const targets<T> wanted = has_classes ? targets<T>(labels) : targets<T>(values);
    const matrix<T> part = y.middleRows(at, outputs_[i]);
    const T share = static_cast<T>(shares_[i]);
    sum += share * parts_[i].over(part, wanted.with_weights(all.weights()), d, divisor);
    dy.middleRows(at, outputs_[i]) = share * d;
    at += outputs_[i];
    row += its;
  }
  return sum;
}

template <class T>
T loss::over(const matrix<T>& y, const std::type_identity_t<targets<T>>& t, matrix<T>& dy, double divisor) const {
  if (kind_ == kind::none)
    throw error("manta: nn: this loss is empty; assign nn::cross_entropy(), nn::mse() or another to it");
  if (kind_ == kind::several && !t.has_labels()) return over_parts(y, t, dy, divisor);
  detail::check_targets(*this, y, t);
  if (kind_ == kind::cross_entropy) {
    const Eigen::Index classes = t.samples() > 0 ? y.size() / t.samples() : y.rows();
    if (!weights_.empty() && weights_.size() != static_cast<std::size_t>(classes))
      throw error(base::text("manta: nn: cross_entropy has {} weights of classes, and the network {} outputs",
                             weights_.size(), classes));
    dy.resize(y.rows(), y.cols());
    return static_cast<T>(detail::softmax_loss<T>({y.data(), classes, t.samples()}, t, {weights_, smoothing_, ignore_},
                                                  {dy.data(), classes, t.samples()}, divisor) /
                          divisor);
  }
  // A divergence is that of all outputs of a sample together.
  const double count = divisor * (kind_ == kind::kl_divergence ? 1. : static_cast<double>(y.rows()));
  dy.resize(y.rows(), y.cols());
  const auto sum_of = [&](Eigen::Index first, Eigen::Index columns, double weight) {
    const Eigen::Index at = first * y.rows();
    const detail::loss_columns<T> some{{y.data() + at, y.rows(), columns},
                                       {t.values().data() + at, y.rows(), columns},
                                       {dy.data() + at, y.rows(), columns}};
    const T scale = static_cast<T>(weight / count);
    return weight * (kind_ == kind::kl_divergence
                         ? detail::sum_of_divergences<T>(some, scale)
                         : detail::sum_of_losses<T>(kind_, some, scale, static_cast<T>(delta_)));
  };
  if (t.weights().empty()) return static_cast<T>(sum_of(0, y.cols(), 1) / count);
  double sum = 0;
  for (Eigen::Index i = 0; i < y.cols(); ++i) sum += sum_of(i, 1, t.weights()[static_cast<std::size_t>(i)]);
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
