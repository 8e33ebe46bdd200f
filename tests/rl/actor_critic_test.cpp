// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A2C, A3C and IMPALA: what they learn, when they give the same bits, what their reports and errors say; and the
// targets that they learn from, beside plain loops over the papers' formulas.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "manta/rl.hpp"
#include "manta/tune.hpp"
#include "manta/tune/rl.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
namespace nn = manta::nn;
namespace rl = manta::rl;
namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::thrown;

namespace {

/// Fails in its thirtieth step.
struct stops {
  int steps = 0;
  static rl::box observation_space() { return {{0.f}, {1.f}}; }
  static rl::discrete action_space() { return {2}; }
  float reset(rl::random&) { return 0; }
  rl::step<float> step(int) {
    if (++steps >= 30) throw std::runtime_error("the simulator stopped");
    return {0, 0, false, false};
  }
};

/// Counts the steps of its rank.
struct counted {
  static inline int steps = 0;
  static rl::discrete observation_space() { return {2}; }
  static rl::discrete action_space() { return {2}; }
  static int reset(rl::random&) { return 0; }
  static rl::step<int> step(int) { return {1, 0, ++steps % 3 == 0}; }
};

/// Some steps with ends and cuts, and whatever the targets need.
struct steps {
  std::vector<double> rewards;
  std::vector<float> values, finals, log_ratios;
  std::vector<char> terminated, truncated;
  std::vector<float> targets, advantages;

  explicit steps(std::uint64_t seed, std::size_t n = 23) : targets(n), advantages(n) {
    rl::random numbers(seed);
    for (std::size_t t = 0; t < n; ++t) {
      rewards.push_back(numbers.normal());
      finals.push_back(static_cast<float>(numbers.normal()));
      log_ratios.push_back(static_cast<float>(numbers.normal()));
      const double end = numbers.uniform();
      terminated.push_back(end < 0.1);
      truncated.push_back(end > 0.9);
    }
    for (std::size_t t = 0; t <= n; ++t) values.push_back(static_cast<float>(numbers.normal()));
  }
  [[nodiscard]] std::size_t size() const { return rewards.size(); }
  [[nodiscard]] bool ends(std::size_t t) const { return terminated[t] || truncated[t]; }
  /// Of the state after a step.
  [[nodiscard]] double after(std::size_t t) const {
    if (terminated[t]) return 0;
    return static_cast<double>(truncated[t] ? finals[t] : values[t + 1]);
  }
  [[nodiscard]] double value(std::size_t t) const { return static_cast<double>(values[t]); }
  void trace(const rl::v_trace_options& o) {
    rl::v_trace({rewards, values, terminated, truncated, finals, log_ratios}, o, targets, advantages);
  }
  /// The discounted rewards from a step until an episode or the fragment ends, and the value after them.
  [[nodiscard]] double n_step_return(std::size_t from, double discount) const {
    double sum = 0, factor = 1;
    for (std::size_t t = from;; ++t) {
      sum += factor * rewards[t];
      factor *= discount;
      if (ends(t) || t + 1 == size()) return sum + factor * after(t);
    }
  }
};

double apart(double a, float b) { return std::abs(a - static_cast<double>(b)); }

}  // namespace

TEST_CASE("rewards are scaled by what returns are now, and the critic's values follow the scale") {
  rl::policy_learner learner("scaled", rl::any_environment("CartPole-v1"), {.seed = 3}, nn::adam());
  const auto learn_returns = [&](float size, int steps) {
    for (int iteration = 0; iteration < steps / 2000; ++iteration) {
      rl::moments seen(4), gains(1);
      for (int i = 0; i < 2000; ++i) {
        const float gain = i % 2 == 0 ? size : -size;
        gains.add(&gain);
      }
      learner.learn_moments({seen}, {gains});
    }
  };
  const auto value = [&] {
    rl::policy now(rl::any_environment("CartPole-v1").observations(), rl::any_environment("CartPole-v1").actions(), {},
                   3);
    now.set(learner.weights());
    return static_cast<double>(now.critic().forward(nn::matrix<float>::Constant(4, 1, 0.3F))(0, 0));
  };
  const double at_first = value();
  learn_returns(10'000, 20'000);
  CHECK(learner.next_rollout().reward_scale == doctest::Approx(1e-4));
  CHECK(value() == doctest::Approx(1e-4 * at_first).epsilon(1e-4));
  learn_returns(1, 2'000'000);
  CHECK(learner.next_rollout().reward_scale == doctest::Approx(1).epsilon(0.01));
  CHECK(value() == doctest::Approx(learner.next_rollout().reward_scale * at_first).epsilon(1e-3));
}

