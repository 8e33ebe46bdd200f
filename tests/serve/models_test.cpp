// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the other libraries have made, behind a queue in one line each.
#include <doctest/doctest.h>

#include <set>

#include "manta/nn/weights.hpp"
#include "manta/serve.hpp"
#include "manta/serve/nn.hpp"
#include "manta/serve/rl.hpp"
#include "manta/serve/train.hpp"
#include "manta/tune.hpp"
#include "manta/tune/rl.hpp"
#include "manta/tune/train.hpp"
#include "support/text.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace nn = manta::nn;
namespace rl = manta::rl;
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

/// An environment that forbids actions.
struct one_way {
  static rl::box observation_space() { return {{0.F}, {1.F}}; }
  static rl::discrete action_space() { return {2}; }
  static std::vector<bool> action_mask() { return {true, false}; }
  static Eigen::VectorXf reset(rl::random&) { return Eigen::VectorXf::Zero(1); }
  static rl::step<Eigen::VectorXf> step(int) { return {Eigen::VectorXf::Zero(1), 1, true}; }
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

TEST_CASE("a policy with a memory acts in episodes beside each other as it does alone, at any replica") {
  in_world([] {
    for (const rl::model_options& model :
         {rl::model_options{.lstm = {4}}, rl::model_options{.attention = 2, .memory = 3}}) {
      rl::ppo algorithm("CartPole-v1", {.environments = 4, .fragment = 16, .model = model});
      algorithm.train();
      const auto d = serve::deploy_policy_steps({.name = "steps", .replicas = 2, .max_batch = 4}, algorithm);
      const rl::trained_policy policy = algorithm.trained();
      constexpr int episodes = 3, steps = 6;
      const auto observation = [](int episode, int step) {
        return std::vector<float>{0.02F * static_cast<float>(episode), 0.3F, 0.01F * static_cast<float>(step), -0.2F};
      };
      std::vector<std::optional<std::vector<float>>> memories(episodes);
      std::vector<rl::trained_policy> alone(episodes, policy);
      for (int step = 0; step < steps; ++step) {
        std::vector<manta::future<serve::policy_choice>> choices;
        for (int e = 0; e < episodes; ++e)
          choices.push_back(d({.observation = observation(e, step), .memory = memories[static_cast<std::size_t>(e)]}));
        for (std::size_t e = 0; e < episodes; ++e) {
          const serve::policy_choice choice = choices[e].get();
          CHECK(choice.action == alone[e].act({observation(static_cast<int>(e), step)}).front());
          REQUIRE(choice.memory);
          if (memories[e]) CHECK(*choice.memory != *memories[e]);
          memories[e] = choice.memory;
        }
      }
    }
  });
}

TEST_CASE("a policy is deployed from an algorithm, a file and a search, and acts as its algorithm did at that moment") {
  in_world([] {
    const manta::testing::folder place;
    // The observations are far from mean 0 and deviation 1, so an action without their filter would differ.
    rl::ppo algorithm("Pendulum-v1", {.seed = 3, .environments = 4, .fragment = 64, .epochs = 1});
    algorithm.train();
    algorithm.save(place.path + "/ppo");
    algorithm.trained().save(place.path + "/policy");
    const auto d = serve::deploy_policy({.name = "live", .max_batch = 16}, algorithm);
    std::vector<std::vector<float>> observations, expected;
    std::vector<manta::future<std::vector<float>>> answers;
    for (int i = 0; i < 40; ++i) {
      observations.push_back({std::cos(.3F * static_cast<float>(i)), std::sin(.3F * static_cast<float>(i)),
                              .2F * static_cast<float>(i) - 4});
      expected.push_back(algorithm.act(observations.back()).numbers());
      answers.push_back(d(observations.back()));
    }
    CHECK(expected[0] != expected[20]);
    algorithm.train();
    CHECK(algorithm.act(observations[7]).numbers() != expected[7]);
    for (std::size_t i = 0; i < 40; ++i) CHECK(answers[i].get() == expected[i]);
    CHECK(serve::deploy_policy({.name = "file"}, place.path + "/ppo")(observations[7]).get() == expected[7]);
    CHECK(serve::deploy_policy({.name = "alone"}, place.path + "/policy")(observations[7]).get() == expected[7]);
    const auto drawn = serve::deploy_policy({.name = "drawn"}, place.path + "/policy", {.explore = true});
    std::set<std::vector<float>> torques;
    for (int i = 0; i < 20; ++i) torques.insert(drawn(observations[7]).get());
    CHECK(torques.size() > 10);  // some are at a bound
    CHECK(
        contains(thrown<std::exception>([&] { d({1.F}).get(); }), "the observation has 1 numbers; the policy takes 3"));
    CHECK(contains(thrown<manta::error>([&] { serve::deploy_policy({.name = "none"}, place.path + "/none"); }),
                   place.path + "/none"));

    rl::ppo remembers("CartPole-v1", {.environments = 4, .fragment = 16, .model = {.lstm = {4}}});
    CHECK(contains(thrown<manta::error>([&] { serve::deploy_policy({.name = "lstm"}, remembers); }), "has a memory"));

    rl::ppo masked(rl::environment<one_way>(), {.environments = 4, .fragment = 16});
    CHECK(contains(thrown<manta::error>([&] { serve::deploy_policy({.name = "mask"}, masked); }), "masks actions"));
    const auto allowed = serve::deploy_policy_steps({.name = "allowed", .max_batch = 4}, masked);
    CHECK(allowed({.observation = {0.5F}, .mask = {{1, 0}}}).get().action == std::vector<float>{0});
    CHECK(allowed({.observation = {0.5F}, .mask = {{0, 1}}}).get().action == std::vector<float>{1});
    CHECK(!allowed({.observation = {0.5F}, .mask = {{0, 1}}}).get().memory);
    CHECK(contains(thrown<manta::error>([&] { allowed({.observation = {0.5F}}).get(); }), "masks actions"));
    CHECK(contains(thrown<manta::error>([&] { allowed({.observation = {0.5F}, .mask = {{0, 0}}}).get(); }), "allows"));
    CHECK(contains(thrown<manta::error>([&] {
                     allowed({.observation = {0.5F}, .mask = {{1, 0}}, .memory = {{7}}}).get();
                   }),
                   "the memory of an episode has 1 numbers; the policy needs 0"));

    const auto results = tune::run<rl::trial<rl::dqn, "CartPole-v1">>({{"rate", tune::grid({1e-3, 2e-3})}},
                                                                      {.maximise = "steps",
                                                                       .stop = {tune::after(1)},
                                                                       .checkpoints = {.at_end = true},
                                                                       .folder = place.path + "/search"});
    const auto best = serve::deploy_policy({.name = "best"}, results.best_checkpoint());
    const float choice = best({.01F, 0, .02F, 0}).get().front();
    CHECK((choice == 0 || choice == 1));
  });
}
