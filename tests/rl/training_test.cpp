// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Training: what it learns, that the number of workers and ranks changes nothing, and what goes wrong.
#include <doctest/doctest.h>
#include <malloc.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "manta/rl.hpp"
#include "manta/tune.hpp"
#include "manta/tune/rl.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
namespace rl = manta::rl;
namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::thrown;

namespace {

/// Ten steps to the right end it.
struct corridor {
  int at = 0;
  static rl::box observation_space() { return {{0.f}, {10.f}}; }
  static rl::discrete action_space() { return {2}; }
  Eigen::VectorXf reset(rl::random&) {
    at = 0;
    return here();
  }
  rl::step<Eigen::VectorXf> step(int action) {
    at = std::max(0, at + (action == 1 ? 1 : -1));
    return {here(), at == 10 ? 1. : -0.1, at == 10, false};
  }
  [[nodiscard]] Eigen::VectorXf here() const { return Eigen::VectorXf::Constant(1, static_cast<float>(at)); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at);
  }
};

/// The reward is the nearness of the action to a number that is seen.
struct target {
  float wanted = 0;
  static rl::box observation_space() { return {{-1.f}, {1.f}}; }
  static rl::box action_space() { return {{-2.f, -2.f}, {2.f, 2.f}}; }
  float reset(rl::random& random) { return wanted = static_cast<float>(random.uniform(-1, 1)); }
  rl::step<float> step(const std::vector<float>& a) {
    return {wanted, -std::abs(a[0] - wanted) - std::abs(a[1] + wanted), true, false};
  }
};

/// What this rank has of malloc, in bytes.
double allocated() {
  const auto m = mallinfo2();
  return static_cast<double>(m.uordblks + m.hblkhd);
}

struct broken {
  int kind;
  int steps = 0;
  static rl::box observation_space() { return {{0.f}, {1.f}}; }
  static rl::discrete action_space() { return {2}; }
  Eigen::VectorXf reset(rl::random&) { return Eigen::VectorXf::Zero(1); }
  rl::step<Eigen::VectorXf> step(int) {
    Eigen::VectorXf o = Eigen::VectorXf::Zero(kind == 2 ? 2 : 1);
    double reward = 0;
    if (++steps < 30) return {o, reward, false, false};
    if (kind == 0) throw std::runtime_error("the simulator stopped");
    if (kind == 1) reward = std::numeric_limits<double>::quiet_NaN();
    if (kind == 3) o[0] = 7;
    if (kind == 5) reward = -1e300;
    return {o, reward, false, false};
  }
  [[nodiscard]] static std::string text() { return "a step"; }
};

/// A walk in which nothing is ever earned.
struct barren {
  int at = 0, steps = 0;
  static rl::box observation_space() { return {{-50.f}, {50.f}}; }
  static rl::discrete action_space() { return {2}; }
  float reset(rl::random& numbers) {
    steps = 0;
    return static_cast<float>(at = numbers.index(21) - 10);
  }
  rl::step<float> step(int action) {
    at += action == 1 ? 1 : -1;
    return {static_cast<float>(at), 0, ++steps == 30, false};
  }
};

/// Twenty steps to the right, which a walk by chance takes in one of four episodes; nothing else is earned.
struct far_goal {
  int at = 0;
  static rl::box observation_space() { return {{0.f}, {20.f}}; }
  static rl::discrete action_space() { return {2}; }
  float reset(rl::random&) { return static_cast<float>(at = 0); }
  rl::step<float> step(int action) {
    at = std::max(0, at + (action == 1 ? 1 : -1));
    return {static_cast<float>(at), at == 20 ? 1. : 0., at == 20};
  }
};

}  // namespace

TEST_CASE("ppo learns from few rewards before errors of its critic can lead it elsewhere") {
  in_world([] {
    for (const std::uint64_t seed : {1U, 3U}) {
      rl::ppo algorithm(rl::environment<far_goal>().with_time_limit(200), {.seed = seed});
      rl::report r;
      for (int i = 0; i < 7; ++i) r = algorithm.train();
      CHECK(r.mean_return > 0.9);  // 0.05 where the values of an untrained critic are as large as rewards
    }
  });
}