TEST_CASE("with lambda 1, advantages are returns of n steps less the value") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    steps s(seed);
    rl::estimate_advantages({s.rewards, s.values, s.terminated, s.truncated, s.finals, 0.9, 1}, s.advantages);
    for (std::size_t t = 0; t < s.size(); ++t)
      CHECK(apart(s.n_step_return(t, 0.9) - s.value(t), s.advantages[t]) < 1e-5);
  }
}

TEST_CASE("v_trace: targets and advantages are the paper's sums") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    steps s(seed);
    const rl::v_trace_options o{.discount = 0.9, .lambda = 0.8, .rho = 1.5, .c = 1.1};
    s.trace(o);
    const auto ratio = [&](std::size_t t) { return std::exp(static_cast<double>(s.log_ratios[t])); };
    // v_s = V(s) + sum over t of discount^(t-s) (product of c_i over s <= i < t) rho_t (r_t + discount V' - V).
    const auto target = [&](std::size_t from) {
      double sum = s.value(from), factor = 1;
      for (std::size_t t = from; t < s.size(); ++t) {
        sum += factor * std::min(o.rho, ratio(t)) * (s.rewards[t] + o.discount * s.after(t) - s.value(t));
        factor *= o.discount * o.lambda * std::min(o.c, ratio(t));
        if (s.ends(t)) break;
      }
      return sum;
    };
    for (std::size_t t = 0; t < s.size(); ++t) {
      CHECK(apart(target(t), s.targets[t]) < 1e-5);
      const double next = s.ends(t) || t + 1 == s.size() ? s.after(t) : target(t + 1);
      CHECK(apart(std::min(o.rho, ratio(t)) * (s.rewards[t] + o.discount * next - s.value(t)), s.advantages[t]) < 1e-5);
    }
    // Of equal policies: returns of n steps. Without traces: one step.
    s.trace({.discount = 0.9, .c = 0});
    for (std::size_t t = 0; t < s.size(); ++t) {
      const double rho = std::min(1., ratio(t));
      CHECK(apart(s.value(t) + rho * (s.rewards[t] + 0.9 * s.after(t) - s.value(t)), s.targets[t]) < 1e-5);
    }
    std::fill(s.log_ratios.begin(), s.log_ratios.end(), 0.f);
    s.trace({.discount = 0.9});
    for (std::size_t t = 0; t < s.size(); ++t) CHECK(apart(s.n_step_return(t, 0.9), s.targets[t]) < 1e-5);
  }
}

