// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Two-dimensional convolution. The gradients of the filters are a matrix product: the patches that the filters see are
// copied to the columns of a matrix. So are the other results, unless the stride is 1 and packets are wide: then their
// sums are taken from the planes of the image (shifted_planes.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "manta/nn/layer/draw.hpp"
#include "manta/nn/layer/shifted_planes.hpp"
#include "manta/nn/layer/window.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

/// In matrix products, small images are taken in groups, so that the products have enough rows; large ones one by one,
/// without a copy of the result. `patches` has a row for each position of each image of the group, a column for each
/// weight of a filter.
template <class T>
class conv2d_layer final : public layer<T> {
 public:
  conv2d_layer(const spec& s, const shape& in)
      : layer<T>(in, window(s, 1, in).output(s.sizes[0])),
        window_(s, 1, in),
        weights_(in[0] * window_.size * window_.size),
        filters_(s.sizes[0]),
        has_bias_(s.option("bias", 1) != 0),
        start_(static_cast<nn::start>(static_cast<int>(s.option("start", 0)))),
        gain_(s.option("gain", 1)) {
    if (filters_ < 1) throw error("it needs at least one channel");
    check_start(gain_);
    const bordered_planes image{in[0], window_.height, window_.width, window_.size, window_.padding};
    // Positions behind the ends of rows would be many in small images.
    const bool suits = window_.stride == 1 && window_.size > 1 && 2 * image.positions<T>() <= 3 * window_.positions();
    if (!has_wide_packets<T> || !suits) return;
    results_of_.emplace(image);
    if (window_.channels >= filtered_planes<T>::filters_at_once)
      derivatives_of_.emplace(bordered_planes{filters_, window_.out_height, window_.out_width, window_.size,
                                              window_.size - 1 - window_.padding});
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<conv2d_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    std::vector<parameter_array> a{{"weight", shape{filters_, window_.channels, window_.size, window_.size}}};
    if (has_bias_) a.push_back({"bias", shape{filters_}});
    return a;
  }
  [[nodiscard]] double flops() const override {
    return this->flops_of_products(static_cast<double>(window_.positions())) + this->output_shape().size();
  }
  void bind(T* parameters, T* gradients, T*) override { p_ = parameters, g_ = gradients; }
  void initialise(const random& numbers) override {
    draw_with_bias<T>({p_, filters_, weights_}, has_bias_, start_, gain_, numbers);
  }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    const Eigen::Index positions = window_.positions();
    y.resize(filters_ * positions, x.cols());
    if (results_of_) {
      results_of_->set_filters(filters_, [this](int f, int k) { return p_[Eigen::Index{f} * weights_ + k]; });
      for (Eigen::Index s = 0; s < x.cols(); ++s)
        results_of_->filter(x.data() + s * x.rows(), has_bias_ ? bias(p_).data() : nullptr, y.data() + s * y.rows());
      return;
    }
    const filters w(p_, weights_, filters_);
    for (Eigen::Index first = 0; first < x.cols(); first += group_size()) {
      const Eigen::Index count = std::min(group_size(), x.cols() - first);
      copy_patches(x, first, count);
      if (count == 1) {
        Eigen::Map<matrix<T>> result(y.data() + first * y.rows(), positions, filters_);
        set_product(result, patches_, w);
      } else {
        results_.resize(count * positions, filters_);
        set_product(results_, patches_, w);
        each_image(y, first, count, [](auto image, auto rows) { image = rows; });
      }
    }
    if (!has_bias_) return;
    for (Eigen::Index s = 0; s < y.cols(); ++s)
      Eigen::Map<matrix<T>>(y.data() + s * y.rows(), positions, filters_).rowwise() += bias(p_).transpose();
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const Eigen::Index positions = window_.positions();
    const filters w(p_, weights_, filters_);
    filters dw(g_, weights_, filters_);
    if (dx && derivatives_of_) {
      dx->resize(x.rows(), x.cols());
      set_derivatives(dy, *std::exchange(dx, nullptr));
    } else if (dx) {
      dx->setZero(x.rows(), x.cols());
    }
    for (Eigen::Index first = 0; first < x.cols(); first += group_size()) {
      const Eigen::Index count = std::min(group_size(), x.cols() - first);
      copy_patches(x, first, count);
      const T* d = dy.data() + first * dy.rows();
      if (count > 1) {
        results_.resize(count * positions, filters_);
        each_image(dy, first, count, [](auto image, auto rows) { rows = image; });
        d = results_.data();
      }
      const Eigen::Map<const matrix<T>> derivative(d, count * positions, filters_);
      add_product(dw, patches_.transpose(), derivative);
      if (has_bias_) bias(g_) += derivative.colwise().sum().transpose();
      if (!dx) continue;
      set_product(patches_, derivative, w.transpose());
      add_patches(*dx, first, count);
    }
  }

 private:
  using filters = Eigen::Map<matrix<T>>;  // a column a filter, so row-major seen from PyTorch
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> bias(T* array) const {
    return {array + weights_ * filters_, filters_};
  }

  /// The derivative by the image is a convolution too, of dy with the filters turned by half a circle.
  void set_derivatives(const matrix<T>& dy, matrix<T>& dx) {
    const int area = window_.size * window_.size;
    derivatives_of_->set_filters(window_.channels, [this, area](int c, int k) {
      return p_[Eigen::Index{k / area} * weights_ + c * area + area - 1 - k % area];
    });
    for (Eigen::Index s = 0; s < dx.cols(); ++s)
      derivatives_of_->filter(dy.data() + s * dy.rows(), nullptr, dx.data() + s * dx.rows());
  }

  [[nodiscard]] Eigen::Index group_size() const { return std::max<Eigen::Index>(1, 192 / window_.positions()); }

  /// Calls f with the part of `images` and the part of results_ that belong together.
  template <class Images, class Function>
  void each_image(Images& images, Eigen::Index first, Eigen::Index count, Function f) {
    const Eigen::Index positions = window_.positions();
    for (Eigen::Index i = 0; i < count; ++i) {
      using image = std::conditional_t<std::is_const_v<Images>, const matrix<T>, matrix<T>>;
      f(Eigen::Map<image>(images.data() + (first + i) * images.rows(), positions, filters_),
        results_.middleRows(i * positions, positions));
    }
  }

  void copy_patches(const matrix<T>& x, Eigen::Index first, Eigen::Index count) {
    const Eigen::Index positions = window_.positions(), rows = count * positions;
    patches_.resize(rows, weights_);
    for (Eigen::Index i = 0; i < count; ++i) {
      T* column = patches_.data() + i * positions;
      for (int c = 0; c < window_.channels; ++c) {
        const T* plane = x.data() + (first + i) * x.rows() + c * window_.height * window_.width;
        for (int ky = 0; ky < window_.size; ++ky)
          for (int kx = 0; kx < window_.size; ++kx, column += rows) window_.copy_shifted(plane, ky, kx, column);
      }
    }
  }

  void add_patches(matrix<T>& dx, Eigen::Index first, Eigen::Index count) const {
    const Eigen::Index positions = window_.positions(), rows = count * positions;
    for (Eigen::Index i = 0; i < count; ++i) {
      const T* column = patches_.data() + i * positions;
      for (int c = 0; c < window_.channels; ++c) {
        T* plane = dx.data() + (first + i) * dx.rows() + c * window_.height * window_.width;
        for (int ky = 0; ky < window_.size; ++ky)
          for (int kx = 0; kx < window_.size; ++kx, column += rows) window_.add_shifted(column, ky, kx, plane);
      }
    }
  }

  window window_;
  int weights_, filters_;
  bool has_bias_;
  nn::start start_;
  double gain_;
  T *p_ = nullptr, *g_ = nullptr;
  std::optional<filtered_planes<T>> results_of_, derivatives_of_;
  matrix<T> patches_, results_;
};

}  // namespace manta::nn::detail
