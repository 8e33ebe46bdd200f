// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Classes of the program's own in the places of those of the library. The oracles are the library's own classes: a copy
// written here has to lead to the same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "manta/rl.hpp"
#include "manta/tune.hpp"
#include "manta/tune/rl.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
namespace nn = manta::nn;
namespace rl = manta::rl;
namespace tune = manta::tune;

namespace {

/// A walk to the right end of a corridor.
struct walk {
  float scale = 1;
  int at = 0;
  explicit walk(float reward_scale) : scale(reward_scale) {}

  static rl::box observation_space() { return {{0.f}, {6.f}}; }
  static rl::discrete action_space() { return {2}; }
  std::vector<float> reset(rl::random&) {
    at = 0;
    return {0.f};
  }
  rl::step<std::vector<float>> step(int action) {
    at = std::max(0, at + (action == 1 ? 1 : -1));
    const double reward = at == 6 ? 1 : -0.125;
    return {{static_cast<float>(at)}, static_cast<double>(scale) * reward, at == 6};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(scale, at);
  }
};
rl::any_environment corridor(float scale = 1) { return rl::environment<walk>(scale).with_time_limit(30); }

/// Layers of the library, behind the members that a module of the program's own has.
class wrapped {
 public:
  using scalar = float;
  wrapped(int features, int outputs, int hidden, bool remembers)
      : net_(nn::shape{features}, std::vector<nn::spec>{remembers ? nn::lstm(hidden) : nn::linear(hidden), nn::tanh(),
                                                        nn::linear(outputs)}) {}
  void initialise(std::uint64_t seed) { net_.initialise(seed); }
  const nn::matrix<float>& forward(const nn::matrix<float>& x) { return net_.forward(x); }
  const nn::matrix<float>& forward(const nn::matrix<float>& x, nn::matrix<float>& state,
                                   std::span<const unsigned char> resets) {
    return net_.forward(x, state, resets);
  }
  [[nodiscard]] int state_size() const { return net_.state_size(); }
  void backward(const nn::matrix<float>& dy) { net_.backward(dy); }
  const nn::matrix<float>& backward_to_input(const nn::matrix<float>& dy) { return net_.backward_to_input(dy); }
  std::span<float> parameters() { return net_.parameters(); }
  [[nodiscard]] std::span<const float> parameters() const { return net_.parameters(); }
  std::span<float> gradients() { return net_.gradients(); }

 private:
  nn::network<float> net_;
};

/// y = a x + b with a number for all, and no gradient by the input.
class line {
 public:
  using scalar = float;
  line(int /* features */, int outputs) : y_(outputs, 1) {}
  const nn::matrix<float>& forward(const nn::matrix<float>& x) {
    sums_ = x.colwise().sum();
    y_.resize(y_.rows(), x.cols());
    y_.rowwise() = (p_[0] * sums_.array() + p_[1]).matrix();
    return y_;
  }
  void backward(const nn::matrix<float>& dy) {
    g_[0] += dy.colwise().sum().dot(sums_);
    g_[1] += dy.sum();
  }
  std::span<float> parameters() { return p_; }
  [[nodiscard]] std::span<const float> parameters() const { return p_; }
  std::span<float> gradients() { return g_; }

 private:
  std::vector<float> p_{0.1f, 0.f}, g_{0.f, 0.f};
  nn::matrix<float> y_;
  Eigen::RowVectorXf sums_;
};

/// The library's distribution of choices, in a class of the program's own. shift: added to actions on their way out.
class copied : public rl::distribution {
 public:
  explicit copied(const rl::space& actions, float shift = 0) : inner_(rl::make_distribution(actions)), shift_(shift) {}
  [[nodiscard]] int outputs() const override { return inner_->outputs(); }
  [[nodiscard]] int spread() const override { return inner_->spread(); }
  [[nodiscard]] int size() const override { return inner_->size(); }
  void sample(const float* o, const float* s, rl::random& numbers, float* action) const override {
    inner_->sample(o, s, numbers, action);
  }
  void best(const float* o, float* action) const override { inner_->best(o, action); }
  void to_environment(const float* action, float* to) const override {
    inner_->to_environment(action, to);
    to[0] += shift_;
  }
  [[nodiscard]] float log_probability(const float* o, const float* s, const float* action) const override {
    return inner_->log_probability(o, s, action);
  }
  [[nodiscard]] float entropy(const float* o, const float* s) const override { return inner_->entropy(o, s); }
  void add_gradient(const float* o, const float* s, const float* action, weights w, float* by_o,
                    float* by_s) const override {
    inner_->add_gradient(o, s, action, w, by_o, by_s);
  }