TEST_CASE("gradients of the loss of actor-critic methods are those of central differences") {
  for (const auto& [actions, masked] : {std::pair(rl::space(rl::discrete{3}), false),
                                        {rl::space(rl::discrete{3}), true},
                                        {rl::space(rl::box{{-1.f, -1.f}, {1.f, 1.f}}), false}}) {
    const rl::space observations = rl::box{{-1.f, -1.f}, {1.f, 1.f}};
    rl::policy p(observations, actions, {.hidden = {5}}, 3);
    const auto d = rl::make_distribution(actions);
    rl::random numbers(7);
    rl::fragment f;
    f.observations.resize(2, 6);
    f.actions.resize(d->size(), 6);
    if (masked) f.masks.setOnes(3, 6);
    for (Eigen::Index i = 0; i < 6; ++i) {
      for (Eigen::Index k = 0; k < 2; ++k) f.observations(k, i) = static_cast<float>(numbers.normal());
      nn::matrix<float> outputs = p.actor().forward(f.observations);
      if (masked) {
        f.masks(i % 3, i) = 0;
        rl::detail::forbid(rl::detail::mask_of(f.masks, i), outputs.col(i).data());
      }
      d->sample(outputs.col(i).data(), p.spread().data(), numbers, f.actions.col(i).data());
      f.advantages.push_back(static_cast<float>(numbers.normal()));
      f.returns.push_back(static_cast<float>(numbers.normal()));
    }
    std::vector<float> by_spread(p.spread().size());
    const auto loss = [&] {
      const auto s = rl::add_gradients(p, *d, f, {.value = 0.7, .entropy = 0.3}, by_spread);
      return (s.policy + 0.7 * s.value - 0.3 * s.entropy) / 6;
    };
    loss();
    const auto check = [&](std::span<float> at, const std::vector<float>& gradients) {
      for (std::size_t i = 0; i < at.size(); ++i) {
        const float x = at[i], h = 3e-3f;
        at[i] = x + h;
        const double above = loss();
        at[i] = x - h;
        const double below = loss();
        at[i] = x;
        CHECK(std::abs(static_cast<double>(gradients[i]) - (above - below) / (2 * static_cast<double>(h))) < 2e-3);
      }
    };
    const auto copy = [](std::span<const float> s) { return std::vector<float>(s.begin(), s.end()); };
    const auto of_actor = copy(p.actor().gradients()), of_critic = copy(p.critic().gradients());
    const auto of_spread = by_spread;
    check(p.actor().parameters(), of_actor);
    check(p.critic().parameters(), of_critic);
    check(p.spread(), of_spread);
  }
}

TEST_CASE("a2c learns CartPole, is the same for any number of workers, and so is a3c with one") {
  in_world([] {
    std::vector<rl::report> alone;
    for (const int workers : {1, 3}) {
      rl::a2c algorithm("CartPole-v1", {.workers = workers, .seed = 1});
      for (int i = 0; i < (workers == 1 ? 80 : 4); ++i) {
        const rl::report r = algorithm.train();
        if (workers == 1) alone.push_back(r);
        CHECK(r.learner == alone[static_cast<std::size_t>(i)].learner);
        CHECK(r.mean_return == alone[static_cast<std::size_t>(i)].mean_return);
      }
      if (workers == 1) CHECK(algorithm.evaluate(20).mean_return > 300);
    }
    CHECK(alone.back().steps == 80 * 8 * 256);
    rl::a3c same("CartPole-v1", {.workers = 1, .seed = 1, .updates = 8});
    for (std::size_t i = 0; i < 4; ++i) {
      const rl::report r = same.train();
      for (const auto& [name, value] : alone[i].learner) CHECK(r.learner.at(name) == value);
      CHECK(r.mean_return == alone[i].mean_return);
      CHECK(r.learner.at("max_staleness") == 0);
    }
  });
}

TEST_CASE("a3c learns CartPole with gradients that are stale, and drops those that are too stale") {
  in_world([] {
    rl::a3c algorithm("CartPole-v1", {.workers = 4, .seed = 1});
    double stalest = 0;
    for (rl::report r; r.mean_return < 250 && r.steps < 400'000;) {
      r = algorithm.train();
      stalest = std::max(stalest, r.learner.at("max_staleness"));
      CHECK(r.learner.at("staleness") <= r.learner.at("max_staleness"));
      CHECK(r.learner.at("dropped") == 0);
    }
    CHECK(stalest >= 3);  // while one of four computes, the gradients of the others are applied
    CHECK(algorithm.train().mean_return > 200);
    rl::a3c bounded("CartPole-v1", {.workers = 4, .max_staleness = 1});
    const rl::report r = bounded.train();
    CHECK(r.learner.at("dropped") > 0);
    CHECK(r.steps == 16 * 64 + static_cast<std::uint64_t>(r.learner.at("dropped")) * 64);
  });
}