TEST_CASE("ppo hardly moves a policy that has earned nothing") {
  in_world([] {
    rl::ppo algorithm(rl::environment<barren>(), {.seed = 1});
    double moved = 0;
    for (int i = 0; i < 12; ++i) moved = algorithm.train().learner.at("kl");
    CHECK(moved < 3e-4);  // 2e-5; with advantages of deviation 1, 2e-3 to 1e-2
  });
}

TEST_CASE("ppo learns CartPole, and is the same for any number of workers") {
  in_world([] {
    std::vector<double> returns;
    const int most = manta::size() > 1 ? 5 : 30;  // it learns the same on any number of ranks
    for (const int workers : {1, 2, 4}) {
      rl::ppo algorithm("CartPole-v1", {.workers = workers, .seed = 1});
      rl::report r;
      for (int i = 0; i < (workers == 1 ? most : 5); ++i) {
        r = algorithm.train();
        if (workers == 1) {
          returns.push_back(r.mean_return);
        } else {
          CHECK(r.mean_return == returns[static_cast<std::size_t>(i)]);
        }
      }
      if (workers > 1 || most < 30) continue;
      CHECK(r.steps == 30 * 2048);
      CHECK(r.mean_return > 150);
      const auto one = algorithm.evaluate_async(40);
      CHECK(algorithm.evaluate(20).mean_return > 300);
      algorithm.train();
      CHECK(one.get().episodes == 40);  // of the policy before
      CHECK(r.learner.at("entropy") < 0.65);
    }
  });
}

TEST_CASE("a rate that is annealed falls to nothing, in a training that goes on too") {
  in_world([] {
    const auto with = [](std::uint64_t steps) {
      return rl::ppo_options{.seed = 1, .fragment = 64, .anneal_steps = steps, .epochs = 2};
    };
    const auto moved = [](rl::ppo& a) { return a.train().learner.at("kl"); };  // how far the policy moves
    rl::ppo whole("CartPole-v1", with(1024)), rest("CartPole-v1", with(1024)), kept("CartPole-v1", with(0));
    CHECK(moved(whole) > 1e-5);
    rest.load_from_bytes(whole.save_to_bytes());
    CHECK(moved(whole) == moved(rest));
    kept.load_from_bytes(whole.save_to_bytes());
    CHECK(moved(kept) > 1e-5);  // a checkpoint has the whole rate
    CHECK(std::abs(moved(rest)) < 1e-9);
  });
}

TEST_CASE("ppo learns actions of a box") {
  in_world([] {
    rl::ppo algorithm(rl::environment<target>(),
                      {.workers = 2, .seed = 2, .environments = 4, .fragment = 128, .rate = 1e-3});
    for (int i = 0; i < 20; ++i) algorithm.train();
    CHECK(algorithm.evaluate(50).mean_return > -0.5);
    const Eigen::VectorXf a = algorithm.act(0.5f);
    CHECK(a.size() == 2);
    CHECK(a[0] > a[1]);
    std::ostringstream shown;
    shown << algorithm.act(0.5f);
    CHECK(shown.str().find(' ') != std::string::npos);
    CHECK(contains(thrown<manta::error>([&] { (void)static_cast<double>(algorithm.act(0.5f)); }),
                   "has 2 numbers, not one; take it as an Eigen::VectorXf"));
  });
}

