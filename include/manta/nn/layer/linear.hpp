// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// y = W x + b.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "manta/error.hpp"
#include "manta/nn/layer/draw.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

template <class T>
class linear_layer final : public layer<T> {
 public:
  linear_layer(const spec& s, const shape& in)
      : layer<T>(in, in.dimensions() == 2 ? shape{in[0], s.sizes[0]} : shape{s.sizes[0]}),
        inputs_(in.dimensions() == 2 ? in[1] : in.size()),
        outputs_(s.sizes[0]),
        has_bias_(s.option("bias", 1) != 0),
        start_(static_cast<nn::start>(static_cast<int>(s.option("start", 0)))),
        gain_(s.option("gain", 1)) {
    if (outputs_ < 1) throw error("it needs at least one output");
    check_start(gain_);
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<linear_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    std::vector<parameter_array> a{{"weight", shape{outputs_, inputs_}}};
    if (has_bias_) a.push_back({"bias", shape{outputs_}});
    return a;
  }
  [[nodiscard]] double flops() const override {
    return this->flops_of_products(this->output_shape().size() / outputs_) + this->output_shape().size();
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }

  void initialise(const random& numbers) override {
    draw_with_bias<T>({p_, outputs_, inputs_}, has_bias_, start_, gain_, numbers);
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    const weights w(p_, outputs_, inputs_);
    y.resize(this->output_shape().size(), x.cols());
    Eigen::Map<matrix<T>> result(y.data(), outputs_, y.size() / outputs_);
    if (has_bias_) {
      result.colwise() = vector(p_ + w.size(), outputs_);
      add_product(result, w, positions(x, inputs_));
    } else {
      set_product(result, w, positions(x, inputs_));
    }
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    add_to_bias(dy);
    add_to_weights(x, dy, 0, outputs_);
    back_to_input(x, dy, dx);
  }
  /// The gradients are final before dx is computed. Where there is no dx, as in the first layer of a network, large
  /// ones are in three parts, so that only the last one, an eighth, is exchanged when all else is done.
  [[nodiscard]] bool has_parts() const override { return true; }
  void backward_in_parts(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx,
                         const gradients_ready& ready) override {
    add_to_bias(dy);
    const bool is_cut = !dx && weight_count() >= (Eigen::Index{1} << 18U);
    auto end = static_cast<std::size_t>(weight_count() + (has_bias_ ? outputs_ : 0));
    int last = outputs_;
    for (const int first : {outputs_ / 2, outputs_ / 8, 0}) {
      if (first > 0 && !is_cut) continue;
      add_to_weights(x, dy, first, last);
      const auto begin = static_cast<std::size_t>(Eigen::Index{first} * inputs_);
      if (begin < end) ready(begin, std::exchange(end, begin));
      last = first;
    }
    back_to_input(x, dy, dx);
  }

 private:
  using weights = Eigen::Map<row_major<T>>;
  using vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;

  [[nodiscard]] Eigen::Index weight_count() const { return Eigen::Index{outputs_} * inputs_; }
  void add_to_bias(const matrix<T>& dy) {
    if (has_bias_) vector(g_ + weight_count(), outputs_) += positions(dy, outputs_).rowwise().sum();
  }
  /// For the outputs [first, last).
  void add_to_weights(const matrix<T>& x, const matrix<T>& dy, Eigen::Index first, Eigen::Index last) {
    const auto d = positions(dy, outputs_).middleRows(first, last - first);
    add_product(weights(g_ + first * inputs_, last - first, inputs_), d, positions(x, inputs_).transpose());
  }
  void back_to_input(const matrix<T>& x, const matrix<T>& dy, matrix<T>* dx) {
    if (!dx) return;
    const weights w(p_, outputs_, inputs_);
    const auto d = positions(dy, outputs_);
    dx->resize(x.rows(), x.cols());
    set_product(Eigen::Map<matrix<T>>(dx->data(), inputs_, dx->size() / inputs_), w.transpose(), d);
  }

  int inputs_, outputs_;
  bool has_bias_;
  nn::start start_;
  double gain_;
  T *p_ = nullptr, *g_ = nullptr;
};

}  // namespace manta::nn::detail