TEST_CASE("a3c gives each of several workers a call ahead, but no more than the bound of staleness allows") {
  in_world([] {
    const auto first = [](const rl::a3c_options& o) { return rl::a3c("CartPole-v1", o).train().learner; };
    // All gradients of the first weights are applied one after the other, if no worker is late: then its calls have
    // later weights.
    const auto reaches = [](const rl::a3c_options& o, double staleness) {
      rl::a3c algorithm("CartPole-v1", o);
      bool has_reached = false;
      for (int i = 0; i < 100 && !has_reached; ++i)
        has_reached = algorithm.train().learner.at("max_staleness") >= staleness;
      return has_reached;
    };
    CHECK(reaches({.workers = 2}, 3));
    CHECK(reaches({.workers = 2, .in_flight = 3}, 5));
    CHECK(first({.workers = 1, .environments = 4}).at("max_staleness") == 0);
    auto bounded = first({.workers = 2, .in_flight = 8, .max_staleness = 3});
    CHECK(bounded.at("staleness") <= 3 + bounded.at("dropped"));
    CHECK(bounded.at("dropped") < 16);
    CHECK(contains(thrown<manta::error>([] { rl::a3c("CartPole-v1", {.in_flight = 0}); }), ".in_flight is 0"));
  });
}

TEST_CASE("what is under way when an asynchronous training is saved is learnt from after it is loaded") {
  in_world([] {
    const std::string file = "a3c-test-" + std::to_string(manta::size());
    rl::a3c a("CartPole-v1", {.workers = 1, .seed = 3, .environments = 4}),
        b("CartPole-v1", {.workers = 1, .environments = 4});
    for (int i = 0; i < 3; ++i) a.train();
    a.save(file);
    b.load(file);
    for (int i = 0; i < 3; ++i) {
      const rl::report x = a.train(), y = b.train();
      CHECK(x.learner == y.learner);
      CHECK(x.mean_return == y.mean_return);
    }
    rl::a3c more("CartPole-v1", {.workers = 3, .environments = 4});
    more.load(file);
    CHECK(more.train().iteration == 4);
    rl::a3c other("CartPole-v1", {.environments = 5});
    CHECK(contains(thrown<manta::error>([&] { other.load(file); }), "has 4 environments; .environments is 5"));
    CHECK(contains(thrown<manta::error>([&] { rl::a2c("CartPole-v1").load(file); }), "rl a2c"));
    std::filesystem::remove(file);
  });
}

