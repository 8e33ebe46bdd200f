// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Learning from files: recordings, their two formats and what may be wrong with them, imitation, conservative
// Q-learning, and estimates without an environment.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "manta/output/append_file.hpp"
#include "manta/rl.hpp"
#include "manta/rl/offline.hpp"
#include "support/python.hpp"
#include "support/world.hpp"

namespace rl = manta::rl;
namespace fs = std::filesystem;
using manta::output::read_file;
using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;

namespace {

/// CartPole: pushes to where the pole falls, or, by chance, to the other side.
struct lean : rl::player {
  double contrary = 0;
  explicit lean(double c = 0) : contrary(c) {}
  void act(std::span<const float> o, rl::random& numbers, std::span<float> action) override {
    const bool right = o[2] + o[3] + 0.1F * o[0] + 0.2F * o[1] > 0;
    action[0] = right != (numbers.uniform() < contrary) ? 1.F : 0.F;
  }
};

/// One step; the reward is the action.
struct coin {
  static rl::box observation_space() { return {{0.F}, {1.F}}; }
  static rl::discrete action_space() { return {2, 5}; }
  float reset(rl::random& numbers) { return static_cast<float>(numbers.uniform()); }
  rl::step<float> step(int action) { return {0.F, action == 6 ? 1.0 : 0.0, true, false}; }
};

/// One step; the reward is the number, of which the players below try the lesser half.
struct lever {
  static rl::box observation_space() { return {{0.F}, {1.F}}; }
  static rl::box action_space() { return {{-2.F}, {2.F}}; }
  float reset(rl::random& numbers) { return static_cast<float>(numbers.uniform()); }
  rl::step<float> step(float action) { return {0.F, static_cast<double>(action), true, false}; }
};
struct timid : rl::player {
  void act(std::span<const float>, rl::random& numbers, std::span<float> action) override {
    action[0] = static_cast<float>(numbers.uniform(-1, 1));
  }
};

/// Observations and actions of several parts, and a mask of the actions.
struct parts {
  int at = 0;
  static rl::dict observation_space() {
    return {{{"a", rl::discrete{3, 2}}, {"b", rl::box{{-1.F, -1.F}, {9.F, 9.F}}}, {"c", rl::multi_binary{2}}}};
  }
  static rl::multi_discrete action_space() { return {{2, 3}, {0, 1}}; }
  rl::dict_values seen() const {
    const auto x = static_cast<float>(at);
    return {{"a", {2 + x}}, {"b", {x, -1}}, {"c", {0, x > 0 ? 1.F : 0.F}}};
  }
  std::vector<bool> action_mask() const { return {true, true, at > 0, true, true}; }
  rl::dict_values reset(rl::random&) {
    at = 0;
    return seen();
  }
  rl::step<rl::dict_values> step(std::vector<int> a) { return {seen(), 1.0 * a[0] + a[1], false, ++at == 2}; }
};

manta::nn::matrix<float> row_of(const std::vector<float>& numbers) {
  return Eigen::Map<const manta::nn::matrix<float>>(numbers.data(), 1, std::ssize(numbers));
}

rl::trained_policy untrained(const rl::any_environment& e, std::uint64_t seed = 1) {
  return rl::ppo(e, {.seed = seed, .model = {.hidden = {16}}}).trained();
}

/// A folder that is gone at the end.
struct folder {
  std::string path = "offline-test-" + std::to_string(::getpid());
  folder() { fs::create_directory(path); }
  ~folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

bool same(const rl::episodes& a, const rl::episodes& b) {
  bool is_same = a.size() == b.size();
  for (std::size_t i = 0; is_same && i < a.size(); ++i)
    is_same = a[i].observations == b[i].observations && a[i].actions == b[i].actions && a[i].rewards == b[i].rewards &&
              a[i].terminated == b[i].terminated && a[i].log_probabilities == b[i].log_probabilities &&
              a[i].masks.rows() == b[i].masks.rows() && (a[i].masks.rows() == 0 || a[i].masks == b[i].masks);
  return is_same;
}

/// What `make()` gives in worlds of 1, 2 and 4 of the ranks, as far as there are so many. Collective.
template <class Make>
std::vector<std::string> on_ranks(Make&& make) {
  std::vector<std::string> all;
  for (int n = 1; n <= manta::testing::world_size(); n *= 2) {
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, manta::testing::world_rank() < n ? 0 : MPI_UNDEFINED, 0, &some);
    if (some == MPI_COMM_NULL) continue;
    {
      manta::runtime rt(some);
      manta::testing::checked_run(rt, [&] { all.push_back(make()); });
    }
    MPI_Comm_free(&some);
  }
  return all;
}
void all_alike(const std::vector<std::string>& all) {
  for (const std::string& one : all) CHECK(one == all.front());
}

rl::episodes lean_data(const folder& at, double contrary, int episodes) {
  const std::string file = at / ("lean" + std::to_string(contrary) + ".episodes");
  rl::record(file, "CartPole-v1", rl::own<lean>(contrary), {.episodes = episodes, .seed = 2});
  return rl::read_episodes(file);
}

/// The weights of an algorithm after some passes.
std::string weights_of(rl::algorithm& a, int passes) {
  for (int i = 0; i < passes; ++i) a.train();
  const auto p = a.trained();
  const std::span<const float> w = p.network().parameters();
  return {reinterpret_cast<const char*>(w.data()), w.size_bytes()};
}

}  // namespace

