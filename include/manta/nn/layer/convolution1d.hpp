// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Convolution over the positions of a sequence. The features of neighbouring positions lie one after the other, so a
// patch is a range of the sequence, and all results of some sequences are one matrix product.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/layer/draw.hpp"
#include "manta/nn/layer/sequence_window.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

/// Parameters as PyTorch's Conv1d; sequences as Keras' Conv1D, a position after the other.
template <class T>
class conv1d_layer final : public layer<T> {
 public:
  conv1d_layer(const spec& s, const shape& in)
      : layer<T>(in, shape{sequence_window(s, 1, in).outputs, s.sizes[0]}),
        window_(s, 1, in),
        filters_(s.sizes[0]),
        has_bias_(s.option("bias", 1) != 0),
        start_(static_cast<nn::start>(static_cast<int>(s.option("start", 0)))),
        gain_(s.option("gain", 1)) {
    if (filters_ < 1) throw error("it needs at least one channel");
    check_start(gain_);
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<conv1d_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    std::vector<parameter_array> a{{"weight", shape{filters_, window_.features, window_.size}}};
    if (has_bias_) a.push_back({"bias", shape{filters_}});
    return a;
  }
  [[nodiscard]] double flops() const override {
    return this->flops_of_products(window_.outputs) + this->output_shape().size();
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  void initialise(const random& numbers) override {
    draw_with_bias<T>({p_, filters_, weights()}, has_bias_, start_, gain_, numbers);
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    turned_.resize(filters_, weights());
    each_weight([this](int f, int at, int turned) { turned_(f, turned) = p_[f * weights() + at]; });
    y.resize(this->output_shape().size(), x.cols());
    for (Eigen::Index first = 0; first < x.cols(); first += group_size()) {
      const Eigen::Index count = std::min(group_size(), x.cols() - first);
      copy_patches(x, first, count);
      auto result = columns(y.data() + first * y.rows(), count);
      if (has_bias_) {
        result.colwise() = bias(p_);
      } else {
        result.setZero();
      }
      add_product(result, turned_, patches_);
    }
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (dx) dx->setZero(x.rows(), x.cols());
    d_turned_.setZero(filters_, weights());
    for (Eigen::Index first = 0; first < x.cols(); first += group_size()) {
      const Eigen::Index count = std::min(group_size(), x.cols() - first);
      copy_patches(x, first, count);
      const auto d = columns(dy.data() + first * dy.rows(), count);
      add_product(d_turned_, d, patches_.transpose());
      if (has_bias_) bias(g_) += d.rowwise().sum();
      if (!dx) continue;
      set_product(patches_, turned_.transpose(), d);
      add_patches(*dx, first, count);
    }
    each_weight([this](int f, int at, int turned) { g_[f * weights() + at] += d_turned_(f, turned); });
  }

 private:
  [[nodiscard]] int weights() const { return window_.features * window_.size; }
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> bias(T* array) const {
    return {array + filters_ * weights(), filters_};
  }
  template <class Number>
  auto columns(Number* numbers, Eigen::Index samples) const {
    using columns = std::conditional_t<std::is_const_v<Number>, const matrix<T>, matrix<T>>;
    return Eigen::Map<columns>(numbers, filters_, samples * window_.outputs);
  }
  /// PyTorch has the offsets of a feature one after the other, a patch the features of an offset.
  template <class Function>
  void each_weight(Function f) const {
    for (int filter = 0; filter < filters_; ++filter)
      for (int c = 0; c < window_.features; ++c)
        for (int k = 0; k < window_.size; ++k) f(filter, c * window_.size + k, k * window_.features + c);
  }
  /// Sequences whose patches stay in the cache.
  [[nodiscard]] Eigen::Index group_size() const {
    constexpr Eigen::Index most = 65536;
    return std::max<Eigen::Index>(1, most / (Eigen::Index{window_.outputs} * weights()));
  }

  void copy_patches(const matrix<T>& x, Eigen::Index first, Eigen::Index count) {
    patches_.resize(weights(), count * window_.outputs);
    if (window_.padding > 0) patches_.setZero();
    for (Eigen::Index i = 0; i < count; ++i) {
      const T* const from = x.data() + (first + i) * x.rows();
      T* const to = patches_.data() + i * window_.outputs * weights();
      window_.each([&](int t, int k, int at) {
        std::copy_n(from + at * window_.features, window_.features, to + t * weights() + k * window_.features);
      });
    }
  }
  void add_patches(matrix<T>& dx, Eigen::Index first, Eigen::Index count) const {
    for (Eigen::Index i = 0; i < count; ++i) {
      const T* const from = patches_.data() + i * window_.outputs * weights();
      T* const to = dx.data() + (first + i) * dx.rows();
      window_.each([&](int t, int k, int at) {
        const T* const some = from + t * weights() + k * window_.features;
        for (int c = 0; c < window_.features; ++c) to[at * window_.features + c] += some[c];
      });
    }
  }

  sequence_window window_;
  int filters_;
  bool has_bias_;
  nn::start start_;
  double gain_;
  T *p_ = nullptr, *g_ = nullptr;
  row_major<T> turned_, d_turned_;  ///< weights in the order of a patch
  matrix<T> patches_;
};

}  // namespace manta::nn::detail
