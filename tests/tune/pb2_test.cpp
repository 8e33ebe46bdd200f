// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// PB2 against PBT where the best configuration changes with time.
#include <doctest/doctest.h>

#include "manta/tune/pb2.hpp"
#include "support/campaign.hpp"

namespace tune = manta::tune;

namespace {

/// Four trials gain -(h - 0.5 - 0.4 sin(t / 10))^2 at each step; the mean of what they lose against the best h.
template <class Scheduler>
double regret(Scheduler s, std::uint64_t seed) {
  const tune::space where = {{"h", tune::uniform(0, 1)}};
  s.begin(where, seed, 4);
  struct worker {
    double h = 0, sum = 0, saved = 0;
    int at = 0, saved_at = 0;
  };
  std::vector<worker> w(4);
  tune::random r(seed, 3);
  for (std::size_t t = 0; t < 4; ++t) {
    w[t].h = r.uniform();
    s.add(t, {{"h", w[t].h}});
  }
  double lost = 0;
  int count = 0;
  for (int step = 0; step < 200; ++step) {
    for (const std::size_t t : r.permutation(4)) {
      worker& x = w[t];
      ++x.at;
      const double gain = -std::pow(x.h - 0.5 - 0.4 * std::sin(x.at / 10.0), 2);
      x.sum += gain;
      lost -= gain;
      ++count;
      const tune::verdict v = s.report(t, x.at, -x.sum);
      if (v.save) {
        x.saved = x.sum;
        x.saved_at = x.at;
      }
      if (v.change) {
        const worker& source = w[v.change->source];
        x.sum = source.saved;
        x.at = source.saved_at;
        x.h = v.change->to.get<double>("h");
      }
    }
  }
  return lost / count;
}

}  // namespace

TEST_CASE("PB2 follows a moving optimum better than PBT") {
  double bandit = 0, chance = 0;
  const int seeds = manta::testing::rounds(6, 20);
  for (int seed = 1; seed <= seeds; ++seed) {
    bandit += regret(tune::pb2({.interval = 4}), static_cast<std::uint64_t>(seed)) / seeds;
    chance += regret(tune::pbt({.interval = 4}), static_cast<std::uint64_t>(seed)) / seeds;
  }
  INFO("mean regret: PB2 " << bandit << ", PBT " << chance);
  CHECK(bandit < chance);
}

TEST_CASE("PB2 refuses what it cannot change") {
  tune::pb2 s;
  CHECK_THROWS_AS(s.begin({{"c", tune::choice({1, 2})}}, 1, 4), tune::error);
  CHECK_THROWS_AS(s.begin({{"n", tune::normal(0, 1)}}, 1, 4), tune::error);
  CHECK_THROWS_AS(s.begin({{"k", 1}}, 1, 4), tune::error);
  tune::pb2 some({.mutate = {"x"}});
  CHECK_NOTHROW(some.begin({{"c", tune::choice({1, 2})}, {"x", tune::uniform(0, 1)}}, 1, 4));
}
