// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions of each number by itself. The derivative is computed from the result.
#pragma once

#include <memory>

#include "manta/nn/layer.hpp"

namespace manta::nn::detail {

struct relu_function {
  static auto value(const auto& x) { return x.max(0); }
  static auto derivative(const auto& y) { return (y > 0).template cast<typename std::decay_t<decltype(y)>::Scalar>(); }
};
struct tanh_function {
  static auto value(const auto& x) { return x.tanh(); }
  static auto derivative(const auto& y) { return 1 - y.square(); }
};
struct sigmoid_function {
  static auto value(const auto& x) { return x.logistic(); }
  static auto derivative(const auto& y) { return y * (1 - y); }
};

template <class T, class Function>
class activation final : public layer<T> {
 public:
  explicit activation(const shape& in) : layer<T>(in, in) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<activation>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override { y.array() = Function::value(x.array()); }
  void backward(const matrix<T>&, const matrix<T>& y, const matrix<T>& dy, matrix<T>* dx) override {
    if (dx) dx->array() = dy.array() * Function::derivative(y.array());
  }
};

}  // namespace manta::nn::detail
