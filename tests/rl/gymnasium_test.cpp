// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Environments and games in Python processes, by stand-ins of Gymnasium's interface (gymnasium/stand_in.py) and of
// PettingZoo's (gymnasium/zoo.py).
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

#include "manta/error.hpp"
#include "manta/rl/environments/check.hpp"
#include "manta/rl/environments/gymnasium.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/games.hpp"
#include "support/python.hpp"
#include "support/text.hpp"

namespace rl = manta::rl;
using manta::testing::has_python;
using manta::testing::thrown;

namespace {

rl::gymnasium_options options(const std::string& arguments = "{}") {
  rl::gymnasium_options o;
  o.module = "stand_in";
  o.per_process = 3;
  o.arguments = arguments;
  const std::string here = manta::testing::folder_beside(__FILE__, "gymnasium");
  setenv("PYTHONPATH", here.c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  return o;
}

void check_says(const std::string& text, const char* expected) {
  INFO(text);
  CHECK(text.find(expected) != std::string::npos);
}

}  // namespace

TEST_CASE("environments of Gymnasium step together, several in a process, with seeds of their own") {
  if (!has_python()) return;
  const rl::any_environment e = rl::gymnasium("Counter-v0", options());
  CHECK(e.name() == "Counter-v0");
  CHECK(e.actions() == rl::space(rl::discrete{3}));
  CHECK(e.observations().size() == 4);
  rl::vector_environment v(e, 1, 0, 7);
  v.reset();
  std::set<float> processes, seeds;
  for (int i = 0; i < 7; ++i) {
    seeds.insert(v.observations()(2, i));
    processes.insert(v.observations()(3, i));
  }
  CHECK(processes.size() == 3);
  CHECK(seeds.size() == 7);
  manta::nn::matrix<float> actions(1, 7);
  for (int i = 0; i < 7; ++i) actions(0, i) = static_cast<float>(i % 3);
  for (int t = 1; t <= 12; ++t) {
    v.step(actions);
    for (int i = 0; i < 7; ++i) {
      const auto k = static_cast<std::size_t>(i);
      CHECK(v.rewards()[k] == i % 3);
      CHECK(v.terminated()[k] == (t % 5 == 0));
      CHECK(v.observations()(0, i) == static_cast<float>(t % 5));
      if (t % 5 == 0) CHECK(v.last_observations()(1, i) == static_cast<float>(5 * (i % 3)));
    }
  }
  CHECK(v.take_episodes().size() == 14);
}

TEST_CASE("two vectors that share a process do not disturb each other, and truncation stays truncation") {
  if (!has_python()) return;
  const rl::any_environment e = rl::gymnasium("Counter-v0", options(R"({"length": 4, "what": "truncate"})"));
  rl::vector_environment one(e, 1, 0, 2), other(e, 2, 0, 2);
  one.reset();
  other.reset();
  const manta::nn::matrix<float> up = manta::nn::matrix<float>::Ones(1, 2);
  for (int t = 1; t <= 9; ++t) {
    one.step(up);
    if (t % 2 == 0) other.step(2 * up);
    CHECK(one.truncated()[1] == (t % 4 == 0));
    CHECK(!one.terminated()[1]);
    CHECK(one.rewards()[0] == 1);
  }
  CHECK(other.take_episodes().size() == 2);
}

TEST_CASE("dictionaries of observations keep their parts, and the checker finds nothing wrong") {
  if (!has_python()) return;
  const rl::any_environment e = rl::gymnasium("Reacher-v0", options());
  CHECK(e.observations().size() == 5);
  CHECK(e.observations().features() == 7);
  CHECK(e.actions() == rl::space(rl::box{{-2, -2}, {2, 2}}));
  rl::vector_environment v(e, 1, 0, 1);
  v.reset();
  CHECK(v.observations()(6, 0) == 1);  // the features: one number for each choice
  manta::nn::matrix<float> action(2, 1);
  action << 0.5f, -0.25f;
  v.step(action);
  CHECK(v.rewards()[0] == doctest::Approx(0.25));
  CHECK(v.observations()(1, 0) == -0.125f);
  CHECK(v.observations()(5, 0) == 1);
  CHECK(rl::find_mistakes(e.with_time_limit(20)).empty());
}

TEST_CASE("masks of actions stand in info or in observations, as lists of parts, or as bits") {
  if (!has_python()) return;
  const auto cards = [](const std::string& form) {
    return rl::gymnasium("Cards-v0", options(R"({"form": ")" + form + "\"}"));
  };
  CHECK(rl::gymnasium("Counter-v0", options()).mask_size() == 0);
  CHECK(cards("parts").mask_size() == 5);
  CHECK(cards("bits").mask_size() == 4);
  for (const char* form : {"info", "observation", "parts", "bits"}) {
    INFO(form);
    CHECK(rl::find_mistakes(cards(form)).empty());  // a closed choice raises, and no more than those are closed
  }
  for (const char* form : {"info", "observation"}) {
    const rl::any_environment e = cards(form);
    CHECK(e.observations() == rl::space(rl::box{std::vector<float>(5, 0.f), std::vector<float>(5, 1.f)}));
    rl::vector_environment v(e, 1, 0, 4);
    v.reset();
    for (int t = 0; t < 50; ++t) {
      REQUIRE(v.masks().cast<float>() == v.observations());
      manta::nn::matrix<float> best(1, 4);
      for (Eigen::Index i = 0; i < 4; ++i) {
        for (int c = 0; c < 5; ++c) {
          if (v.masks()(c, i) == 1) best(0, i) = static_cast<float>(c - 2);
        }
      }
      v.step(best);
      CHECK(v.rewards()[1] == 0);
    }
  }
}