TEST_CASE("impala learns CartPole with weights that lag, with one worker in the same way each time") {
  in_world([] {
    const rl::impala_options options{.workers = 1, .seed = 1, .updates = 1, .lag = 5};
    rl::impala a("CartPole-v1", options), b("CartPole-v1", options), plain("CartPole-v1", options);
    for (int i = 0; i < 10; ++i) {
      const rl::report x = a.train(), y = b.train();
      CHECK(x.learner == y.learner);
      // The worker acts while the learner learns, so its weights are one version older than the lag that is forced.
      CHECK(x.learner.at("lag") == std::min(i, 6));
      CHECK(x.learner.at("rho") <= 1);
      if (i == 0) CHECK(x.learner.at("rho") > 0.9999);  // the policy that acted is the learner's
      if (i == 9) CHECK(x.learner.at("rho") < 0.9999);
    }
    const std::string file = "impala-test-" + std::to_string(manta::size());
    a.save(file);
    plain.load(file);
    for (int i = 0; i < 8; ++i) CHECK(plain.train().learner == a.train().learner);
    std::filesystem::remove(file);

    rl::impala fast("CartPole-v1", {.workers = 3, .seed = 2, .lag = 5});
    rl::report r;
    while (r.mean_return < 250 && r.steps < 400'000) r = fast.train();
    CHECK(r.mean_return >= 250);
    CHECK(r.learner.at("max_lag") >= 5);
  });
}

TEST_CASE("impala with a bound on the policy's steps uses its fragments again; in the first epoch it bounds nothing") {
  in_world([] {
    rl::impala_options o{.workers = 1, .seed = 1};
    const auto trained_by = [&](int iterations) {
      rl::impala a("CartPole-v1", o);
      for (int i = 0; i < iterations; ++i) a.train();
      return a.save_to_bytes();
    };
    const std::string plain = trained_by(4);
    o.clip = 0.4;
    CHECK(trained_by(4) == plain);
    o.epochs = 2;
    CHECK(trained_by(4) != plain);
    CHECK(trained_by(4) == trained_by(4));
    rl::impala whole("CartPole-v1", o), again("CartPole-v1", o);
    for (int i = 0; i < 3; ++i) whole.train();
    again.load_from_bytes(whole.save_to_bytes());
    for (int i = 0; i < 3; ++i) CHECK(again.train().learner == whole.train().learner);

    rl::impala fast("CartPole-v1", {.workers = 3, .seed = 2, .clip = 0.4, .epochs = 2});
    rl::report r;
    double clipped = 0;
    while (r.mean_return < 250 && r.steps < 400'000) {
      r = fast.train();
      CHECK(r.learner.at("clipped") < 0.5);
      CHECK(r.learner.at("rho") <= 1);
      clipped = std::max(clipped, r.learner.at("clipped"));
    }
    CHECK(r.mean_return >= 250);
    CHECK(clipped > 0);
    CHECK(contains(thrown<manta::error>([] { rl::impala("CartPole-v1", {.epochs = 0}); }), ".epochs is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::impala("CartPole-v1", {.clip = -1}); }), ".clip is -1"));
  });
}

TEST_CASE("where the weights lag much, impala without v_trace learns less") {
  in_world([] {
    if (manta::size() > 1) return;  // with one worker, any number of ranks gives the same bits
    // Steps of the learner so large that its policy runs away from the workers'.
    const auto mean_of_training = [](bool v_trace) {
      rl::impala algorithm("CartPole-v1", {.workers = 1, .seed = 8, .lag = 9, .v_trace = v_trace, .rate = 3e-3});
      double sum = 0;
      for (int i = 0; i < 40; ++i) sum += algorithm.train().mean_return;
      return sum / 40;
    };
    const double with = mean_of_training(true), without = mean_of_training(false);
    INFO(with << ' ' << without);
    CHECK(with > 1.3 * without);
  });
}

TEST_CASE("asynchronous algorithms say what an environment did wrong, and refuse options that cannot be") {
  in_world([] {
    rl::a3c failing(rl::environment<stops>(), {.workers = 2, .environments = 2});
    const std::string said = thrown<manta::error>([&] { failing.train(); });
    CHECK(contains(said, "episode 0, step 29: the simulator stopped"));
    CHECK(
        contains(thrown<manta::error>([] { rl::a3c("CartPole-v1", {.max_staleness = -1}); }), ".max_staleness is -1"));
    CHECK(contains(thrown<manta::error>([] { rl::a3c("CartPole-v1", {.updates = 0}); }), ".updates is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::impala("CartPole-v1", {.batch = 0}); }), ".batch is 0"));
    CHECK(contains(thrown<manta::error>([] { rl::impala("CartPole-v1", {.lag = -2}); }), ".lag is -2"));
    CHECK(contains(thrown<manta::error>([] { rl::a2c("CartPole-v1", {.fragment = 0}); }), ".fragment is 0"));
  });
}

TEST_CASE("when the learner of an asynchronous algorithm throws, its workers' calls have ended") {
  in_world([] {
    if (manta::size() > 1) return;  // the environments' steps are counted on this rank
    rl::impala algorithm(rl::environment<counted>(), {.workers = 2, .environments = 2, .fragment = 5, .batch = 5});
    algorithm.on_episode([](const rl::episode&) { throw std::runtime_error("enough"); });
    CHECK_THROWS_WITH(algorithm.train(), "enough");
    const int before = counted::steps;
    for (int i = 0; i < 20; ++i) manta::async([] { return 1; }).get();
    CHECK(counted::steps == before);
  });
}

TEST_CASE("a3c is a trial of a search") {
  in_world([] {
    const auto results = tune::run<rl::trial<rl::a3c, "CartPole-v1">>(
        {{"rate", tune::grid({1e-7, 1e-3})}, {"environments", 8}},
        {.maximise = "mean_return", .stop = {tune::at_least("steps", 12000)}, .folder = ""});
    CHECK(results.best().parameters.get<double>("rate") == 1e-3);
  });
}
