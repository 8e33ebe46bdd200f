// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The layers that a network may consist of, as the program writes them. Each function gives a spec (spec.hpp), which
// knows neither the shape of its input nor the scalar type: the network fills them in, and checks them.
#pragma once

#include "manta/nn/spec.hpp"

namespace manta::nn {

/// How a layer's weights are drawn by network::initialise. Biases are 0, but for `standard`.
enum class start {
  standard,    ///< uniform within 1 / sqrt(inputs), biases too: what PyTorch does
  he,          ///< normal with variance gain^2 * 2 / inputs, for relu (He et al., 2015)
  glorot,      ///< uniform within gain * sqrt(6 / (inputs + outputs)) (Glorot, Bengio, 2010)
  orthogonal,  ///< orthogonal rows or columns, times gain (Saxe et al., 2014); usual in reinforcement learning
  zero,
};

struct linear_options {
  bool bias = true;
  nn::start start = start::standard;
  double gain = 1;
};

/// y = W x + b. An input of any shape counts as a vector.
MANTA_DECL spec linear(int outputs, const linear_options& options = {});

MANTA_DECL spec relu();
MANTA_DECL spec tanh();
MANTA_DECL spec sigmoid();

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/layers.ipp"
#endif
