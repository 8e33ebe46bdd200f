// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Losses, with their gradients. A loss is a mean over the samples of a batch, or, where samples have weights, their
// weighted mean: the sum of the weighted losses divided by the sum of the weights.
//
//   auto [value, dy] = nn::cross_entropy(y, labels);      // y: outputs x samples, as the network gives it
//   net.backward(dy);
//   nn::loss l = nn::cross_entropy({.smoothing = 0.1});   // the loss as a value, for a recipe
#pragma once

#include <cereal/types/optional.hpp>
#include <cereal/types/vector.hpp>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "manta/base/unknown_options.hpp"
#include "manta/nn/module.hpp"
#include "manta/nn/sample_error.hpp"

namespace manta::nn {

/// What the network ought to give: a class for each sample, or a matrix like y; and how much each sample counts. Refers
/// to the caller's memory.
template <class T>
class targets {
 public:
  targets(const std::vector<int>& labels) : labels_(labels), has_labels_(true) {}
  targets(std::span<const int> labels) : labels_(labels), has_labels_(true) {}
  targets(const Eigen::VectorXi& labels)
      : labels_(labels.data(), static_cast<std::size_t>(labels.size())), has_labels_(true) {}
  targets(const matrix<T>& values) : values_(&values) {}
  template <class Number>
    requires(!std::is_same_v<Number, int>)
  targets(const std::vector<Number>&) {
    static_assert(
        sizeof(Number) == 0,
        "manta: nn: classes are a std::vector<int>; numbers to be reached are an nn::matrix<float> of outputs x "
        "samples, as the network gives it (nn::matrix<double> for an nn::network<double>)");
  }

  [[nodiscard]] bool has_labels() const { return has_labels_; }
  [[nodiscard]] std::span<const int> labels() const { return labels_; }
  [[nodiscard]] const matrix<T>& values() const { return *values_; }
  [[nodiscard]] Eigen::Index samples() const {
    return has_labels_ ? static_cast<Eigen::Index>(labels_.size()) : values_->cols();
  }

  /// These targets with a weight for each sample of the batch.
  [[nodiscard]] targets with_weights(std::span<const float> weights) const {
    targets t = *this;
    t.weights_ = weights;
    return t;
  }
  /// A weight for each sample; empty: all count alike. A sample with a class for each position has one weight.
  [[nodiscard]] std::span<const float> weights() const { return weights_; }

 private:
  std::span<const int> labels_;
  std::span<const float> weights_;
  bool has_labels_ = false;
  const matrix<T>* values_ = nullptr;
};

struct cross_entropy_options {
  /// Weights of the classes; empty: all 1. The mean is weighted, as PyTorch's CrossEntropyLoss(weight): the sum of the
  /// weighted losses divided by the sum of the weights. A sample's own weight is one more factor.
  std::vector<double> weights = {};
  double smoothing = 0;            ///< label smoothing (Szegedy et al., 2016): the part that is spread over all classes
  std::optional<int> ignore = {};  ///< a class whose samples or positions count nothing, such as that of padding
};

/// A loss as a value: plain data that can be sent and saved.
class loss {
 public:
  /// none: to be assigned to.
  enum class kind { none, cross_entropy, mse, huber, binary, mae, quantile, poisson, kl_divergence, several };

  // As for optimizer.
  MANTA_DECL loss();
  MANTA_DECL loss(const loss&);
  MANTA_DECL loss(loss&&) noexcept;
  MANTA_DECL loss& operator=(const loss&);
  MANTA_DECL loss& operator=(loss&&) noexcept;
  MANTA_DECL ~loss();
  MANTA_DECL explicit loss(kind k);
  MANTA_DECL loss(kind k, cross_entropy_options options, double delta);

  /// Losses of parts of the outputs, one after the other; `shares` are their factors.
  MANTA_DECL loss(std::vector<loss> parts, std::vector<int> outputs, std::vector<double> shares);

  /// The mean loss of the batch; writes its gradient by y to dy. Throws if sizes do not match, or a label is no class.
  template <class T>
  T operator()(const matrix<T>& y, const std::type_identity_t<targets<T>>& t, matrix<T>& dy) const {
    return over(y, t, dy, weight<T>(t));
  }
  /// The sum of the samples' losses divided by `divisor`, and its gradient: for a part of a batch, whose mean needs the
  /// weight of the whole.
  template <class T>
  T over(const matrix<T>& y, const std::type_identity_t<targets<T>>& t, matrix<T>& dy, double divisor) const;
  /// By what the sum is divided to give the mean: the number of samples, or the sum of their weights.
  template <class T>
  double weight(const targets<T>& t) const;

  /// Samples count differently by their class: there are weights of classes, or a class that is ignored.
  [[nodiscard]] bool is_weighted() const { return !weights_.empty() || ignore_; }
  /// The class that counts nothing, if there is one.
  [[nodiscard]] std::optional<int> ignored() const { return ignore_; }
  /// Targets are classes.
  [[nodiscard]] bool has_classes() const { return kind_ == kind::cross_entropy; }
  /// The kind: "cross_entropy".
  [[nodiscard]] MANTA_DECL std::string name() const;
  /// The kind with its settings: "cross_entropy(smoothing 0.1)".
  [[nodiscard]] MANTA_DECL std::string describe() const;

  bool operator==(const loss&) const = default;
  template <class Archive>
  void serialize(Archive& archive);

 private:
  template <class T>
  T over_parts(const matrix<T>& y, const targets<T>& t, matrix<T>& dy, double divisor) const;

