// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The table of layers: from a spec to a layer.
#pragma once

#include "manta/error.hpp"
#include "manta/nn/layer.hpp"
#include "manta/nn/layer/activation.hpp"
#include "manta/nn/layer/attention.hpp"
#include "manta/nn/layer/bidirectional.hpp"
#include "manta/nn/layer/chain.hpp"
#include "manta/nn/layer/convolution.hpp"
#include "manta/nn/layer/convolution1d.hpp"
#include "manta/nn/layer/graph.hpp"
#include "manta/nn/layer/group_norm.hpp"
#include "manta/nn/layer/linear.hpp"
#include "manta/nn/layer/masked.hpp"
#include "manta/nn/layer/normalisation.hpp"
#include "manta/nn/layer/parts.hpp"
#include "manta/nn/layer/pooling.hpp"
#include "manta/nn/layer/recurrent.hpp"
#include "manta/nn/layer/small.hpp"
#include "manta/nn/layer/step_attention.hpp"
#include "manta/nn/layer/tied_linear.hpp"
#include "manta/nn/layer/upsampling.hpp"
#include "manta/nn/own.hpp"

namespace manta::nn {

namespace detail {

/// A chain of the layers of s, which may be one layer.
template <class T>
chain<T> chain_of(const spec& s, const shape& in) {
  return s.kind == "sequential" ? chain<T>(in, s.parts, "it") : chain<T>(in, {s}, "it");
}

/// One function for each kind.
template <class T>
using layer_maker = std::unique_ptr<layer<T>> (*)(const spec&, const shape&);

template <class T, class Layer>
std::unique_ptr<layer<T>> made(const spec& s, const shape& in) {
  if constexpr (std::is_constructible_v<Layer, const spec&, const shape&>) {
    return std::make_unique<Layer>(s, in);
  } else {
    return std::make_unique<Layer>(in);
  }
}
template <class T>
std::unique_ptr<layer<T>> made_sequential(const spec& s, const shape& in) {
  return std::make_unique<sequential_layer<T>>(chain_of<T>(s, in), in);
}
template <class T>
std::unique_ptr<layer<T>> made_residual(const spec& s, const shape& in) {
  return std::make_unique<residual_layer<T>>(
      chain_of<T>(s.parts[0], in), s.parts.size() > 1 ? chain_of<T>(s.parts[1], in) : chain<T>(in, {}, "it"), in);
}

/// The layer for sequences, images or volumes, as the input is.
template <class T, template <class, int> class Layer>
std::unique_ptr<layer<T>> made_pool(const spec& s, const shape& in) {
  switch (in.dimensions()) {
    case 2: return std::make_unique<Layer<T, 1>>(s, in);
    case 3: return std::make_unique<Layer<T, 2>>(s, in);
    case 4: return std::make_unique<Layer<T, 3>>(s, in);
    default:
      throw error(
          "it needs a sequence, nn::shape{length, features}, an image, nn::shape{channels, height, width}, or a "
          "volume, nn::shape{channels, depth, height, width}");
  }
}

}  // namespace detail

template <class T>
std::unique_ptr<layer<T>> make_layer(const spec& s, const shape& in) {
  using namespace detail;
  static const std::map<std::string, layer_maker<T>> makers = {
      {"linear", made<T, linear_layer<T>>},
      {"tied_linear", made<T, tied_linear_layer<T>>},
      {"relu", made<T, activation_layer<T, relu_function>>},
      {"tanh", made<T, activation_layer<T, tanh_function>>},
      {"sigmoid", made<T, activation_layer<T, sigmoid_function>>},
      {"gelu", made<T, activation_layer<T, gelu_function>>},
      {"leaky_relu", made<T, activation_layer<T, leaky_relu_function>>},
      {"elu", made<T, activation_layer<T, elu_function>>},
      {"silu", made<T, activation_layer<T, silu_function>>},
      {"softplus", made<T, activation_layer<T, softplus_function>>},
      {"softmax", made<T, softmax_layer<T>>},
      {"conv2d", made<T, convolution_layer<T, 2>>},
      {"conv3d", made<T, convolution_layer<T, 3>>},
      {"conv1d", made<T, conv1d_layer<T>>},
      {"conv2d_transposed", made<T, conv2d_transposed_layer<T>>},
      {"upsample", made<T, upsample_layer<T>>},
      {"max_pool", made_pool<T, max_pool_layer>},
      {"average_pool", made_pool<T, average_pool_layer>},
      {"batch_norm", made<T, batch_norm_layer<T>>},
      {"layer_norm", made<T, layer_norm_layer<T>>},
      {"group_norm", made<T, group_norm_layer<T>>},
      {"dropout", made<T, dropout_layer<T>>},
      {"embedding", made<T, embedding_layer<T>>},
      {"positions", made<T, positions_layer<T>>},
      {"lstm", made<T, recurrent_layer<T, lstm_cell<T>>>},
      {"gru", made<T, recurrent_layer<T, gru_cell<T>>>},
      {"bidirectional", made<T, bidirectional_layer<T>>},
      {"attention", made<T, attention_layer<T>>},
      {"step_attention", made<T, step_attention_layer<T>>},
      {"last", made<T, last_layer<T>>},
      {"reshape", made<T, reshape_layer<T>>},
      {"mean", made<T, mean_layer<T>>},
      {"masked", made<T, masked_layer<T>>},
      {"flatten", made<T, flatten_layer<T>>},
      {"own", made<T, own_layer<T>>},
      {"sequential", made_sequential<T>},
      {"residual", made_residual<T>},
      {"graph", made<T, graph_layer<T>>},
      {"parts", made<T, parts_layer<T>>},
  };
  const auto maker = makers.find(s.kind);
  if (maker == makers.end()) throw error("there is no layer of this kind; nn/layers.hpp has those that there are");
  return maker->second(s, in);
}

}  // namespace manta::nn
