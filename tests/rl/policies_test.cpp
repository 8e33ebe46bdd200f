// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a training leaves, and what goes into it: policies that draw their actions, that are evaluated elsewhere and
// begun with; checkpoints and the options of those who load them; update rules and wrappers of the program's own.
#include <doctest/doctest.h>

#include <cereal/types/utility.hpp>
#include <filesystem>

#include "manta/output/bytes.hpp"
#include "manta/rl.hpp"
#include "support/world.hpp"

namespace nn = manta::nn;
namespace rl = manta::rl;
using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;

namespace {

/// Three cells that look alike, in the second of which the actions are swapped (Sutton, Barto, 2018, example 13.1): the
/// best policy goes right with probability 0.59 and needs 11.6 steps, and no policy without chance arrives.
struct alike {
  int at = 0;
  static rl::box observation_space() { return {{0.f}, {1.f}}; }
  static rl::discrete action_space() { return {2}; }
  float reset(rl::random&) { return static_cast<float>(at = 0) + 1; }
  rl::step<float> step(int action) {
    at = std::max(0, at + ((action == 1) != (at == 1) ? 1 : -1));
    return {1, -1, at == 3, false};
  }
  [[nodiscard]] std::string text() const { return std::to_string(at); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at);
  }
};

/// A walk of some steps; what it gives depends on the constructor's argument, which the state names too.
struct walk {
  int length = 5, at = 0;
  static rl::box observation_space() { return {{0.f}, {100.f}}; }
  static rl::discrete action_space() { return {2}; }
  float reset(rl::random&) { return static_cast<float>(at = 0); }
  rl::step<float> step(int) { return {static_cast<float>(++at), 1, at == length, false}; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(length, at);
  }
};

/// Numbers between bounds; the reward asks for half of the observation.
struct half {
  float seen = 0;
  int steps = 0;
  static rl::box observation_space() { return {{-1.f}, {1.f}}; }
  static rl::box action_space() { return {{-2.f}, {2.f}}; }
  float reset(rl::random& numbers) {
    steps = 0;
    return seen = static_cast<float>(numbers.uniform(-1, 1));
  }
  rl::step<float> step(float action) {
    const double off = static_cast<double>(action - seen / 2);
    return {seen, -off * off, ++steps == 10, false};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(seen, steps);
  }
};

/// Adds to rewards, and counts in its own state.
struct generous : rl::wrapper {
  generous(const rl::any_environment& e, double gift) : wrapper(e), gift_(gift) {}
  rl::step<observation> step(std::span<const float> action) {
    auto s = wrapper::step(action);
    s.reward += gift_ * ++given_;
    return s;
  }
  template <class Archive>
  void serialize(Archive& archive) {
    wrapper::serialize(archive);
    archive(given_);
  }
  double gift_;
  int given_ = 0;
};

/// Values of two choices, a number for each: a rule without a network's hidden layers.
class averages : public rl::off_policy_learner {
 public:
  averages(const rl::any_environment& e, const rl::off_policy_options& o)
      : off_policy_learner("averages", e, o), net_(nn::shape{1}, nn::linear(2)) {
    begin_with(net_);
  }
  const nn::network<float>& network() const override { return net_; }
  void update(const rl::replay::sample& s, rl::random&, std::vector<float>& errors,
              std::map<std::string, double>& figures) override {
    for (std::size_t k = 0; k < s.which.size(); ++k) {
      float& value = net_.parameters()[2 + static_cast<std::size_t>(s.drawn.actions(0, static_cast<Eigen::Index>(k)))];
      errors[k] = value - s.drawn.rewards[k];
      value -= 0.1f * errors[k];
      figures["error"] += static_cast<double>(std::abs(errors[k])) / static_cast<double>(s.which.size());
    }
  }
  std::vector<std::span<const float>> parameters() const override { return {net_.parameters()}; }
  std::string networks() const override { return manta::output::pack(net_); }
  void restore_networks(const std::string& bytes) override { manta::output::unpack(bytes, net_); }