 private:
  std::unique_ptr<rl::distribution> inner_;
  float shift_;
};
struct two_numbers : copied {
  using copied::copied;
  [[nodiscard]] int size() const override { return 2; }
};

/// dqn's way.
struct greedy : rl::exploration {
  void act(const rl::exploration_input& in, rl::random& numbers, std::span<float> action) override {
    const auto n = static_cast<int>(in.outputs.size());
    const bool by_chance = numbers.uniform() < in.randomness;
    const auto best = std::max_element(in.outputs.begin(), in.outputs.end()) - in.outputs.begin();
    action[0] = static_cast<float>(by_chance ? numbers.index(n) : best);
  }
};
/// Always this action; counts what it sees.
struct stubborn : rl::exploration {
  float always = 0;
  explicit stubborn(float a) : always(a) {}
  void act(const rl::exploration_input&, rl::random&, std::span<float> action) override { action[0] = always; }
};
/// td3's way with noise that falls back to 0 (Ornstein, Uhlenbeck): it has a state.
struct falling_back : rl::exploration {
  float pull = 0.1f, at = 0;
  falling_back(const rl::space&, float p) : pull(p) {}
  void act(const rl::exploration_input& in, rl::random& numbers, std::span<float> action) override {
    at += -pull * at + 0.2f * static_cast<float>(numbers.normal());
    action[0] = std::clamp(std::tanh(in.outputs[0]) + at, -1.f, 1.f);
  }
  void begin_episode() override { at = 0; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at);
  }
};

struct doubled : rl::collection {
  void steps_made(const rl::made_steps& s) const override {
    for (double& r : s.rewards) r *= 2;
  }
  void transitions_made(rl::transitions& t) const override {
    for (float& r : t.rewards) r *= 2;
  }
};
/// Learns from where the steps lead instead of the environment's rewards.
struct by_place : rl::collection {
  void steps_made(const rl::made_steps& s) const override {
    for (std::size_t t = 0; t < s.rewards.size(); ++t) {
      const auto k = static_cast<Eigen::Index>(t);
      const bool goes_on = k + 1 < s.next.cols() && !s.terminated[t] && !s.truncated[t];
      if (goes_on && s.next(0, k) != s.observations(0, k + 1)) throw std::runtime_error("next is not what came next");
      s.rewards[t] = s.next(0, k) == 6 ? 1 : -0.125;
    }
  }
};
struct one_step : rl::collection {
  void estimate(const rl::valued_steps& s, std::span<float> advantages) const override {
    rl::valued_steps shorter = s;
    shorter.lambda = 0;
    rl::collection::estimate(shorter, advantages);
  }
};
struct cut : rl::collection {
  void transitions_made(rl::transitions& t) const override { t.rewards.pop_back(); }
};

struct to_the_right : rl::player {
  float action;
  explicit to_the_right(float a) : action(a) {}
  void act(std::span<const float>, rl::random&, std::span<float> a) override { a[0] = action; }
};

/// A2C, written as a program's own algorithm.
class own_a2c : public rl::on_policy {
 public:
  explicit own_a2c(const rl::any_environment& e, const rl::a2c_options& o)
      : on_policy("own_a2c", e,
                  {.workers = o.workers,
                   .environments = o.environments,
                   .seed = o.seed,
                   .how = {.steps = o.fragment, .discount = o.discount, .lambda = o.lambda},
                   .model = o.model},
                  nn::rmsprop({.rate = o.rate, .epsilon = 1e-5})) {}

