// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins serve and nn: a network behind a queue, run on whole batches.
//
//   auto d = serve::deploy_network({.name = "digits", .replicas = 2, .max_batch = 32}, net);
//   std::vector<float> outputs = d(pixels).get();
//   auto e = serve::deploy_network({.name = "digits"}, trainer.model());
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "manta/nn.hpp"
#include "manta/serve/deployment.hpp"

namespace manta::serve {

namespace detail {
/// A network that answers batches. Requests are the numbers of a sample, answers the network's outputs.
class network_model {
 public:
  explicit network_model(const nn::network<float>& net) : net_(net) { net_.mode({.training = false}); }

  std::vector<std::vector<float>> predict(const std::vector<std::vector<float>>& batch) {
    const auto features = static_cast<std::size_t>(net_.input_shape().size());
    x_.resize(net_.input_shape().size(), std::ssize(batch));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].size() != features)
        throw error("a request has " + std::to_string(batch[i].size()) + " numbers; the network takes " +
                    std::to_string(features) + " (" + net_.input_shape().text() + ")");
      std::copy(batch[i].begin(), batch[i].end(), x_.col(static_cast<Eigen::Index>(i)).data());
    }
    const nn::matrix<float>& y = net_.forward(x_);
    std::vector<std::vector<float>> answers;
    for (Eigen::Index i = 0; i < x_.cols(); ++i) answers.emplace_back(y.col(i).data(), y.col(i).data() + y.rows());
    return answers;
  }

 private:
  nn::network<float> net_;
  nn::matrix<float> x_;
};
}  // namespace detail

/// A deployment of a network: the numbers of a sample in, the network's outputs out. The network travels once to each
/// node. The deployment is idempotent, for a network is: a request of the wrong size fails alone.
inline deployment<std::vector<float>(std::vector<float>)> deploy_network(const options& o,
                                                                         const nn::network<float>& net) {
  return deploy<batched<&detail::network_model::predict>>(detail::pure(o), net);
}

}  // namespace manta::serve
