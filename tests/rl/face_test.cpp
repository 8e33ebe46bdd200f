// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is around a training: algorithms by name, callbacks, files, pictures of episodes, evaluations.
#include <doctest/doctest.h>

#include <cereal/archives/binary.hpp>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "manta/output/append_file.hpp"
#include "manta/rl.hpp"
#include "support/world.hpp"

namespace nn = manta::nn;
namespace rl = manta::rl;
using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;

namespace {

/// Five steps; the reward is the action, and the class has figures of its own.
struct five {
  int at = 0, sum = 0;
  static rl::box observation_space() { return {{0.f}, {5.f}}; }
  static rl::discrete action_space() { return {2}; }
  float reset(rl::random&) {
    at = sum = 0;
    return 0;
  }
  rl::step<float> step(int action) {
    sum += action;
    return {static_cast<float>(++at), static_cast<double>(action), at == 5, false};
  }
  std::map<std::string, double> figures() const { return {{"ones", sum}}; }
  std::string text() const { return "at " + std::to_string(at); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, sum);
  }
};

/// Says where its environment is.
struct its_rank {
  std::map<std::string, double> on_episode() { return {{"rank", manta::rank()}}; }
  template <class Archive>
  void serialize(Archive&) {}
};

/// Counts what it sees.
struct counter {
  double begins = 0, steps = 0, rewards = 0, weight = 1;
  explicit counter(double w = 1) : weight(w) {}
  void on_begin(std::span<const float> o) { begins += o[0] == 0; }
  void on_step(const rl::seen_step& s) {
    steps += s.observation[0] > 0;
    rewards += s.reward * weight;
  }
  std::map<std::string, double> on_episode() {
    const std::map<std::string, double> seen{{"steps_seen", std::exchange(steps, 0)},
                                             {"weighted", std::exchange(rewards, 0)},
                                             {"begins", std::exchange(begins, 0)}};
    return seen;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(begins, steps, rewards, weight);
  }
};

std::string folder(const char* name) { return name + std::string("-") + std::to_string(manta::size()); }

}  // namespace

TEST_CASE("an algorithm has a name, and takes its options as texts") {
  in_world([] {
    const rl::any_environment e = rl::environment<five>();
    const auto named = rl::make_algorithm(
        "ppo", e,
        {{"workers", "2"}, {"seed", "3"}, {"rate", "1e-3"}, {"hidden", "8,4"}, {"normalise_rewards", "false"}});
    rl::ppo same(e, {.seed = 3, .rate = 1e-3, .normalise_rewards = false, .model = {.hidden = {8, 4}}});
    const rl::report a = named->train(), b = same.train();
    CHECK(a.mean_return == b.mean_return);
    CHECK(a.learner == b.learner);

    for (const std::string& name : rl::algorithm_names()) CHECK(rl::algorithm_options(name).contains("seed"));
    CHECK(rl::algorithm_options("ppo").at("hidden") == "64,64");
    const auto refused = [&](const char* algorithm, const char* option, const char* value) {
      return thrown<manta::error>([&] { rl::make_algorithm(algorithm, e, {{option, value}}); });
    };
    CHECK(contains(refused("pop", "seed", "1"), "no algorithm \"pop\"; there are "));
    CHECK(contains(refused("ppo", "sed", "1"), "ppo has no option \"sed\"; it has anneal_steps, attention, batch, "));
    CHECK(contains(refused("ppo", "seed", "-1"), "the option seed is \"-1\"; it takes a whole number"));
    CHECK(contains(refused("ppo", "rate", "fast"), "it takes a number"));
    CHECK(contains(refused("ppo", "hidden", "64,,64"), "such as 64,64"));
    CHECK(contains(refused("ppo", "conv", "16x3"), "such as 16x3x1,32x3x1"));
    std::vector<rl::conv_layer> layers;
    rl::detail::read_value("conv", "16x3x1,32x5x2", layers);
    CHECK(layers.at(1).filters == 32);
    CHECK(rl::detail::text_of_value(layers) == "16x3x1,32x5x2");
    CHECK(contains(refused("ppo", "normalise_rewards", "1"), "it takes true or false"));

    const auto unknown = [](const char* name) {
      return thrown<manta::error>([&] { rl::any_environment wrong(name); });
    };
    CHECK(contains(unknown("LunarLander-v3"), "#include <manta/rl/lunar_lander.hpp> adds it"));
    CHECK(contains(unknown("Ant-v4"), "rl::gymnasium(\"Ant-v4\")"));
    const Eigen::VectorXf long_one = Eigen::VectorXf::Zero(9);
    const std::string too_long = thrown<manta::error>([&] { (void)same.act(long_one); });
    CHECK(contains(too_long, "manta: rl: act: the observation has 9 numbers; the policy takes "));
    CHECK(contains(thrown<manta::error>([&] { (void)same.act(2 * long_one); }), "has 9 numbers"));
  });
}

