// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The data of a training: samples with classes, or with the numbers that the network ought to give.
//
//   train::samples data(x, labels);           // x: features x samples; labels: one class for each sample
//   train::samples curve(x, y);               // y: outputs x samples
//   train::samples texts(x, tags);            // tags: Eigen::MatrixXi, a class for each position of each sample
//   train::samples pairs(range);              // of pairs: the numbers of a sample, and its class (an integer) or its
//                                             // outputs (a number with a fraction, or a range of numbers)
#pragma once

#include <Eigen/Core>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/nn/loss.hpp"
#include "manta/nn/shape.hpp"
#include "manta/train/columns.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

/// A part of the data as a network takes it.
template <class T>
struct batch {
  nn::matrix<T> x;
  std::vector<int> labels;  ///< or, where the data have no classes,
  nn::matrix<T> y;
  bool has_labels = true;
  std::vector<float> weights = {};  ///< how much each sample counts in the loss; empty: all alike

  [[nodiscard]] nn::targets<T> targets() const {
    return (has_labels ? nn::targets<T>(labels) : nn::targets<T>(y)).with_weights(weights);
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(has_labels, labels, x, y, weights);
  }
};

namespace detail {
/// Whatever Eigen can compute or store, as x.leftCols(100), but for the three types that `samples` takes as they are.
template <class T>
concept other_matrix = !std::is_same_v<T, Eigen::MatrixXf> && !std::is_same_v<T, Eigen::MatrixXd> &&
                       !std::is_same_v<T, Eigen::VectorXi> && !std::is_same_v<T, Eigen::MatrixXi> && requires {
  typename T::PlainObject;
};

/// Throws if a number is no class: too large for an int.
MANTA_DECL int checked_class(std::int64_t number);

template <class T>
auto evaluated(const T& x) {
  if constexpr (!other_matrix<T>) {
    return x;
  } else if constexpr (std::is_integral_v<typename T::Scalar>) {
    using classes = std::conditional_t<T::IsVectorAtCompileTime, Eigen::VectorXi, Eigen::MatrixXi>;
    return classes(x.unaryExpr([](auto n) { return checked_class(static_cast<std::int64_t>(n)); }));
  } else {
    return Eigen::Matrix<typename T::Scalar, Eigen::Dynamic, Eigen::Dynamic>(x);
  }
}

/// The arrays of some samples. They lie in matrices, or in memory that the ranks of a node share; `owner` keeps them.
struct sample_arrays {
  std::size_t count = 0, features = 0;
  std::size_t outputs = 0;  ///< numbers of a sample's target, or its classes, which are several for a sequence
  bool is_double = false;   ///< so are inputs and outputs
  bool is_shared = false;   ///< they lie in memory of other ranks
  const void* x = nullptr;
  const void* y = nullptr;         ///< outputs; null where there are classes
  const int* labels = nullptr;     ///< classes
  const float* weights = nullptr;  ///< null: all samples count alike
  nn::shape extents;               ///< extents of a sample; without dimensions where the source had none
  train::columns columns;
  std::shared_ptr<const void> owner;
};
}  // namespace detail

/// Numbers are kept as float unless they were given as double. Copies and parts refer to the same numbers,
/// which never change.
class samples {
 public:
  samples() = default;
  MANTA_DECL samples(Eigen::MatrixXf x, std::vector<int> labels);
  MANTA_DECL samples(Eigen::MatrixXd x, std::vector<int> labels);
  MANTA_DECL samples(Eigen::MatrixXf x, Eigen::MatrixXf y);
  MANTA_DECL samples(Eigen::MatrixXd x, Eigen::MatrixXd y);
  samples(Eigen::MatrixXf x, const Eigen::VectorXi& labels)
      : samples(std::move(x), std::vector<int>(labels.data(), labels.data() + labels.size())) {}
  samples(Eigen::MatrixXd x, const Eigen::VectorXi& labels)
      : samples(std::move(x), std::vector<int>(labels.data(), labels.data() + labels.size())) {}
  /// Positions x samples: a class for each position of a sequence.
  MANTA_DECL samples(Eigen::MatrixXf x, const Eigen::MatrixXi& labels);
  MANTA_DECL samples(Eigen::MatrixXd x, const Eigen::MatrixXi& labels);
  /// As above for expressions and other matrices of Eigen: samples(x.leftCols(100), labels.head(100)).
  template <class X, class Y>
    requires(detail::other_matrix<X> || detail::other_matrix<Y>)
  samples(const X& x, const Y& y) : samples(detail::evaluated(x), detail::evaluated(y)) {}
  /// As above for classes of another type than int.
  template <class X, class Number>
    requires(!std::is_same_v<Number, int>)
  samples(X x, const std::vector<Number>& labels) : samples(std::move(x), classes_from(labels)) {}
  template <std::ranges::range Rows, class Targets>
    requires(!requires { typename Rows::Scalar; })
  samples(const Rows&, const Targets&) {
    static_assert(sizeof(Rows) == 0,
                  "manta: train: the numbers of samples are a matrix of Eigen, features x samples; or give pairs of a "
                  "sample's numbers and its target: train::samples(std::vector<std::pair<std::vector<float>, int>>)");
  }
  template <class X, class Y, class Z, class... Others>
  samples(  // manta: train: samples(x, targets); weights of samples are given by with_weights(weights)
      const X&, const Y&, const Z&, const Others&...) = delete;
  template <class X>
    requires requires { typename X::Scalar; }
  explicit samples(const X&) {
    static_assert(
        sizeof(X) == 0,
        "manta: train: samples have targets: samples(x, labels), samples(x, y), or samples(x, x) to reproduce "
        "the numbers themselves");
  }

