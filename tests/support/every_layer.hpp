// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Networks that have every kind of layer, for what all layers have to be able to.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "manta/nn.hpp"

namespace manta::testing {

/// y = a x, a module of a program's own.
struct gain_module {
  using scalar = float;
  gain_module(int, int) {}
  const nn::matrix<float>& forward(const nn::matrix<float>& x) { return x_ = x, y_ = a_[0] * x; }
  void backward(const nn::matrix<float>& dy) { da_[0] += dy.cwiseProduct(x_).sum(); }
  std::span<float> parameters() { return a_; }
  [[nodiscard]] std::span<const float> parameters() const { return a_; }
  std::span<float> gradients() { return da_; }

 private:
  std::vector<float> a_{1.5F}, da_{0};
  nn::matrix<float> x_, y_;
};

/// Inputs are images, volumes, sequences, words and vectors.
inline std::vector<nn::network<float>> every_layer() {
  const auto net = [](const nn::shape& in, std::vector<nn::spec> layers) { return nn::network<float>(in, layers); };
  const nn::shape image{4, 6, 6}, sequence{5, 4}, vector{6};
  nn::graph g;
  const nn::node a = g.input({2, 4, 4}), b = g.input({3});
  const nn::node down = g.add("down", nn::sequential(nn::conv2d(2, 3, {.padding = 1}), nn::batch_norm()), a);
  const nn::node wish = g.add("wish", nn::sequential(nn::linear(32), nn::reshape({2, 4, 4})), b);
  const nn::node both = g.add("both", nn::conv2d(2, 1), g.concat({down, wish}));
  const nn::spec graph = g.outputs({g.sum({both, down}), b});
  return {
      net(vector,
          {nn::linear(5), nn::relu(), nn::linear(4, {.bias = false}), nn::tanh(), nn::linear(3), nn::sigmoid()}),
      net(vector, {nn::leaky_relu(0.1), nn::linear(5), nn::elu(0.7), nn::silu(), nn::gelu(), nn::softplus()}),
      net(vector, {nn::batch_norm(), nn::dropout(0.3), nn::layer_norm(), nn::group_norm(3), nn::softmax()}),
      net(vector, {nn::linear(4), nn::tanh(), nn::tied_linear(0, {.transposed = true})}),
      net(image, {nn::conv2d(6, 3, {.stride = 2, .padding = 1}), nn::batch_norm(), nn::relu(), nn::max_pool(2),
                  nn::linear(3)}),
      net(image, {nn::conv2d(8, 3, {.padding = 2, .dilation = 2, .groups = 2}), nn::average_pool(2), nn::layer_norm(),
                  nn::softmax(), nn::flatten(), nn::linear(3)}),
      net(image, {nn::conv2d(8, 3, {.groups = 4, .bias = false}), nn::group_norm(2), nn::average_pool(0)}),
      net(image, {nn::max_pool(3, {.stride = 2, .padding = 1}),
                  nn::conv2d_transposed(3, 3, {.stride = 2, .padding = 1, .more = 1}), nn::upsample(2),
                  nn::average_pool(3, {.stride = 2, .padding = 1})}),
      net(image, {nn::upsample(2, {.bilinear = true}), nn::conv2d(2, 1)}),
      net({2, 4, 5, 6}, {nn::conv3d(3, 3, {.stride = 2, .padding = 1}), nn::batch_norm(), nn::relu(), nn::conv3d(2, 2),
                         nn::linear(3)}),
      net({2, 5, 6, 6}, {nn::max_pool(2, {.stride = 1}), nn::average_pool(3, {.stride = 2, .padding = 1}),
                         nn::max_pool(2), nn::average_pool(0)}),
      net(sequence, {nn::max_pool(2, {.stride = 1}), nn::average_pool(3, {.stride = 2, .padding = 1}),
                     nn::average_pool(0), nn::linear(3)}),
      net({4, 3, 4, 4}, {nn::conv3d(4, 2, {.dilation = 2, .groups = 2}), nn::group_norm(2)}),
      net(sequence, {nn::conv1d(6, 3, {.stride = 2, .padding = 2, .dilation = 2}), nn::batch_norm(), nn::layer_norm(),
                     nn::mean()}),
      net(sequence, {nn::lstm(3), nn::gru(4), nn::last(), nn::linear(2)}),
      net(sequence, {nn::bidirectional(nn::lstm(3)), nn::bidirectional(nn::gru(2)), nn::linear(3), nn::softmax()}),
      net({5}, {nn::embedding(7, 4), nn::positions(), nn::residual(nn::sequential(nn::layer_norm(), nn::attention(2))),
                nn::residual(nn::attention(1, {.causal = true})), nn::tied_linear(0)}),
      net({5}, {nn::masked(0, {nn::embedding(7, 4), nn::attention(2), nn::mean(), nn::linear(2)})}),
      net(vector, {nn::residual(nn::step_attention(2, 3)), nn::lstm(2)}),
      net(vector, {nn::own<gain_module>(6), nn::sequential(nn::linear(3), nn::tanh())}),
      net({23}, {nn::parts({nn::part({2, 3, 3}, {nn::conv2d(3, 2), nn::tanh()}), nn::part({2}, {}),
                            nn::part({3}, {nn::linear(2)})}),
                 nn::residual(nn::linear(4), nn::linear(4, {.bias = false}))}),
      net(g.input_shape(), {graph}),
  };
}

/// The kinds of the layers of s, and of those that it consists of.
inline void add_kinds(const nn::spec& s, std::set<std::string>& kinds) {
  kinds.insert(s.kind);
  for (const nn::spec& part : s.parts) add_kinds(part, kinds);
}

/// Inputs that suit the network: whole numbers where they are words.
inline nn::matrix<float> inputs_for(const nn::network<float>& net, int samples) {
  const nn::random r(9);
  nn::matrix<float> x(net.input_shape().size(), samples);
  const std::string text = net.describe();
  const bool has_words = text.find("embedding") != std::string::npos;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    const auto n = static_cast<std::uint64_t>(i);
    x.data()[i] = has_words ? static_cast<float>(1 + r.bits(n) % 6) : static_cast<float>(r.normal(n));
  }
  return x;
}

}  // namespace manta::testing
