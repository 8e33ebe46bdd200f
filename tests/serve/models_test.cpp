// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the other libraries have made, behind a queue in one line each.
#include <doctest/doctest.h>

#include "manta/nn/weights.hpp"
#include "manta/serve.hpp"
#include "manta/serve/nn.hpp"
#include "manta/serve/train.hpp"
#include "manta/tune.hpp"
#include "manta/tune/train.hpp"
#include "support/text.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace nn = manta::nn;
namespace serve = manta::serve;
namespace train = manta::train;
namespace tune = manta::tune;

namespace {

/// The class is the sign of the number.
struct signs {
  double rate = 0.1;
  nn::network<float> model() const {
    return nn::network<float>(nn::shape{1}, nn::linear(4), nn::tanh(), nn::linear(2));
  }
  nn::adam optimizer() const { return nn::adam({.rate = rate}); }
  nn::loss loss() const { return nn::cross_entropy(); }
  train::samples training_data() const {
    Eigen::MatrixXf x(1, 64);
    std::vector<int> y;
    for (int i = 0; i < 64; ++i) {
      x(0, i) = (static_cast<float>(i) - 31.5F) / 32;
      y.push_back(i > 31);
    }
    return train::samples(std::move(x), std::move(y));
  }
  int epochs() const { return 3; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate));
  }
};

std::vector<float> answer_of(nn::network<float> net, float x) {
  net.mode({.training = false});
  const nn::matrix<float> y = net.forward(nn::matrix<float>::Constant(1, 1, x));
  return {y.data(), y.data() + y.size()};
}

}  // namespace

TEST_CASE("a network is deployed in one line, and answers batches as it answers alone") {
  in_world([] {
    nn::network<float> net(nn::shape{5}, nn::linear(8), nn::relu(), nn::dropout(0.5), nn::linear(3));
    auto d = serve::deploy_network({.name = "net", .max_batch = 16}, net);
    net.mode({.training = false});
    std::vector<manta::future<std::vector<float>>> answers;
    std::vector<std::vector<float>> requests;
    for (int i = 0; i < 40; ++i) {
      requests.push_back({1.f, static_cast<float>(i), 2.f, -1.f, 0.5f});
      answers.push_back(d(requests.back()));
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const std::vector<float> y = answers[i].get();
      const nn::matrix<float> expected = net.forward(Eigen::Map<const Eigen::VectorXf>(requests[i].data(), 5));
      for (int k = 0; k < 3; ++k) CHECK(y[static_cast<std::size_t>(k)] == doctest::Approx(expected(k, 0)));
    }
    CHECK(contains(thrown<std::exception>([&] { d({1.f}).get(); }), "a request has 1 numbers; the network takes 5"));
  });
}

TEST_CASE("checkpoints of trainers and of searches, and files of weights, are deployed as they stand") {
  in_world([] {
    const manta::testing::folder place;
    const std::string& folder = place.path;
    train::trainer trainer(signs{}, {.batch = 16});
    trainer.train();
    trainer.save(folder + "/state");
    nn::save_weights(folder + "/net.safetensors", trainer.model());
    const std::vector<float> expected = answer_of(trainer.model(), .7F);
    CHECK(serve::deploy_checkpoint({.name = "state"}, folder + "/state")({.7F}).get() == expected);
    const auto net = nn::with_weights(signs().model(), folder + "/net.safetensors");
    CHECK(serve::deploy_network({.name = "weights"}, net)({.7F}).get() == expected);

    const auto results = tune::run<train::trial<signs>>(
        {{"rate", tune::grid({1e-6, 0.2})}},
        {.maximise = "accuracy", .checkpoints = {.at_end = true}, .folder = folder + "/search"});
    const auto best = serve::deploy_checkpoint({.name = "best"}, results.best_checkpoint());
    const std::vector<float> y = best({.7F}).get(), z = best({-.7F}).get();
    CHECK(y[1] > y[0]);
    CHECK(z[1] < z[0]);
    CHECK(contains(thrown<manta::error>([&] { serve::deploy_checkpoint({.name = "none"}, folder + "/none"); }),
                   folder + "/none"));
  });
}