TEST_CASE("a training that diverges throws before a checkpoint has what is not finite") {
  in_world([] {
    for (const std::string& name : rl::algorithm_names()) {
      INFO(name);
      rl::named_options o{{"workers", "2"}, {"rate", name == "es" || name == "ars" ? "1e60" : "1e30"}, {"hidden", "8"}};
      if (name != "es" && name != "ars") o.merge(rl::named_options{{"environments", "4"}, {"fragment", "16"}});
      if (name == "dqn" || name == "sac" || name == "td3") o["learning_starts"] = "64";
      const std::string e = name == "sac" || name == "td3" ? "Pendulum-v1" : "CartPole-v1";
      const auto algorithm = rl::make_algorithm(name, e, o);
      const std::string text = thrown<manta::error>([&] {
        for (int i = 0; i < 50; ++i) {
          algorithm->train();
          CHECK_NOTHROW(algorithm->evaluate(1));
        }
      });
      CHECK(contains(text, "manta: rl: " + (name == "appo" ? "impala" : name) + ", iteration "));  // appo is one
      CHECK(contains(text, " not finite: the training has diverged. Begin anew, or from an earlier checkpoint, with"));
    }
  });
}

TEST_CASE("options that make no sense are refused by name") {
  in_world([] {
    const auto refused = [](const std::string& name, const std::string& option, const std::string& value) {
      return thrown<manta::error>([&] {
        rl::make_algorithm(name, name == "sac" || name == "td3" ? "Pendulum-v1" : "CartPole-v1", {{option, value}});
      });
    };
    for (const std::string& name : rl::algorithm_names())
      CHECK(contains(refused(name, "rate", "-1"), ".rate is -1; it has to be"));
    CHECK(contains(refused("ppo", "discount", "1.5"), ".discount is 1.5; it has to be from 0 to 1"));
    CHECK(contains(refused("dqn", "epsilon", "nan"), ".epsilon is nan; it has to be from 0 to 1"));
    CHECK(contains(refused("dqn", "learning_starts", "-1"), ".learning_starts is -1; it has to be a number that is"));
    CHECK(contains(refused("sac", "target_entropy", "nan"), ".target_entropy is nan; it has to be a number"));
  });
}

TEST_CASE("workers are on other ranks than the driver, unless there are as many as ranks") {
  in_world([] {
    const auto mean_rank = [](int workers) {
      rl::ppo algorithm(rl::callbacks<its_rank>(rl::environment<five>()),
                        {.workers = workers, .environments = 4 * workers, .fragment = 10, .batch = 8});
      return algorithm.train().figures.at("rank");
    };
    const int ranks = manta::size();
    CHECK((mean_rank(1) > 0) == (ranks > 1));
    CHECK(mean_rank(ranks) == doctest::Approx(0.5 * (ranks - 1)));
    rl::es es("CartPole-v1", {.workers = ranks, .pairs = 2 * ranks});
    CHECK(es.train().steps > 0);
  });
}

TEST_CASE("callbacks see each step, and their figures and the environment's are in the report") {
  in_world([] {
    std::map<std::string, double> expected;
    for (const int workers : {1, 2}) {
      rl::ppo algorithm(rl::callbacks<counter>(rl::environment<five>(), 2.),
                        {.workers = workers, .environments = 4, .fragment = 50});
      std::vector<rl::episode> episodes;
      int iterations = 0;
      algorithm.on_episode([&](const rl::episode& e) { episodes.push_back(e); });
      algorithm.on_iteration([&](rl::report& r) { r.figures["iterations"] = ++iterations; });
      rl::report r = algorithm.train();
      CHECK(episodes.size() == 40);
      for (const rl::episode& e : episodes) {
        CHECK(e.figures == std::map<std::string, double>{
                               {"ones", e.total}, {"weighted", 2 * e.total}, {"steps_seen", 5}, {"begins", 1}});
      }
      r = algorithm.train();
      CHECK(r.figures.at("iterations") == 2);
      CHECK(r.figures.at("ones") == r.mean_return);
      CHECK(r.figures.at("weighted") == doctest::Approx(2 * r.mean_return));
      if (workers == 1) expected = r.figures;
      CHECK(r.figures == expected);

      if (workers == 1) continue;
      algorithm.save(folder("callbacks-test"));
      rl::ppo again(rl::callbacks<counter>(rl::environment<five>(), 2.), {.environments = 4, .fragment = 50});
      again.load(folder("callbacks-test"));
      std::filesystem::remove(folder("callbacks-test"));
      CHECK(again.train().figures.at("weighted") == algorithm.train().figures.at("weighted"));
      algorithm.on_episode([](const rl::episode&) { throw std::runtime_error("enough"); });
      CHECK(contains(thrown<std::runtime_error>([&] { algorithm.train(); }), "enough"));
    }
  });
}

