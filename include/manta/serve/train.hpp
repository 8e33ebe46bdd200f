// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins serve and train: the checkpoint of a trainer behind a queue, in one line.
//
//   auto d = serve::deploy_checkpoint({.name = "digits", .max_batch = 32}, "checkpoint");
#pragma once

#include <string>

#include "manta/serve/nn.hpp"
#include "manta/train.hpp"

namespace manta::serve {

/// A deployment of the nn::network<float> in a file that trainer::save has written. Throws manta::error if it cannot be
/// read.
inline deployment<std::vector<float>(std::vector<float>)> deploy_checkpoint(const options& o, const std::string& path) {
  return deploy_network(o, train::load_model<nn::network<float>>(path));
}

}  // namespace manta::serve