TEST_CASE("a recording has the same bytes on any number of ranks, and comes back from both formats as it was") {
  const folder at;
  all_alike(on_ranks([&] {
    const std::string file = at / "some.episodes";
    fs::remove(file);
    const rl::report r = rl::record(file, "CartPole-v1", untrained("CartPole-v1"), {.episodes = 70, .explore = true});
    const rl::episodes data = rl::read_episodes(file);
    CHECK(r.episodes == 70);
    CHECK(r.steps == data.steps());
    CHECK(r.mean_return == doctest::Approx(data.mean_return()));
    CHECK(data.environment().name() == "CartPole-v1");
    CHECK(data[3].log_probabilities[0] == doctest::Approx(std::log(0.5)).epsilon(0.1));
    data.save(at / "all.npz");
    data.save(at / "all.episodes");
    CHECK(same(data, rl::read_episodes(at / "all.npz")));
    CHECK(same(data, rl::read_episodes(at / "all.episodes")));
    CHECK(rl::read_episodes({at / "all.npz", file}).size() == 140);
    return read_file(file) + read_file(at / "all.npz");
  }));
}

TEST_CASE("episodes of parts, choices and masks, and such as were truncated, come back too") {
  const folder at;
  in_world([&] {
    const rl::environment<parts> e;
    rl::record(at / "p.npz", e, untrained(e), {.episodes = 5, .explore = true});
    const rl::episodes data = rl::read_episodes(at / "p.npz");
    CHECK(data[4].steps() == 2);
    CHECK_FALSE(data[4].terminated);
    CHECK(data[4].observations.col(2) == Eigen::VectorXf{{3, 1, -1, 0, 1}});
    CHECK(data[4].masks.col(0)[2] == 0);
    CHECK(data[4].actions(1, 0) > 1);
    data.save(at / "p.episodes");
    CHECK(same(data, rl::read_episodes(at / "p.episodes")));
    CHECK(contains(thrown<manta::error>([&] {
                     (void)rl::bc(data).evaluate(1, {.environment = rl::spaces(e.observations(), e.actions())});
                   }),
                   "there are only spaces here"));
    rl::trained_policy acts = untrained(e);
    const std::vector<bool> mask = parts{}.action_mask();
    CHECK(acts.act(parts{}.seen(), mask) == acts.act(std::vector<float>{2, 0, -1, 0, 0}, mask));
    const auto refused = [&](rl::trained_policy p, const rl::dict_values& o) {
      return thrown<manta::error>([&] { (void)p.act(o, mask); });
    };
    CHECK(contains(refused(acts, {{"a", {2}}, {"b", {0, -1}}}), "act: an observation has no part \"c\""));
    CHECK(contains(refused(untrained("CartPole-v1"), {{"a", {2}}}), "act: the observation has parts with names"));
    CHECK(std::isfinite(rl::estimate(data, rl::bc(data).trained(), {.explore = true}).value));
  });
}

