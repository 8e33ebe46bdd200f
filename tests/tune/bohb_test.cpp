// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// BOHB against HyperBand, at the counting ones of its paper.
#include <doctest/doctest.h>

#include <algorithm>

#include "manta/tune/bohb.hpp"
#include "manta/tune/halving.hpp"
#include "manta/tune/history.hpp"
#include "manta/tune/random_search.hpp"
#include "support/search.hpp"

namespace tune = manta::tune;
using namespace manta::testing;

namespace {

/// BOHB's counting ones: how many binaries are one, and how probable ones are, estimated from `at` draws.
double counting_ones(const tune::config& c, double at, tune::random& r) {
  double sum = 0;
  for (const auto& [name, v] : c) {
    if (name[0] == 'b') {
      sum += v.as<double>();
    } else {
      const double p = v.as<double>();
      int ones = 0;
      for (int i = 0; i < static_cast<int>(at); ++i) ones += r.chance(p);
      sum += ones / at;
    }
  }
  return -sum;
}
/// The true regret of the configuration that looked best at the largest budget, divided by the number of parameters.
template <class Searcher>
double after_three_rounds(Searcher s, std::uint64_t seed) {
  std::vector<tune::parameter> parameters;
  for (int i = 0; i < 8; ++i) parameters.push_back({"b" + std::to_string(i), tune::choice({0, 1})});
  for (int i = 0; i < 8; ++i) parameters.push_back({"x" + std::to_string(i), tune::uniform(0, 1)});
  const tune::space where(parameters);
  tune::hyperband h({.max = 729.0 / 9});
  s.begin(where, seed);
  tune::random r(seed, 1, 2);
  std::vector<tune::config> configs;
  double best = tune::infinity, regret = 1;
  const std::size_t trials = 3 * 143;
  for (;;) {
    const auto a = h.next(configs.size() < trials);
    if (a.what == tune::action::kind::nothing) return regret;
    std::size_t t = a.trial;
    if (a.what == tune::action::kind::add) {
      t = configs.size();
      configs.push_back(*s.ask(t));
      h.add(t, configs[t]);
    }
    for (;;) {
      const double at = h.silent_until(t);
      const double loss = counting_ones(configs[t], 9 * at, r);
      if constexpr (requires { s.report(t, at, loss); }) s.report(t, at, loss);
      if (at == 81 && loss < best) {
        best = loss;
        double truth = 16;
        for (const tune::config::entry& e : configs[t]) truth -= e.second.as<double>();
        regret = truth / 16;
      }
      const auto v = h.report(t, at, loss);
      if (v.what == tune::verdict::kind::stop) s.tell(t, loss);
      for (const auto d : h.take_dropped()) s.tell(d, loss);
      if (v.what != tune::verdict::kind::go_on) break;
    }
  }
}

}  // namespace

TEST_CASE("BOHB beats HyperBand at counting ones by a factor of two") {
  std::vector<double> model, chance;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    model.push_back(after_three_rounds(tune::bohb(), seed));
    chance.push_back(after_three_rounds(tune::random_search(), seed));
  }
  INFO("regret with the model " << tune::median(model) << ", at random " << tune::median(chance));
  CHECK(tune::median(model) <= tune::median(chance) / 2);
}

TEST_CASE("of losses in the order of their age the newest are worth keeping, and the best of the others") {
  std::vector<double> losses(100);
  for (std::size_t i = 0; i < losses.size(); ++i) losses[i] = static_cast<double>(i * 37 % 100);
  const auto stays = tune::detail::worth_keeping(losses, 40);
  CHECK(std::count(stays.begin(), stays.end(), true) == 40);
  std::vector<double> old(losses.begin(), losses.begin() + 70);
  std::sort(old.begin(), old.end());
  for (std::size_t i = 0; i < losses.size(); ++i) CHECK(stays[i] == (i >= 70 || losses[i] <= old[9]));
  const auto equal = tune::detail::worth_keeping(std::vector<double>(100, 1.0), 40);
  CHECK(std::count(equal.begin(), equal.end(), true) == 40);
  const auto few = tune::detail::worth_keeping(losses, 100);
  CHECK(std::count(few.begin(), few.end(), true) == 100);
}

TEST_CASE("BOHB goes on learning when it has forgotten most of what it was told") {
  const tune::space x = {{"x", tune::uniform(0, 1)}};
  tune::bohb s;
  s.begin(x, 1);
  double late = 0;
  constexpr std::uint64_t trials = 1500, last = 200;
  for (std::uint64_t t = 0; t < trials; ++t) {
    const double far = std::abs(s.ask(t)->get<double>("x") - 0.3);
    for (const double budget : {1.0, 3.0, 9.0}) s.report(t, budget, far + 1 / budget);
    s.tell(t, far);
    if (t >= trials - last) late += far / last;
  }
  CHECK(late < 0.15);  // a third are drawn at random, which are 0.29 away in the mean; those of the model hardly at all
}

TEST_CASE("what was asked before a kill is not asked again, and the search goes on as it would have") {
  check_continues(tune::bohb());
  check_continues(tune::bohb(), mixed_problem);
}