TEST_CASE("what is wrong with a mask of Python is an error that says it") {
  if (!has_python()) return;
  const auto run = [](const std::string& arguments) {
    return thrown<manta::error>([&] {
      rl::vector_environment v(rl::gymnasium("Cards-v0", options(arguments)), 1, 0, 1);
      v.reset();
      for (int t = 0; t < 10; ++t) {
        rl::random numbers(static_cast<std::uint64_t>(t));
        manta::nn::matrix<float> action(1, 1);
        rl::detail::sample_allowed(rl::discrete{5, -2}, rl::detail::mask_of(v.masks(), 0), numbers, action.data());
        v.step(action);
      }
    });
  };
  CHECK(run("{}").empty());
  check_says(run(R"({"fault": "short"})"), "action_mask has 3 numbers; it needs one for each choice, which are 5");
  check_says(run(R"({"fault": "none"})"), "step 2: the action mask allows no action, though the episode goes on");
  check_says(run(R"({"fault": "lost"})"), "info has no action_mask, but that of the first reset() had one");
  const std::string late = thrown<manta::error>([&] {
    rl::vector_environment v(rl::gymnasium("Cards-v0", options(R"({"fault": "new"})")), 1, 0, 1);
    v.reset();
    manta::nn::matrix<float> any = manta::nn::matrix<float>::Constant(1, 1, -2);
    for (int t = 0; t < 3; ++t) {
      any(0, 0) = v.observations()(0, 0) > 0 ? -2 : -1;  // one that is open
      v.step(any);
    }
  });
  check_says(late, "info has an action_mask, but that of the first reset() had none");
  check_says(run(R"({"fault": "lost", "form": "observation"})"), "the observation has no action_mask");
  check_says(run(R"({"fault": "box"})"), "info has an action_mask, but actions of the space");
}