TEST_CASE("a training that is saved and loaded goes on bit for bit") {
  in_world([] {
    const std::string file = "rl-test-" + std::to_string(manta::size());
    const rl::ppo_options options{.workers = 2, .seed = 5, .environments = 4, .fragment = 32};
    rl::ppo a(rl::environment<corridor>(), options);
    for (int i = 0; i < 3; ++i) a.train();
    a.save(file);
    rl::ppo b(rl::environment<corridor>(), {.workers = 1, .seed = 9, .environments = 4, .fragment = 32});
    b.load(file);
    for (int i = 0; i < 3; ++i) {
      const rl::report x = a.train(), y = b.train();
      CHECK(x.mean_return == y.mean_return);
      CHECK(x.steps == y.steps);
      CHECK(x.learner == y.learner);
    }
    CHECK(a.act(3) == b.act(3));
    CHECK((a.act(3) == 0) != (a.act(3) == 1));
    rl::ppo other(rl::environment<corridor>(), {.model = {.hidden = {8}}}), pole("CartPole-v1");
    CHECK(contains(thrown<manta::error>([&] { other.load(file); }), "this algorithm's are 1 -> linear(8"));
    CHECK(contains(thrown<manta::error>([&] { pole.load(file); }), "is of the environment"));
    rl::ppo fewer(rl::environment<corridor>(), {.environments = 2});
    CHECK(contains(thrown<manta::error>([&] { fewer.load(file); }),
                   "the checkpoint has 4 environments; .environments is 2. Nothing was changed"));
    rl::es es(rl::environment<corridor>(), {});
    CHECK(contains(thrown<manta::error>([&] { es.load(file); }), "rl ppo"));
    rl::a2c a2c(rl::environment<corridor>(), {});  // whose networks are the same
    CHECK(contains(thrown<manta::error>([&] { a2c.load_from_bytes(a.save_to_bytes()); }),
                   "the checkpoint is of ppo; this algorithm is a2c. Nothing was changed"));
    std::ofstream(file, std::ios::trunc);
    CHECK(contains(thrown<manta::error>([&] { b.load(file); }), "is damaged, or is no checkpoint"));
    rl::ppo cannot(rl::environment<target>(), {.environments = 1, .fragment = 8});
    cannot.train();
    CHECK(contains(thrown<manta::error>([&] { cannot.save(file); }), "has no serialize"));
    std::filesystem::remove(file);
  });
}

TEST_CASE("es learns CartPole, and is the same for any number of workers") {
  in_world([] {
    std::vector<double> returns;
    for (const int workers : {1, 3}) {
      rl::es algorithm("CartPole-v1", {.workers = workers, .seed = 2});
      for (int i = 0; i < (workers == 1 ? 40 : 4); ++i) {
        const rl::report r = algorithm.train();
        if (workers == 1) returns.push_back(r.mean_return);
        CHECK(r.mean_return == returns[static_cast<std::size_t>(i)]);
      }
      if (workers > 1) continue;
      CHECK(algorithm.evaluate(20).mean_return > 400);
      algorithm.save("es-test-" + std::to_string(manta::size()));
      rl::es again("CartPole-v1");
      again.load("es-test-" + std::to_string(manta::size()));
      CHECK(again.train().mean_return == algorithm.train().mean_return);
      std::filesystem::remove("es-test-" + std::to_string(manta::size()));
    }
    CHECK(rl::centred_ranks({3, 1, 2, 2}) == std::vector<float>{0.5f, -0.5f, 0.f, 0.f});
    CHECK(contains(thrown<manta::error>([] { rl::es(rl::environment<broken>(4)).train(); }),
                   "the episode has not ended within 100000 steps, and has no return before it does"));
  });
}

TEST_CASE("ars learns CartPole, is the same for any number of workers, and goes on bit for bit") {
  in_world([] {
    const std::string file = "ars-test-" + std::to_string(manta::size());
    std::vector<double> returns;
    for (const int workers : {1, 3}) {
      rl::ars algorithm("CartPole-v1", {.workers = workers, .seed = 2});
      for (int i = 0; i < (workers == 1 ? 30 : 4); ++i) {
        const rl::report r = algorithm.train();
        if (workers == 1) returns.push_back(r.mean_return);
        CHECK(r.mean_return == returns[static_cast<std::size_t>(i)]);
      }
      if (workers == 1) {
        CHECK(algorithm.evaluate(20).mean_return > 400);
        continue;
      }
      algorithm.save(file);
      rl::ars again("CartPole-v1");
      again.load(file);
      CHECK(again.train().learner == algorithm.train().learner);
    }
    std::filesystem::remove(file);
    CHECK(contains(thrown<manta::error>([] { rl::ars("CartPole-v1", {.pairs = 4, .top = 5}); }),
                   ".top is 5, more than .pairs, which is 4"));
  });
  // Two of three pairs count: the returns 5, 1, 3, 3 with the mean 3 and the deviation sqrt(2).
  const std::vector<float> weights = rl::top_weights({5, 1, 0, 2, 3, 3}, 2);
  CHECK(double(weights[0]) == doctest::Approx(4 / (2 * std::sqrt(2.0))));
  CHECK(weights[1] == 0);
  CHECK(weights[2] == 0);
  CHECK(rl::top_weights({7, 7, 7, 7}, 2) == std::vector<float>{0, 0});
}

