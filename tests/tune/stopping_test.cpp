// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Schedulers that compare a trial with complete ones: the percentile rule, and the signed-rank test of pairs. Results
// are fed in by hand.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <numeric>

#include "manta/tune/asha.hpp"
#include "manta/tune/history.hpp"
#include "manta/tune/patience_stopping.hpp"
#include "manta/tune/percentile_stopping.hpp"
#include "manta/tune/results.hpp"
#include "manta/tune/study.hpp"
#include "manta/tune/wilcoxon_stopping.hpp"
#include "support/campaign.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::thrown;
using kind = tune::verdict::kind;
using tune::status;

namespace {

/// Adds a complete trial with these losses at 1, 2, 3 and so on.
template <class Scheduler>
void complete(Scheduler& s, std::uint64_t t, const std::vector<double>& losses) {
  s.add(t, {});
  for (std::size_t i = 0; i < losses.size(); ++i)
    CHECK(s.report(t, static_cast<double>(i + 1), losses[i]).what == kind::go_on);
  s.complete(t);
  s.remove(t);
}

}  // namespace

TEST_CASE("percentile: a trial goes on if its best loss is as good as the percentile of complete trials") {
  for (const auto& [percentile, bound] : {std::pair(0.0, 1.0), {25.0, 2.0}, {50.0, 3.0}, {60.0, 3.4}, {100.0, 5.0}}) {
    CAPTURE(percentile);
    for (const double loss : {bound, bound + 0.01}) {
      tune::percentile_stopping s({.percentile = percentile});
      for (std::uint64_t t = 0; t < 5; ++t) complete(s, t, {100 - static_cast<double>(t), 5 - static_cast<double>(t)});
      s.add(5, {});
      CHECK(s.report(5, 1, 50).what == kind::go_on);
      const auto v = s.report(5, 2, loss);
      CHECK(v.what == (loss > bound ? kind::stop : kind::go_on));
      if (loss > bound) CHECK(contains(v.why, "of 5 complete trials"));
    }
  }
}

TEST_CASE("percentile: it waits for complete trials, for those that came as far, and for the grace") {
  tune::percentile_stopping s({.percentile = 50, .grace = 2, .startup = 2, .min_samples = 2});
  complete(s, 0, {1, 1, 1});
  s.add(1, {});
  CHECK(s.report(1, 2, 9).what == kind::go_on);  // one complete trial
  complete(s, 2, {1, 1});
  CHECK(s.report(1, 3, 9).what == kind::go_on);  // two, of which one came as far
  s.add(3, {});
  CHECK(s.silent_until(3) == 2);
  CHECK(s.report(3, 1, 9).what == kind::go_on);
  CHECK(s.report(3, 2, 9).what == kind::stop);
  s.add(4, {});
  CHECK(s.report(4, 1, 0.5).what == kind::go_on);
  CHECK(s.report(4, 2, 9).what == kind::go_on);  // its best loss counts, also one before the grace
  for (const std::uint64_t t : {std::uint64_t{5}, std::uint64_t{6}}) {  // trials that failed are no measure
    s.add(t, {});
    s.report(t, 1, 20);
    s.report(t, 2, 0.1);
    s.remove(t);
  }
  s.add(7, {});
  CHECK(s.report(7, 2, 1).what == kind::go_on);
}

TEST_CASE("percentile: a trial is judged once in each interval") {
  tune::percentile_stopping s({.percentile = 50, .grace = 3, .interval = 4, .startup = 1});
  complete(s, 0, std::vector<double>(20, 1));
  std::vector<double> judged;
  for (int at = 1; at <= 20; ++at) {
    tune::percentile_stopping copy = s;
    copy.add(1, {});
    for (int i = 1; i < at; ++i) copy.report(1, i, 1);
    if (copy.silent_until(1) <= at) judged.push_back(at);
  }
  CHECK(judged == std::vector<double>{3, 7, 11, 15, 19});
  const auto first_stop = [&](std::vector<double> points) {
    s.add(1, {});
    for (const double at : points) {
      if (s.report(1, at, at < 4 ? 1 : 9).what == kind::stop) return at;
    }
    s.remove(1);
    return 0.0;
  };
  CHECK(first_stop({3, 4, 5, 6, 7, 8}) == 0);  // its best loss is 1, as that of the other
  complete(s, 2, std::vector<double>(20, 0.5));
  CHECK(first_stop({1, 2, 4, 5, 8}) == 4);  // the first report after the grace
  CHECK(tune::percentile_stopping({.grace = 30}).remark(20).starts_with("percentile_stopping: trials end at 20"));
  CHECK(tune::percentile_stopping({.grace = 20}).remark(20).empty());
  CHECK_THROWS_AS(tune::percentile_stopping({.percentile = 101}), tune::error);
  CHECK_THROWS_AS(tune::percentile_stopping({.min_samples = 0}), tune::error);
}

