// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the weights of layers are drawn.
#pragma once

#include <cmath>

#include "manta/nn/checks.hpp"
#include "manta/nn/layer.hpp"
#include "manta/nn/layers.hpp"

namespace manta::nn::detail {

/// Weights as PyTorch stores them: outputs x inputs, row by row.
template <class T>
using row_major = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Throws, for the constructor of a layer, if weights cannot be drawn with this gain.
inline void check_start(double gain) { check_layer_option(gain >= 0, "the gain", gain, "at least 0"); }

/// Fills w with orthonormal rows, or columns where there are more rows, by Gram and Schmidt, run twice for accuracy.
template <class T>
void make_orthogonal(Eigen::Ref<row_major<T>> w, const random& numbers) {
  const bool wide = w.cols() >= w.rows();
  Eigen::MatrixXd q(wide ? w.cols() : w.rows(), wide ? w.rows() : w.cols());
  for (Eigen::Index i = 0; i < q.size(); ++i) q.data()[i] = numbers.normal(static_cast<std::uint64_t>(i));
  for (Eigen::Index k = 0; k < q.cols(); ++k) {
    for (int again = 0; again < 2; ++again) {
      for (Eigen::Index j = 0; j < k; ++j) q.col(k) -= q.col(j).dot(q.col(k)) * q.col(j);
    }
    q.col(k).normalize();
  }
  if (wide) {
    w = q.transpose().template cast<T>();
  } else {
    w = q.template cast<T>();
  }
}

/// Draws weights of outputs x inputs.
template <class T>
void draw(Eigen::Ref<row_major<T>> w, nn::start how, double gain, const random& numbers) {
  const auto inputs = static_cast<double>(w.cols()), outputs = static_cast<double>(w.rows());
  const auto uniform = [&](double bound) {
    for (Eigen::Index i = 0; i < w.size(); ++i)
      w.data()[i] = static_cast<T>(bound * (2 * numbers.uniform(static_cast<std::uint64_t>(i)) - 1));
  };
  switch (how) {
    case start::standard: return uniform(1 / std::sqrt(inputs));
    case start::glorot: return uniform(gain * std::sqrt(6 / (inputs + outputs)));
    case start::he:
      for (Eigen::Index i = 0; i < w.size(); ++i)
        w.data()[i] = static_cast<T>(gain * std::sqrt(2 / inputs) * numbers.normal(static_cast<std::uint64_t>(i)));
      return;
    case start::orthogonal:
      make_orthogonal<T>(w, numbers);
      w *= static_cast<T>(gain);
      return;
    case start::zero: w.setZero(); return;
  }
}

/// Draws the weights, and the biases of the outputs, which lie behind the weights.
template <class T>
void draw_with_bias(Eigen::Map<row_major<T>> w, bool has_bias, nn::start how, double gain, const random& numbers) {
  draw<T>(w, how, gain, numbers);
  if (!has_bias) return;
  const double bound = how == start::standard ? 1 / std::sqrt(w.cols()) : 0;
  for (Eigen::Index i = w.size(); i < w.size() + w.rows(); ++i)
    w.data()[i] = static_cast<T>(bound * (2 * numbers.uniform(static_cast<std::uint64_t>(i)) - 1));
}

}  // namespace manta::nn::detail