  kind kind_ = kind::none;
  std::vector<double> weights_;
  double smoothing_ = 0, delta_ = 1;
  std::optional<int> ignore_;
  std::vector<loss> parts_;     ///< parts of several outputs
  std::vector<int> outputs_;    ///< numbers of each
  std::vector<double> shares_;  ///< factors of their losses
};

template <class Archive>
void loss::serialize(Archive& archive) {
  archive(kind_, weights_, smoothing_, delta_, ignore_, parts_, outputs_, shares_);
}

/// The samples of a batch whose largest output is that of their class.
template <class T>
Eigen::Index correct(const matrix<T>& y, std::span<const int> labels);

/// Softmax and cross entropy of the outputs, which are logits, one for each class. Where a network gives sequences of
/// logits (length x classes), there is a label for each position, sample by sample, and the mean is over positions.
MANTA_DECL loss cross_entropy(const cross_entropy_options& options = {});
/// The mean over samples and outputs of (y - target)^2.
MANTA_DECL loss mse();
template <std::size_t N>
loss cross_entropy(base::unknown_options<N>) = delete;  // manta: its options are .weights, .smoothing, .ignore
loss cross_entropy(double) = delete;                    // manta: cross_entropy({.smoothing = 0.1})
/// As mse / 2 within delta of the target, and linear beyond, as PyTorch's (Huber, 1964).
MANTA_DECL loss huber(double delta = 1);
/// Binary cross entropy of outputs that are logits, each by itself; targets in [0, 1].
MANTA_DECL loss binary_cross_entropy();

/// The mean over samples and outputs of |y - target|.
MANTA_DECL loss mae();
/// The mean of q e where the target is e above y, and of (1 - q) e where it is e below: the outputs become quantiles of
/// the targets (Koenker, Bassett, 1978), the median for 0.5.
MANTA_DECL loss quantile(double q);
/// The mean of e^y - target y: outputs are logarithms of the rates of counts, as PyTorch's PoissonNLLLoss.
MANTA_DECL loss poisson();
/// The mean over samples of the sum of t (log t - log p): p are the probabilities of the outputs, which are logits, and
/// the targets t are probabilities too, which add up to 1. PyTorch's KLDivLoss("batchmean") of log_softmax.
MANTA_DECL loss kl_divergence();

/// A part of a network's outputs with a loss of its own.
struct output_loss {
  int outputs;  ///< rows of the result
  nn::loss loss;
  double weight = 1;  ///< factor of the loss in the sum
};
/// The sum of the losses of several outputs, which lie one after the other, as those of a graph do. The targets are a
/// matrix with the targets of each part, one after the other: as many rows as outputs, or one row with the class of
/// each sample where the loss is cross_entropy.
MANTA_DECL loss several(const std::vector<output_loss>& parts);

/// A loss and its gradient by the network's outputs.
template <class T>
struct loss_value {
  T value;
  matrix<T> gradient;
};

namespace detail {
template <class T>
loss_value<T> evaluate(const loss& l, const matrix<T>& y, const targets<T>& t) {
  loss_value<T> result{};
  result.value = l(y, t, result.gradient);
  return result;
}
}  // namespace detail

template <class T>
loss_value<T> cross_entropy(const matrix<T>& y, const std::type_identity_t<targets<T>>& labels,
                            const cross_entropy_options& options = {}) {
  return detail::evaluate<T>(cross_entropy(options), y, labels);
}
template <class T>
loss_value<T> cross_entropy(  // manta: cross_entropy(y, labels, {.smoothing = 0.1})
    const matrix<T>&, const std::type_identity_t<targets<T>>&, double) = delete;
template <class T>
loss_value<T> mse(const matrix<T>& y, const std::type_identity_t<matrix<T>>& target) {
  return detail::evaluate<T>(mse(), y, target);
}
template <class T, class Number>
loss_value<T> mse(const matrix<T>&, const std::vector<Number>&) = delete;  // manta: a matrix, outputs x samples
template <class T>
loss_value<T> huber(const matrix<T>& y, const std::type_identity_t<matrix<T>>& target, double delta = 1) {
  return detail::evaluate<T>(huber(delta), y, target);
}
template <class T>
loss_value<T> binary_cross_entropy(const matrix<T>& y, const std::type_identity_t<matrix<T>>& target) {
  return detail::evaluate<T>(binary_cross_entropy(), y, target);
}

template <class T>
loss_value<T> mae(const matrix<T>& y, const std::type_identity_t<matrix<T>>& target) {
  return detail::evaluate<T>(mae(), y, target);
}
template <class T>
loss_value<T> quantile(const matrix<T>& y, const std::type_identity_t<matrix<T>>& target, double q) {
  return detail::evaluate<T>(quantile(q), y, target);
}
template <class T>
loss_value<T> poisson(const matrix<T>& y, const std::type_identity_t<matrix<T>>& target) {
  return detail::evaluate<T>(poisson(), y, target);
}
template <class T>
loss_value<T> kl_divergence(const matrix<T>& y, const std::type_identity_t<matrix<T>>& target) {
  return detail::evaluate<T>(kl_divergence(), y, target);
}

#ifdef MANTA_COMPILED
extern template void loss::serialize(cereal::BinaryOutputArchive&);
extern template void loss::serialize(cereal::BinaryInputArchive&);
extern template float loss::over(const matrix<float>&, const targets<float>&, matrix<float>&, double) const;
extern template double loss::over(const matrix<double>&, const targets<double>&, matrix<double>&, double) const;
extern template double loss::weight(const targets<float>&) const;
extern template double loss::weight(const targets<double>&) const;
extern template Eigen::Index correct(const matrix<float>&, std::span<const int>);
extern template Eigen::Index correct(const matrix<double>&, std::span<const int>);
#endif

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/loss.ipp"
#endif