TEST_CASE("percentile is what its definition says, also when trials report at different points and end in between") {
  tune::random r(23);
  tune::percentile_stopping s({.percentile = 40, .grace = 2, .startup = 3, .min_samples = 2});
  std::map<std::uint64_t, std::vector<std::pair<double, double>>> running, complete_ones;
  std::uint64_t next = 0;
  int stops = 0;
  for (int step = 0; step < 600; ++step) {
    while (running.size() < 6) {
      s.add(next, {});
      running[next++] = {};
    }
    auto one = std::next(running.begin(), static_cast<std::ptrdiff_t>(r.index(running.size())));
    auto& [t, reports] = *one;
    const double at = (reports.empty() ? 0 : reports.back().first) + static_cast<double>(1 + r.index(3)),
                 loss = r.uniform() + 0.05 * static_cast<double>(t % 7);
    reports.emplace_back(at, loss);
    double best = tune::infinity;
    for (const auto& [x, l] : reports) best = std::min(best, l);
    std::vector<double> others;
    for (const auto& [o, all] : complete_ones) {
      if (all.back().first < at) continue;
      double last = tune::infinity;
      for (const auto& [x, l] : all) last = x <= at ? l : last;
      if (last < 100) others.push_back(last);
    }
    std::sort(others.begin(), others.end());
    const bool stop =
        at >= 2 && complete_ones.size() >= 3 && others.size() >= 2 && best > tune::sorted_quantile(others, 0.4);
    CHECK((s.report(t, at, loss).what == kind::stop) == stop);
    stops += stop;
    if (at > 15 && !stop) {
      s.complete(t);
      s.remove(t);
      complete_ones[t] = reports;
    }
    if (at > 15 || stop) running.erase(one);
  }
  CHECK(stops > 10);
  CHECK(complete_ones.size() > 5);
}

TEST_CASE("percentile: a study tells which trials are complete, and stops bad ones") {
  tune::study s({{"x", tune::uniform(0, 1)}},
                {.maximise = "score", .trials = 12, .scheduler = tune::percentile_stopping({.startup = 3})});
  while (const auto j = s.next()) {
    const double x = j->parameters["x"];
    bool goes_on = true;
    for (int i = 1; i <= 5 && goes_on; ++i)
      goes_on = s.report(j->trial, {{"score", x * i}}, i, static_cast<std::uint64_t>(i)).what == kind::go_on;
    if (goes_on) s.ended(j->trial);
  }
  s.finish();
  double best = 0;
  for (const auto& t : s.trials()) {
    const double x = t.parameters["x"];
    CHECK((t.state == status::stopped) == (t.id >= 3 && t.iteration == 1));
    CHECK(t.state != status::failed);
    best = std::max(best, x);
  }
  CHECK(s.best()->parameters["x"] == best);
  CHECK(tune::results(s).count(status::stopped) >= 5U);
}

TEST_CASE("signed ranks: the p-values that are documented elsewhere") {
  // Darwin's maize (scipy.stats.wilcoxon): twice the smaller tail is 0.041259765625.
  const std::vector<double> maize = {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75};
  CHECK(tune::signed_rank_p(maize) == doctest::Approx(0.0206298828125).epsilon(1e-12));
  // Hamilton's depression scale (R's wilcox.test, from Hollander and Wolfe): V = 40, p = 0.01953.
  const std::vector<double> first = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30},
                            second = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> fall;
  for (std::size_t i = 0; i < first.size(); ++i) fall.push_back(first[i] - second[i]);
  CHECK(tune::signed_rank_p(fall) == doctest::Approx(10.0 / 512).epsilon(1e-12));
  CHECK(tune::signed_rank_p({}) == 1);
  CHECK(tune::signed_rank_p({0, 0, 0}) == 1);
  CHECK(tune::signed_rank_p({1, 2, 3}) == 0.125);
  CHECK(tune::signed_rank_p({-1, -2, -3}) == 1);
}

