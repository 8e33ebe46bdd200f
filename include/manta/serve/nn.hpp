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
#include <vector>

#include "manta/base/text.hpp"
#include "manta/nn.hpp"
#include "manta/serve/deployment.hpp"
#include "manta/serve/http_error.hpp"

namespace manta::serve {

namespace detail {
/// A network that answers batches. Requests are the numbers of a sample, answers the network's outputs. A network
/// without an input_shape() says itself what does not suit it; requests of a batch only have to be of one size.
template <class Network>
class sample_model {
 public:
  explicit sample_model(const Network& net) : net_(net) { net_.mode({.training = false}); }

  std::vector<std::vector<float>> predict(const std::vector<std::vector<float>>& batch) {
    std::size_t numbers = batch.front().size();
    if constexpr (has_shape) numbers = static_cast<std::size_t>(net_.input_shape().size());
    x_.resize(static_cast<Eigen::Index>(numbers), std::ssize(batch));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch[i].size() != numbers) refuse(batch[i].size(), numbers);
      std::copy(batch[i].begin(), batch[i].end(), x_.col(static_cast<Eigen::Index>(i)).data());
    }
    const nn::matrix<float>& y = net_.forward(x_);
    std::vector<std::vector<float>> answers;
    for (Eigen::Index i = 0; i < x_.cols(); ++i) answers.emplace_back(y.col(i).data(), y.col(i).data() + y.rows());
    return answers;
  }

 private:
  static constexpr bool has_shape = requires(const Network& n) { n.input_shape().text(); };

  [[noreturn]] void refuse(std::size_t got, std::size_t wanted) const {
    const std::string begin = base::text("a request has {} numbers", got);
    constexpr int bad_request = 400;
    if constexpr (has_shape) {
      throw http_error(bad_request,
                       base::text("{}; the network takes {} ({})", begin, wanted, net_.input_shape().text()));
    } else {
      throw http_error(bad_request, base::text("{}, and another one of its batch {}", begin, wanted));
    }
  }

  Network net_;
  nn::matrix<float> x_;
};
}  // namespace detail

/// A deployment of a network: the numbers of a sample in, the network's outputs out. The network travels once to each
/// node. The deployment is idempotent, for a network is: a request of the wrong size fails alone, with an http_error
/// of status 400.
inline deployment<std::vector<float>(std::vector<float>)> deploy_network(const options& o,
                                                                         const nn::network<float>& net) {
  auto d = deploy<batched<&detail::sample_model<nn::network<float>>::predict>>(detail::pure(o), net);
  d.set_sizes({net.input_shape().size(), net.output_shape().size()});
  return d;
}

}  // namespace manta::serve