 protected:
  void learn(const rl::fragment& all, rl::report&) override {
    zero_gradients();
    rl::add_gradients(policy_, *distribution_, all, {0.5, 0.001}, spread_gradients_);
    step(0.5);
  }
};

template <class Algorithm>
std::string after(Algorithm&& algorithm, int iterations) {
  for (int i = 0; i < iterations; ++i) algorithm.train();
  return algorithm.save_to_bytes();
}
/// The learnt part, which does not depend on the names of classes.
template <class Algorithm>
double learnt(Algorithm&& algorithm, int iterations, const char* figure) {
  rl::report r;
  for (int i = 0; i < iterations; ++i) r = algorithm.train();
  return r.learner.at(figure) + r.mean_return;
}

rl::ppo_options small() { return {.workers = 2, .seed = 3, .environments = 4, .fragment = 32, .epochs = 2}; }
rl::dqn_options small_dqn() {
  return {.workers = 2, .seed = 3, .environments = 4, .fragment = 16, .learning_starts = 128, .replay_alpha = 0};
}

const bool has_name = (rl::register_environment("corridor", corridor(2)), true);
rl::ppo_options of_own_classes(const rl::trial_values& v) {
  rl::ppo_options o = small();
  o.model = {.network = rl::own<wrapped>(v.get<int>("width"), false), .distribution = rl::own<copied>()};
  o.epochs = v.get_or("repeats", 3);
  return o;
}
rl::es_options of_lines() { return {.seed = 5, .pairs = 4, .model = {.network = rl::own<line>()}}; }

}  // namespace

TEST_CASE("a module of the program's own is a layer: results, gradients and states are those of its parts") {
  nn::network<float> own(nn::shape{3}, nn::own<wrapped>(2, 5, true), nn::tanh());
  nn::network<float> parts(nn::shape{3}, nn::lstm(5), nn::tanh(), nn::linear(2), nn::tanh());
  own.initialise(4);
  REQUIRE(own.parameters().size() == parts.parameters().size());
  REQUIRE(own.state_size() == parts.state_size());
  std::copy(own.parameters().begin(), own.parameters().end(), parts.parameters().begin());
  nn::matrix<float> x = nn::matrix<float>::Random(3, 12), dy = nn::matrix<float>::Random(2, 12);
  nn::matrix<float> a = nn::matrix<float>::Random(10, 4), b = a;
  const std::vector<unsigned char> resets = {0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0};
  CHECK(own.forward(x, a, resets) == parts.forward(x, b, resets));
  CHECK(a == b);
  own.backward(dy), own.backward(dy);
  parts.backward(dy), parts.backward(dy);
  CHECK(std::ranges::equal(own.gradients(), parts.gradients()));
  nn::network<float> sent;
  manta::output::unpack(manta::output::pack(own), sent);
  a = b;
  CHECK(sent.forward(x, a, resets) == parts.forward(x, b, resets));
  CHECK(own.describe().find("wrapped(5, 1)") != std::string::npos);

  nn::network<float> behind(nn::shape{3}, nn::linear(3), nn::own<line>(2));
  behind.forward(x);
  CHECK(contains(thrown<manta::error>([&] { behind.backward(dy); }), "backward_to_input"));
}

