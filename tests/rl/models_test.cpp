// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Plans by the cross-entropy method, models that are learnt, pets, and sac that learns from dreams.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "manta/output/bytes.hpp"
#include "manta/rl/algorithms/sac.hpp"
#include "manta/rl/pets.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace rl = manta::rl;

namespace {

/// A point on a line, which wants to be at 0.
struct point {
  float x = 0;
  static rl::box observation_space() { return {{-3.f}, {3.f}}; }
  static rl::box action_space() { return {{-2.f}, {1.f}}; }
  float reset(rl::random& random) { return x = static_cast<float>(random.uniform(-2, 2)); }
  rl::step<float> step(float a) {
    x = std::min(3.f, std::max(-3.f, x + 0.4f * a));
    return {x, -std::abs(static_cast<double>(x)), false, false};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(x);
  }
};
rl::any_environment points() { return rl::environment<point>().with_time_limit(15); }

/// The opposite of what the environment says: as far away as possible.
struct away : rl::model_reward {
  double operator()(std::span<const float>, std::span<const float> a, std::span<const float> next) const override {
    return a[0] >= -2 && a[0] <= 1 ? std::abs(static_cast<double>(next[0])) : -1000;
  }
};

struct unbounded_point : point {
  static rl::box action_space() { return {{0.f}, {std::numeric_limits<float>::infinity()}}; }
};
struct picture {
  static rl::box observation_space() { return rl::image_of(1, 2, 2); }
  static rl::box action_space() { return {{-1.f}, {1.f}}; }
  std::vector<float> reset(rl::random&) { return std::vector<float>(4); }
  rl::step<std::vector<float>> step(float) { return {std::vector<float>(4), 0, true, false}; }
};

/// Looks ahead in the true pendulum.
struct clairvoyant : rl::player {
  rl::cem search{rl::pendulum::action_space(), {.horizon = 20, .candidates = 80, .elites = 10, .rounds = 4}};
  void act(std::span<const float> o, rl::random&, std::span<float> action) override {
    action[0] = search.act([&](const Eigen::MatrixXf& torques) {
      rl::pendulum p;
      p.angle = std::atan2(static_cast<double>(o[1]), static_cast<double>(o[0]));
      p.spin = static_cast<double>(o[2]);
      double sum = 0;
      for (const float torque : torques.reshaped()) sum += p.step(torque).reward;
      return sum;
    })[0];
  }
};

const rl::pets_options small = {.seed = 5,
                                .environments = 3,
                                .fragment = 15,
                                .learning_starts = 90,
                                .models = 2,
                                .rate = 3e-3,
                                .batch = 32,
                                .horizon = 6,
                                .candidates = 40,
                                .elites = 6,
                                .rounds = 3,
                                .particles = 3,
                                .model = {.hidden = {24}}};

/// What an algorithm has learnt, and what its last iteration gave.
std::string left_by(rl::algorithm& a, const rl::report& last) {
  return manta::output::pack(a.trained(), last.learner, last.mean_return, last.steps);
}
/// Trains for some iterations.
std::string trained(rl::algorithm& a, int iterations) {
  rl::report r;
  for (int i = 0; i < iterations; ++i) r = a.train();
  return left_by(a, r);
}

std::string trained_by(int workers) {
  rl::pets_options o = small;
  o.workers = workers;
  rl::pets p(points(), o);
  return trained(p, 4);
}

rl::sac_options dreaming(int workers) {
  return {.workers = workers,
          .seed = 2,
          .environments = 3,
          .fragment = 10,
          .batch = 32,
          .learning_starts = 60,
          .model = {.hidden = {16}},
          .dreams = {.models = 2, .length = 3, .per_step = 4, .model = {.hidden = {16}}}};
}
std::string dreamt_by(int workers) {
  rl::sac a(points(), dreaming(workers));
  return trained(a, 4);
}

template <class F>
auto alone(F&& f) {
  manta::runtime rt(MPI_COMM_SELF, {});
  return rt.run(f);
}

}  // namespace

