// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The data of a training: samples with classes, or with the numbers that the network ought to give.
//
//   train::samples data(x, labels);           // x: features x samples; labels: one class for each sample
//   train::samples curve(x, y);               // y: outputs x samples
//   train::samples pairs(range);              // of pairs: the numbers of a sample, and its class (an integer) or its
//                                             // outputs (a number with a fraction, or a range of numbers)
#pragma once

#include <Eigen/Core>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/nn/loss.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

/// A part of the data as a network takes it.
template <class T>
struct batch {
  nn::matrix<T> x;
  std::vector<int> labels;  ///< or, where the data have no classes,
  nn::matrix<T> y;
  bool has_labels = true;

  [[nodiscard]] nn::targets<T> targets() const { return has_labels ? nn::targets<T>(labels) : nn::targets<T>(y); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(has_labels, labels, x, y);
  }
};

namespace detail {
/// Whatever Eigen can compute or store, as x.leftCols(100), but for the three types that `samples` takes as they are.
template <class T>
concept other_matrix = !std::is_same_v<T, Eigen::MatrixXf> && !std::is_same_v<T, Eigen::MatrixXd> &&
                       !std::is_same_v<T, Eigen::VectorXi> && requires {
  typename T::PlainObject;
};

template <class T>
auto evaluated(const T& x) {
  if constexpr (!other_matrix<T>) {
    return x;
  } else if constexpr (std::is_integral_v<typename T::Scalar>) {
    return Eigen::VectorXi(x.template cast<int>());
  } else {
    return Eigen::Matrix<typename T::Scalar, Eigen::Dynamic, Eigen::Dynamic>(x);
  }
}
}  // namespace detail

/// Numbers are kept as float unless they were given as double.
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
  /// As above for expressions and other matrices of Eigen: samples(x.leftCols(100), labels.head(100)).
  template <class X, class Y>
    requires(detail::other_matrix<X> || detail::other_matrix<Y>)
  samples(const X& x, const Y& y) : samples(detail::evaluated(x), detail::evaluated(y)) {}

  /// Each pair has a range of numbers (a vector, an Eigen vector), and an integer, its class, or a float, a double or a
  /// second range of numbers, its outputs.
  template <std::ranges::input_range Range>
    requires(std::tuple_size<std::remove_cvref_t<std::ranges::range_reference_t<Range>>>::value == 2)
  explicit samples(Range&& pairs);

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(is_double_ ? xd_.cols() : xf_.cols()); }
  /// Numbers of a sample.
  [[nodiscard]] std::size_t features() const { return static_cast<std::size_t>(is_double_ ? xd_.rows() : xf_.rows()); }
  [[nodiscard]] bool has_labels() const { return has_labels_; }

  /// Copies the samples of these numbers, in this order.
  MANTA_DECL void take(std::span<const std::uint64_t> which, batch<float>& to) const;
  MANTA_DECL void take(std::span<const std::uint64_t> which, batch<double>& to) const;
  /// A copy of part `i` of `n` parts of nearly equal size.
  [[nodiscard]] MANTA_DECL samples part(std::size_t i, std::size_t n) const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(has_labels_, is_double_, labels_, xf_, yf_, xd_, yd_);
  }

 private:
  template <class T>
  void copy(std::span<const std::uint64_t> which, batch<T>& to) const;
  MANTA_DECL void check() const;

  bool has_labels_ = true, is_double_ = false;
  std::vector<int> labels_;
  Eigen::MatrixXf xf_, yf_;
  Eigen::MatrixXd xd_, yd_;
};

namespace detail {
/// Throws unless all columns have the length of the first.
MANTA_DECL void check_columns(std::size_t values, std::size_t count, std::size_t first);

/// Columns of a matrix, one after the other.
class columns {
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
  detail::columns x, y;
  for (const auto& pair : pairs) {
    const auto& [input, output] = pair;
    x.add(input);
    using target = std::remove_cvref_t<decltype(output)>;
    if constexpr (std::is_floating_point_v<target>) {
      has_labels_ = false;
      y.add(std::span<const target>(&output, 1));
    } else if constexpr (std::is_convertible_v<target, int>) {
      labels_.push_back(static_cast<int>(output));
    } else {
      has_labels_ = false;
      y.add(output);
    }
  }
  xf_ = x.matrix();
  yf_ = y.matrix();
  check();
}

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/samples.ipp"
#endif