TEST_CASE("Python reads what is written, and what Python writes is read") {
  if (!manta::testing::has_python()) return;
  const folder at;
  in_world([&] {
    rl::record(at / "w.npz", "CartPole-v1", untrained("CartPole-v1"), {.episodes = 3, .explore = true});
    std::ofstream(at / "script.py") << R"(
import numpy, sys
d = dict(numpy.load('w.npz'))
ends = d['terminations'] | d['truncations']
assert d['observations'].dtype == numpy.float32 and d['actions'].dtype == numpy.int64
assert d['observations'].shape == (len(ends) + 3, 4) and ends.sum() == 3 and ends[-1]
print(len(ends), d['rewards'].sum())
names = ['observations', 'actions', 'rewards', 'terminations', 'truncations']
d = {k: d[k] for k in names}
d['observations'] = d['observations'].astype('f8')
numpy.savez_compressed('python.npz', **d)
def wrong(name, **changes): numpy.savez(name, **{**d, **changes})
rewards = d['rewards'].copy(); rewards[4] = numpy.nan; wrong('nan.npz', rewards=rewards)
actions = d['actions'].copy(); actions[5] = 2; wrong('space.npz', actions=actions)
wrong('short.npz', actions=d['actions'][:-2])
wrong('few.npz', observations=d['observations'][:-1])
wrong('wide.npz', observations=d['observations'][:, :3])
del d['rewards']; numpy.savez('none.npz', **d)
)";
    const std::string python = std::getenv("MANTA_PYTHON");
    REQUIRE(std::system(("cd " + at.path + " && " + python + " script.py > out.txt").c_str()) == 0);
    const rl::episodes data = rl::read_episodes(at / "w.npz");
    CHECK(read_file(at / "out.txt") == std::to_string(data.steps()) + " " + std::to_string(data.steps()) + ".0\n");
    const rl::read_options cart_pole{.environment = "CartPole-v1"};
    const rl::episodes again = rl::read_episodes(at / "python.npz", cart_pole);
    CHECK(again.size() == 3);
    CHECK(again[2].observations == data[2].observations);
    CHECK(again[2].terminated);
    const std::string last = std::to_string(data[2].steps() - 2);
    for (const auto& [file, sentence] : std::vector<std::pair<std::string, std::string>>{
             {"nan.npz", "nan.npz, episode 0, step 4: the reward is NaN"},
             {"space.npz", "space.npz, episode 0, step 5: the action is {2}, which is not in discrete{2}"},
             {"short.npz", "short.npz, episode 2, step " + last + ": the array \"actions\" ends here"},
             {"few.npz", "few.npz, episode 2, step " + std::to_string(data[2].steps()) + ": there are"},
             {"wide.npz", "wide.npz, episode 0, step 0: a row of \"observations\" has 3 numbers"},
             {"none.npz", "none.npz has no array \"rewards\""}})
      CHECK(contains(thrown<manta::error>([&, name = file] { (void)rl::read_episodes(at / name, cart_pole); }),
                     sentence));
    CHECK(contains(thrown<manta::error>([&] { (void)rl::read_episodes(at / "python.npz"); }),
                   "does not tell its spaces"));
    CHECK(contains(thrown<manta::error>([&] {
                     (void)rl::read_episodes({at / "w.npz", at / "python.npz"}, {.environment = "Acrobot-v1"});
                   }),
                   "w.npz, episode 0, step 0: observations are box"));
  });
}