  /// Each pair has a range of numbers (a vector, an Eigen vector), and an integer, its class, or a float, a double or a
  /// second range of numbers, its outputs.
  template <std::ranges::input_range Range>
    requires(std::tuple_size<std::remove_cvref_t<std::ranges::range_reference_t<Range>>>::value == 2)
  explicit samples(Range&& pairs);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// Numbers of a sample.
  [[nodiscard]] std::size_t features() const { return arrays_ ? arrays_->features : 0; }
  [[nodiscard]] bool has_labels() const { return !arrays_ || arrays_->labels; }
  /// The extents of a sample, as a reader of pictures has them; without dimensions where it is a column of a matrix.
  [[nodiscard]] nn::shape extents() const { return arrays_ ? arrays_->extents : nn::shape(); }
  /// What the columns of the table are from which the samples come; empty for other samples.
  [[nodiscard]] train::columns columns() const { return arrays_ ? arrays_->columns : train::columns(); }
  /// A copy that refers to the same numbers, with these extents or these columns.
  [[nodiscard]] MANTA_DECL samples with(nn::shape extents) const;
  [[nodiscard]] MANTA_DECL samples with(train::columns columns) const;

  /// A copy that refers to the same numbers, in which each sample counts in the loss by its weight: the loss of a batch
  /// is the weighted mean, the sum of the weighted losses divided by the sum of the weights, as PyTorch's
  /// CrossEntropyLoss(weight) has it. Metrics count all samples alike. Throws manta::error unless there is a weight for
  /// each sample, finite and at least 0.
  [[nodiscard]] MANTA_DECL samples with_weights(std::vector<float> weights) const;
  /// The weights of the samples; empty: all count alike.
  [[nodiscard]] std::span<const float> weights() const {
    return arrays_ && arrays_->weights ? std::span(arrays_->weights + first_, size_) : std::span<const float>();
  }
  /// The classes of the samples, of sequences position by position; empty where targets are numbers.
  [[nodiscard]] std::span<const int> labels() const {
    if (!arrays_ || !arrays_->labels) return {};
    return {arrays_->labels + first_ * arrays_->outputs, size_ * arrays_->outputs};
  }

  /// Whether the numbers lie in memory that other ranks of the node use too.
  [[nodiscard]] bool is_shared() const { return arrays_ && arrays_->is_shared; }

  /// Copies the samples of these numbers, in this order.
  MANTA_DECL void take(std::span<const std::uint64_t> which, batch<float>& to) const;
  MANTA_DECL void take(std::span<const std::uint64_t> which, batch<double>& to) const;
  /// As take, without inputs: targets and weights alone.
  MANTA_DECL void take_targets(std::span<const std::uint64_t> which, batch<float>& to) const;
  MANTA_DECL void take_targets(std::span<const std::uint64_t> which, batch<double>& to) const;
  /// Part `i` of `n` parts of nearly equal size.
  [[nodiscard]] MANTA_DECL samples part(std::size_t i, std::size_t n) const;
  /// `count` samples from the first one on. Throws manta::error if there are not as many.
  [[nodiscard]] MANTA_DECL samples range(std::size_t first, std::size_t count) const;
  /// A copy of the samples of these numbers, in this order, with what is known of their columns.
  [[nodiscard]] MANTA_DECL samples chosen(std::span<const std::uint64_t> which) const;

