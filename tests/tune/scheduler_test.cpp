// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Schedulers without training: results are fed in by hand, or by a simulation
// with a virtual clock.
#include <doctest/doctest.h>

#include <queue>
#include <set>

#include "manta/tune/asha.hpp"
#include "manta/tune/halving.hpp"
#include "manta/tune/median_stopping.hpp"
#include "manta/tune/pbt.hpp"
#include "support/campaign.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using kind = tune::verdict::kind;

namespace {

/// Trials train on `workers` at once, each with a fixed loss; a job is the way from one mark of its scheduler to the
/// next.
struct simulation {
  double deviation = 0;  ///< a job takes its length times 1 + |N(0, deviation)|
  double drop = 0;       ///< probability per unit of time that it is lost
  double horizon = 2000;
  std::size_t workers = 25;
  double max = 256;
  bool one_bracket_at_a_time = false;

  double first = tune::infinity;  ///< when a trial reached `max`
  int complete = 0;

  template <class Scheduler>
  void run(Scheduler s, std::uint64_t seed, std::size_t bracket = 256) {
    struct job {
      double end;
      std::size_t trial;
      double target;
      bool lost;
      bool operator<(const job& o) const { return end > o.end; }
    };
    std::priority_queue<job> running;
    std::vector<double> loss, at;
    std::vector<bool> paused;
    tune::random r(seed);
    double now = 0;
    std::size_t alive = 0;
    const auto start = [&](std::size_t t) {
      const double target = s.silent_until(t);
      const double length = (target - at[t]) * (1 + std::abs(deviation * r.normal()));
      const double lost_after = drop > 0 ? std::floor(std::log(r.uniform()) / std::log1p(-drop)) + 1 : tune::infinity;
      running.push({now + std::min(length, lost_after), t, target, lost_after <= length});
    };
    for (;;) {
      while (running.size() < workers) {
        const bool may_add = !one_bracket_at_a_time || loss.size() % bracket != 0 || alive == 0;
        const auto a = s.next(may_add);
        if (a.what == tune::action::kind::nothing) break;
        std::size_t t = a.trial;
        if (a.what == tune::action::kind::add) {
          t = loss.size();
          loss.push_back(r.uniform());
          at.push_back(0);
          s.add(t, {});
          ++alive;
        }
        start(t);
      }
      if (running.empty() || running.top().end > horizon) return;
      const job j = running.top();
      running.pop();
      now = j.end;
      if (j.lost) {
        s.remove(j.trial);
        --alive;
      } else {
        at[j.trial] = j.target;
        const auto v = s.report(j.trial, j.target, loss[j.trial]);
        if (j.target >= max) {
          ++complete;
          first = std::min(first, now);
        }
        if (v.what == kind::go_on) start(j.trial);
        if (v.what == kind::stop) --alive;
      }
      if constexpr (requires { s.take_dropped(); }) alive -= s.take_dropped().size();
    }
  }
};

struct averages {
  double first = 0, complete = 0;
};
template <class Scheduler>
averages simulate(const Scheduler& s, simulation world, int seeds) {
  averages a;
  for (int seed = 0; seed < seeds; ++seed) {
    simulation w = world;
    w.run(s, static_cast<std::uint64_t>(seed));
    a.first += std::min(w.first, 2000.0) / seeds;
    a.complete += static_cast<double>(w.complete) / seeds;
  }
  return a;
}

/// Trains everybody one unit further as long as anything runs; returns the total of units and the trials.
template <class Scheduler>
std::pair<double, std::size_t> train_all(Scheduler& s, std::size_t trials, bool failing = false) {
  std::map<std::size_t, double> running, paused;
  std::size_t added = 0;
  double units = 0;
  for (;;) {
    for (;;) {
      const auto a = s.next(added < trials);
      if (a.what == tune::action::kind::nothing) break;
      if (a.what == tune::action::kind::add) {
        s.add(added, {});
        running[added++] = 0;
      } else {
        running[a.trial] = paused.at(a.trial);
        paused.erase(a.trial);
      }
    }
    if (running.empty()) return {units, added};
    const auto now = running;
    for (const auto& [t, at] : now) {
      if (failing && t % 3 == 0) {
        s.remove(t);
        running.erase(t);
        continue;
      }
      units += 1;
      const auto v = s.report(t, at + 1, static_cast<double>(t * 7919 % 1009));
      running.erase(t);
      if (v.what == kind::go_on) running[t] = at + 1;
      if (v.what == kind::pause) paused[t] = at + 1;
      for (const auto d : s.take_dropped()) paused.erase(d);
    }
  }
}

}  // namespace

