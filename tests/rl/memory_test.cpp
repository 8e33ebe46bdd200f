// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Networks of policies: memories (.lstm, .attention) that a task needs, images (.conv), and what cannot be.
#include <doctest/doctest.h>

#include <filesystem>

#include "manta/rl.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace rl = manta::rl;

namespace {

/// A cue is seen in the first step; the action after so many steps has to be the cue.
struct recall {
  int length = 5, cue = 0, t = 0;

  static rl::box observation_space() { return {{-1.f, 0.f}, {1.f, 1.f}}; }
  static rl::discrete action_space() { return {2}; }
  std::array<float, 2> reset(rl::random& numbers) {
    cue = numbers.index(2);
    t = 0;
    return seen();
  }
  rl::step<std::array<float, 2>> step(int action) {
    const bool ends = t == length;
    const double reward = ends && action == cue ? 1 : 0;
    ++t;
    return {seen(), reward, ends};
  }
  [[nodiscard]] std::array<float, 2> seen() const {
    return {t > 0 ? 0.f : cue == 1 ? 1.f : -1.f, t == length ? 1.f : 0.f};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(length, cue, t);
  }
};

rl::ppo_options small(const rl::model_options& model) {
  return {.workers = 2, .seed = 1, .environments = 4, .fragment = 64, .rate = 3e-3, .model = model};
}
const rl::model_options with_lstm{.hidden = {16}, .lstm = {16}};
const rl::model_options with_attention{.hidden = {16}, .attention = 2, .memory = 8};

/// An image beside two numbers.
struct camera_and_joints {
  int at = 0;
  static rl::dict observation_space() {
    return {{{"camera", rl::box{std::vector<float>(12, 0.F), std::vector<float>(12, 1.F), {1, 3, 4}}},
             {"joints", rl::box{{-1.F, -1.F}, {1.F, 1.F}}}}};
  }
  static rl::discrete action_space() { return {2}; }
  [[nodiscard]] rl::dict_values seen() const {
    std::vector<float> image(12, 0.F);
    image[static_cast<std::size_t>(at)] = 1;
    return {{"joints", {0, 1}}, {"camera", image}};
  }
  rl::dict_values reset(rl::random&) {
    at = 0;
    return seen();
  }
  rl::step<rl::dict_values> step(int action) { return {seen(), 1.0 * action, ++at == 8, false}; }
};

}  // namespace

TEST_CASE("a cue is recalled with .lstm and with .attention, and not without") {
  in_world([] {
    for (const rl::model_options& model : {with_lstm, with_attention, rl::model_options{.hidden = {16}}}) {
      rl::ppo algorithm(rl::environment<recall>(), small(model));
      for (int i = 0; i < 30; ++i) algorithm.train();
      const double right = algorithm.evaluate(100).mean_return;
      if (model.lstm.empty() && model.attention == 0) {
        CHECK(right < 0.7);
        continue;
      }
      CHECK(right >= 0.95);
      // The same by hand: the actions of act depend on what it saw since the episode's beginning.
      for (const int cue : {0, 1, 1, 0}) {
        recall e{.cue = cue};
        algorithm.begin_episode();
        int action = algorithm.act(e.seen());
        for (e.t = 1; e.t <= e.length; ++e.t) action = algorithm.act(e.seen());
        CHECK(action == cue);
      }
    }
  });
}

TEST_CASE("the learner reads fragments as the workers did, with their states and the ends of episodes") {
  in_world([] {
    for (const rl::model_options& model :
         {with_lstm, rl::model_options{.hidden = {16}, .lstm = {8, 8}, .attention = 1}}) {
      // One minibatch of all steps: the policy that learns is the one that acted.
      rl::ppo_options options = small(model);
      options.environments = 5;
      options.fragment = 13;
      options.epochs = 1;
      options.batch = 100;
      rl::ppo algorithm(rl::environment<recall>(), options);
      for (int i = 0; i < 4; ++i) {
        const rl::report r = algorithm.train();
        CHECK(std::abs(r.learner.at("kl")) < 1e-10);
        CHECK(r.learner.at("clipped") == 0);
      }
    }
  });
}