TEST_CASE("dqn learns the corridor, is the same for any number of workers, and goes on bit for bit") {
  in_world([] {
    const std::string file = "dqn-test-" + std::to_string(manta::size());
    std::vector<double> returns;
    for (const int workers : {1, 2}) {
      rl::dqn_options options{.workers = workers, .seed = 1, .learning_starts = 200, .exploration_steps = 3000};
      options.model.hidden = {32, 32};
      rl::dqn algorithm(rl::environment<corridor>(), options);
      for (int i = 0; i < 20; ++i) {
        const rl::report r = algorithm.train();
        if (workers == 1) returns.push_back(r.mean_return);
        CHECK(r.mean_return == returns[static_cast<std::size_t>(i)]);
      }
      if (workers == 1) continue;
      CHECK(algorithm.evaluate(5).mean_return == doctest::Approx(0.1));
      algorithm.save(file);
      options.workers = 1;
      options.seed = 0;
      rl::dqn again(rl::environment<corridor>(), options);
      again.load(file);
      for (int i = 0; i < 2; ++i) CHECK(again.train().learner == algorithm.train().learner);
    }
    std::filesystem::remove(file);
    CHECK(contains(thrown<manta::error>([] { rl::dqn("Pendulum-v1"); }), "dqn needs discrete actions"));
  });
}

TEST_CASE("dqn: the size of rewards changes nothing, unless it is told so") {
  in_world([] {
    const auto figures_of = [](auto&& algorithm) {
      rl::report r;
      for (int i = 0; i < 4; ++i) r = algorithm.train();
      return r.learner;
    };
    const rl::any_environment e = rl::environment<corridor>(), large = rl::scale_rewards(e, 1024);
    rl::dqn_options o{.learning_starts = 200, .model = {.hidden = {32, 32}}};
    CHECK(figures_of(rl::dqn(large, o)) == figures_of(rl::dqn(e, o)));
    o.normalise_rewards = false;
    CHECK(figures_of(rl::dqn(large, o)) != figures_of(rl::dqn(e, o)));
  });
}

TEST_CASE("replay draws by priorities, and takes away their bias") {
  rl::replay memory(1, 1, 4, 1);
  CHECK(contains(thrown<manta::error>([&] { (void)memory.draw(1, 0, rl::random(0)); }), "the replay memory is empty"));
  for (int i = 0; i < 6; ++i) {  // the last two replace the first two
    rl::transitions one;
    one.resize(1, 1, 1);
    one.observations(0, 0) = one.next(0, 0) = static_cast<float>(i);
    memory.add(one);
  }
  const std::vector<std::size_t> which{0, 1, 2, 3};
  memory.set_priorities(which, std::vector<float>{1, 2, 3, 4});
  std::vector<double> counts(4);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto s = memory.draw(100, 1, rl::random(1, i));
    for (std::size_t k = 0; k < 100; ++k) {
      CHECK(s.drawn.next(0, static_cast<Eigen::Index>(k)) ==
            static_cast<float>(s.which[k] < 2 ? s.which[k] + 4 : s.which[k]));
      counts[s.which[k]] += 1;
      CHECK(s.weights[k] * static_cast<float>(s.which[k] + 1) ==
            doctest::Approx(s.weights[0] * static_cast<float>(s.which[0] + 1)));
    }
  }
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(counts[i] / 20000 == doctest::Approx(static_cast<double>(i + 1) / 10).epsilon(0.05));
}

