// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Convolution of images and of volumes. The gradients of the filters are a matrix product: the patches that the filters
// see are copied to the columns of a matrix. So are the other results, unless the input is an image, the stride is 1
// and packets are wide: then their sums are taken from the planes of the image (shifted_planes.hpp).
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/nn/layer/draw.hpp"
#include "manta/nn/layer/shifted_planes.hpp"
#include "manta/nn/layer/window.hpp"
#include "manta/nn/product.hpp"

namespace manta::nn::detail {

/// In matrix products, small images are taken in groups, so that the products have enough rows; large ones one by one,
/// without a copy of the result. `patches` has a row for each position of each image of such a group, a column for each
/// weight of a filter. Filters in groups see some of the channels each, and are products by themselves.
template <class T, int Dimensions>
class convolution_layer final : public layer<T> {
 public:
  convolution_layer(const spec& s, const shape& in)
      : layer<T>(in, volume_window(s, 1, in, Dimensions).output(s.sizes[0])),
        window_(s, 1, in, Dimensions),
        groups_(static_cast<int>(s.option("groups", 1))),
        channels_(in[0] / std::max(1, groups_)),
        weights_(channels_ * window_.offsets()),
        filters_(s.sizes[0]),
        in_group_(filters_ / std::max(1, groups_)),
        has_bias_(s.option("bias", 1) != 0),
        start_(static_cast<nn::start>(static_cast<int>(s.option("start", 0)))),
        gain_(s.option("gain", 1)) {
    if (filters_ < 1) throw error("it needs at least one channel");
    if (groups_ < 1 || in[0] % groups_ != 0 || filters_ % groups_ != 0)
      throw error(
          base::text("the {} channels of the input and the {} of the result have to be multiples of the {} groups",
                     in[0], filters_, groups_));
    check_start(gain_);
    if constexpr (Dimensions == 2) choose_planes();
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<convolution_layer>(*this); }

  [[nodiscard]] std::vector<parameter_array> arrays() const override {
    const int size = window_.plane.size;
    std::vector<parameter_array> a{{"weight", Dimensions == 2 ? shape{filters_, channels_, size, size}
                                                              : shape{filters_, channels_, size, size, size}}};
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
    each_group(x.cols(), [&](Eigen::Index first, Eigen::Index count, int group) {
      copy_patches(x, first, count, group);
      if (count == 1) {
        Eigen::Map<matrix<T>> result(y.data() + first * y.rows() + group * in_group_ * positions, positions, in_group_);
        set_product(result, patches_, filters_of(p_, group));
      } else {
        results_.resize(count * positions, in_group_);
        set_product(results_, patches_, filters_of(p_, group));
        each_image(y, first, count, group, [](auto image, auto rows) { image = rows; });
      }
    });
    if (!has_bias_) return;
    for (Eigen::Index s = 0; s < y.cols(); ++s)
      Eigen::Map<matrix<T>>(y.data() + s * y.rows(), positions, filters_).rowwise() += bias(p_).transpose();
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const Eigen::Index positions = window_.positions();
    if (dx && derivatives_of_) {
      dx->resize(x.rows(), x.cols());
      set_derivatives(dy, *std::exchange(dx, nullptr));
    } else if (dx) {
      dx->setZero(x.rows(), x.cols());
    }
    each_group(x.cols(), [&](Eigen::Index first, Eigen::Index count, int group) {
      copy_patches(x, first, count, group);
      const T* d = dy.data() + first * dy.rows() + group * in_group_ * positions;
      if (count > 1) {
        results_.resize(count * positions, in_group_);
        each_image(dy, first, count, group, [](auto image, auto rows) { rows = image; });
        d = results_.data();
      }
      const Eigen::Map<const matrix<T>> derivative(d, count * positions, in_group_);
      filters dw = filters_of(g_, group);
      add_product(dw, patches_.transpose(), derivative);
      if (has_bias_) bias(g_).segment(group * in_group_, in_group_) += derivative.colwise().sum().transpose();
      if (!dx) return;
      set_product(patches_, derivative, filters_of(p_, group).transpose());
      add_patches(*dx, first, count, group);
    });
  }

 private:
  using filters = Eigen::Map<matrix<T>>;  // a column a filter, so row-major seen from PyTorch
  filters filters_of(T* array, int group) const {
    return {array + Eigen::Index{group} * in_group_ * weights_, weights_, in_group_};
  }
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> bias(T* array) const {
    return {array + weights_ * filters_, filters_};
  }