TEST_CASE("what goes wrong in Python is an error with environment, episode, step and last words") {
  if (!has_python()) return;
  const manta::nn::matrix<float> up = manta::nn::matrix<float>::Ones(1, 2);
  const auto run = [&](const rl::gymnasium_options& o) {
    return thrown<manta::error>([&] {
      rl::vector_environment v(rl::gymnasium("Counter-v0", o), 1, 0, 2);
      v.reset();
      for (int t = 0; t < 10; ++t) v.step(up);
    });
  };
  const std::string raised = run(options(R"({"at": 3, "what": "raise"})"));
  check_says(raised, "environment 0 (Counter-v0), episode 0, step 2");
  check_says(raised, "ValueError: the joint is broken");
  const std::string crashed = run(options(R"({"at": 3, "what": "crash"})"));
  check_says(crashed, "ended with exit code 7");
  check_says(crashed, "a segment of the leg is gone");
  rl::gymnasium_options hanging = options(R"({"at": 3, "what": "hang"})");
  hanging.timeout = 2;
  const std::string hung = run(hanging);
  check_says(hung, "has answered nothing within its time");
  check_says(hung, "thinking");
  check_says(thrown<manta::error>([] { rl::gymnasium("Nothing-v0", options()); }),
             "LookupError: there is no environment Nothing-v0");
  rl::gymnasium_options missing = options();
  missing.module = "no_such_module";
  const std::string lacking = thrown<manta::error>([&] { rl::gymnasium("Counter-v0", missing); });
  check_says(lacking, "ModuleNotFoundError");
  check_says(lacking, "Python lacks a package: install it for ");
  check_says(lacking, "or name another Python by MANTA_PYTHON");
}

TEST_CASE("a process that crashes is restarted where that is asked for: its episodes are truncated") {
  if (!has_python()) return;
  const auto marker = std::filesystem::temp_directory_path() / ("manta_test_marker_" + std::to_string(getpid()));
  std::filesystem::remove(marker);
  setenv("MANTA_TEST_MARKER", marker.c_str(), 1);
  rl::gymnasium_options o = options(R"({"at": 3, "what": "once"})");
  o.restarts = 1;
  rl::vector_environment v(rl::gymnasium("Counter-v0", o), 1, 0, 3);
  v.reset();
  const manta::nn::matrix<float> up = manta::nn::matrix<float>::Ones(1, 3);
  for (int t = 1; t <= 8; ++t) {
    v.step(up);
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(v.truncated()[k] == (t == 3));
      CHECK(v.terminated()[k] == (t == 8));
      if (t == 3) CHECK(v.last_observations()(0, static_cast<Eigen::Index>(k)) == 2);
    }
  }
  std::filesystem::remove(marker);
}

namespace {

rl::any_game zoo(const std::string& function, const std::string& arguments = "{}",
                 rl::out_of_bounds bounds = rl::out_of_bounds::warn) {
  (void)options();
  return rl::pettingzoo("zoo", {.arguments = arguments, .function = function, .bounds = bounds});
}

/// All that act take this action.
void play(rl::live_game& g, float action) {
  for (int i = 0; i < g.game().seats().size(); ++i) {
    if (g.acts(i)) g.choose(i, {&action, 1});
  }
  g.step();
}

}  // namespace

TEST_CASE("games of PettingZoo's parallel interface: agents act at once, and leave each at its time") {
  if (!has_python()) return;
  const rl::any_game game = zoo("");
  CHECK(game.name() == "zoo");
  CHECK(game.seats().size() == 3);
  CHECK(game.seats()[1].name == "slow");
  CHECK(game.seats()[0].actions == rl::space(rl::discrete{3}));
  CHECK(game.seats()[2].actions == rl::space(rl::discrete{2}));
  rl::check(game);
  rl::live_game g(game);
  g.begin(rl::random(1));
  CHECK(g.whole()[0] == 0);
  for (int step = 1; step <= 6; ++step) {
    play(g, 1);
    CHECK(g.whole()[0] == static_cast<float>(step));
    CHECK(g.acts(0) == (step < 3));
    CHECK(g.acts(1) == (step < 5));
    CHECK(g.is_over() == (step == 6));
    CHECK(g.is_cut_off(1) == (step == 5));
    CHECK(!g.is_cut_off(0));
    if (g.acts(2)) CHECK(g.observation(2)[0] == static_cast<float>(step));
    if (step == 5) CHECK(g.has_seen(1));
    if (step == 5) CHECK(g.observation(1)[0] == 5);
  }
  CHECK(g.total(0) == 3);
  CHECK(g.total(1) == 5);
  CHECK(g.total(2) == 6);
}