namespace {

/// By its definition: all signs of the differences are tried.
double enumerated_p(const std::vector<double>& d) {
  std::vector<double> rank;
  for (const double x : d) {
    double below = 0, equal = 0;
    for (const double y : d) (std::abs(y) < std::abs(x) ? below : equal) += std::abs(y) <= std::abs(x);
    rank.push_back(below + (equal + 1) / 2);
  }
  double here = 0, as_large = 0;
  for (std::size_t i = 0; i < d.size(); ++i) here += d[i] > 0 ? rank[i] : d[i] < 0 ? 0 : rank[i] / 2;
  const std::size_t all = std::size_t{1} << d.size();
  for (std::size_t signs = 0; signs < all; ++signs) {
    double sum = 0;
    for (std::size_t i = 0; i < d.size(); ++i)
      sum += d[i] < 0 || d[i] > 0 ? ((signs >> i) & 1U ? rank[i] : 0) : rank[i] / 2;
    as_large += sum >= here;
  }
  return as_large / static_cast<double>(all);
}

}  // namespace

TEST_CASE("signed ranks: as all signs enumerated, with equal sizes and zeros, and continued by the normal one") {
  tune::random r(5);
  for (int round = 0; round < 60; ++round) {
    std::vector<double> d(1 + r.index(9));
    for (double& x : d) x = round % 2 == 0 ? r.normal() : static_cast<double>(r.index(7)) - 3;
    CHECK(tune::signed_rank_p(d) == doctest::Approx(enumerated_p(d)).epsilon(1e-12));
  }
  for (const double shift : {-0.3, 0.0, 0.2, 0.4}) {
    CAPTURE(shift);
    std::vector<double> d(54);
    for (double& x : d) x = r.normal() + shift;
    const double exact = tune::signed_rank_p(d);
    d.push_back(1e-9);  // one pair more, which counts least, and the normal distribution takes over
    CHECK(tune::signed_rank_p(d) == doctest::Approx(exact).epsilon(0.1));
  }
}

TEST_CASE("wilcoxon: a trial is stopped when its reports are worse than those of the best one beyond chance") {
  tune::wilcoxon_stopping s({.p = 0.1});
  complete(s, 0, {5, 5, 5, 5, 5, 5});
  complete(s, 1, {1, 2, 3, 4, 5, 6});  // the best one from now on
  complete(s, 2, {9, 1, 2, 3, 4, 5});  // one pair alone is no evidence
  s.add(3, {});
  for (int at = 1; at <= 3; ++at) CHECK(s.report(3, at, at + 3).what == kind::go_on);  // 1/2, 1/4, 1/8
  const auto v = s.report(3, 4, 7);
  CHECK(v.what == kind::stop);  // 1/16
  CHECK(contains(v.why, "worse than trial 1, the best complete one, at 4 common points (p = 0.0625)"));
  s.add(4, {});
  for (int at = 1; at <= 6; ++at) CHECK(s.report(4, at, at % 2 == 0 ? at + 1 : at - 1).what == kind::go_on);
  s.remove(4);
  s.add(5, {});  // pairs are those of the same point, whatever the order
  for (const int at : {6, 2, 4}) CHECK(s.report(5, at, at + 3).what == kind::go_on);
  CHECK(s.report(5, 4, 9).what == kind::go_on);   // once more, after it failed
  CHECK(s.report(5, 9, 20).what == kind::go_on);  // a point without a counterpart
  CHECK(s.report(5, 1, 1.5).what == kind::stop);
  CHECK_THROWS_AS(tune::wilcoxon_stopping({.p = 2}), tune::error);
  CHECK_THROWS_AS(tune::wilcoxon_stopping({.startup = 0}), tune::error);
}

TEST_CASE("wilcoxon: it waits for its pairs, lets the best mean go on, and says when no point is common") {
  tune::wilcoxon_stopping patient({.p = 0.5, .startup = 5});
  complete(patient, 0, {1, 1, 1, 1, 1});
  patient.add(1, {});
  for (int at = 1; at <= 4; ++at) CHECK(patient.report(1, at, 2).what == kind::go_on);
  CHECK(patient.report(1, 5, 2).what == kind::stop);

  tune::wilcoxon_stopping s({.p = 0.2});
  complete(s, 0, {1, 1, 1, 90});
  s.add(1, {});
  for (int at = 1; at <= 4; ++at) CHECK(s.report(1, at, 2).what == kind::go_on);  // its mean is 2, that of the other 23
  CHECK(s.remark(4).empty());

  tune::wilcoxon_stopping apart;
  complete(apart, 0, {1, 1});
  apart.add(1, {});
  for (const double at : {0.5, 1.5, 2.5}) CHECK(apart.report(1, at, 9).what == kind::go_on);
  CHECK(apart.remark(2).starts_with("wilcoxon_stopping: no trial has reported at a point of the best one"));
}