  void choose_planes() {
    const window& w = window_.plane;
    const bordered_planes image{w.channels, w.height, w.width, w.size, w.padding};
    // Positions behind the ends of rows would be many in small images.
    const bool suits = groups_ == 1 && w.stride == 1 && w.dilation == 1 && w.size > 1 &&
                       2 * image.positions<T>() <= 3 * window_.positions();
    if (!has_wide_packets<T> || !suits) return;
    results_of_.emplace(image);
    if (w.channels >= filtered_planes<T>::filters_at_once)
      derivatives_of_.emplace(bordered_planes{filters_, w.out_height, w.out_width, w.size, w.size - 1 - w.padding});
  }

  /// The derivative by the image is a convolution too, of dy with the filters turned by half a circle.
  void set_derivatives(const matrix<T>& dy, matrix<T>& dx) {
    const int area = window_.offsets();
    derivatives_of_->set_filters(channels_, [this, area](int c, int k) {
      return p_[Eigen::Index{k / area} * weights_ + c * area + area - 1 - k % area];
    });
    for (Eigen::Index s = 0; s < dx.cols(); ++s)
      derivatives_of_->filter(dy.data() + s * dy.rows(), nullptr, dx.data() + s * dx.rows());
  }

  [[nodiscard]] Eigen::Index group_size() const { return std::max<Eigen::Index>(1, 192 / window_.positions()); }
  /// Calls f(first sample, number of samples, group of filters) for the products of a batch.
  template <class Function>
  void each_group(Eigen::Index samples, Function f) const {
    for (Eigen::Index first = 0; first < samples; first += group_size())
      for (int group = 0; group < groups_; ++group) f(first, std::min(group_size(), samples - first), group);
  }

  /// Calls f with the part of `images` and the part of results_ that belong together.
  template <class Images, class Function>
  void each_image(Images& images, Eigen::Index first, Eigen::Index count, int group, Function f) {
    const Eigen::Index positions = window_.positions();
    for (Eigen::Index i = 0; i < count; ++i) {
      using image = std::conditional_t<std::is_const_v<Images>, const matrix<T>, matrix<T>>;
      f(Eigen::Map<image>(images.data() + (first + i) * images.rows() + group * in_group_ * positions, positions,
                          in_group_),
        results_.middleRows(i * positions, positions));
    }
  }
  /// Calls f(place of the channel in the sample, offsets, column of patches_) for all weights of a filter.
  template <class Function>
  void each_weight(int group, T* column, Eigen::Index rows, Function f) const {
    for (int c = 0; c < channels_; ++c) {
      const Eigen::Index channel = (Eigen::Index{group} * channels_ + c) * window_.extent();
      for (int kz = 0; kz < window_.size; ++kz)
        for (int ky = 0; ky < window_.plane.size; ++ky)
          for (int kx = 0; kx < window_.plane.size; ++kx, column += rows) f(channel, kz, ky, kx, column);
    }
  }
  void copy_patches(const matrix<T>& x, Eigen::Index first, Eigen::Index count, int group) {
    const Eigen::Index positions = window_.positions(), rows = count * positions;
    patches_.resize(rows, weights_);
    for (Eigen::Index i = 0; i < count; ++i) {
      const T* const sample = x.data() + (first + i) * x.rows();
      each_weight(group, patches_.data() + i * positions, rows,
                  [&](Eigen::Index channel, int kz, int ky, int kx, T* column) {
                    if constexpr (Dimensions == 2) {
                      window_.plane.copy_shifted(sample + channel, ky, kx, column);
                    } else {
                      window_.copy_shifted(sample + channel, kz, ky, kx, column);
                    }
                  });
    }
  }
  void add_patches(matrix<T>& dx, Eigen::Index first, Eigen::Index count, int group) {
    const Eigen::Index positions = window_.positions(), rows = count * positions;
    for (Eigen::Index i = 0; i < count; ++i) {
      T* const sample = dx.data() + (first + i) * dx.rows();
      each_weight(group, patches_.data() + i * positions, rows,
                  [&](Eigen::Index channel, int kz, int ky, int kx, const T* column) {
                    if constexpr (Dimensions == 2) {
                      window_.plane.add_shifted(column, ky, kx, sample + channel);
                    } else {
                      window_.add_shifted(column, kz, ky, kx, sample + channel);
                    }
                  });
    }
  }

  volume_window window_;
  int groups_, channels_;  ///< channels_: those that a filter sees
  int weights_, filters_;
  int in_group_;  ///< filters of each group
  bool has_bias_;
  nn::start start_;
  double gain_;
  T *p_ = nullptr, *g_ = nullptr;
  std::optional<filtered_planes<T>> results_of_, derivatives_of_;
  matrix<T> patches_, results_;
};

}  // namespace manta::nn::detail