TEST_CASE("a recording that was cut anywhere goes on, and the file is the same") {
  const folder at;
  in_world([&] {
    const std::string file = at / "cut.episodes";
    const auto record = [&](int n) {
      return rl::record(file, rl::environment<coin>(), untrained(rl::environment<coin>()),
                        {.episodes = n, .explore = true});
    };
    record(40);
    const std::string whole = read_file(file);
    rl::record(file, rl::environment<coin>(), untrained(rl::environment<coin>(), 2),
               {.episodes = 2});  // another policy
    const std::string both = read_file(file);
    CHECK(both.starts_with(whole));
    CHECK(record(40).episodes == 40);
    CHECK(read_file(file) == both);
    const std::size_t size = (both.size() - whole.size()) / 2;
    for (std::size_t left = 1; left < size; left += 7) {
      manta::output::replace_file(file, whole.substr(0, whole.size() - left));
      CHECK(rl::read_episodes(file, {.unfinished = true}).size() == 39);
      const std::string problem = thrown<manta::error>([&] { (void)rl::read_episodes(file); });
      CHECK(contains(problem, "cut.episodes, episode 39, step 0: the file ends here"));
    }
    record(40);
    CHECK(read_file(file) == whole);
    std::string damaged = whole;
    damaged[damaged.size() - size - 3] ^= 1;
    manta::output::replace_file(file, damaged);
    CHECK(contains(thrown<manta::error>([&] { (void)rl::read_episodes(file); }),
                   "cut.episodes, episode 38, step 0: the record at byte"));
    CHECK(contains(thrown<manta::error>([&] { record(41); }), "episode 38"));
    CHECK(contains(thrown<manta::error>([&] { rl::record(at / "cut.episodes", "CartPole-v1", rl::own<lean>()); }),
                   "episode 38"));
    manta::output::replace_file(file, whole);
    CHECK(contains(thrown<manta::error>([&] { rl::record(file, "CartPole-v1", rl::own<lean>()); }),
                   "Record into another file"));
    manta::output::replace_file(file, "something else");
    CHECK(contains(thrown<manta::error>([&] { (void)rl::read_episodes(file); }), "is no file of episodes"));
    CHECK(contains(thrown<manta::error>([&] { (void)rl::read_episodes(at / "."); }), "is a folder, no file"));
    CHECK(contains(thrown<manta::error>([&] { (void)rl::read_episodes(at / "missing.episodes"); }),
                   "cannot be read: No such file"));
  });
}

