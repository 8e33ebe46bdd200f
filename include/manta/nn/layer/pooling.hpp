// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The greatest or the mean of what a window sees. Padding counts in neither.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/layer/window.hpp"

namespace manta::nn::detail {

template <class T>
class pooling_layer : public layer<T> {
 public:
  pooling_layer(const spec& s, const shape& in) : layer<T>(in, window(s, 0, in).output(in[0])), window_(s, 0, in) {}

 protected:
  /// Calls f(output index, top, bottom, left, right, plane offset) for each window of each plane of a sample.
  template <class Function>
  void each_window(Function f) const {
    Eigen::Index output = 0;
    for (int c = 0; c < window_.channels; ++c) {
      const Eigen::Index plane = Eigen::Index{c} * window_.height * window_.width;
      for (int y = 0; y < window_.out_height; ++y) {
        const int above = y * window_.stride - window_.padding, top = std::max(0, above),
                  bottom = std::min(window_.height, above + window_.size);
        for (int x = 0; x < window_.out_width; ++x, ++output) {
          const int before = x * window_.stride - window_.padding;
          f(output, top, bottom, std::max(0, before), std::min(window_.width, before + window_.size), plane);
        }
      }
    }
  }

  window window_;
};

/// Where several numbers are equal, the first one gets the gradient. NaN passes for the greatest number of its window.
template <class T>
class max_pool_layer final : public pooling_layer<T> {
 public:
  using pooling_layer<T>::pooling_layer;
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<max_pool_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    if (all_finite(std::span<const T>(x.data(), static_cast<std::size_t>(x.size())))) {
      pool(x, y, [](T number, T greatest) { return number > greatest; });
    } else {
      pool(x, y, [](T number, T greatest) { return !(number <= greatest) && !base::is_nan(greatest); });
    }
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    dx->setZero(x.rows(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const T* from = dy.data() + s * dy.rows();
      const int* where = where_.data() + s * dy.rows();
      T* to = dx->data() + s * x.rows();
      for (Eigen::Index i = 0; i < dy.rows(); ++i) to[where[i]] += from[i];
    }
  }

 private:
  template <class Exceeds>
  void pool(const matrix<T>& x, matrix<T>& y, Exceeds exceeds) {
    y.resize(this->output_shape().size(), x.cols());
    where_.resize(static_cast<std::size_t>(y.size()));
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const T* from = x.data() + s * x.rows();
      T* to = y.data() + s * y.rows();
      int* where = where_.data() + s * y.rows();
      this->each_window([&](Eigen::Index output, int top, int bottom, int left, int right, Eigen::Index plane) {
        Eigen::Index best = plane + top * this->window_.width + left;
        T greatest = from[best];
        for (int i = top; i < bottom; ++i) {
          const Eigen::Index row = plane + i * this->window_.width;
          for (Eigen::Index at = row + left; at < row + right; ++at) {
            const bool is_greater = exceeds(from[at], greatest);
            best = is_greater ? at : best;
            greatest = is_greater ? from[at] : greatest;
          }
        }
        to[output] = greatest;
        where[output] = static_cast<int>(best);
      });
    }
  }

  std::vector<int> where_;
};

template <class T>
class average_pool_layer final : public pooling_layer<T> {
 public:
  using pooling_layer<T>::pooling_layer;
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<average_pool_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y.resize(this->output_shape().size(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const T* from = x.data() + s * x.rows();
      T* to = y.data() + s * y.rows();
      this->each_window([&](Eigen::Index output, int top, int bottom, int left, int right, Eigen::Index plane) {
        T sum = 0;
        for (int i = top; i < bottom; ++i)
          for (int j = left; j < right; ++j) sum += from[plane + i * this->window_.width + j];
        to[output] = sum / static_cast<T>((bottom - top) * (right - left));
      });
    }
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    dx->setZero(x.rows(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const T* from = dy.data() + s * dy.rows();
      T* to = dx->data() + s * x.rows();
      this->each_window([&](Eigen::Index output, int top, int bottom, int left, int right, Eigen::Index plane) {
        const T share = from[output] / static_cast<T>((bottom - top) * (right - left));
        for (int i = top; i < bottom; ++i)
          for (int j = left; j < right; ++j) to[plane + i * this->window_.width + j] += share;
      });
    }
  }
};

}  // namespace manta::nn::detail
