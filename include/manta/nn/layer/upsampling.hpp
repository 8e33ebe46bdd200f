// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Layers that give larger images: transposed convolution, and upsampling.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "manta/error.hpp"
#include "manta/nn/layer/draw.hpp"
#include "manta/nn/layer/window.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

/// The derivative of a convolution by its image, as a layer (Zeiler et al., 2010), with the parameters of PyTorch's
/// ConvTranspose2d. The window is that of the convolution, which goes from the result to the input.
template <class T>
class conv2d_transposed_layer final : public layer<T> {
 public:
  conv2d_transposed_layer(const spec& s, const shape& in)
      : layer<T>(in, image_of(s, in)),
        window_(s, 1, image_of(s, in)),
        inputs_(in[0]),
        weights_(s.sizes[0] * window_.size * window_.size),
        has_bias_(s.option("bias", 1) != 0),
        start_(static_cast<nn::start>(static_cast<int>(s.option("start", 0)))),
        gain_(s.option("gain", 1)) {
    check_start(gain_);
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override {
    return std::make_unique<conv2d_transposed_layer>(*this);
  }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    std::vector<parameter_array> a{{"weight", shape{inputs_, window_.channels, window_.size, window_.size}}};
    if (has_bias_) a.push_back({"bias", shape{window_.channels}});
    return a;
  }
  [[nodiscard]] double flops() const override {
    return this->flops_of_products(static_cast<double>(window_.positions())) + this->output_shape().size();
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  /// As PyTorch's, which counts the weights of an output channel as its inputs.
  void initialise(const random& numbers) override {
    draw<T>(weights(p_), start_, gain_, numbers);
    const double bound = start_ == start::standard ? 1 / std::sqrt(static_cast<double>(weights_)) : 0;
    for (Eigen::Index i = 0; has_bias_ && i < window_.channels; ++i) {
      const auto number = static_cast<std::uint64_t>(inputs_ * weights_ + i);
      bias(p_)[i] = static_cast<T>(bound * (2 * numbers.uniform(number) - 1));
    }
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y.setZero(this->output_shape().size(), x.cols());
    patches_.resize(window_.positions(), weights_);
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      set_product(patches_, image(x, s), weights(p_));
      T* const result = y.data() + s * y.rows();
      each_column([&](int channel, int ky, int kx, const T* column) {
        window_.add_shifted(column, ky, kx, result + channel * plane());
      });
      if (has_bias_) Eigen::Map<matrix<T>>(result, plane(), window_.channels).rowwise() += bias(p_).transpose();
    }
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (dx) dx->resize(x.rows(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const T* const d = dy.data() + s * dy.rows();
      each_column(
          [&](int channel, int ky, int kx, T* column) { window_.copy_shifted(d + channel * plane(), ky, kx, column); });
      add_product(weights(g_), image(x, s).transpose(), patches_);
      if (has_bias_) bias(g_) += Eigen::Map<const matrix<T>>(d, plane(), window_.channels).colwise().sum().transpose();
      if (dx)
        set_product(Eigen::Map<matrix<T>>(dx->data() + s * dx->rows(), window_.positions(), inputs_), patches_,
                    weights(p_).transpose());
    }
  }

 private:
  /// The shape of the result.
  static shape image_of(const spec& s, const shape& in) {
    if (in.dimensions() != 3) throw error("it needs an image, nn::shape{channels, height, width}");
    const int channels = s.sizes[0], size = s.sizes[1], stride = static_cast<int>(s.option("stride", 1)),
              padding = static_cast<int>(s.option("padding", 0)), more = static_cast<int>(s.option("more", 0));
    if (channels < 1) throw error("it needs at least one channel");
    if (size < 1 || stride < 1 || padding < 0 || padding >= size)
      throw error("size and stride have to be at least 1, and the padding smaller than the size");
    if (more < 0 || more >= stride) throw error("the rows that are added have to be fewer than the stride");
    const auto extent = [&](int from) { return (from - 1) * stride - 2 * padding + size + more; };
    if (extent(in[1]) < 1 || extent(in[2]) < 1) throw error("its padding leaves nothing of the result");
    return shape{channels, extent(in[1]), extent(in[2])};
  }

  Eigen::Map<row_major<T>> weights(T* array) const { return {array, inputs_, weights_}; }
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> bias(T* array) const {
    return {array + inputs_ * weights_, window_.channels};
  }
  [[nodiscard]] Eigen::Index plane() const { return Eigen::Index{window_.height} * window_.width; }
  /// A sample of the input: positions x channels.
  Eigen::Map<const matrix<T>> image(const matrix<T>& x, Eigen::Index sample) const {
    return {x.data() + sample * x.rows(), window_.positions(), inputs_};
  }
  template <class Function>
  void each_column(Function f) {
    T* column = patches_.data();
    for (int channel = 0; channel < window_.channels; ++channel)
      for (int ky = 0; ky < window_.size; ++ky)
        for (int kx = 0; kx < window_.size; ++kx, column += window_.positions()) f(channel, ky, kx, column);
  }

  window window_;
  int inputs_, weights_;  ///< weights_: of an input channel
  bool has_bias_;
  nn::start start_;
  double gain_;
  T *p_ = nullptr, *g_ = nullptr;
  matrix<T> patches_;  ///< positions of the input x weights
};

/// Each pixel of the result is that in which it lies, or lies between the two nearest in each direction, as PyTorch's
/// Upsample with align_corners=False.
template <class T>
class upsample_layer final : public layer<T> {
 public:
  upsample_layer(const spec& s, const shape& in) : layer<T>(in, image_of(s, in)) {
    const bool is_linear = s.option("bilinear", 0) != 0;
    rows_ = sources(in[1], s.sizes[0], is_linear);
    columns_ = sources(in[2], s.sizes[0], is_linear);
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<upsample_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y.resize(this->output_shape().size(), x.cols());
    T* to = y.data();
    each_plane(x.cols(), [&](Eigen::Index begin) {
      const T* const from = x.data() + begin;
      for (const source& r : rows_) {
        const T *const above = from + r.first * width(), *const below = from + r.second * width();
        for (const source& c : columns_)
          *to++ = (1 - r.part) * ((1 - c.part) * above[c.first] + c.part * above[c.second]) +
                  r.part * ((1 - c.part) * below[c.first] + c.part * below[c.second]);
      }
    });
  }
  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    dx->setZero(x.rows(), x.cols());
    const T* from = dy.data();
    each_plane(x.cols(), [&](Eigen::Index begin) {
      T* const to = dx->data() + begin;
      for (const source& r : rows_) {
        T *const above = to + r.first * width(), *const below = to + r.second * width();
        for (const source& c : columns_) {
          const T d = *from++;
          above[c.first] += d * (1 - r.part) * (1 - c.part);
          above[c.second] += d * (1 - r.part) * c.part;
          below[c.first] += d * r.part * (1 - c.part);
          below[c.second] += d * r.part * c.part;
        }
      }
    });
  }