  template <class Archive>
  void save(Archive& archive) const {
    const plain p = as_plain();
    const std::span<const float> all = weights();
    archive(p.has_labels, p.is_double, p.labels, p.xf, p.yf, p.xd, p.yd, extents(), columns(),
            std::vector<float>(all.begin(), all.end()));
  }
  template <class Archive>
  void load(Archive& archive) {
    plain p;
    nn::shape extents;
    train::columns columns;
    std::vector<float> all;
    archive(p.has_labels, p.is_double, p.labels, p.xf, p.yf, p.xd, p.yd, extents, columns, all);
    set(std::move(p), std::move(extents), std::move(columns));
    if (!all.empty()) *this = with_weights(std::move(all));
  }

  /// The bytes that share() needs, beginning at `to`; `to` may be null, to ask for their number.
  MANTA_DECL std::size_t write_shared(unsigned char* to) const;
  /// The samples whose bytes write_shared() has written. They refer to these, which `owner` keeps.
  [[nodiscard]] MANTA_DECL static samples share(std::span<const unsigned char> bytes,
                                                std::shared_ptr<const void> owner);

 private:
  /// All numbers in matrices of their own, for archives.
  struct plain {
    bool has_labels = true, is_double = false;
    std::vector<int> labels;
    Eigen::MatrixXf xf, yf;
    Eigen::MatrixXd xd, yd;
  };
  [[nodiscard]] MANTA_DECL plain as_plain() const;
  MANTA_DECL void set(plain p, nn::shape extents, train::columns columns);
  template <class T>
  void set(Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> x, std::vector<int> labels);
  template <class T>
  void set(Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> x, Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic> y);
  template <class T>
  void copy(std::span<const std::uint64_t> which, batch<T>& to, bool has_inputs) const;

  template <class Number>
  static std::vector<int> classes_from(const std::vector<Number>& labels) {
    static_assert(std::is_integral_v<Number>,
                  "manta: train: classes are whole numbers, std::vector<int>; targets with a fraction are a matrix of "
                  "outputs x samples");
    std::vector<int> classes;
    if constexpr (std::is_integral_v<Number>) {
      classes.reserve(labels.size());
      for (const auto& n : labels) classes.push_back(detail::checked_class(static_cast<std::int64_t>(n)));
    }
    return classes;
  }

  std::shared_ptr<const detail::sample_arrays> arrays_;
  std::size_t first_ = 0, size_ = 0;  ///< the part of the arrays
};

namespace detail {
/// Throws unless all columns have the length of the first.
MANTA_DECL void check_columns(std::size_t values, std::size_t count, std::size_t first);

/// Columns of a matrix, one after the other.
class columns_of_numbers {
 public:
  void add(const auto& numbers) {
    for (const auto& x : numbers) values_.push_back(static_cast<float>(x));
    ++count_;
    if (count_ == 1) first_ = values_.size();
    check_columns(values_.size(), count_, first_);
  }
  [[nodiscard]] Eigen::MatrixXf matrix() const {
    return Eigen::Map<const Eigen::MatrixXf>(values_.data(), static_cast<Eigen::Index>(first_),
                                             static_cast<Eigen::Index>(count_));
  }

 private:
  std::vector<float> values_;
  std::size_t count_ = 0, first_ = 0;
};
}  // namespace detail

template <std::ranges::input_range Range>
  requires(std::tuple_size<std::remove_cvref_t<std::ranges::range_reference_t<Range>>>::value == 2)
samples::samples(Range&& pairs) {
  detail::columns_of_numbers x, y;
  plain p;
  for (const auto& pair : pairs) {
    const auto& [input, output] = pair;
    x.add(input);
    using target = std::remove_cvref_t<decltype(output)>;
    if constexpr (std::is_floating_point_v<target>) {
      p.has_labels = false;
      y.add(std::span<const target>(&output, 1));
    } else if constexpr (std::is_convertible_v<target, std::int64_t>) {
      p.labels.push_back(detail::checked_class(static_cast<std::int64_t>(output)));
    } else {
      p.has_labels = false;
      y.add(output);
    }
  }
  p.xf = x.matrix();
  p.yf = y.matrix();
  set(std::move(p), {}, {});
}

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/samples.ipp"
#endif
