// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A perceptron with one hidden layer, 784-128-10, rectifier and softmax, with
// backpropagation by hand in Eigen. Its parameters are one flat vector, so that
// a parameter server can cut it anywhere. Used by examples/fashion_mnist.cpp.
#pragma once

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "idx.hpp"

namespace fashion_mnist {

inline constexpr Eigen::Index inputs = static_cast<Eigen::Index>(pixels_per_image);
inline constexpr Eigen::Index hidden = 128;
inline constexpr Eigen::Index outputs = static_cast<Eigen::Index>(number_of_classes);

/// Where the layers lie in the flat vector: w1 (hidden x inputs), b1, w2 (outputs x hidden), b2.
template <class Vector, class Matrix>
struct layers {
  explicit layers(Vector& flat)
      : w1(flat.data(), hidden, inputs),
        b1(w1.data() + w1.size(), hidden),
        w2(b1.data() + b1.size(), outputs, hidden),
        b2(w2.data() + w2.size(), outputs) {}

  static constexpr Eigen::Index size = hidden * inputs + hidden + outputs * hidden + outputs;

  Eigen::Map<Matrix> w1;
  Eigen::Map<Vector> b1;
  Eigen::Map<Matrix> w2;
  Eigen::Map<Vector> b2;
};
using mutable_layers = layers<Eigen::VectorXf, Eigen::MatrixXf>;
using const_layers = layers<const Eigen::VectorXf, const Eigen::MatrixXf>;

/// Weights after He et al. 2015 (variance 2 / inputs of the layer), biases zero.
inline Eigen::VectorXf initial_parameters(std::uint64_t seed) {
  Eigen::VectorXf flat = Eigen::VectorXf::Zero(mutable_layers::size);
  std::mt19937_64 random(seed);
  const auto fill = [&](Eigen::Map<Eigen::MatrixXf> weights) {
    std::normal_distribution<float> normal(0, std::sqrt(2.0F / static_cast<float>(weights.cols())));
    for (float& w : weights.reshaped()) w = normal(random);
  };
  mutable_layers net(flat);
  fill(net.w1);
  fill(net.w2);
  return flat;
}

/// Mean and standard deviation of the grey values of the training set, taken as 0 to 1. Inputs are shifted and
/// scaled by them, which conditions the problem better.
inline constexpr float grey_mean = 0.286F;
inline constexpr float grey_deviation = 0.353F;

/// A minibatch: one standardised image a column, and the labels.
struct minibatch {
  Eigen::MatrixXf images;
  std::vector<std::uint8_t> labels;
};

/// The images of `data` whose indices are given.
inline minibatch gather(const dataset& data, std::span<const std::uint32_t> indices) {
  using bytes = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, 1>;
  minibatch batch{Eigen::MatrixXf(inputs, static_cast<Eigen::Index>(indices.size())), {}};
  batch.labels.reserve(indices.size());
  Eigen::Index column = 0;
  for (const std::uint32_t i : indices) {
    const Eigen::Map<const bytes> image(data.pixels.data() + i * pixels_per_image, inputs);
    batch.images.col(column++) = (image.cast<float>().array() / 255.0F - grey_mean) / grey_deviation;
    batch.labels.push_back(data.labels[i]);
  }
  return batch;
}

/// The activations of both layers, one image a column; `scores` are before the softmax.
struct activations {
  Eigen::MatrixXf hidden;
  Eigen::MatrixXf scores;
};

inline activations forward(const const_layers& net, const Eigen::MatrixXf& images) {
  activations a;
  a.hidden.noalias() = net.w1 * images;
  a.hidden = (a.hidden.colwise() + net.b1).cwiseMax(0.0F);
  a.scores.noalias() = net.w2 * a.hidden;
  a.scores.colwise() += net.b2;
  return a;
}

/// The mean cross-entropy over the batch; its gradient by all parameters goes to `gradient`.
inline float loss_and_gradient(const Eigen::VectorXf& parameters, const minibatch& batch, Eigen::VectorXf& gradient) {
  const const_layers net(parameters);
  const auto a = forward(net, batch.images);
  const auto n = static_cast<float>(batch.labels.size());

  Eigen::MatrixXf delta = (a.scores.rowwise() - a.scores.colwise().maxCoeff().eval()).array().exp();
  delta.array().rowwise() /= delta.colwise().sum().eval().array();  // now the softmax
  float loss = 0;
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    float& right = delta(batch.labels[i], static_cast<Eigen::Index>(i));
    loss -= std::log(std::max(right, 1e-30F));
    right -= 1;
  }
  delta /= n;

  gradient.resize(mutable_layers::size);
  mutable_layers g(gradient);
  g.w2.noalias() = delta * a.hidden.transpose();
  g.b2 = delta.rowwise().sum();
  Eigen::MatrixXf below = net.w2.transpose() * delta;
  below.array() *= (a.hidden.array() > 0).cast<float>();
  g.w1.noalias() = below * batch.images.transpose();
  g.b1 = below.rowwise().sum();
  return loss / n;
}

/// How many images of `data` the network puts into the right class.
inline std::size_t count_correct(const Eigen::VectorXf& parameters, const dataset& data) {
  constexpr std::size_t at_once = 500;
  std::size_t correct = 0;
  std::vector<std::uint32_t> indices;
  for (std::size_t first = 0; first < data.size(); first += at_once) {
    indices.clear();
    for (std::size_t i = first; i < std::min(first + at_once, data.size()); ++i) {
      indices.push_back(static_cast<std::uint32_t>(i));
    }
    const auto batch = gather(data, indices);
    const Eigen::MatrixXf scores = forward(const_layers(parameters), batch.images).scores;
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      Eigen::Index best = 0;
      scores.col(static_cast<Eigen::Index>(i)).maxCoeff(&best);
      correct += best == batch.labels[i] ? 1U : 0U;
    }
  }
  return correct;
}

}  // namespace fashion_mnist