TEST_CASE("games of PettingZoo's AEC interface: agents act in turn, with masks, and end together") {
  if (!has_python()) return;
  const rl::any_game game = zoo("env");
  CHECK(game.seats()[0].observations.size() == 1);
  CHECK(game.seats()[0].actions == rl::space(rl::discrete{2, 1}));
  rl::check(game);
  rl::live_game g(game);
  for (int episode = 0; episode < 2; ++episode) {
    g.begin(rl::random(1));
    for (const float taken : {2.F, 2.F}) {
      const int mover = g.mover();
      CHECK(!g.is_simultaneous());
      CHECK(g.mask(mover)[1] == 1);
      play(g, taken);
      CHECK(g.mover() == 1 - mover);
    }
    CHECK(g.observation(0)[0] == 1);
    CHECK(g.mask(0)[1] == 0);
    play(g, 1);
    CHECK(g.is_over());
    CHECK(!g.is_cut_off(0));
    CHECK(g.total(0) == 1);
    CHECK(g.total(1) == -1);
  }
  rl::live_game cut(zoo("env", R"({"limit": 3})"));
  cut.begin(rl::random(1));
  for (int i = 0; i < 3; ++i) play(cut, 1);
  CHECK(cut.is_over());
  for (const int seat : {0, 1}) {
    CHECK(cut.is_cut_off(seat));
    CHECK(cut.has_seen(seat));
    CHECK(cut.observation(seat)[0] == 2);
  }
}

TEST_CASE("masks stand in the info of the agent whose turn it is") {
  if (!has_python()) return;
  const rl::any_game game = zoo("env", R"({"told": "info"})");
  CHECK(game.seats()[1].observations.size() == 1);
  rl::check(game);
  rl::live_game g(game);
  g.begin(rl::random(1));
  for (const float taken : {2.F, 2.F}) play(g, taken);
  CHECK(g.mask(0)[1] == 0);
  rl::live_game second(game);
  second.begin(rl::random(1));
  for (const float taken : {2.F, 1.F, 1.F}) play(second, taken);
  CHECK(second.mover() == 1);
  CHECK(second.mask(1)[0] == 1);
  CHECK(second.mask(1)[1] == 0);
}

TEST_CASE("what Python prints, and a member `state` that is no function, disturb nothing") {
  if (!has_python()) return;
  for (const rl::any_game& game : {zoo("chatty_env"), zoo("", R"({"what": "dict"})")}) {
    rl::live_game g(game);
    g.begin(rl::random(1));
    for (int step = 1; step <= 6; ++step) play(g, 1);
    CHECK(g.is_over());
    CHECK(g.total(2) == 6);
  }
}

TEST_CASE("what is wrong with a game of PettingZoo is an error with Python's words") {
  if (!has_python()) return;
  const auto fault = [](const char* what) {
    return thrown<manta::error>([&] {
      rl::live_game g(zoo("", std::string(R"({"what": ")") + what + "\"}"));
      g.begin(rl::random(1));
      play(g, 0);
    });
  };
  check_says(fault("blind"), "there is no observation for the agent 'late'");
  check_says(fault("short"), "an observation has the shape (1,), but its space is");
  check_says(fault("stranger"), "the agent 'guest' acts, but is not in possible_agents");
  check_says(thrown<manta::error>([] { (void)zoo("anonymous_env"); }), "the environment has no possible_agents");
  check_says(thrown<manta::error>([] { (void)rl::pettingzoo("no_such_zoo"); }),
             "manta: rl: pettingzoo(\"no_such_zoo\"): Python lacks a package");
  check_says(thrown<manta::error>([] { (void)zoo("raw_env"); }), "the module zoo has no raw_env");
  rl::live_game wet(zoo("", R"({"what": "raise"})"));
  wet.begin(rl::random(1), 4, 2);
  play(wet, 0);
  check_says(thrown<manta::error>([&] { play(wet, 0); }),
             "game 4 (zoo), episode 2, step 1: Python says ValueError: the track is wet");
  const auto high = [](rl::out_of_bounds bounds) {
    rl::live_game g(zoo("", R"({"what": "high"})", bounds));
    g.begin(rl::random(1));
    play(g, 0);
    play(g, 0);
    return g.observation(0)[0];
  };
  CHECK(high(rl::out_of_bounds::warn) == 22);
  CHECK(high(rl::out_of_bounds::clip) == 10);
  check_says(thrown<manta::error>([&] { high(rl::out_of_bounds::check); }), "seat 0 sees {22, 0}, which is not in its");
}
