// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Normalisation of groups of channels of each sample (Wu, He, 2018), with the parameters of PyTorch's GroupNorm. The
// numbers of a group lie one after the other.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/layer/normalisation.hpp"

namespace manta::nn::detail {

template <class T>
class group_norm_layer final : public normalisation_layer<T> {
 public:
  group_norm_layer(const spec& s, const shape& in)
      : normalisation_layer<T>(s, in, shape{in[0]}), groups_(s.sizes[0]), plane_(in.size() / in[0]) {
    if (in.dimensions() == 2) throw error("it needs an image, or a vector of features");
    if (groups_ < 1 || in[0] % groups_ != 0)
      throw error(base::text("the {} channels have to be a multiple of the {} groups", in[0], groups_));
  }
  [[nodiscard]] std::unique_ptr<layer<T>> clone() const override { return std::make_unique<group_norm_layer>(*this); }

  void forward(const matrix<T>& x, matrix<T>& y, const pass&) override {
    const Eigen::Index size = x.rows() / groups_;
    y.resize(x.rows(), x.cols());
    normalised_.resize(size, x.size() / size);
    deviation_.resize(normalised_.cols());
    for (Eigen::Index i = 0; i < normalised_.cols(); ++i) {
      const vector_of_constants numbers(x.data() + i * size, size);
      auto z = normalised_.col(i).array();
      z = numbers - numbers.mean();
      deviation_[i] = std::sqrt(z.square().mean() + static_cast<T>(this->epsilon_));
      z /= deviation_[i];
    }
    each_channel(x.cols(), [&](Eigen::Index at, int c) {
      vector(y.data() + at, plane_) = normalised(at) * this->weight()[c] + this->bias()[c];
    });
  }

  void backward(const matrix<T>& x, const matrix<T>&, const matrix<T>& dy, matrix<T>* dx) override {
    const auto derivative = [&](Eigen::Index at) { return vector_of_constants(dy.data() + at, plane_); };
    each_channel(x.cols(), [&](Eigen::Index at, int c) {
      this->g_[c] += (derivative(at) * normalised(at)).sum();
      this->g_[this->count_ + c] += derivative(at).sum();
    });
    if (!dx) return;
    dx->resize(x.rows(), x.cols());
    each_channel(x.cols(),
                 [&](Eigen::Index at, int c) { vector(dx->data() + at, plane_) = derivative(at) * this->weight()[c]; });
    const Eigen::Index size = normalised_.rows();
    for (Eigen::Index i = 0; i < normalised_.cols(); ++i) {
      const auto z = normalised_.col(i).array();
      vector result(dx->data() + i * size, size);
      const T mean = result.mean(), product = (result * z).mean();
      result = (result - mean - z * product) / deviation_[i];
    }
  }

 private:
  using typename normalisation_layer<T>::vector;
  using vector_of_constants = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
  [[nodiscard]] vector_of_constants normalised(Eigen::Index at) const { return {normalised_.data() + at, plane_}; }
  /// Calls f(place of a channel of a sample, number of the channel).
  template <class Function>
  void each_channel(Eigen::Index samples, Function f) const {
    for (Eigen::Index i = 0; i < samples * this->count_; ++i) f(i * plane_, static_cast<int>(i % this->count_));
  }

  int groups_, plane_;
  matrix<T> normalised_;  ///< a column for each group of each sample
  Eigen::Array<T, Eigen::Dynamic, 1> deviation_;
};

}  // namespace manta::nn::detail