TEST_CASE("plans on the true dynamics of a linear system cost as little as its Riccati equation says") {
  using matrix = Eigen::Matrix2d;
  const matrix a = (matrix() << 1, 0.2, 0, 1).finished(), q = (matrix() << 1, 0, 0, 0.1).finished();
  const Eigen::Vector2d b(0.02, 0.2);
  const double r = 0.1;
  matrix p = q;
  for (int i = 0; i < 500; ++i) {
    const Eigen::RowVector2d gain = (b.transpose() * p * a) / (r + b.dot(p * b));
    p = q + a.transpose() * p * (a - b * gain);
  }
  const auto step = [&](Eigen::Vector2d& x, double u) {
    const double cost = x.dot(q * x) + r * u * u;
    x = a * x + b * u;
    return cost;
  };
  rl::cem search(rl::box{{-4.f}, {4.f}}, {.horizon = 10, .candidates = 100, .elites = 10, .rounds = 10});
  for (const Eigen::Vector2d& begin : {Eigen::Vector2d(1, 0), Eigen::Vector2d(-0.5, 1)}) {
    Eigen::Vector2d x = begin;
    double cost = 0;
    search.begin_episode();
    for (int t = 0; t < 40; ++t) {
      const Eigen::VectorXf u = search.act([&](const Eigen::MatrixXf& forces) {
        Eigen::Vector2d seen = x;
        double sum = 0;
        for (const float force : forces.reshaped()) sum -= step(seen, static_cast<double>(force));
        return sum - seen.dot(p * seen);
      });
      cost += step(x, static_cast<double>(u[0]));
    }
    CHECK(cost < 1.02 * begin.dot(p * begin));
    CHECK(cost > 0.98 * begin.dot(p * begin));
    CHECK(search.plan().rows() == 1);
    CHECK(search.plan().cols() == 10);
  }
}

TEST_CASE("a player that plans on the true dynamics swings the pendulum up") {
  in_world([] {
    if (manta::size() > 1) return;
    const rl::report r = rl::evaluate("Pendulum-v1", rl::own<clairvoyant>(), 16, 1);
    CHECK(r.mean_return > -160);
  });
}

TEST_CASE("cem takes actions between bounds only, leaves returns aside that are not finite, and refuses nonsense") {
  rl::cem search(rl::box{{-1.f, 2.f}, {1.f, 6.f}}, {.horizon = 3, .candidates = 60, .elites = 6});
  const Eigen::VectorXf a = search.act([](const Eigen::MatrixXf& m) -> double {
    CHECK((m.row(0).minCoeff() >= -1 && m.row(0).maxCoeff() <= 1 && m.row(1).minCoeff() >= 2 &&
           m.row(1).maxCoeff() <= 6));
    if (m(0, 0) < 0) return std::numeric_limits<double>::quiet_NaN();
    return -std::abs(static_cast<double>(m(0, 0)) - 0.25) - std::abs(static_cast<double>(m(1, 0)) - 5);
  });
  CHECK(a[0] == doctest::Approx(0.25).epsilon(0.05));
  CHECK(a[1] == doctest::Approx(5).epsilon(0.02));
  const auto refused = [](const rl::space& s, const rl::cem_options& o) {
    return thrown<manta::error>([&] { rl::cem(s, o); });
  };
  const rl::box one{{-1.f}, {1.f}};
  CHECK(contains(refused(rl::discrete{2}, {}),
                 "cem plans actions that are numbers between finite bounds; these are "
                 "discrete{2}"));
  CHECK(contains(refused(one, {.horizon = 0}), ".horizon is 0; at least one step is needed"));
  CHECK(contains(refused(one, {.candidates = 10, .elites = 11}), ".elites is 11, and .candidates is 10"));
  CHECK(contains(refused(one, {.elites = 0}), ".elites is 0; at least one is needed"));
  CHECK(contains(refused(one, {.rounds = 0}), ".rounds is 0"));
  CHECK(contains(refused(one, {.deviation = 0}), ".deviation is 0; it has to be positive"));
  CHECK(contains(refused(one, {.momentum = 1}), ".momentum is 1"));
  CHECK(contains(refused(one, {.kept = 2}), ".kept is 2"));
}