TEST_CASE("ppo learns with a network of the program's own, on any number of workers, and goes on from a checkpoint") {
  in_world([] {
    rl::ppo_options o = small();
    o.model = {.network = rl::own<wrapped>(16, false)};
    rl::ppo algorithm(corridor(), o);
    const std::string once = after(algorithm, 4);
    o.workers = 3;
    rl::ppo other(corridor(), o);
    CHECK(after(other, 2) != once);
    const std::string half = other.save_to_bytes();
    rl::ppo third(corridor(), o);
    third.load_from_bytes(half);
    CHECK(after(third, 2) == once);
    for (int i = 0; i < 20; ++i) algorithm.train();
    CHECK(algorithm.evaluate(5).mean_length == 6);

    o.model = {.network = rl::own<wrapped>(8, false)};
    CHECK(contains(thrown<manta::error>([&] { rl::ppo(corridor(), o).load_from_bytes(once); }), "wrapped(16, 0)"));
    o.model = {.network = rl::own<wrapped>(8, true)};  // it remembers
    CHECK(after(rl::ppo(corridor(), o), 2).size() > 0);
    CHECK(contains(thrown<manta::error>([&] { rl::dqn(corridor(), {.model = o.model}); }), "dqn cannot use"));
    o.model.lstm = {4};
    CHECK(contains(thrown<manta::error>([&] { rl::ppo(corridor(), o); }), ".lstm asks for layers"));
    CHECK(rl::sac("Pendulum-v1", {.learning_starts = 64, .model = {.network = rl::own<wrapped>(8, false)}})
              .train()
              .steps > 0);
    CHECK(rl::es(corridor(), {.pairs = 4, .model = {.network = rl::own<line>()}}).train().steps > 0);
  });
}

TEST_CASE("a distribution of the program's own takes the place of the library's") {
  in_world([] {
    rl::ppo_options o = small();
    const double standard = learnt(rl::ppo(corridor(), o), 3, "policy_loss");
    o.model.distribution = rl::own<copied>();
    CHECK(learnt(rl::ppo(corridor(), o), 3, "policy_loss") == standard);
    const std::string mine = rl::ppo(corridor(), o).save_to_bytes();
    CHECK(contains(thrown<manta::error>([&] { rl::ppo(corridor(), small()).load_from_bytes(mine); }), "with"));
    CHECK(contains(thrown<manta::error>([&] { rl::dqn(corridor(), {.model = o.model}); }),
                   "dqn cannot use the distribution"));
    o.model.distribution = rl::own<copied>(1.f);
    CHECK(contains(thrown<manta::error>([&] { rl::ppo(corridor(), o).train(); }), "gave the action"));
    o.model.distribution = rl::own<two_numbers>();
    CHECK(contains(thrown<manta::error>([&] { rl::ppo(corridor(), o); }), "has actions of 2 numbers"));
  });
}

TEST_CASE("an exploration of the program's own takes the place of dqn's and td3's, with its state") {
  in_world([] {
    rl::dqn_options o = small_dqn();
    const double standard = learnt(rl::dqn(corridor(), o), 5, "loss");
    o.exploration = rl::own<greedy>();
    CHECK(learnt(rl::dqn(corridor(), o), 5, "loss") == standard);
    o.exploration = rl::own<stubborn>(1.f);
    CHECK(rl::dqn(corridor(), o).train().mean_length == 6);
    o.exploration = rl::own<stubborn>(2.f);
    CHECK(contains(thrown<manta::error>([&] { rl::dqn(corridor(), o).train(); }), "took the action 2"));

    rl::td3_options t{.seed = 1, .environments = 2, .learning_starts = 32, .replay_size = 128};  // full at the end
    t.exploration = rl::own<falling_back>(0.2f);
    const std::string all = after(rl::td3("Pendulum-v1", t), 4);
    t.workers = 2;
    const std::string half = after(rl::td3("Pendulum-v1", t), 2);
    rl::td3 other("Pendulum-v1", t);
    other.load_from_bytes(half);
    CHECK(after(other, 2) == all);
    t.exploration = {};
    CHECK(
        contains(thrown<manta::error>([&] { rl::td3("Pendulum-v1", t).load_from_bytes(half); }), "falling_back(0.2)"));
  });
}

