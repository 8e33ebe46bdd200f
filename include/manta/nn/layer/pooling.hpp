// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The greatest or the mean of what a window sees, in sequences, images and volumes. Padding counts in neither.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "manta/base/number.hpp"
#include "manta/nn/checks.hpp"
#include "manta/nn/layer/sequence_window.hpp"
#include "manta/nn/layer/window.hpp"

namespace manta::nn::detail {

/// What one window sees of one channel: ranges of planes, rows and columns (of a sequence: positions). `channel` is the
/// place of the channel's first number in a sample.
struct pooled_range {
  int front, back, top, bottom, left, right;
  Eigen::Index channel;

  [[nodiscard]] int count() const { return (back - front) * (bottom - top) * (right - left); }
};

/// All windows of an image (2 dimensions) or a volume (3), channel by channel.
template <int Dimensions>
class pooling_windows {
 public:
  pooling_windows(const spec& s, const shape& in) : in_(s, 0, in, Dimensions), channels_(in[0]) {}

  [[nodiscard]] shape output() const { return in_.output(channels_); }

  /// Calls f(index of the output, what its window sees) in the order of the outputs.
  template <class Function>
  void each(Function f) const {
    const window& w = in_.plane;
    Eigen::Index output = 0;
    for (int c = 0; c < channels_; ++c) {
      for (int z = 0; z < in_.out_depth; ++z) {
        const auto [front, back] = Dimensions == 2 ? std::pair(0, 1) : seen(z, w.stride, in_.depth);
        for (int y = 0; y < w.out_height; ++y) {
          const auto [top, bottom] = seen(y, w.stride, w.height);
          for (int x = 0; x < w.out_width; ++x, ++output) {
            const auto [left, right] = seen(x, w.stride, w.width);
            f(output, pooled_range{front, back, top, bottom, left, right, c * in_.extent()});
          }
        }
      }
    }
  }
  /// The place in the sample of the first number of the range.
  [[nodiscard]] Eigen::Index first(const pooled_range& r) const { return row(r, r.front, r.top) + r.left; }
  /// Calls f(place in the sample) for all numbers of the range.
  template <class Function>
  void each_number(const pooled_range& r, Function f) const {
    for (int z = r.front; z < r.back; ++z) {
      for (int y = r.top; y < r.bottom; ++y) {
        const Eigen::Index begin = row(r, z, y);
        for (Eigen::Index at = begin + r.left; at < begin + r.right; ++at) f(at);
      }
    }
  }

 private:
  [[nodiscard]] Eigen::Index row(const pooled_range& r, int z, int y) const {
    return r.channel + (Eigen::Index{z} * in_.plane.height + y) * in_.plane.width;
  }
  [[nodiscard]] std::pair<int, int> seen(int output, int stride, int extent) const {
    const int before = output * stride - in_.plane.padding;
    return {std::max(0, before), std::min(extent, before + in_.plane.size)};
  }

  volume_window in_;
  int channels_;
};

/// All windows of a sequence, position by position. A feature is a channel.
template <>
class pooling_windows<1> {
 public:
  pooling_windows(const spec& s, const shape& in) : in_(s, 0, in) {
    if (in_.padding >= in_.size) throw error("the padding has to be smaller than the size");
  }

  [[nodiscard]] shape output() const { return {in_.outputs, in_.features}; }

  template <class Function>
  void each(Function f) const {
    Eigen::Index output = 0;
    for (int t = 0; t < in_.outputs; ++t) {
      const int before = t * in_.stride - in_.padding;
      const int left = std::max(0, before), right = std::min(in_.length, before + in_.size);
      for (int c = 0; c < in_.features; ++c, ++output) f(output, pooled_range{0, 1, 0, 1, left, right, c});
    }
  }
  [[nodiscard]] Eigen::Index first(const pooled_range& r) const {
    return r.channel + Eigen::Index{r.left} * in_.features;
  }
  template <class Function>
  void each_number(const pooled_range& r, Function f) const {
    for (int t = r.left; t < r.right; ++t) f(r.channel + Eigen::Index{t} * in_.features);
  }

 private:
  sequence_window in_;
};

template <class T, int Dimensions>
class pooling_layer : public layer<T> {
 public:
  pooling_layer(const spec& s, const shape& in)
      : layer<T>(in, pooling_windows<Dimensions>(s, in).output()), windows_(s, in) {}

 protected:
  pooling_windows<Dimensions> windows_;
};

/// Where several numbers are equal, the first one gets the gradient. NaN passes for the greatest number of its window.
template <class T, int Dimensions>
class max_pool_layer final : public pooling_layer<T, Dimensions> {
 public:
  using pooling_layer<T, Dimensions>::pooling_layer;
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
      this->windows_.each([&](Eigen::Index output, const pooled_range& seen) {
        Eigen::Index best = this->windows_.first(seen);
        T greatest = from[best];
        this->windows_.each_number(seen, [&](Eigen::Index at) {
          const bool is_greater = exceeds(from[at], greatest);
          best = is_greater ? at : best;
          greatest = is_greater ? from[at] : greatest;
        });
        to[output] = greatest;
        where[output] = static_cast<int>(best);
      });
    }
  }

  std::vector<int> where_;
};

template <class T, int Dimensions>
class average_pool_layer final : public pooling_layer<T, Dimensions> {
 public:
  using pooling_layer<T, Dimensions>::pooling_layer;
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<average_pool_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    y.resize(this->output_shape().size(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const T* from = x.data() + s * x.rows();
      T* to = y.data() + s * y.rows();
      this->windows_.each([&](Eigen::Index output, const pooled_range& seen) {
        T sum = 0;
        this->windows_.each_number(seen, [&](Eigen::Index at) { sum += from[at]; });
        to[output] = sum / static_cast<T>(seen.count());
      });
    }
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    if (!dx) return;
    dx->setZero(x.rows(), x.cols());
    for (Eigen::Index s = 0; s < x.cols(); ++s) {
      const T* from = dy.data() + s * dy.rows();
      T* to = dx->data() + s * x.rows();
      this->windows_.each([&](Eigen::Index output, const pooled_range& seen) {
        const T share = from[output] / static_cast<T>(seen.count());
        this->windows_.each_number(seen, [&](Eigen::Index at) { to[at] += share; });
      });
    }
  }
};

}  // namespace manta::nn::detail