TEST_CASE("what is wrong with an episode is said with its number and step") {
  in_world([] {
    rl::episodes data(rl::spaces(rl::box{{0.F}, {1.F}}, rl::discrete{2}));
    rl::recorded_episode good{row_of({0, 0.5F, 1}), row_of({1, 0}), {1, 2}, true};
    data.add(good);
    CHECK(data.mean_return() == 3);
    const auto problem = [&](auto change) {
      rl::recorded_episode e = good;
      change(e);
      return thrown<manta::error>([&] { data.add(e); });
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(
        contains(problem([&](auto& e) { e.observations(0, 1) = nan; }), "episode 1, step 1: the observation is {nan}"));
    CHECK(contains(problem([&](auto& e) { e.observations(0, 2) = 2; }),
                   "episode 1, step 2: the observation is {2}, which"));
    CHECK(contains(problem([](auto& e) { e.actions(0, 1) = 0.5F; }), "episode 1, step 1: the action is {0.5}"));
    CHECK(contains(problem([](auto& e) { e.rewards.pop_back(); }),
                   "episode 1, step 2: there are 1 rewards and 3 observations"));
    CHECK(contains(problem([](auto& e) { e.log_probabilities = {0}; }), "step 1: there are 2 rewards and 1 log_prob"));
    CHECK(contains(problem([](auto& e) { e.rewards[0] = 1e20; }), "step 0: the reward is 1e+20"));
    CHECK(contains(problem([](auto& e) { e.rewards.clear(); }), "has no step"));
    const rl::episodes none(rl::spaces(rl::box{{0.F}, {1.F}}, rl::discrete{2}));
    for (const std::string& text : {thrown<manta::error>([&] { rl::bc a(none); }),
                                    thrown<manta::error>([&] { rl::cql a(rl::episodes("Pendulum-v1")); }),
                                    thrown<manta::error>([&] { (void)rl::estimate(none, untrained("CartPole-v1")); })})
      CHECK(contains(text, "no episodes"));
    CHECK(contains(thrown<manta::error>([&] { rl::bc a(data, {.batch = 0}); }), ".batch is 0"));
    CHECK(
        contains(thrown<manta::error>([&] { rl::cql a(data); }), "cql needs actions that are numbers between bounds"));
    CHECK(contains(thrown<manta::error>([&] { rl::marwil a(data, {.model = {.lstm = {8}}}); }),
                   "marwil cannot use .lstm"));
  });
}

TEST_CASE("bc imitates and marwil is better than mixed data, with the same bits on any ranks with any workers") {
  const folder at;
  const rl::model_options model{.hidden = {16}};
  all_alike(on_ranks([&] {
    const rl::episodes mixed = [&] {
      rl::episodes all = lean_data(at, 0, 6);
      for (const rl::recorded_episode& e : lean_data(at, 0.7, 300)) all.add(e);
      return all;
    }();
    rl::bc clone(mixed, {.workers = 1, .seed = 3, .rate = 3e-3, .batch = 64, .model = model});
    rl::marwil better(mixed, {.workers = 1, .seed = 3, .rate = 3e-3, .batch = 64, .model = model});
    rl::marwil shared(mixed, {.workers = 3, .seed = 3, .rate = 3e-3, .batch = 64, .model = model});
    std::string alike = weights_of(better, 2);
    CHECK(alike == weights_of(shared, 2));
    shared.load_from_bytes(better.save_to_bytes());
    CHECK(weights_of(better, 1) == weights_of(shared, 1));
    alike += weights_of(clone, 2);
    rl::bc again(mixed, {.workers = 2, .seed = 3, .rate = 3e-3, .batch = 64, .model = model});
    again.load_from_bytes(clone.save_to_bytes());
    alike += weights_of(clone, 1);
    CHECK(weights_of(again, 1) == weights_of(clone, 0));
    if (manta::size() != manta::testing::world_size()) return alike;
    (void)weights_of(better, 7);
    (void)weights_of(clone, 7);
    const double of_clone = clone.evaluate(20).mean_return, of_better = better.evaluate(20).mean_return;
    MESSAGE("bc " << of_clone << ", marwil " << of_better << ", data " << mixed.mean_return());
    CHECK(of_better > 300);
    CHECK(of_better > of_clone + 50);
    rl::ppo fine("CartPole-v1",
                 {.seed = 1, .environments = 2, .fragment = 16, .model = model, .begin_with = better.trained()});
    CHECK(fine.evaluate(20, {.seed = 3}).mean_return == of_better);
    return alike;
  }));
}

TEST_CASE("algorithms that learn from files have names, and an option for their files") {
  const folder at;
  in_world([&] {
    const std::string one = at / "one.episodes", two = at / "two.npz";
    rl::record(one, rl::environment<lever>(), rl::own<timid>(), {.episodes = 40, .seed = 1});
    rl::record(two, rl::environment<lever>(), rl::own<timid>(), {.episodes = 20, .seed = 2});
    rl::register_algorithm<rl::bc>("bc");
    rl::register_algorithm<rl::marwil>("marwil");
    rl::register_algorithm<rl::cql>("cql");
    const rl::any_environment e = rl::environment<lever>();
    const rl::episodes data = rl::read_episodes({one, two}, {.environment = e});
    const rl::named_options told{{"data", one + "," + two}, {"seed", "4"}, {"batch", "16"}, {"hidden", "8"}};
    const rl::model_options model{.hidden = {8}};
    rl::bc bc(data, {.seed = 4, .batch = 16, .model = model});
    rl::marwil marwil(data, {.seed = 4, .batch = 16, .model = model});
    rl::cql cql(data, {.seed = 4, .batch = 16, .updates = 10, .model = model});
    for (const auto& [name, same] : std::map<std::string, rl::algorithm*>{{"bc", &bc}, {"marwil", &marwil}}) {
      const auto named = rl::make_algorithm(name, e, told);
      named->train();
      same->train();
      CHECK(named->save_to_bytes() == same->save_to_bytes());
      CHECK(named->evaluate(5).episodes == 5);
    }
    rl::named_options few = told;
    few["updates"] = "10";
    const auto named = rl::make_algorithm("cql", e, few);
    named->train();
    cql.train();
    CHECK(named->save_to_bytes() == cql.save_to_bytes());
    CHECK(rl::algorithm_options("bc").contains("data"));
    const auto refused = [&](const rl::any_environment& in, const std::string& files) {
      return thrown<manta::error>([&] { rl::make_algorithm("bc", in, {{"data", files}}); });
    };
    CHECK(contains(refused(e, ""), "the option data names no file"));
    CHECK(contains(refused(e, at / "none"), "none"));
    CHECK(contains(refused("CartPole-v1", one), one));
  });
}

TEST_CASE("numbers are imitated too, also where each state has one action") {
  const folder at;
  in_world([&] {
    rl::record(at / "l.episodes", rl::environment<lever>(), rl::own<timid>(), {.episodes = 100});
    rl::episodes data(rl::environment<lever>{});
    for (rl::recorded_episode e : rl::read_episodes(at / "l.episodes")) {
      e.actions(0, 0) = 2 * e.observations(0, 0) - 1;
      data.add(e);
    }
    rl::bc clone(data, {.seed = 1, .rate = 1e-2, .batch = 50, .model = {.hidden = {16}}});
    for (int i = 0; i < 60; ++i) clone.train();
    const float action = clone.act(0.75F);
    CHECK(action == doctest::Approx(0.5).epsilon(0.3));
  });
}

TEST_CASE("an episode of a built-in environment becomes a page") {
  const folder at;
  in_world([&] {
    rl::film(at / "played.html", "CartPole-v1", rl::own<lean>(0.7), {.title = "<lean>", .seed = 2});
    rl::film(at / "recorded.html", lean_data(at, 0.7, 1), 0, {.title = "<lean>"});
    rl::film(at / "policy.html", "Pendulum-v1", untrained("Pendulum-v1"));
    const std::string page = read_file(at / "played.html");
    CHECK(page == read_file(at / "recorded.html"));
    for (const char* part :
         {"kind: \"cart_pole\"", "<title>&lt;lean></title>", "end: \"terminated\"", "rewards: [1,1,"})
      CHECK(contains(page, part));
    CHECK_FALSE(contains(page, "http"));  // nothing is fetched
    CHECK(contains(read_file(at / "policy.html"), "kind: \"pendulum\", end: \"truncated\""));
    CHECK(contains(
        thrown<manta::error>([&] { rl::film(at / "no.html", rl::environment<coin>(), untrained("CartPole-v1")); }),
        "there are no pictures of"));
    CHECK(contains(thrown<manta::error>([&] { rl::film(at / "no.html", lean_data(at, 0.7, 1), 1); }),
                   "there is no episode 1"));
  });
}

TEST_CASE("estimates are those computed by hand") {
  const std::vector<rl::weighed_episode> two = {
      {{1, 2}, {std::log(2), std::log(0.5)}, {1, 1}, {0.5, 1, 0}},
      {{0, 4}, {0, std::log(3)}, {0, 2}, {1, 2, 4}},
  };
  CHECK(rl::estimated_value(two, rl::importance_sampling, 0.5) == doctest::Approx((3 + 6) / 2.0));
  CHECK(rl::estimated_value(two, rl::weighted_importance_sampling, 0.5) == doctest::Approx(2 / 3.0 + 0.5 * 14 / 4));
  CHECK(rl::estimated_value(two, rl::doubly_robust, 0.5) == doctest::Approx((2 + 8) / 2.0));
  const double never = -std::numeric_limits<double>::infinity();
  const std::vector<rl::weighed_episode> one = {{{1, 2}, {0, never}, {}, {}}, {{3}, {never}, {}, {}}};
  CHECK(rl::estimated_value(one, rl::importance_sampling, 1) == doctest::Approx(0.5));
  CHECK(rl::estimated_value(one, rl::weighted_importance_sampling, 1) == doctest::Approx(1));
  const std::vector<rl::weighed_episode> wild(1, {std::vector<double>(9, 1), std::vector<double>(9, 99), {}, {}});
  CHECK(contains(thrown<manta::error>([&] { (void)rl::estimated_value(wild, rl::importance_sampling, 1); }),
                 "is not finite"));
}

TEST_CASE("a policy is estimated from the episodes of another one") {
  const folder at;
  in_world([&] {
    const rl::environment<coin> e;
    rl::record(at / "c.episodes", e, untrained(e), {.episodes = 300, .explore = true});
    const rl::episodes data = rl::read_episodes(at / "c.episodes");
    rl::episodes heads(e);
    for (const rl::recorded_episode& one : data) {
      if (one.actions(0, 0) == 6) heads.add(one);
    }
    rl::bc clone(heads, {.rate = 1e-2, .model = {.hidden = {8}}});
    for (int i = 0; i < 40; ++i) clone.train();
    for (const rl::estimator by : {rl::importance_sampling, rl::weighted_importance_sampling, rl::doubly_robust}) {
      const rl::value_estimate v =
          rl::estimate(data, clone.trained(), {.by = by, .passes = 20, .rate = 1e-2, .model = {.hidden = {8}}});
      CHECK(v.value == doctest::Approx(1).epsilon(0.15));
      CHECK(v.error < 0.1);
      CHECK(v.data_value == doctest::Approx(data.mean_return()));
      CHECK(v.effective_episodes == doctest::Approx(static_cast<double>(heads.size())).epsilon(0.05));
      CHECK(rl::estimate(data, untrained(e), {.by = by, .explore = true, .passes = 2}).value ==
            doctest::Approx(data.mean_return()).epsilon(0.1));
    }
    rl::record(at / "l.npz", "CartPole-v1", rl::own<lean>(0.2), {.episodes = 5});
    const rl::episodes by_player = rl::read_episodes(at / "l.npz");
    CHECK(contains(thrown<manta::error>([&] { (void)rl::estimate(by_player, untrained("CartPole-v1")); }),
                   "episode 0, step 0: the data does not say how probable the action was"));
    const rl::value_estimate v =
        rl::estimate(by_player, untrained("CartPole-v1"), {.explore = true, .behaviour = rl::bc(by_player).trained()});
    CHECK(std::isfinite(v.value));
    CHECK(contains(thrown<manta::error>([&] { (void)rl::estimate(data, untrained("CartPole-v1")); }),
                   "observations of the environment"));
    const rl::environment<lever> numbers;
    rl::record(at / "n.npz", numbers, untrained(numbers), {.episodes = 5, .explore = true});
    const rl::episodes of_numbers = rl::read_episodes(at / "n.npz");
    CHECK(contains(thrown<manta::error>([&] { (void)rl::estimate(of_numbers, untrained(numbers)); }),
                   "let it draw them"));
    CHECK(std::isfinite(rl::estimate(of_numbers, untrained(numbers, 2), {.explore = true}).value));
  });
}

TEST_CASE("cql values what nobody has tried below the data, goes on bit for bit, and sac's rule does not") {
  const folder at;
  in_world([&] {
    const rl::environment<lever> e;
    rl::record(at / "l.episodes", e, rl::own<timid>(), {.episodes = 300});
    const rl::episodes data = rl::read_episodes(at / "l.episodes");
    const auto beyond = [](const rl::cql& a) { return a.value({0.5F}, {1.8F}) - a.value({0.5F}, {0.8F}); };
    rl::cql_options o{
        .seed = 1, .rate = 3e-3, .alpha = 5, .samples = 2, .batch = 32, .updates = 100, .model = {.hidden = {16}}};
    rl::cql careful(data, o), same(data, o);
    o.alpha = 0;
    rl::cql bold(data, o);
    for (int i = 0; i < 3; ++i) careful.train();
    for (int i = 0; i < 6; ++i) bold.train();
    same.load_from_bytes(careful.save_to_bytes());
    CHECK(weights_of(careful, 3) == weights_of(same, 3));
    CHECK(beyond(careful) < 0);
    CHECK(beyond(bold) > 0);
    CHECK(careful.evaluate(20).mean_return > data.mean_return());
    CHECK(contains(thrown<manta::error>([&] { (void)careful.value({0.5F}, {3.F}); }),
                   "the action {3}, which is not in box"));
  });
}