TEST_CASE("the mean of its reports is the value of a trial, and complete trials alone can be the best one") {
  const tune::space line = {{"x", tune::uniform(0, 1)}};
  tune::study s(line, {.maximise = "score",
                       .counts = tune::counted::mean,
                       .trials = 4,
                       .scheduler = tune::wilcoxon_stopping({.p = 0.3})});
  const std::vector<std::vector<double>> scores = {{3, 5, 4, 4}, {1, 9, 1, 1}, {6, 6, 3, 5}, {4, 1, 1, 1}};
  for (std::size_t t = 0; t < scores.size(); ++t) {
    REQUIRE(s.next()->trial == t);
    bool goes_on = true;
    for (std::size_t i = 0; i < 4 && goes_on; ++i) {
      goes_on = s.report(t, {{"score", scores[t][i]}, {"fold", static_cast<double>(i)}}, 0, i + 1).what == kind::go_on;
      const double sum =
          std::accumulate(scores[t].begin(), scores[t].begin() + static_cast<std::ptrdiff_t>(i + 1), 0.0);
      CHECK(s.trial(t).best_loss == doctest::Approx(-sum / static_cast<double>(i + 1)));
    }
    if (goes_on) s.ended(t);
    if (t == 1) CHECK(s.best()->id == 0U);
  }
  s.finish();
  const tune::results r(s);
  CHECK(r.best().id == 2U);
  CHECK(r.best_value() == 5);
  CHECK(r.best().best["score"] == 5);
  CHECK(r.best().best["fold"] == 3);
  CHECK(r[3].state == status::stopped);
  CHECK(s.summary().best_metric == 5);
  const auto mistake = [&](const tune::experiment& e) { return thrown<tune::error>([&] { tune::study(line, e); }); };
  CHECK(contains(mistake({.minimise = "loss", .scheduler = tune::wilcoxon_stopping()}), "give .counts = "));
  CHECK(contains(mistake({.minimise = {"a", "b"}, .counts = tune::counted::mean}), "is for one objective"));
  CHECK(contains(mistake({.minimise = "a", .counts = tune::counted::mean, .best_may_fail = true}), "leave out"));
}

TEST_CASE("an experiment whose value is the mean is not continued as one of the best report") {
  const manta::testing::folder f;
  const tune::space line = {{"x", tune::uniform(0, 1)}};
  tune::experiment e{.minimise = "loss", .counts = tune::counted::mean, .folder = f.path, .outputs = {}};
  { tune::study(line, e); }
  CHECK_NOTHROW(tune::study(line, e));
  e.counts = tune::counted::best_report;
  CHECK(contains(thrown<tune::error>([&] { tune::study(line, e); }), "another direction"));
}

TEST_CASE("a trial whose value is the mean is compared with others by its mean at a common time") {
  const tune::space line = {{"x", tune::uniform(0, 1)}};
  tune::study s(line, {.minimise = "loss", .counts = tune::counted::mean});
  s.next();
  for (const double loss : {1.0, 5.0, 3.0}) s.report(0, {{"loss", loss}});
  s.ended(0);
  const tune::outcome o = s.trial(0).result();
  CHECK(o.is_mean);
  CHECK(o.loss == 3);
  CHECK(o.course.last_by(1) == 1);
  CHECK(o.course.last_by(2.5) == 3);
  CHECK(o.course.best_by(3) == 1);
  CHECK(tune::is_infinite(o.course.last_by(0.5)));
  tune::tried trial{{{"x", 0.5}}, o};
  std::vector<tune::tried> all(20, trial);
  for (std::size_t i = 0; i < 18; ++i) all[i].result.was_stopped = true, all[i].result.at = 2;
  for (const auto& c : tune::detail::comparable(all)) CHECK(c.loss == 3);
}

