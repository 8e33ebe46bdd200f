// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins serve and libtorch: a TorchScript file, or a network of libtorch, behind a queue in one line.
//
//   auto d = serve::deploy_torch({.name = "digits", .max_batch = 32}, "digits.pt", {.input = {1, 28, 28}});
//   std::vector<float> outputs = d(pixels).get();
//   auto e = serve::deploy_torch({.name = "digits"}, trainer.model());
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "manta/serve/deployment.hpp"
#include "manta/torch/module.hpp"

namespace manta::serve {

namespace detail {
/// A network of libtorch that answers batches. Requests are the numbers of a sample, answers the network's outputs.
class torch_model {
 public:
  explicit torch_model(const torch_module<float>& net) : net_(net) { net_.mode({.training = false}); }

  std::vector<std::vector<float>> predict(const std::vector<std::vector<float>>& batch) {
    const std::size_t numbers = batch.front().size();
    x_.resize(static_cast<Eigen::Index>(numbers), std::ssize(batch));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].size() != numbers)
        throw error("a request has " + std::to_string(batch[i].size()) + " numbers, and another one of its batch " +
                    std::to_string(numbers));
      std::copy(batch[i].begin(), batch[i].end(), x_.col(static_cast<Eigen::Index>(i)).data());
    }
    const nn::matrix<float>& y = net_.forward(x_);
    std::vector<std::vector<float>> answers;
    for (Eigen::Index i = 0; i < x_.cols(); ++i) answers.emplace_back(y.col(i).data(), y.col(i).data() + y.rows());
    return answers;
  }

 private:
  torch_module<float> net_;
  nn::matrix<float> x_;
};
}  // namespace detail

/// A deployment of a network of libtorch: the numbers of a sample in, its outputs out. The network travels once to each
/// node. The deployment is idempotent: a request that does not suit the network fails alone.
inline deployment<std::vector<float>(std::vector<float>)> deploy_torch(const options& o,
                                                                       const torch_module<float>& net) {
  return deploy<batched<&detail::torch_model::predict>>(detail::pure(o), net);
}
/// Likewise of a TorchScript file. Throws manta::error if it cannot be read.
inline deployment<std::vector<float>(std::vector<float>)> deploy_torch(const options& o, const std::string& path,
                                                                       const torch_options& t = {}) {
  return deploy_torch(o, torch_module<float>(torch_script(path), t));
}

}  // namespace manta::serve