TEST_CASE("an algorithm is a trial of a search") {
  in_world([] {
    const auto results = tune::run<rl::trial<rl::ppo>>(
        {{"environment", "CartPole-v1"}, {"rate", tune::grid({1e-6, 1e-3})}, {"fragment", 64}},
        {.maximise = "mean_return", .stop = {tune::at_least("steps", 8000)}, .folder = ""});
    CHECK(results.best().parameters.get<double>("rate") == 1e-3);
    const auto repeated = tune::run<rl::trial<rl::ppo>>(
        {{"rate", 1e-3}, {"fragment", 64}},
        {.maximise = "mean_return", .repeats = 2, .stop = {tune::at_least("steps", 2000)}, .folder = ""});
    CHECK(repeated.standard_error_of(repeated.best()) > 0);  // the runs have different seeds
  });
}

TEST_CASE("no rank keeps more memory with each iteration") {
  in_world([] {
    const auto everywhere = [] {
      std::vector<double> bytes;
      for (int rank = 0; rank < manta::size(); ++rank)
        bytes.push_back(manta::async<allocated>({.cpus = 0, .rank = rank}).get());
      return bytes;
    };
    for (const std::string name : {"es", "ppo", "a3c", "impala", "dqn", "sac"}) {
      rl::named_options o{{"workers", "2"}, {"hidden", "64,64"}};
      if (name != "es") o.merge(rl::named_options{{"environments", "4"}, {"fragment", "16"}});
      if (name == "dqn" || name == "sac")
        o.merge(rl::named_options{{"learning_starts", "64"}, {"replay_size", "256"}, {"steps_per_update", "16"}});
      const auto e = name == "sac" ? rl::any_environment(rl::environment<target>())
                                   : rl::environment<corridor>().with_time_limit(50);
      const auto algorithm = rl::make_algorithm(name, e, o);
      for (int i = 0; i < 15; ++i) algorithm->train();
      const std::vector<double> before = everywhere();
      for (int i = 0; i < 25; ++i) algorithm->train();
      const std::vector<double> after = everywhere();
      // Weights that were kept, 17 kB, would come to 400 kB.
      for (std::size_t rank = 0; rank < after.size(); ++rank) CHECK(after[rank] - before[rank] < 200e3);
    }
  });
}

TEST_CASE("what an environment does wrong is said with environment, episode and step") {
  in_world([] {
    const auto trained = [](int kind) {
      return thrown<manta::error>([&] { rl::ppo(rl::environment<broken>(kind), {.workers = 2}).train(); });
    };
    CHECK(contains(trained(0), "environment 0 ("));
    CHECK(contains(trained(0), "episode 0, step 29: the simulator stopped"));
    CHECK(contains(trained(1), "the reward is NaN"));
    CHECK(contains(trained(2), "an observation has 2 numbers; observation_space() says 1"));
    CHECK(contains(trained(5), "episode 0, step 29: the reward is -1e+300; "));
    CHECK(contains(trained(3), "the observation {7} is not in the observation space box{{0}, {1}}"));
    rl::es far("CartPole-v1", {.rate = 1e60});
    CHECK(contains(thrown<manta::error>([&] { far.train(); }), "es, iteration 1: a parameter of the networks is not"));
    for (const auto& acts : std::vector<std::function<void()>>{[&] { far.train(); }, [&] { far.evaluate(1); }})
      CHECK(contains(thrown<manta::error>(acts), "step 0: the outputs of the policy's network are not finite"));
    CHECK(contains(thrown<manta::error>([] { (void)rl::ppo(rl::environment<broken>(0)).frames(); }),
                   "::broken), episode 0, step 29: the simulator stopped"));
    const auto endless = rl::environment<rl::mountain_car>();
    CHECK(contains(thrown<manta::error>([&] { rl::ppo(endless, {.model = {.hidden = {1}}}).evaluate(1); }),
                   "step 100000: the episode has not ended within 100000 steps"));
    const auto nan = Eigen::VectorXf::Constant(4, std::numeric_limits<float>::quiet_NaN());
    CHECK(
        contains(thrown<manta::error>([&] { (void)rl::ppo("CartPole-v1").act(nan); }), "the observation is {nan, nan"));
    CHECK(contains(thrown<manta::error>([] { rl::ppo("CartPole-v2"); }), "there are Acrobot-v1, CartPole-v1"));
    CHECK(contains(thrown<manta::error>([] { rl::ppo("CartPole-v1", {.workers = 0}); }), ".workers is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::dqn("CartPole-v1", {.follow = 0}); }), ".follow is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::dqn("CartPole-v1", {.batch = 0}); }), ".batch is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::es("CartPole-v1", {.deviation = 0}); }), ".deviation is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::ppo("CartPole-v1", {.model = {.hidden = {0}}}); }),
                   "a layer of 0 units"));
  });
}