TEST_CASE("steps pass a collection of the program's own before they are learnt from") {
  in_world([] {
    rl::ppo_options o = small();
    o.normalise_rewards = false;
    const auto loss = [&](float scale) { return rl::ppo(corridor(scale), o).train().learner.at("value_loss"); };
    const double plain = loss(1), twice = loss(2);
    o.collection = rl::own<doubled>();
    CHECK(loss(1) == twice);
    CHECK(rl::ppo(corridor(), o).train().mean_return < 1);  // reports have the environment's rewards
    o.collection = rl::own<by_place>();
    CHECK(loss(7) == plain);
    o.collection = {};
    o.lambda = 0;
    const double short_sighted = loss(1);
    o.lambda = 0.95;
    o.collection = rl::own<one_step>();
    CHECK(loss(1) == short_sighted);

    rl::impala_options i{.workers = 1, .seed = 1, .normalise_rewards = false};
    const auto value_loss = [&](float scale) {
      return rl::impala(corridor(scale), i).train().learner.at("value_loss");
    };
    const double impala_plain = value_loss(1);
    i.collection = rl::own<by_place>();
    CHECK(value_loss(7) == impala_plain);

    rl::dqn_options d = small_dqn();
    d.normalise_rewards = false;
    const auto dqn_loss = [&](float scale) {
      rl::dqn algorithm(corridor(scale), d);
      for (int k = 0; k < 3; ++k) algorithm.train();
      return algorithm.train().learner.at("loss");
    };
    const double dqn_twice = dqn_loss(2);
    d.collection = rl::own<doubled>();
    CHECK(dqn_loss(1) == dqn_twice);
    d.collection = rl::own<cut>();
    CHECK(contains(thrown<manta::error>([&] { dqn_loss(1); }), "transitions_made of"));
  });
}

TEST_CASE("a policy of the program's own is evaluated, and an algorithm of its own trains") {
  in_world([] {
    const rl::report r = rl::evaluate(corridor(), rl::own<to_the_right>(1.f), 40);
    CHECK(r.episodes == 40);
    CHECK(r.mean_length == 6);
    CHECK(r.mean_return == 1 - 5 * 0.125);
    CHECK(contains(thrown<manta::error>([] { rl::evaluate(corridor(), rl::own<to_the_right>(2.f), 1); }),
                   "took the action {2}"));

    rl::a2c_options o{.workers = 2, .seed = 2, .environments = 4, .updates = 1, .model = {.hidden = {8}}};
    rl::a2c library(corridor(), o);
    own_a2c mine(corridor(), o);
    for (int i = 0; i < 5; ++i) CHECK(library.train().mean_return == mine.train().mean_return);
    CHECK(library.evaluate(3).mean_return == mine.evaluate(3).mean_return);
  });
}

TEST_CASE("trials of a search are of classes of the program's own, made from parameters of the space") {
  REQUIRE(has_name);
  in_world([] {
    using trial = rl::trial<rl::ppo, "corridor", of_own_classes>;
    const auto results =
        tune::run<trial>({{"width", tune::grid({4, 16})}, {"rate", 1e-3}},
                         {.maximise = "mean_return", .stop = {tune::at_least("steps", 512)}, .folder = ""});
    for (const auto& t : results) {
      rl::ppo_options o = small();
      o.model = {.network = rl::own<wrapped>(t.parameters.get<int>("width"), false), .distribution = rl::own<copied>()};
      o.epochs = 3;
      o.rate = 1e-3;
      rl::ppo alone(corridor(2), o);
      for (int i = 0; i < 3; ++i) alone.train();
      CHECK(t.last["mean_return"] == alone.train().mean_return);
    }
    const auto setup = [](auto&& t, const tune::config& c) { return thrown<manta::error>([&] { t.setup(c); }); };
    CHECK(contains(setup(trial(), {{"rate", 1e-3}}), "\"width\""));
    CHECK(contains(setup(trial(), {{"width", 4}, {"raet", 1e-3}}), "raet"));
    CHECK(setup(rl::trial<rl::es, "CartPole-v1", of_lines>(), {{"environment", "Acrobot-v1"}, {"rate", 0.1}}).empty());
  });
}
