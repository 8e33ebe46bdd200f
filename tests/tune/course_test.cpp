// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parts of an experiment's course, each alone: why it stops, which trial is the best, which configurations are
// given out, which rules end a trial, and which trials wait.
#include "manta/tune/course.hpp"

#include "manta/tune/jobs.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::thrown;
using tune::detail::origin;
using tune::detail::proposals;
using tune::detail::ranking;
using tune::detail::stop_reason;

namespace {

tune::trial_record reported(tune::trial_number id, double loss) {
  tune::trial_record r;
  r.id = id;
  r.loss = r.best_loss = loss;
  return r;
}

}  // namespace

TEST_CASE("the first reason to stop stays, and a mistake is known as one") {
  stop_reason stop;
  CHECK(!stop.is_set());
  stop.set("the time is over");
  stop.set_mistake("a rule threw");
  CHECK(stop.text() == "the time is over");
  CHECK(stop.is_mistake());
}

TEST_CASE("after a call has thrown, nothing of the user's is called any more, and it is thrown on once") {
  stop_reason stop;
  int calls = 0;
  const auto good = [&] { return ++calls; };
  CHECK(stop.guarded("the searcher", good) == 1);
  stop.throw_once();  // nothing has been thrown
  CHECK(stop.guarded("the searcher", [&]() -> int { throw std::runtime_error("no room"); }) == 0);
  CHECK(stop.text() == "the searcher threw: no room");
  CHECK(stop.guarded("the scheduler", good) == 0);
  CHECK(calls == 1);
  CHECK(contains(thrown<std::runtime_error>([&] { stop.throw_once(); }), "no room"));
  CHECK_NOTHROW(stop.throw_once());
  stop_reason odd;
  odd.guarded("a rule of .stop", [] { throw 3; });
  CHECK(odd.text() == "a rule of .stop threw something that is not a std::exception");
}

TEST_CASE(
    "of trials that are as good the best is the one with the lowest number; one that fails is the best no longer") {
  for (const bool may : {false, true}) {
    ranking ranks;
    ranks.begin({.maximise = "score", .best_may_fail = may});
    CHECK(ranks.best() == ranking::none);
    CHECK(ranks.flipped(3) == -3);
    std::vector<tune::trial_record> all = {reported(0, -1), reported(1, -2), reported(2, -2)};
    for (const std::size_t i : {2U, 0U, 1U}) ranks.reported(all[i]);
    CHECK(ranks.best() == 1U);
    CHECK(ranks.summary().best_metric == 2);
    all[1].state = all[2].state = tune::status::failed;
    for (const std::size_t i : {1U, 2U}) {
      ranks.failed(all[i], all);
      ranks.ended(all[i]);
    }
    CHECK(ranks.best() == (may ? 1U : 0U));
    CHECK(ranks.summary().ended == 2U);
    all[2].state = tune::status::waiting;  // it is tried again, with what it had reported
    ranks.revived(all[2], all);
    CHECK(ranks.best() == (may ? 1U : 2U));
    CHECK(ranks.summary().ended == 1U);
  }
}

TEST_CASE("configurations of .first come first, and no point of a finite space comes twice before all have come") {
  const tune::space where = {{"n", tune::integers(1, 3)}, {"c", tune::choice({"a", "b"})}};
  const tune::experiment e = {.minimise = "loss", .trials = 6, .first = {{{"n", 2}, {"c", "b"}}}, .seed = 7};
  proposals source, again;
  source.begin(where, e);
  again.begin(where, e);
  CHECK(source.limit(6) == 6U);
  stop_reason stop;
  std::set<std::string> seen;
  std::vector<std::pair<tune::config, origin>> all;
  for (tune::trial_number t = 0; t < 6; ++t) {
    origin from;
    const auto c = source.next(t, stop, from);
    REQUIRE(c.has_value());
    CHECK(from.is_first == (t == 0));
    source.given(*c);
    seen.insert(c->text());
    all.emplace_back(*c, from);
  }
  CHECK(seen.size() == 6U);
  CHECK(all.front().first["n"] == 2);

  // What the journal says of three trials leads to the same fourth one.
  for (tune::trial_number t = 0; t < 3; ++t) {
    again.repeat(t, all[t].first, all[t].second, stop);
    again.given(all[t].first);
  }
  origin from;
  CHECK(again.next(3, stop, from) == all[3].first);
  CHECK(!stop.is_set());

  CHECK(contains(thrown<tune::error>([&] {
                   proposals().begin(where, {.minimise = "loss", .first = {{{"n", 9}}}});
                 }),
                 ".first[0]"));
}

TEST_CASE("each running trial has rules of its own, and a metric that nobody reports stops the experiment") {
  const tune::stop_rule::function second = [reports = 0](const tune::progress&) mutable {
    return ++reports == 2 ? std::optional<std::string>("it was the second") : std::nullopt;
  };
  tune::experiment e;
  e.stop = {second, tune::at_most("los", 0)};
  tune::detail::rules rules;
  rules.begin(e);
  rules.start(0);
  rules.start(1);
  const tune::metrics m = {{"loss", 1.}};
  stop_reason stop;
  CHECK(!rules.judge({0, 1, 0, m}, stop));
  CHECK(rules.judge({0, 2, 0, m}, stop) == "it was the second");
  CHECK(!rules.judge({1, 1, 0, m}, stop));
  CHECK(rules.leave(0));
  CHECK(!rules.leave(0));
  CHECK(rules.running_count() == 1);

  tune::trial_record far = reported(1, 1);
  far.last = m;
  rules.note_reported(m);
  rules.miss_metrics(far, stop);
  CHECK(contains(stop.text(), "looks at \"los\", which nobody has reported"));
}

TEST_CASE("a trial that goes on from a checkpoint that is on its way begins when it has come") {
  tune::detail::jobs jobs;
  const auto any = [](const tune::job&) { return true; };
  jobs.await(3);
  jobs.add({.trial = 5, .parameters = {}, .from = 3});
  jobs.add({.trial = 6, .parameters = {}, .from = {}});
  jobs.hold(2, {.trial = 7, .parameters = {}, .from = 3});
  CHECK(!jobs.take([](const tune::job& j) { return j.trial == 4; }));
  CHECK(jobs.take(any)->trial == 6);
  CHECK(!jobs.take(any));
  CHECK(jobs.release().empty());
  CHECK(!jobs.has_ready());
  jobs.await_no_more(3);
  const auto held = jobs.release();
  REQUIRE(held.size() == 1);
  CHECK(held[0].place == 2);
  CHECK(held[0].what.trial == 7);
  CHECK(jobs.take(any)->trial == 5);
  CHECK(jobs.release().empty());
}