TEST_CASE("models learn the mean, the deviation and the end of steps, and differ where nothing was seen") {
  // Where the action is positive, the next observation is uncertain; episodes end above 0.5.
  rl::random numbers(3);
  const auto steps = [&](int count) {
    rl::transitions t;
    t.resize(1, 1, static_cast<std::size_t>(count));
    for (Eigen::Index k = 0; k < count; ++k) {
      const auto j = static_cast<std::size_t>(k);
      const double o = numbers.uniform(-1, 1), a = numbers.uniform(-1, 1), noise = a > 0 ? 0.2 : 0.02;
      t.observations(0, k) = static_cast<float>(o);
      t.actions(0, k) = static_cast<float>(a);
      t.next(0, k) = static_cast<float>(o + 0.3 * a + noise * numbers.normal());
      t.rewards[j] = static_cast<float>(o * o);
      t.discounts[j] = o > 0.5 ? 0.f : 1.f;
    }
    return t;
  };
  rl::dynamics_ensemble models(rl::box{{-9.f}, {9.f}}, 1, {.models = 3, .rate = 3e-3, .model = {.hidden = {32, 32}}});
  std::map<std::string, double> figures;
  for (int i = 0; i < 1500; ++i) models.learn(steps(192), 1, figures);
  CHECK(figures.at("model_loss") < 0);
  const auto at = [&](int model, float o, float a, float noise) {
    rl::model_prediction p;
    models.predict(model, Eigen::MatrixXf::Constant(1, 1, o), Eigen::MatrixXf::Constant(1, 1, a),
                   Eigen::MatrixXf::Constant(1, 1, noise), p);
    return p;
  };
  for (int m = 0; m < 3; ++m) {
    for (const float o : {-0.6f, 0.2f, 0.8f}) {
      for (const float a : {-0.7f, 0.6f}) {
        const rl::model_prediction p = at(m, o, a, 0);
        CHECK(p.next(0, 0) == doctest::Approx(o + 0.3f * a).epsilon(0.06));
        CHECK(at(m, o, a, 1).next(0, 0) - p.next(0, 0) == doctest::Approx(a > 0 ? 0.2 : 0.02).epsilon(0.3));
        CHECK(p.rewards[0] == doctest::Approx(o * o).epsilon(0.1));
        CHECK((o > 0.5f ? p.ends[0] > 0.9f : p.ends[0] < 0.1f));
      }
    }
  }
  CHECK(at(0, 8.f, 1.f, 100).next(0, 0) <= 9.f);  // inside of the space
  const auto difference = [&](float o) {
    double sum = 0;
    for (const float a : {-0.8f, -0.2f, 0.4f})
      for (const float sign : {-1.f, 1.f})
        sum += std::abs(static_cast<double>(at(0, sign * o, a, 0).next(0, 0) - at(1, sign * o, a, 0).next(0, 0)));
    return sum;
  };
  CHECK(difference(4) > 3 * difference(0.4f));
}

TEST_CASE("pets is the same for any number of workers and ranks, and goes on bit for bit") {
  const std::string expected = alone([] { return trained_by(1); });
  in_world([&] {
    for (const int workers : {1, 2, 3}) CHECK(trained_by(workers) == expected);
    rl::pets_options o = small;
    o.workers = 3;
    rl::pets first(points(), o);
    trained(first, 3);
    const std::string saved = first.save_to_bytes();  // in the middle of plans
    o.seed = 77;
    o.workers = 2;
    rl::pets again(points(), o);
    again.load_from_bytes(saved);
    CHECK(trained(again, 1) == expected);
    CHECK(trained(again, 2) == trained(first, 3));
    o.model.hidden = {8};
    CHECK(contains(thrown<manta::error>([&] { rl::pets(points(), o).load_from_bytes(saved); }),
                   "this algorithm's are 2 models 2 -> linear(8"));
  });
}

TEST_CASE("what pets has learnt plans as a value, and remembers its plan") {
  in_world([] {
    rl::pets_options o = small;
    o.workers = manta::size();
    rl::pets p(points(), o);
    const double before = p.evaluate(10).mean_return;
    rl::report r;
    while ((r = p.train()).steps < 450) {
    }
    const rl::report after = p.evaluate(10);
    CHECK(r.learner.at("model_error") < 0.3);
    CHECK(after.mean_return > -3);
    CHECK(after.mean_return > before + 5);
    rl::trained_policy policy = p.trained();
    CHECK(policy.remembers());
    CHECK(rl::evaluate(points(), policy, 10, {.seed = o.seed}).mean_return == after.mean_return);
    const std::string file = "pets-test-" + std::to_string(manta::size());
    policy.save(file);
    rl::trained_policy same = rl::load_policy(file);
    std::filesystem::remove(file);
    const Eigen::VectorXf first = policy.act(1.5f), second = policy.act(1.5f);
    CHECK(first[0] < -0.5f);
    CHECK((first[0] >= -2 && second[0] >= -2 && second[0] <= 1));
    CHECK(static_cast<float>(same.act(1.5f)) == first[0]);
    CHECK(static_cast<float>(same.act(1.5f)) == second[0]);
    policy.begin_episode();
    CHECK(static_cast<float>(policy.act(1.5f)) == first[0]);
    std::vector<std::vector<float>> memories(2), masks(2);  // episodes beside each other, by the caller
    const auto both = policy.act({{1.5f}, {-1.5f}}, masks, memories);
    CHECK(both[0][0] == first[0]);
    CHECK(both[1][0] > 0.5f);
    CHECK(policy.act({{1.5f}, {-1.5f}}, masks, memories)[0][0] == second[0]);
    CHECK(static_cast<float>(p.act(1.5f)) == first[0]);
  });
}