TEST_CASE("advantages: worked by hand, with an end and a cut in the middle") {
  const std::vector<double> rewards{1, 2, 3, 4, 5};
  const std::vector<float> values{0.5f, 1, 1.5f, 2, 2.5f, 3}, finals{0, 0, 0, 10, 0};
  const std::vector<char> terminated{0, 1, 0, 0, 0}, truncated{0, 0, 0, 1, 0};
  std::vector<float> a(5);
  rl::estimate_advantages({rewards, values, terminated, truncated, finals, 0.5, 0.5}, a);
  const double d4 = 5 + 0.5 * 3 - 2.5, d3 = 4 + 0.5 * 10 - 2, d2 = 3 + 0.5 * 2 - 1.5, d1 = 2 - 1.,
               d0 = 1 + 0.5 * 1 - 0.5;
  CHECK(a[4] == doctest::Approx(d4));
  CHECK(a[3] == doctest::Approx(d3));
  CHECK(a[2] == doctest::Approx(d2 + 0.25 * d3));
  CHECK(a[1] == doctest::Approx(d1));
  CHECK(a[0] == doctest::Approx(d0 + 0.25 * d1));
}

TEST_CASE("distributions: gradients are those of central differences, samples have their probabilities") {
  for (const rl::space& s :
       {rl::space(rl::discrete{3}), rl::space(rl::multi_discrete{{2, 3}}), rl::space(rl::box{{-1.f, 0.f}, {1.f, 4.f}}),
        rl::space(rl::tuple{{rl::discrete{3, 5}, rl::box{{-2.f}, {1.f}}, rl::multi_binary{2}}})}) {
    INFO(s.text());
    const auto d = rl::make_distribution(s);
    std::vector<float> o(static_cast<std::size_t>(d->outputs())), spread(static_cast<std::size_t>(d->spread()), -0.3f),
        action(static_cast<std::size_t>(d->size()));
    rl::random numbers(4);
    for (float& x : o) x = static_cast<float>(numbers.normal());
    d->sample(o.data(), spread.data(), numbers, action.data());
    std::vector<float> sent = action;
    d->to_environment(action.data(), sent.data());
    CHECK(s.contains(sent));
    const auto f = [&] {
      return 2. * static_cast<double>(d->log_probability(o.data(), spread.data(), action.data())) +
             3. * static_cast<double>(d->entropy(o.data(), spread.data()));
    };
    std::vector<float> by(o.size()), by_spread(spread.size());
    d->add_gradient(o.data(), spread.data(), action.data(), {2, 3}, by.data(), by_spread.data());
    const auto check = [&](std::vector<float>& at, const std::vector<float>& gradient) {
      for (std::size_t i = 0; i < at.size(); ++i) {
        const float x = at[i], h = 1e-2f;
        at[i] = x + h;
        const double above = f();
        at[i] = x - h;
        const double below = f();
        at[i] = x;
        CHECK(static_cast<double>(gradient[i]) ==
              doctest::Approx((above - below) / (2 * static_cast<double>(h))).epsilon(0.02));
      }
    };
    check(o, by);
    check(spread, by_spread);
    if (d->spread() > 0) continue;
    const double expected = std::exp(static_cast<double>(d->log_probability(o.data(), spread.data(), action.data())));
    int same = 0;
    const std::vector<float> wanted = action;
    for (int i = 0; i < 20000; ++i) {
      d->sample(o.data(), spread.data(), numbers, action.data());
      same += action == wanted;
    }
    CHECK(same / 20000. == doctest::Approx(expected).epsilon(0.1));
  }
}