 private:
  nn::network<float> net_;
};

}  // namespace

TEST_CASE("a policy that is good because it draws its actions is evaluated, shown and used as it was trained") {
  in_world([] {
    const auto corridor = rl::environment<alike>().with_time_limit(500);
    rl::ppo p(corridor, {.workers = 2, .seed = 1, .rate = 1e-3});
    rl::report r;
    while ((r = p.train()).mean_return < -14 && r.steps < 60'000) {
    }
    CHECK(p.evaluate(20).mean_return == -500);
    const rl::report drawn = p.evaluate(100, {.explore = true});
    CHECK(drawn.mean_return > -20);
    CHECK(p.evaluate(100, {.explore = true}).mean_return == drawn.mean_return);
    CHECK(rl::evaluate(corridor, p.trained(), 100, {.explore = true, .seed = 1}).mean_return == drawn.mean_return);
    CHECK(rl::evaluate(corridor, p.trained(), 100, {.explore = true, .seed = 2}).mean_return != drawn.mean_return);
    CHECK(p.frames().size() == 501);
    CHECK(p.frames(500, {.explore = true}).back() == "3");
    rl::trained_policy policy = p.trained(), again = p.trained();
    int right = 0;
    for (int i = 0; i < 400; ++i) {
      const int a = policy.act(1.f, {.explore = true});
      right += a;
      CHECK(again.act(1.f, {.explore = true}) == a);
    }
    CHECK(right > 140);
    CHECK(right < 330);
    CHECK(p.act(1.f) == p.act(1.f));
  });
}

TEST_CASE("each algorithm's policy draws as its workers do, inside of bounds, and those that never drew do not") {
  in_world([] {
    const auto differ = [](rl::algorithm& a, float seen) {
      const rl::action best = a.act(seen);
      int others = 0;
      for (int i = 0; i < 50; ++i) {
        const rl::action drawn = a.act(seen, {.explore = true});
        CHECK(a.environment().actions().contains(drawn.numbers()));
        others += drawn != best;
      }
      return others;
    };
    rl::sac sac(rl::environment<half>(), {.learning_starts = 32});
    rl::td3 td3(rl::environment<half>(), {.learning_starts = 32});
    rl::ppo ppo(rl::environment<half>(), {.fragment = 16});
    rl::es es(rl::environment<half>(), {.pairs = 2});
    for (rl::algorithm* a : std::vector<rl::algorithm*>{&sac, &td3, &ppo, &es}) a->train();
    CHECK(differ(sac, 0.5f) == 50);
    CHECK(differ(td3, 0.5f) == 50);
    CHECK(differ(ppo, 0.5f) == 50);
    CHECK(differ(es, 0.5f) == 0);
    rl::dqn dqn(rl::environment<walk>(), {.epsilon = 0.4, .exploration_steps = 1});
    dqn.train();
    const int others = differ(dqn, 1.f);  // half of four tenths
    CHECK(others > 1);
    CHECK(others < 25);
  });
}

