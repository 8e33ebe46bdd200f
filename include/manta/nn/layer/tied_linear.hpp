// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// y = W x + b with the weights of another layer of the same row, whose chain says where they lie.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layer/draw.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

/// s.sizes: the other layer's number, then rows and columns of its weights, which the chain adds.
template <class T>
class tied_linear_layer final : public layer<T> {
 public:
  tied_linear_layer(const spec& s, const shape& in)
      : layer<T>(in, output_of(s, in)),
        rows_(s.sizes[1]),
        columns_(s.sizes[2]),
        is_transposed_(s.option("transposed", 0) != 0),
        has_bias_(s.option("bias", 1) != 0) {}
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<tied_linear_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    if (!has_bias_) return {};
    return {{"bias", shape{outputs()}}};
  }
  [[nodiscard]] double flops() const override {
    return 2. * columns_ * this->output_shape().size() / outputs() * rows_ + this->output_shape().size();
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  void bind_tied(T* parameters, T* gradients) override { w_ = parameters, dw_ = gradients; }
  void freeze_tied(bool is_frozen) override { is_frozen_ = is_frozen; }
  /// The bias, as linear's standard.
  void initialise(const random& numbers) override {
    const double bound = 1 / std::sqrt(static_cast<double>(inputs()));
    for (int i = 0; has_bias_ && i < outputs(); ++i)
      p_[i] = static_cast<T>(bound * (2 * numbers.uniform(static_cast<std::uint64_t>(i)) - 1));
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y.resize(this->output_shape().size(), x.cols());
    Eigen::Map<matrix<T>> result(y.data(), outputs(), y.size() / outputs());
    if (has_bias_) {
      result.colwise() = vector(p_, outputs());
    } else {
      result.setZero();
    }
    const weights w(w_, rows_, columns_);
    is_transposed_ ? add_product(result, w.transpose(), positions(x, inputs()))
                   : add_product(result, w, positions(x, inputs()));
  }
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const auto d = positions(dy, outputs());
    const auto in = positions(x, inputs());
    if (has_bias_) vector(g_, outputs()) += d.rowwise().sum();
    weights dw(dw_, rows_, columns_);
    if (!is_frozen_) is_transposed_ ? add_product(dw, in, d.transpose()) : add_product(dw, d, in.transpose());
    if (!dx) return;
    dx->resize(x.rows(), x.cols());
    const weights w(w_, rows_, columns_);
    Eigen::Map<matrix<T>> result(dx->data(), inputs(), dx->size() / inputs());
    is_transposed_ ? set_product(result, w, d) : set_product(result, w.transpose(), d);
  }

 private:
  using weights = Eigen::Map<row_major<T>>;
  using vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;

  static shape output_of(const spec& s, const shape& in) {
    if (s.sizes.size() != 3) throw error("it has to stand in a row of layers, after the one whose weights it has");
    const bool is_transposed = s.option("transposed", 0) != 0;
    const int outputs = s.sizes[is_transposed ? 2 : 1], inputs = s.sizes[is_transposed ? 1 : 2];
    const int features = in.dimensions() == 2 ? in[1] : in.size();
    if (features != inputs)
      throw error(base::text("the weights of layer {} are {} x {}{}{} features", s.sizes[0], s.sizes[1], s.sizes[2],
                             is_transposed ? ", and transposed take " : ", and take ", inputs));
    return in.dimensions() == 2 ? shape{in[0], outputs} : shape{outputs};
  }
  [[nodiscard]] int outputs() const { return is_transposed_ ? columns_ : rows_; }
  [[nodiscard]] int inputs() const { return is_transposed_ ? rows_ : columns_; }

  int rows_, columns_;
  bool is_transposed_, has_bias_, is_frozen_ = false;
  T *p_ = nullptr, *g_ = nullptr, *w_ = nullptr, *dw_ = nullptr;
};

}  // namespace manta::nn::detail