namespace {

/// Reports these losses for trial t, up to the one at which it is stopped; returns how many.
template <class Scheduler>
std::size_t told(Scheduler& s, std::uint64_t t, const std::vector<double>& losses) {
  s.add(t, {});
  for (std::size_t i = 0; i < losses.size(); ++i) {
    CHECK(s.silent_until(t) <= static_cast<double>(losses.size() + 20));
    if (s.report(t, static_cast<double>(i + 1), losses[i]).what == kind::stop) {
      CHECK(s.silent_until(t) <= static_cast<double>(i + 1));
      return i + 1;
    }
  }
  s.complete(t);
  s.remove(t);
  return losses.size();
}

}  // namespace

TEST_CASE("patience: a trial stops after so many reports without an improvement") {
  tune::patience_stopping s({.reports = 3});
  CHECK(told(s, 0, {5, 4, 4, 4, 4, 4}) == 5U);
  CHECK(told(s, 1, {5, 6, 7, 4, 6, 7, 3, 4, 4, 4}) == 10U);
  CHECK(told(s, 2, {9, 8, 7, 6, 5, 4, 3, 2, 1}) == 9U);
  tune::patience_stopping least({.reports = 2, .least = 0.5});
  CHECK(told(least, 0, {5, 4.8, 4.6, 4.4}) == 3U);
  CHECK(told(least, 1, {5, 4.8, 4.3, 4.2, 3.7}) == 5U);
  tune::patience_stopping late({.reports = 1, .grace = 4});
  CHECK(told(late, 0, {1, 1, 1, 1, 1}) == 4U);
  late.add(1, {});
  CHECK(late.report(1, 5, 1).what == kind::go_on);
  const auto v = late.report(1, 6, 2);
  CHECK(v.why == "1 reports have not improved 1 by more than 0");
  CHECK(late.remark(2).starts_with("patience_stopping: trials end at 2"));
  CHECK(late.remark(5).empty());
  CHECK(contains(thrown<tune::error>([] { tune::patience_stopping({.reports = 0}); }), "reports >= 1"));
  CHECK(contains(thrown<tune::error>([] { tune::patience_stopping({.least = -1}); }), "least >= 0"));
}

TEST_CASE("patience: a trial that the scheduler inside would stop goes on while it improves") {
  tune::patience_stopping s({.reports = 2, .inside = tune::percentile_stopping({.percentile = 50, .startup = 1})});
  s.begin({{"x", tune::uniform(0, 1)}}, 1, 9);
  complete(s, 0, {1, 1, 1, 1, 1, 1});
  CHECK(told(s, 1, {9, 8, 7, 6, 6, 6}) == 6U);  // is bad, and improves up to the fourth report
  CHECK(told(s, 2, {0, 2, 2, 2, 2, 2}) == 6U);  // does not improve, and is not bad
  CHECK(told(s, 3, {9, 9, 9, 9, 9, 9}) == 3U);
  s.add(4, {});
  s.report(4, 1, 9);
  s.report(4, 2, 9);
  const auto v = s.report(4, 3, 9);
  CHECK(contains(v.why,
                 "2 reports have not improved 9 by more than 0; at 1: best loss 9 is above 0.5, percentile 50 of 2 "));

  // A copy has a scheduler of its own inside.
  const tune::any_scheduler given =
      tune::patience_stopping({.reports = 1, .inside = tune::asha({.max = 9, .grace = 1, .eta = 3})});
  std::vector<std::size_t> reports[2];
  for (auto& each : reports) {
    tune::study study({{"x", tune::uniform(0, 1)}}, {.minimise = "loss", .trials = 12, .scheduler = given});
    while (const auto j = study.next()) {
      tune::answer a;
      while ((a = study.report(j->trial, {{"loss", j->parameters["x"]}})).what == kind::go_on) {
      }
      each.push_back(study.trial(j->trial).iteration);
    }
  }
  CHECK(reports[0] == reports[1]);
  CHECK(std::count(reports[0].begin(), reports[0].end(), 9U) > 0);  // complete, by the scheduler inside
  CHECK(std::count(reports[0].begin(), reports[0].end(), 2U) > 0);  // stopped one report later than by that alone
}