TEST_CASE("a checkpoint goes on with the rate and the other settings of who loads it") {
  in_world([] {
    const auto weights = [](const rl::algorithm& a) {
      const rl::trained_policy p = a.trained();
      const std::span<const float> all = p.network().parameters();
      return std::vector<float>(all.begin(), all.end());
    };
    const auto moves = [&](rl::algorithm& a) {
      const std::vector<float> before = weights(a);
      for (int i = 0; i < 2; ++i) a.train();
      const std::vector<float> after = weights(a);
      double sum = 0;
      for (std::size_t i = 0; i < before.size(); ++i) sum += static_cast<double>(std::abs(after[i] - before[i]));
      return sum;
    };
    const auto check = [&]<class Algorithm, class Options>(const rl::any_environment& e, Options o) {
      o.rate = 1e-2;
      Algorithm fast(e, o);
      for (int i = 0; i < 2; ++i) fast.train();
      const std::string saved = fast.save_to_bytes();
      o.rate = 1e-9;
      Algorithm slow(e, o), same(e, o);
      slow.load_from_bytes(saved);
      CHECK(weights(slow) == weights(fast));
      CHECK(moves(slow) < 1e-3);
      CHECK(moves(fast) > 1e-2);
    };
    check.operator()<rl::ppo>(rl::environment<walk>(), rl::ppo_options{.fragment = 16});
    check.operator()<rl::a3c>(rl::environment<walk>(), rl::a3c_options{.workers = 1, .fragment = 4});
    check.operator()<rl::dqn>(rl::environment<walk>(), rl::dqn_options{.learning_starts = 64, .follow = 1});
    check.operator()<rl::sac>(rl::environment<half>(), rl::sac_options{.learning_starts = 32});
    check.operator()<rl::td3>(rl::environment<half>(), rl::td3_options{.learning_starts = 32});
    check.operator()<rl::es>(rl::environment<half>(), rl::es_options{.pairs = 4});

    rl::sac warm(rl::environment<half>(), {.learning_starts = 32, .temperature = 1, .learn_temperature = false});
    for (int i = 0; i < 2; ++i) warm.train();
    rl::sac cool(rl::environment<half>(), {.learning_starts = 32, .temperature = 0.1, .learn_temperature = false});
    cool.load_from_bytes(warm.save_to_bytes());
    CHECK(cool.train().learner.at("temperature") == doctest::Approx(0.1));
  });
}

TEST_CASE("a checkpoint of an environment of other arguments is refused, unless episodes begin anew") {
  in_world([] {
    rl::ppo shorter(rl::environment<walk>(5), {.fragment = 16});
    for (int i = 0; i < 2; ++i) shorter.train();
    const std::string saved = shorter.save_to_bytes();
    rl::ppo longer(rl::environment<walk>(40), {.fragment = 16});
    const std::string refused = thrown<manta::error>([&] { longer.load_from_bytes(saved); });
    CHECK(contains(refused, "walk(5); this algorithm's is"));
    CHECK(contains(refused, "walk(40). Nothing was changed; load(path, {.episodes = rl::begin_anew})"));
    CHECK(longer.train().steps == 128);
    longer.load_from_bytes(saved, {.episodes = rl::begin_anew});
    rl::report r;
    for (int i = 0; i < 4; ++i) r = longer.train();
    CHECK(r.steps == 256 + 4 * 128);
    CHECK(r.min_return == 40);
    CHECK(r.max_return == 40);
    CHECK(longer.evaluate(3).mean_return == 40);
    // What is loaded so can be saved, and goes on bit for bit.
    rl::ppo again(rl::environment<walk>(40), {.workers = 2, .fragment = 16});
    again.load_from_bytes(longer.save_to_bytes());
    CHECK(again.train().learner == longer.train().learner);

    rl::dqn a(rl::environment<walk>(5), {.learning_starts = 64}), b(rl::environment<walk>(40), {.learning_starts = 64});
    a.train();
    b.load_from_bytes(a.save_to_bytes(), {.episodes = rl::begin_anew});
    for (int i = 0; i < 4; ++i) r = b.train();
    CHECK(r.max_return == 40);
  });
}

TEST_CASE("what was learnt goes out as a network, and into another training") {
  in_world([] {
    rl::ppo first(rl::environment<half>(), {.fragment = 32});
    for (int i = 0; i < 3; ++i) first.train();
    rl::trained_policy p = first.trained();
    nn::network<float> net = p.network();
    const double x = (0.3 - p.filter().mean(0)) / p.filter().deviation(0);
    const float out = net.forward(nn::matrix<float>::Constant(1, 1, static_cast<float>(x)))(0, 0);
    CHECK(static_cast<double>(p.act(0.3f)) == doctest::Approx(2 * out).epsilon(1e-4));  // in units of half the bounds
    const rl::ppo second(rl::environment<half>(), {.seed = 7, .begin_with = p});
    CHECK(second.trained().act(0.3f) == p.act(0.3f));
    const auto begun = [&]<class Algorithm>(typename Algorithm::options o) {
      o.begin_with = p;
      return thrown<manta::error>([&] { Algorithm(rl::environment<half>(), o); });
    };
    CHECK(contains(begun.operator()<rl::ppo>({.model = {.hidden = {8}}}), "that of this algorithm is 1 -> linear(8"));
    CHECK(contains(begun.operator()<rl::sac>({}), ".begin_with is a policy of the network"));
    CHECK(begun.operator()<rl::es>({.model = {.hidden = {64, 64}}}).empty());
  });
}

