// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins serve and libtorch: a TorchScript file, or a network of libtorch, behind a queue in one line.
//
//   auto d = serve::deploy_torch({.name = "digits", .max_batch = 32}, "digits.pt", {.input = {1, 28, 28}});
//   std::vector<float> outputs = d(pixels).get();
//   auto e = serve::deploy_torch({.name = "digits"}, trainer.model());
#pragma once

#include <string>
#include <vector>

#include "manta/serve/deployment.hpp"
#include "manta/serve/nn.hpp"
#include "manta/torch/module.hpp"

namespace manta::serve {

/// A deployment of a network of libtorch: the numbers of a sample in, its outputs out. The network travels once to each
/// node. The deployment is idempotent: a request that does not suit the network fails alone.
inline deployment<std::vector<float>(std::vector<float>)> deploy_torch(const options& o,
                                                                       const torch_module<float>& net) {
  return deploy<batched<&detail::sample_model<torch_module<float>>::predict>>(detail::pure(o), net);
}
/// Deploys the network of a TorchScript file. Throws manta::error if the file cannot be read.
inline deployment<std::vector<float>(std::vector<float>)> deploy_torch(const options& o, const std::string& path,
                                                                       const torch_options& t = {}) {
  return deploy_torch(o, torch_module<float>(torch_script(path), t));
}

}  // namespace manta::serve
