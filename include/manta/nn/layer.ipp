// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The table of layers: from a spec to a layer.
#pragma once

#include "manta/error.hpp"
#include "manta/nn/layer.hpp"
#include "manta/nn/layer/activation.hpp"
#include "manta/nn/layer/linear.hpp"

namespace manta::nn {

template <class T>
std::unique_ptr<layer<T>> make_layer(const spec& s, const shape& in) {
  using namespace detail;
  if (s.kind == "linear") {
    if (s.sizes[0] < 1) throw error("it needs at least one output");
    return std::make_unique<linear_layer<T>>(s, in);
  }
  if (s.kind == "relu") return std::make_unique<activation<T, relu_function>>(in);
  if (s.kind == "tanh") return std::make_unique<activation<T, tanh_function>>(in);
  if (s.kind == "sigmoid") return std::make_unique<activation<T, sigmoid_function>>(in);
  throw error("there is no layer of this kind; nn/layers.hpp has those that there are");
}

}  // namespace manta::nn