 private:
  /// Where a row or a column of the result comes from.
  struct source {
    int first, second;
    T part;  ///< share of the second one
  };
  static shape image_of(const spec& s, const shape& in) {
    if (in.dimensions() != 3) throw error("it needs an image, nn::shape{channels, height, width}");
    if (s.sizes[0] < 1) throw error("the factor has to be at least 1");
    return shape{in[0], in[1] * s.sizes[0], in[2] * s.sizes[0]};
  }
  static std::vector<source> sources(int extent, int factor, bool is_linear) {
    std::vector<source> all;
    for (int i = 0; i < extent * factor; ++i) {
      const double at = is_linear ? std::max(0., (i + 0.5) / factor - 0.5) : i / factor;
      const int first = static_cast<int>(at);
      const int second = at > first ? std::min(first + 1, extent - 1) : first;
      all.push_back({first, second, static_cast<T>(at - first)});
    }
    return all;
  }
  [[nodiscard]] int width() const { return this->input_shape()[2]; }
  template <class Function>
  void each_plane(Eigen::Index samples, Function f) const {
    const shape& in = this->input_shape();
    const Eigen::Index size = Eigen::Index{in[1]} * in[2];
    for (Eigen::Index plane = 0; plane < samples * in[0]; ++plane) f(plane * size);
  }

  std::vector<source> rows_, columns_;
};

}  // namespace manta::nn::detail
