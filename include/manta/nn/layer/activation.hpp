// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions of each number by itself, and softmax.
#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <type_traits>
#include <unsupported/Eigen/SpecialFunctions>

#include "manta/nn/checks.hpp"
#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

// A function gives its value and its derivative, which may use both x and y.

struct relu_function {
  static auto value(const auto& x) { return x.max(0); }
  static auto derivative(const auto&, const auto& y) {
    return (y > 0).template cast<typename std::decay_t<decltype(y)>::Scalar>();
  }
};
struct tanh_function {
  static auto value(const auto& x) { return x.tanh(); }
  static auto derivative(const auto&, const auto& y) { return 1 - y.square(); }
};
struct sigmoid_function {
  static auto value(const auto& x) { return x.logistic(); }
  static auto derivative(const auto&, const auto& y) { return y * (1 - y); }
};
/// x P(Z <= x) of the standard normal distribution (Hendrycks, Gimpel, 2016), exactly, as PyTorch's default.
struct gelu_function {
  static auto below(const auto& x) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return T(0.5) * (1 + (x * (std::numbers::sqrt2_v<T> / 2)).erf());
  }
  static auto value(const auto& x) { return x * below(x); }
  static auto derivative(const auto& x, const auto&) {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    constexpr T density = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
    return below(x) + density * x * (x.square() * T(-0.5)).exp();
  }
};

/// Maas et al., 2013.
struct leaky_relu_function {
  explicit leaky_relu_function(const spec& s) : slope(s.option("slope", 0.01)) {
    check_layer_option(slope >= 0 && slope < 1, "the slope", slope, "at least 0 and below 1");
  }
  auto value(const auto& x) const {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return (x > 0).select(x, static_cast<T>(slope) * x);
  }
  auto derivative(const auto& x, const auto&) const {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return static_cast<T>(slope) + static_cast<T>(1 - slope) * (x > 0).template cast<T>();
  }
  double slope;
};
/// Clevert et al., 2016.
struct elu_function {
  explicit elu_function(const spec& s) : alpha(s.option("alpha", 1)) {
    check_layer_option(alpha >= 0, "alpha", alpha, "at least 0");
  }
  auto value(const auto& x) const {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return (x > 0).select(x, static_cast<T>(alpha) * x.expm1());
  }
  auto derivative(const auto& x, const auto& y) const {
    using T = typename std::decay_t<decltype(x)>::Scalar;
    return (x > 0).select(T(1), y + static_cast<T>(alpha));
  }
  double alpha;
};
/// x times its sigmoid, also called swish (Ramachandran et al., 2017).
struct silu_function {
  static auto value(const auto& x) { return x * x.logistic(); }
  static auto derivative(const auto& x, const auto& y) { return y + x.logistic() * (1 - y); }
};
/// log(1 + e^x), in a form that does not overflow.
struct softplus_function {
  static auto value(const auto& x) { return x.max(0) + (-x.abs()).exp().log1p(); }
  static auto derivative(const auto& x, const auto&) { return x.logistic(); }
};

template <class T, class Function>
class activation_layer final : public layer<T> {
 public:
  activation_layer(const spec& s, const shape& in) : layer<T>(in, in), function_(made(s)) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<activation_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override { y.array() = function_.value(x.array()); }
  void backward(const matrix<T>& x, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx) override {
    if (dx) dx->array() = dy.array() * function_.derivative(x.array(), y.array());
  }

 private:
  static Function made(const spec& s) {
    if constexpr (std::is_constructible_v<Function, const spec&>) {
      return Function(s);
    } else {
      return Function();
    }
  }

  [[no_unique_address]] Function function_;
};

/// Columns of numbers that are positive and add up to 1, in place. The maximum is taken off first: exponentials of
/// large numbers would overflow.
template <class Columns>
void softmax_in_place(Columns&& m) {
  for (Eigen::Index i = 0; i < m.cols(); ++i) {
    m.col(i).array() = (m.col(i).array() - m.col(i).maxCoeff()).exp();
    m.col(i) /= m.col(i).sum();
  }
}

/// The gradient by softmax's input: y (dy - y . dy), column by column.
template <class Result, class Y, class Dy>
void softmax_back(Result&& dx, const Y& y, const Dy& dy) {
  for (Eigen::Index i = 0; i < y.cols(); ++i)
    dx.col(i).array() = y.col(i).array() * (dy.col(i).array() - y.col(i).dot(dy.col(i)));
}

template <class T>
class softmax_layer final : public layer<T> {
 public:
  explicit softmax_layer(const shape& in) : layer<T>(in, in), features_(in.dimensions() == 2 ? in[1] : in.size()) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<softmax_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y = x;
    softmax_in_place(Eigen::Map<matrix<T>>(y.data(), features_, y.size() / features_));
  }
  void backward(const matrix<T>&, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    dx->resize(y.rows(), y.cols());
    softmax_back(Eigen::Map<matrix<T>>(dx->data(), features_, dx->size() / features_), positions(y, features_),
                 positions(dy, features_));
  }

 private:
  int features_;
};

}  // namespace manta::nn::detail