TEST_CASE("HyperBand's tables are those that were published") {
  using list = std::vector<tune::rung>;
  CHECK(tune::hyperband_brackets(81, 3, tune::hyperband_sizes::table) ==
        std::vector<list>{{{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
                          {{27, 3}, {9, 9}, {3, 27}, {1, 81}},
                          {{9, 9}, {3, 27}, {1, 81}},
                          {{6, 27}, {2, 81}},
                          {{5, 81}}});
  CHECK(tune::hyperband_brackets(81, 3, tune::hyperband_sizes::pseudo_code) ==
        std::vector<list>{{{81, 1}, {27, 3}, {9, 9}, {3, 27}, {1, 81}},
                          {{34, 3}, {11, 9}, {3, 27}, {1, 81}},
                          {{15, 9}, {5, 27}, {1, 81}},
                          {{8, 27}, {2, 81}},
                          {{5, 81}}});
  CHECK(tune::hyperband_brackets(243, 3).size() == 6U);  // floor(log 243 / log 3) is 4 in floating point
}

TEST_CASE("HyperBand trains as many trials for as long as the tables say") {
  tune::hyperband table({.sizes = tune::hyperband_sizes::table});
  CHECK(train_all(table, 128) == std::pair(1404.0, std::size_t{128}));
  CHECK(table.brackets_begun() == 5U);
  tune::hyperband code;
  CHECK(train_all(code, 143) == std::pair(1581.0, std::size_t{143}));
}

TEST_CASE("a bracket that is not full, or loses trials, goes on with those it has") {
  tune::hyperband few;
  const auto [units, trials] = train_all(few, 20);  // of 81
  CHECK(trials == 20U);
  CHECK(units == 20 + 6 * 2 + 2 * 6 + 1 * 18 + 1 * 54);
  tune::hyperband gaps;
  CHECK(train_all(gaps, 143, true).second == 143U);
  tune::successive_halving all_fail({.trials = 3, .max = 3});
  for (std::size_t t = 0; t < 3; ++t) {
    CHECK(all_fail.next(true).what == tune::action::kind::add);
    all_fail.add(t, {});
  }
  for (std::size_t t = 0; t < 3; ++t) all_fail.remove(t);
  CHECK(all_fail.next(true).what == tune::action::kind::add);
}

TEST_CASE("ASHA, stopping: marks and cutoffs as computed by hand") {
  tune::asha s({.max = 10, .grace = 1, .eta = 2});
  CHECK(s.marks() == std::vector<double>{1, 2, 4, 8});
  for (std::size_t t = 0; t < 3; ++t) s.add(t, {});
  CHECK(s.report(0, 1, -2).what == kind::go_on);  // scores 2 and 4: the cutoff is 3
  CHECK(s.report(1, 1, -4).what == kind::go_on);
  const auto v = s.report(2, 1, -1);
  CHECK(v.what == kind::stop);
  CHECK(v.why == "at 1: loss -1 is above -3, the best 1/2 of 2");
  CHECK(s.report(1, 10, -5).what == kind::stop);  // the maximum
  tune::asha ties;
  for (std::size_t t = 0; t < 9; ++t) {
    ties.add(t, {});
    CHECK(ties.report(t, 1, 0.5).what == kind::go_on);
  }
}

TEST_CASE("ASHA, stopping: a jump is judged at the highest mark and passes the lower ones by") {
  tune::asha s({.max = 100, .grace = 1, .eta = 3});
  for (std::size_t t = 0; t < 12; ++t) s.add(t, {});
  for (std::size_t t = 0; t < 9; ++t) CHECK(s.report(t, 3, 0).what == kind::go_on);
  CHECK(s.report(10, 9, 5).what == kind::go_on);  // the first at 9
  CHECK(s.silent_until(10) == 27);
  CHECK(s.report(10, 10, 5).what == kind::go_on);  // would be the worst at 3
  CHECK(s.silent_until(10) == 27);
}

TEST_CASE("ASHA, stopping: brackets are chosen by the softmax of their marks") {
  tune::asha s({.max = 9, .grace = 1, .eta = 3, .brackets = 2});
  CHECK(s.marks(0) == std::vector<double>{1, 3});
  CHECK(s.marks(1) == std::vector<double>{3});
  s.begin({}, 5, 0);
  int first = 0;
  for (std::size_t t = 0; t < 5000; ++t) {
    s.add(t, {});
    first += s.silent_until(t) == 1;
  }
  CHECK(first / 5000.0 == doctest::Approx(std::exp(2) / (std::exp(2) + std::exp(1))).epsilon(0.03));
}

TEST_CASE("ASHA, promotion: decisions as computed by hand") {
  tune::asha_promotion s({.max = 9, .grace = 1, .eta = 3});
  for (std::size_t t = 0; t < 6; ++t) s.add(t, {});
  const std::vector<double> scores = {.1, .2, .3};
  for (std::size_t t = 0; t < 2; ++t) CHECK(s.report(t, 1, -scores[t]).what == kind::pause);
  CHECK(s.next(true).what == tune::action::kind::add);  // fewer than eta results
  s.report(2, 1, -.3);
  const auto a = s.next(true);
  CHECK(a.what == tune::action::kind::resume);
  CHECK(a.trial == 2U);
  CHECK(a.why == "among the best 1/3 of 3 at 1: promoted to 3");
  CHECK(s.next(true).what == tune::action::kind::add);
  CHECK(s.next(false).what == tune::action::kind::nothing);
}

TEST_CASE("ASHA, promotion: after six results at most two promotions, in any order") {
  std::vector<double> scores = {1, 2, 3, 4, 5, 6};
  int orders = 0;
  do {
    tune::asha_promotion s({.max = 9, .grace = 1, .eta = 3});
    for (std::size_t t = 0; t < 6; ++t) {
      s.add(t, {});
      s.report(t, 1, -scores[t]);
    }
    std::vector<double> promoted;
    for (;;) {
      const auto a = s.next(false);
      if (a.what != tune::action::kind::resume) break;
      promoted.push_back(scores[a.trial]);
    }
    CHECK(promoted == std::vector<double>{6, 5});
    ++orders;
  } while (std::next_permutation(scores.begin(), scores.end()));
  CHECK(orders == 720);
}

TEST_CASE("ASHA, promotion: the incremental choice is that of the definition") {
  tune::random r(3);
  for (int round = 0; round < 20; ++round) {
    tune::asha_promotion s({.max = 64, .grace = 1, .eta = 4});
    std::vector<std::pair<double, std::size_t>> seen;
    std::vector<bool> promoted;
    for (std::size_t t = 0; t < 100; ++t) {
      s.add(t, {});
      const double loss = r.uniform();
      s.report(t, 1, loss);
      seen.emplace_back(loss, t);
      promoted.push_back(false);
      if (!r.chance(0.4)) continue;
      auto order = seen;
      std::sort(order.begin(), order.end());
      std::optional<std::size_t> expected;
      for (std::size_t i = 0; i < seen.size() / 4 && !expected; ++i) {
        if (!promoted[order[i].second]) expected = order[i].second;
      }
      const auto a = s.next(false);
      CHECK((a.what == tune::action::kind::resume) == expected.has_value());
      if (expected) {
        CHECK(a.trial == *expected);
        promoted[*expected] = true;
      }
    }
  }
}

TEST_CASE("ASHA against synchronous halving in virtual time, as in the paper's appendix") {
  struct row {
    double deviation, drop, asha_first, asha_count, sha_first, sha_count;
  };
  // 25 workers, eta 4, marks 1 to 256, 2000 units of time; the figures are of an independent simulation
  const std::vector<row> rows = {
      {.1, 0, 290, 48.5, 298, 6},     {.1, .001, 299, 38.6, 400, 3.9},   {.1, .005, 405, 16.2, 2000, 0},
      {.56, 0, 333, 36.4, 420, 4.3},  {.56, .001, 372, 28.6, 763, 2.3},  {.56, .005, 462, 7.5, 2000, 0},
      {1.33, 0, 430, 23.2, 625, 2.9}, {1.33, .001, 475, 14.9, 1504, .7}, {1.33, .005, 830, 2.9, 2000, 0}};
  for (std::size_t i = 0; i < rows.size(); i += manta::testing::is_long() ? 1U : 4U) {
    const row& w = rows[i];
    const auto a = simulate(tune::asha_promotion({.max = 256, .grace = 1, .eta = 4}),
                            {.deviation = w.deviation, .drop = w.drop}, 20);
    const auto s = simulate(tune::successive_halving({.trials = 256, .max = 256, .eta = 4}),
                            {.deviation = w.deviation, .drop = w.drop, .one_bracket_at_a_time = true}, 20);
    CAPTURE(w.deviation);
    CAPTURE(w.drop);
    CAPTURE(a.complete);
    CAPTURE(s.complete);
    CAPTURE(a.first);
    CAPTURE(s.first);
    CHECK(std::abs(a.complete / w.asha_count - 1) < 0.15);
    CHECK(std::abs(a.first / w.asha_first - 1) < 0.15);
    CHECK(a.complete >= 5 * w.sha_count);
    CHECK(a.first <= w.sha_first);
    // a bracket here goes on with what it has when jobs are lost: then it is better than that of the table
    CHECK(s.complete >= 0.9 * w.sha_count);
    CHECK(s.first <= 1.02 * w.sha_first);
    CHECK(a.complete >= (w.drop > .001 ? 3.5 : 5) * s.complete);
    CHECK(a.first < s.first);
  }
}

TEST_CASE("median stopping: a best that is as good as the median of means goes on") {
  for (const double score : {2.0, 1.99}) {
    tune::median_stopping s({.grace = 1, .min_samples = 3});
    for (std::size_t t = 0; t < 4; ++t) s.add(t, {});
    for (int at = 1; at <= 5; ++at) {
      for (std::size_t t = 0; t < 3; ++t) CHECK(s.report(t, at, -static_cast<double>(t + 1)).what == kind::go_on);
    }
    CHECK(s.report(3, 1, -score).what == (score == 2.0 ? kind::go_on : kind::stop));
  }
}

TEST_CASE("median stopping is what its definition says, also when trials report at different points") {
  tune::random r(17);
  tune::median_stopping s({.grace = 2, .min_samples = 2});
  std::vector<std::vector<std::pair<double, double>>> history(12);
  int stops = 0;
  for (std::size_t t = 0; t < history.size(); ++t) s.add(t, {});
  for (int step = 0; step < 400; ++step) {
    const std::size_t t = r.index(history.size());
    const double at = (history[t].empty() ? 0 : history[t].back().first) + static_cast<double>(1 + r.index(3));
    const double loss = r.uniform();
    double best = loss;
    for (const auto& [x, l] : history[t]) best = x >= 2 ? std::min(best, l) : best;
    std::vector<double> means;
    for (std::size_t o = 0; o < history.size(); ++o) {
      if (o == t || history[o].empty() || history[o].back().first < at) continue;
      double sum = 0, n = 0;
      for (const auto& [x, l] : history[o]) {
        if (x >= 2 && x <= at) {
          sum += l;
          n += 1;
        }
      }
      if (n > 0) means.push_back(sum / n);
    }
    const bool stop = at >= 2 && means.size() >= 2 && best > tune::median(means);
    const auto v = s.report(t, at, loss);
    CHECK((v.what == kind::stop) == stop);
    stops += stop;
    history[t].emplace_back(at, loss);
  }
  CHECK(stops > 10);
}

TEST_CASE("PBT perturbs as often and as far as it says") {
  tune::pbt s({.interval = 1});
  const tune::space where = {
      {"lr", tune::uniform(0, 10)}, {"n", tune::integers(1, 100)}, {"c", tune::choice({1, 2, 3, 4})}, {"fixed", 7}};
  s.begin(where, 1, 4);
  tune::random r(2);
  int up = 0, down = 0, anew = 0, left = 0, right = 0;
  const int draws = 100'000;
  for (int i = 0; i < draws; ++i) {
    const auto c = s.explore({{"lr", 1.0}, {"n", 10}, {"c", 2}, {"fixed", 7}}, r);
    const double lr = c["lr"];
    up += lr == 1.2;
    down += lr == 0.8;
    anew += lr != 1.2 && lr != 0.8;
    CHECK(c.get<int>("fixed") == 7);
    left += c.get<int>("c") == 1;
    right += c.get<int>("c") == 3;
  }
  CHECK(std::abs(anew / 1e5 - 0.25) < 0.005);
  CHECK(std::abs(up / 1e5 - 0.375) < 0.005);
  CHECK(std::abs(down / 1e5 - 0.375) < 0.005);
  CHECK(std::abs(left / 1e5 - (0.375 + 0.0625)) < 0.005);
  CHECK(std::abs(right / 1e5 - (0.375 + 0.0625)) < 0.005);
  for (int i = 0; i < 1000; ++i) {
    const auto c = s.explore({{"lr", 9.5}, {"n", 1}, {"c", 4}}, r);
    CHECK(c.get<double>("lr") <= 10);
    CHECK(c.get<int>("n") >= 1);
  }
}

namespace {

/// Two workers climb 1.2 - h1 a^2 - h2 b^2 and are judged by 1.2 - a^2 - b^2 (figure 2 of the paper).
struct toy {
  bool exploits = true, explores = true, synchronous = false;
  bool copies = true;  ///< h with the rest, as PBT does; or each keeps its own and changes it, as in the figure

  double run(std::uint64_t seed) const {
    tune::pbt s({
        .interval = 5,
        .quantile = exploits ? 0.5 : 0,
        .resample = 0,
        .synchronous = synchronous,
        .explore =
            [explore = explores](tune::config c, tune::random& r) {
              for (const char* h : {"h1", "h2"}) {
                if (explore) c.set(h, std::clamp(c.get<double>(h) + r.uniform(-.1, .1), 0., 1.));
              }
              return c;
            },
    });
    // values are changed by `explore` alone: nothing of the space mutates
    s.begin({{"h1", 0}, {"h2", 0}}, seed, 2);
    struct worker {
      double a = .9, b = .9, saved_a = .9, saved_b = .9;
      double q = 0;
      int at = 0, saved_at = 0;
      tune::config h;
      bool paused = false;
    };
    std::vector<worker> w(2);
    w[0].h = {{"h1", 1.0}, {"h2", 0.0}};
    w[1].h = {{"h1", 0.0}, {"h2", 1.0}};
    tune::random own(seed, 77);
    const auto perturb = [&own](tune::config& h) {
      for (const char* name : {"h1", "h2"}) h.set(name, std::clamp(h.get<double>(name) + own.uniform(-.1, .1), 0., 1.));
    };
    for (std::size_t t = 0; t < 2; ++t) {
      CHECK(s.next(true).what == tune::action::kind::add);
      s.add(t, w[t].h);
    }
    const auto apply = [&](std::size_t t, const tune::exploit& e) {
      w[t].a = w[e.source].saved_a;
      w[t].b = w[e.source].saved_b;
      w[t].at = w[e.source].saved_at;
      if (explores && copies) w[t].h = e.to;  // who only exploits keeps its own, or both would have the same
      if (explores && !copies) perturb(w[t].h);
    };
    double best = -1e9;
    for (int step = 0; step < 200; ++step) {
      const std::size_t leader = own.index(2);  // who comes first to a look is at a disadvantage
      for (const std::size_t t : {leader, 1 - leader}) {
        worker& x = w[t];
        REQUIRE(!x.paused);
        x.a -= 0.01 * 2 * x.h.get<double>("h1") * x.a;
        x.b -= 0.01 * 2 * x.h.get<double>("h2") * x.b;
        ++x.at;
        const double q = 1.2 - x.a * x.a - x.b * x.b;
        best = std::max(best, q);
        const auto v = s.report(t, x.at, -q);
        if (v.save || v.what == kind::pause) x.saved_a = x.a, x.saved_b = x.b, x.saved_at = x.at;
        if (v.change) apply(t, *v.change);
        x.paused = v.what == kind::pause;
        x.q = q;
      }
      // explore alone: without exploiting nobody would call it
      if (!exploits && explores && step % 5 == 4) perturb(w[w[0].q < w[1].q ? 0 : 1].h);
      for (;;) {
        const auto a = s.next(false);
        if (a.what != tune::action::kind::resume) break;
        w[a.trial].paused = false;
        if (a.change) apply(a.trial, *a.change);
      }
    }
    return best;
  }
};

/// What the best worker reaches, by seeds, in ascending order.
std::vector<double> reached(const toy& t, std::uint64_t seeds = 50) {
  std::vector<double> all;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) all.push_back(t.run(seed));
  std::sort(all.begin(), all.end());
  return all;
}
/// What all but one in fifty reach: what was measured elsewhere is the least of fifty.
double least_of_fifty(const std::vector<double>& ascending) { return tune::sorted_quantile(ascending, 0.02); }
double middle(const std::vector<double>& ascending) { return tune::sorted_quantile(ascending, 0.5); }

}  // namespace

TEST_CASE("PBT's toy: grid < explore < exploit <= both") {
  const double grid = middle(reached({.exploits = false, .explores = false}));
  const double explore = middle(reached({.exploits = false}, 400));
  const double exploit = middle(reached({.explores = false, .synchronous = true}));
  const auto both = reached({.synchronous = true, .copies = false}, 1000);
  const auto copying = reached({.synchronous = true}, 400);
  CAPTURE(explore);
  CAPTURE(exploit);
  CAPTURE(middle(both));
  CAPTURE(middle(copying));
  CHECK(grid == doctest::Approx(0.3897).epsilon(0.0005));
  CHECK(explore == doctest::Approx(0.925).epsilon(0.02));
  CHECK(exploit == doctest::Approx(1.1715).epsilon(0.0002));
  CHECK(middle(both) == doctest::Approx(1.173).epsilon(0.001));
  CHECK(least_of_fifty(both) > 1.14);
  CHECK(middle(copying) == doctest::Approx(1.179).epsilon(0.003));
  CHECK(least_of_fifty(copying) > 1.08);
  CHECK((grid < explore && explore < exploit && exploit <= middle(both) && exploit <= middle(copying)));
  // Two workers that do not wait are compared at different ages, so that the one behind seldom wins: what is gained is
  // less, but no worker falls back to the grid's.
  CHECK(middle(reached({.explores = false})) == doctest::Approx(1.1715).epsilon(0.001));
  const auto async = reached({});
  CHECK(async.front() > grid);
  CHECK(middle(async) > 1);
}

TEST_CASE("PBT with fewer places than trials trains the one that has trained least") {
  tune::pbt s({.interval = 2, .quantile = 0});
  s.begin({{"x", tune::uniform(0, 1)}}, 1, 3);
  CHECK(s.next(true).what == tune::action::kind::add);
  s.add(0, {{"x", 0.1}});
  CHECK(s.report(0, 1, 1).what == kind::go_on);
  CHECK(s.report(0, 2, 1).what == kind::pause);
  s.add(1, {{"x", 0.2}});
  CHECK(s.report(1, 2, 1).what == kind::pause);
  s.add(2, {{"x", 0.3}});
  CHECK(s.report(2, 1, 1).what == kind::go_on);
  CHECK(s.report(2, 2, 1).what == kind::go_on);  // nobody has less
  CHECK(s.report(2, 4, 1).what == kind::pause);
  CHECK(s.next(false).trial == 0U);
  CHECK(s.next(false).trial == 1U);
  CHECK(s.next(false).trial == 2U);
  CHECK(s.next(false).what == tune::action::kind::nothing);
}

TEST_CASE("PBT with fewer places than trials does not exploit for ever a trial that waits for the place") {
  tune::pbt s({.interval = 2, .quantile = 0.5});
  s.begin({{"x", tune::uniform(0, 1)}}, 1, 2);
  s.add(0, {{"x", 0.1}});
  CHECK(s.report(0, 2, 0).what == kind::pause);  // the best there will be
  s.add(1, {{"x", 0.2}});
  CHECK(s.report(1, 2, 1).change.has_value());
  CHECK(s.report(1, 4, 1).what == kind::pause);
  CHECK(s.next(false).trial == 0U);
}

TEST_CASE("in a synchronous population the worst copy the best of the same round, never each other") {
  constexpr std::uint64_t members = 8;
  tune::pbt s({.interval = 4, .synchronous = true});
  s.begin({{"lr", tune::loguniform(1e-3, 1)}}, 1, members);
  for (std::uint64_t t = 0; t < members; ++t) s.add(t, {{"lr", 0.01 * static_cast<double>(t + 1)}});
  for (int round = 1; round <= 20; ++round) {
    CAPTURE(round);
    for (std::uint64_t t = 0; t < members; ++t)  // 6 and 7 are the worst
      CHECK(s.report(t, 4 * round, 1 + static_cast<double>(t)).what == kind::pause);
    std::set<std::uint64_t> losers, sources;
    for (std::uint64_t k = 0; k < members; ++k) {
      const tune::action a = s.next(false);
      if (!a.change) continue;
      losers.insert(a.trial);
      sources.insert(a.change->source);
    }
    CHECK(losers == std::set<std::uint64_t>{6, 7});
    for (const std::uint64_t t : sources) CHECK(t <= 1);
  }
}

TEST_CASE("PBT without a population says so, and trains each trial by itself") {
  const tune::space line = {{"x", tune::uniform(0, 1)}};
  for (const std::size_t trials : {std::size_t{1}, ~std::size_t{0}}) {
    tune::pbt s({.interval = 2});
    s.begin(line, 1, trials);
    CHECK(manta::testing::contains(s.remark(0), "no trial is copied; give .trials"));
    CHECK(s.remark(10).empty());
    s.add(0, {{"x", 0.1}});
    for (int at = 1; at < 50; ++at) CHECK(s.report(0, at, 1).what == kind::go_on);
  }
  tune::pbt s({.interval = 2});
  s.begin(line, 1, 8);
  CHECK(s.remark(0).empty());
}

TEST_CASE("a population that keeps no state is not copied any more, and who waits goes on") {
  for (const bool synchronous : {false, true}) {
    tune::pbt s({.interval = 2, .quantile = 0.5, .synchronous = synchronous});
    s.begin({{"x", tune::uniform(0, 1)}}, 1, 2);
    for (std::uint64_t t = 0; t < 2; ++t) s.add(t, {{"x", 0.1}});
    CHECK(s.report(0, 2, 0).what == (synchronous ? kind::pause : kind::go_on));
    CHECK(s.nothing_kept() == "none is copied, and each trains by itself to its end");
    CHECK(s.report(1, 2, 1).what == kind::go_on);
    CHECK(s.next(false).what == (synchronous ? tune::action::kind::resume : tune::action::kind::nothing));
    for (int at = 4; at < 20; at += 2) CHECK(s.report(1, at, 1).what == kind::go_on);
  }
}

TEST_CASE("marks that no trial reaches are said") {
  const tune::asha s({.grace = 1, .eta = 4});
  CHECK(s.remark(0).empty());
  CHECK(s.remark(100).empty());
  CHECK(s.remark(10).starts_with("asha: trials end at 10, so none comes to the marks 16 and 64; give .max = 10"));
  CHECK(tune::asha_promotion({.max = 20})
            .remark(10)
            .starts_with("asha_promotion: trials end at 10, so none comes to the mark 16;"));
}

TEST_CASE("a synchronous population goes on when the one it waits for has gone, those that exploit first") {
  tune::pbt s({.interval = 1, .quantile = 0.34, .synchronous = true});
  s.begin({{"x", tune::uniform(0, 1)}}, 1, 3);
  for (std::size_t t = 0; t < 3; ++t) s.add(t, {{"x", 0.5}});
  CHECK(s.report(0, 1, 3).what == kind::pause);
  CHECK(s.report(1, 1, 1).what == kind::pause);
  CHECK(s.next(false).what == tune::action::kind::nothing);
  s.remove(2);
  const auto first = s.next(false), second = s.next(false);
  CHECK(first.trial == 0U);  // as long as its source has the checkpoint
  REQUIRE(first.change.has_value());
  CHECK(first.change->source == 1U);
  CHECK(second.trial == 1U);
  CHECK(!second.change);
  CHECK_THROWS_AS(tune::pbt({.quantile = 0.6}), tune::error);
}