TEST_CASE("pets takes a reward of the program's own, and refuses what it cannot do in one sentence") {
  in_world([] {
    rl::pets_options o = small;
    o.reward = rl::own<away>();
    rl::pets p(points(), o);
    while (p.train().steps < 300) {
    }
    CHECK(p.evaluate(10).mean_return < -25);
    CHECK(contains(thrown<manta::error>([&] { p.load_from_bytes(rl::pets(points(), small).save_to_bytes()); }),
                   "with (anonymous namespace)::away"));
    const auto refused = [](const rl::any_environment& e, const rl::pets_options& options) {
      return thrown<manta::error>([&] { rl::pets(e, options); });
    };
    CHECK(contains(refused("CartPole-v1", {}),
                   "pets needs actions that are numbers between bounds; those of CartPole-v1 "
                   "are discrete{2}"));
    CHECK(contains(refused(rl::environment<unbounded_point>(), {}), "finite bounds"));
    CHECK(contains(refused(rl::environment<picture>(), {}), "pets needs observations that are plain numbers"));
    CHECK(contains(refused(points(), {.models = 0}), ".models is 0; at least one is needed"));
    CHECK(contains(refused(points(), {.horizon = 0}), ".horizon is 0; at least one step is needed"));
    CHECK(contains(refused(points(), {.candidates = 5}), ".elites is 10, and .candidates is 5"));
    CHECK(contains(refused(points(), {.particles = 0}), ".particles is 0"));
    CHECK(contains(refused(points(), {.model = {.lstm = {8}}}), "pets cannot use .lstm"));
    CHECK(contains(refused(points(), {.workers = 0}), ".workers is 0"));
    o.rate = 1e30;
    CHECK(contains(thrown<manta::error>([&] {
                     rl::pets wild(points(), o);
                     for (int i = 0; i < 6; ++i) wild.train();
                   }),
                   "finite"));
  });
}

TEST_CASE("sac learns from dreams in the same way for any number of workers and ranks, and goes on bit for bit") {
  const std::string expected = alone([] { return dreamt_by(1); });
  in_world([&] {
    for (const int workers : {1, 3}) CHECK(dreamt_by(workers) == expected);
    rl::sac first(points(), dreaming(1)), again(points(), dreaming(2));
    trained(first, 3);
    again.load_from_bytes(first.save_to_bytes());
    CHECK(trained(again, 1) == expected);
    CHECK(trained(again, 2) == trained(first, 3));
  });
}

TEST_CASE("dreams take the place of real steps, and without them there are no models") {
  in_world([] {
    if (manta::size() > 1) return;  // the case before
    rl::sac_options o = dreaming(1);
    const auto after_steps = [&](std::uint64_t steps) {
      rl::sac a(points(), o);
      rl::report r;
      while ((r = a.train()).steps < steps) {
      }
      CHECK(r.learner.contains("model_error") == (o.dreams.models > 0));
      return a.evaluate(30).mean_return;
    };
    const double dreamt = after_steps(300);
    o.dreams = {};
    const double awake = after_steps(300);
    CHECK(dreamt > awake + 1);
    o = dreaming(1);
    o.n_step = 2;
    const auto refused = [&](const rl::any_environment& e) { return thrown<manta::error>([&] { rl::sac(e, o); }); };
    CHECK(contains(refused(points()), ".n_step is 2; models for .dreams learn from single steps, so it has to be 1"));
    o.n_step = 1;
    CHECK(contains(refused(rl::environment<picture>()), "sac with .dreams needs observations that are plain numbers"));
    o.dreams.length = 0;
    CHECK(contains(refused(points()), ".dreams.length is 0; at least one step is needed"));
    o.dreams = {.models = -1};
    CHECK(contains(refused(points()), ".dreams.models is -1; at least one is needed"));
    o.dreams = {.models = 2, .per_step = 0};
    CHECK(contains(refused(points()), ".dreams.per_step is 0"));
  });
}
