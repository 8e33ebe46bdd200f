// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of layers.hpp.
#pragma once

#include "manta/nn/layers.hpp"

namespace manta::nn {

MANTA_DECL spec linear(int outputs, const linear_options& options) {
  return spec{"linear", {outputs}, {}, {}}
      .with("bias", options.bias, 1)
      .with("start", static_cast<double>(options.start), 0)
      .with("gain", options.gain, 1);
}

MANTA_DECL spec relu() { return {"relu", {}, {}, {}}; }
MANTA_DECL spec tanh() { return {"tanh", {}, {}, {}}; }
MANTA_DECL spec sigmoid() { return {"sigmoid", {}, {}, {}}; }

}  // namespace manta::nn