TEST_CASE("a policy is evaluated in any environment of its spaces, by episodes that are named by a seed") {
  in_world([] {
    rl::ppo p(rl::scale_rewards(rl::environment<walk>(5), 100), {.fragment = 16});
    p.train();
    CHECK(p.evaluate(2).mean_return == 500);
    CHECK(p.evaluate(2, {.environment = rl::environment<walk>(9)}).mean_return == 9);
    CHECK(rl::evaluate(rl::environment<walk>(7), p.trained(), 2).mean_return == 7);
    CHECK(contains(thrown<manta::error>([&] { rl::evaluate("CartPole-v1", p.trained(), 2); }),
                   "evaluate: observations of the environment CartPole-v1 are box{"));
    const rl::ppo q("CartPole-v1", {.fragment = 16});
    const auto of = [&](std::uint64_t seed) {
      return rl::evaluate("CartPole-v1", q.trained(), 20, {.seed = seed}).mean_return;
    };
    CHECK(of(1) == of(1));
    CHECK(of(1) != of(2));
  });
}

TEST_CASE("an update rule of the program's own learns from the memory, and goes on from a checkpoint") {
  in_world([] {
    const rl::off_policy_options o{
        .workers = 2, .seed = 1, .environments = 4, .fragment = 8, .learning_starts = 32, .normalise_rewards = false};
    const auto made = [&] { return std::make_unique<averages>(rl::environment<walk>(), o); };
    rl::off_policy a(made());
    rl::report r;
    for (int i = 0; i < 8; ++i) r = a.train();
    CHECK(r.learner.at("error") < 0.1);
    CHECK(a.trained().network().parameters()[2] == doctest::Approx(1).epsilon(0.1));
    rl::off_policy b(made());
    b.load_from_bytes(a.save_to_bytes());
    CHECK(b.train().learner == a.train().learner);
  });
}

TEST_CASE("a wrapper of the program's own changes what it says, and is saved with its environment") {
  in_world([] {
    const rl::any_environment e = rl::wrap<generous>(rl::environment<walk>(4), 10.);
    CHECK(contains(e.name(), "generous("));
    CHECK(rl::find_mistakes(rl::environment<walk>(4)).empty());
    rl::ppo p(e, {.environments = 1, .fragment = 10});
    const rl::report r = p.train();
    CHECK(r.max_return > r.min_return);  // it counts on from episode to episode
    rl::ppo q(e, {.environments = 1, .fragment = 10});
    q.load_from_bytes(p.save_to_bytes());
    CHECK(q.train().max_return == p.train().max_return);
  });
}

TEST_CASE(
    "without a weight of the entropy there is one for choices, and none for numbers, whose entropy has no bound") {
  const auto weight = [](const rl::space& actions, std::optional<double> given) {
    return rl::detail::entropy_weight(given, *rl::make_distribution(actions), 0.003);
  };
  const rl::space choices = rl::discrete{2}, numbers = rl::box{{-1.f}, {1.f}};
  CHECK(weight(choices, std::nullopt) == 0.003);
  CHECK(weight(numbers, std::nullopt) == 0);
  CHECK(weight(numbers, 0.01) == 0.01);
  CHECK(weight(choices, 0) == 0);
  CHECK(contains(thrown<manta::error>([] { rl::ppo("CartPole-v1", {.entropy = -0.1}); }),
                 ".entropy is -0.1; it has to be a number that is not negative"));
}