TEST_CASE("a call of a worker that is made again has the same result, also at another place") {
  const rl::any_environment e = "CartPole-v1";
  rl::detail::rollout_worker w(e, 5, 0, 2, {});
  const rl::policy::weights weights = rl::policy(e.observations(), e.actions(), {}, 5).get();
  const auto fragment_at = [&](rl::detail::rollout_worker& on, std::uint64_t from) {
    const rl::fragment f = on.run(weights, {.steps = 40, .from = from});
    return std::pair(f.observations, f.log_probabilities);
  };
  const auto moved = [](const rl::detail::rollout_worker& from) {
    std::stringstream bytes;
    cereal::BinaryOutputArchive out(bytes);
    out(from);
    rl::detail::rollout_worker to;
    cereal::BinaryInputArchive in(bytes);
    in(to);
    return to;
  };
  const auto first = fragment_at(w, 0);
  CHECK(fragment_at(w, 0) == first);
  const auto second = fragment_at(w, 40);
  CHECK(second != first);
  rl::detail::rollout_worker there = moved(w);
  CHECK(fragment_at(there, 40) == second);
  CHECK(fragment_at(there, 40) == second);
  const auto third = fragment_at(w, 80);
  CHECK(fragment_at(there, 80) == third);
  CHECK(contains(thrown<manta::error>([&] { fragment_at(there, 400); }), "the state of a worker was lost"));
}

TEST_CASE("a forward pass has the same bits for a column, however many stand beside it") {
  // Layers whose sizes are no whole packets; -march=native and -ffast-math would change the order of sums.
  for (const int hidden : {5, 64, 67}) {
    nn::network<float> net(nn::shape{3}, nn::linear(hidden), nn::tanh(), nn::linear(hidden), nn::tanh(), nn::linear(3));
    net.initialise(static_cast<std::uint64_t>(hidden));
    const nn::matrix<float> x = nn::matrix<float>::Random(3, 150);
    rl::detail::even_forward together, apart;
    const nn::matrix<float> all = together(net, x);
    int different = 0;
    for (int count = 1; count <= 64; ++count) {
      for (int first = 0; first + count <= 150; first += count) {
        const nn::matrix<float> some = apart(net, nn::matrix<float>(x.middleCols(first, count)));
        different += some.leftCols(count) != all.middleCols(first, count);
      }
    }
    CHECK(different == 0);
  }
}

TEST_CASE("an evaluation is the same for any number of ranks, and episodes are drawn") {
  in_world([] {
    rl::es algorithm("CartPole-v1", {.seed = 3});
    for (int i = 0; i < 3; ++i) algorithm.train();
    const auto all = algorithm.evaluate_async(70);
    const rl::report r = algorithm.evaluate(1);
    const std::vector<std::string> frames = algorithm.frames(1000);
    CHECK(static_cast<double>(frames.size()) == r.mean_length + 1);  // one for each state
    CHECK(contains(frames.front(), "#"));
    CHECK(all.get().episodes == 70);
    CHECK(all.get().steps == static_cast<std::uint64_t>(std::lround(70 * all.get().mean_length)));
    CHECK(all.get().mean_return == doctest::Approx(all.get().mean_length));
    static const double first = all.get().mean_return;  // of the first world of this process
    CHECK(all.get().mean_return == first);
    CHECK(contains(thrown<manta::error>([&] { (void)algorithm.evaluate(0); }), "at least one episode"));
  });
}

TEST_CASE("a log has all reports as rows, and goes on") {
  in_world([] {
    const std::string run = folder("log-test");
    rl::es algorithm(rl::environment<five>(), {.pairs = 4});
    for (const bool append : {false, true}) {
      rl::log log(run, {.title = "five", .progress = false, .append = append});
      log(algorithm.train());
      log(algorithm.train());
      log.evaluation(algorithm.evaluate(3));
      log.episode(algorithm.frames());
    }
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    const std::string csv = manta::output::read_file(run + "/progress.csv"),
                      json = manta::output::read_file(run + "/result.jsonl"),
                      page = manta::output::read_file(run + "/report.html");
    CHECK(csv.starts_with("steps,iteration,episodes,mean_return,"));
    CHECK(lines(csv) == 1 + 6);
    CHECK(lines(json) == 6);
    CHECK(contains(json, "{\"steps\":40,\"iteration\":1,\"episodes\":8,\"mean_return\":"));
    CHECK(contains(json, "{\"steps\":160,\"evaluation_return\":"));
    CHECK(contains(page, "\"frames\":[\"at 0\",\"at 1\""));
    CHECK(contains(page, "\"name\":\"mean\",\"end\":\"\",\"points\":[[40,"));  // of the first start too
    CHECK(contains(page, "\"running\":false"));
    CHECK(std::filesystem::file_size(run + "/events.out.tfevents.0000000000.manta") > 1000);
    std::filesystem::remove_all(run);
  });
}