namespace {

/// Trials whose losses are these, one after the other; `inf`: the trial fails. Returns the study.
std::unique_ptr<tune::study> searched(std::vector<tune::experiment_rule> rules, const std::vector<double>& losses) {
  auto s =
      std::make_unique<tune::study>(tune::space{{"x", tune::uniform(0, 1)}},
                                    tune::experiment{.minimise = "loss", .trials = 0, .stop_all = std::move(rules)});
  for (const double loss : losses) {
    const auto j = s->next();
    if (!j) break;
    if (tune::is_infinite(loss)) {
      s->failed(j->trial, "no data");
      continue;
    }
    s->report(j->trial, {{"loss", loss}});
    s->ended(j->trial);
  }
  s->finish();
  return s;
}

}  // namespace

TEST_CASE("an experiment stops after so many failures, complete trials, or small improvements, and says so") {
  constexpr double fails = tune::infinity;
  const std::vector<double> losses = {9, fails, 8, 7.9, fails, 7.95, 7.85, fails, 3, 2, 1};
  const auto check = [&](const std::vector<tune::experiment_rule>& rules, std::size_t trials, const std::string& why) {
    const auto s = searched(rules, losses);
    CHECK(s->trials().size() == trials);
    CHECK(s->ended_because() == why);
    CHECK(tune::results(*s).ended_because() == why);
    CHECK(tune::results(*s).stopped_because() == why);
  };
  check({tune::failure_budget(1)}, 2, "1 trial has failed");
  check({tune::failure_budget(3)}, 8, "3 trials have failed");
  check({tune::complete_budget(3)}, 4, "3 trials are complete");
  check({tune::small_improvement(0.5, 2)}, 5, "2 trials have improved the best value by 0.1, less than 0.5");
  check({tune::no_improvement(2)}, 6, "2 trials have brought no improvement");
  check({tune::failure_budget(2), tune::complete_budget(3)}, 4, "3 trials are complete");  // the first one that holds
  check({tune::failure_budget(2) && tune::complete_budget(3)}, 5, "2 trials have failed, and 3 trials are complete");
  check({tune::complete_budget(2) && tune::small_improvement(0.5, 2)}, 5,
        "2 trials are complete, and 2 trials have improved the best value by 0.1, less than 0.5");
  CHECK(contains(thrown<tune::error>([] { tune::nothing_new() && tune::failure_budget(1); }), "stands by itself"));
  const auto mistake = [](auto make) { return thrown<tune::error>(make); };
  CHECK(contains(mistake([] { tune::failure_budget(0); }), "failure_budget needs a positive number"));
  CHECK(contains(mistake([] { tune::complete_budget(0); }), "complete_budget needs a positive number"));
  CHECK(contains(mistake([] { tune::small_improvement(0, 3); }), "small_improvement needs a positive amount"));
}

TEST_CASE("a search of a finite space ends when nothing new is left, if it is asked to") {
  const tune::space few = {{"a", tune::choice({1, 2, 3})}, {"b", tune::integers(1, 4)}};
  for (const bool asked : {false, true}) {
    tune::experiment e{.minimise = "loss", .trials = 30};
    if (asked) e.stop_all = {tune::nothing_new()};
    tune::study s(few, e);
    std::map<std::string, int> tried;
    while (const auto j = s.next()) {
      ++tried[j->parameters.text()];
      s.report(j->trial, {{"loss", 1}});
      s.ended(j->trial);
    }
    s.finish();
    CHECK(tried.size() == 12U);
    CHECK(s.trials().size() == (asked ? 12U : 30U));
    CHECK(s.ended_because() == (asked ? "all configurations of the space have been tried" : "all trials have run"));
  }
}

TEST_CASE("a trial ends when both rules that are joined do") {
  tune::study s(
      {{"x", tune::uniform(0, 1)}},
      {.minimise = "loss", .trials = 2, .stop = {tune::after(4) && tune::plateau("loss", {.reports = 2, .grace = 0})}});
  for (const std::size_t moves : {2U, 6U}) {
    const auto j = s.next();
    tune::answer a;
    for (std::size_t i = 1; i < 12 && a.what == kind::go_on; ++i)
      a = s.report(j->trial, {{"loss", i <= moves ? static_cast<double>(20 - i) : 1}});
    CHECK(s.trial(j->trial).iteration == std::max<std::size_t>(4, moves + 2));
    CHECK(contains(s.trial(j->trial).why, "reached 4, and loss is on a plateau"));
  }
  const tune::stop_rule joined = tune::after(4) && tune::at_most("loss", 1) && tune::at_least("other", 2);
  CHECK(joined.metrics() == std::vector<std::string>{"loss", "other"});
  CHECK(joined.silent_until() == 4);
}