TEST_CASE("a policy with a memory is the same for any number of workers, and goes on bit for bit") {
  in_world([] {
    const std::string file = "rl-memory-" + std::to_string(manta::size());
    for (const rl::model_options& model : {rl::model_options{.hidden = {10}, .lstm = {7}}, with_attention}) {
      rl::ppo_options options = small(model);
      options.fragment = 20;
      std::vector<std::map<std::string, double>> figures;
      for (const int workers : {1, 3}) {
        options.workers = workers;
        rl::ppo algorithm(rl::environment<recall>(), options);
        for (std::size_t i = 0; i < 3; ++i) {
          const rl::report r = algorithm.train();
          if (workers == 1) figures.push_back(r.learner);
          CHECK(r.learner == figures[i]);
        }
        algorithm.save(file);
        options.workers = 2;
        rl::ppo again(rl::environment<recall>(), options);
        again.load(file);
        for (int i = 0; i < 2; ++i) CHECK(again.train().learner == algorithm.train().learner);
        std::filesystem::remove(file);
      }
    }
    rl::a2c a(rl::environment<recall>(), {.workers = 2, .environments = 4, .fragment = 6, .model = with_lstm});
    rl::a2c b(rl::environment<recall>(), {.workers = 1, .environments = 4, .fragment = 6, .model = with_lstm});
    for (int i = 0; i < 2; ++i) CHECK(a.train().learner == b.train().learner);
  });
}

TEST_CASE("ppo and dqn read images by convolutions") {
  in_world([] {
    const rl::model_options model{.hidden = {16}, .conv = {{.filters = 4, .kernel = 3, .stride = 2}}};
    rl::ppo a("MinAtar/Breakout-v1",
              {.environments = 2, .fragment = 16, .normalise_observations = false, .model = model});
    CHECK(a.train().steps == 32);
    rl::dqn b("MinAtar/Breakout-v1", {.environments = 4, .learning_starts = 32, .model = model});
    CHECK(b.train().learner.contains("q"));
    const int action = b.act(std::vector<float>(400, 0.f));
    CHECK(action < 3);
  });
}

TEST_CASE("parts of a dict have layers of their own: an image by convolutions, numbers beside it") {
  const rl::space image = rl::box{std::vector<float>(12, 0.F), std::vector<float>(12, 1.F), {1, 3, 4}};
  const rl::dict seen{{{"camera", image}, {"joints", rl::box{{-1.F, -1.F}, {1.F, 1.F}}}}};
  const auto described = [&](const rl::model_options& m) {
    rl::policy p(seen, rl::discrete{2}, m, 1);
    CHECK(p.actor().forward(manta::nn::matrix<float>::Ones(14, 3)).rows() == 2);
    return p.actor().describe();
  };
  const auto camera = "part(1, 3, 4, conv2d(2, 2";
  CHECK(contains(described({.hidden = {8}, .conv = {{2, 2, 1}}}), camera));
  const std::string both = described(
      {.hidden = {8}, .parts = {{"camera", {.conv = {{2, 2, 1}}, .hidden = {5}}}, {"joints", {.hidden = {7}}}}});
  CHECK(contains(both, camera));
  CHECK(contains(both, "part(2, linear(7"));
  in_world([&] {
    rl::ppo a(rl::environment<camera_and_joints>(),
              {.seed = 1,
               .environments = 2,
               .fragment = 16,
               .model = {.hidden = {8}, .parts = {{"camera", {.conv = {{2, 2, 1}}}}}}});
    a.train();
    CHECK(a.train().episodes > 0);
    const int action = a.act(camera_and_joints{}.seen());
    CHECK((action == 0 || action == 1));
    CHECK(contains(thrown<manta::error>([] {
                     rl::ppo b(rl::environment<camera_and_joints>(), {.model = {.parts = {{"kamera", {}}}}});
                   }),
                   "names the part \"kamera\""));
  });
}

TEST_CASE("networks that cannot be are told by their options") {
  in_world([] {
    const auto told = [](const rl::model_options& m) {
      return thrown<manta::error>([&] { rl::ppo("CartPole-v1", {.model = m}); });
    };
    CHECK(contains(told({.lstm = {0}}), ".lstm has a layer of 0 units"));
    CHECK(contains(told({.attention = 3}), "64 features have to be a multiple of the 3 heads"));
    CHECK(contains(told({.attention = -1}), ".attention is a number of -1 heads"));
    CHECK(contains(told({.attention = 1, .memory = 1}), ".memory is a number of 1 steps; it has to be at least 2"));
    CHECK(contains(told({.conv = {{16, 3, 1}}}), ".conv needs observations that are images"));
    CHECK(contains(thrown<manta::error>([] { rl::dqn("CartPole-v1", {.model = {.lstm = {8}}}); }),
                   "dqn cannot use .lstm"));
    CHECK(contains(thrown<manta::error>([] { rl::es("CartPole-v1", {.model = {.attention = 1}}); }),
                   "cannot use .attention"));
  });
}
