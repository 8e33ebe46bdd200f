// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The mind of an experiment, driven by hand: ask and tell, failures, stopping,
// the journal and what it restores.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "manta/tune/asha.hpp"
#include "manta/tune/bayesian.hpp"
#include "manta/tune/bohb.hpp"
#include "manta/tune/cma_es.hpp"
#include "manta/tune/halving.hpp"
#include "manta/tune/median_stopping.hpp"
#include "manta/tune/pb2.hpp"
#include "manta/tune/pbt.hpp"
#include "manta/tune/percentile_stopping.hpp"
#include "manta/tune/results.hpp"
#include "manta/tune/sobol.hpp"
#include "manta/tune/tpe.hpp"
#include "manta/tune/wilcoxon_stopping.hpp"
#include "support/campaign.hpp"
#include "support/text.hpp"

namespace tune = manta::tune;
using manta::testing::contains;
using manta::testing::folder;
using manta::testing::text_of;
using manta::testing::thrown;
using tune::status;
using kind = tune::verdict::kind;

namespace {

const tune::space where = {
    {"x", tune::uniform(0, 1)}, {"y", tune::loguniform(1e-3, 1)}, {"c", tune::choice({"a", "b"})}};

double loss_of(const tune::config& c, double at) {
  return std::abs(c.get<double>("x") - 0.3) + c.get<double>("y") + (c["c"] == "a" ? 0.1 : 0) + 1 / (1 + at);
}

/// Trains one trial after the other in one place, as far as asked; true when there is nothing left.
bool drive(tune::study& s, std::size_t most_reports = ~std::size_t{0}, double epochs = 12) {
  while (auto j = s.next()) {
    std::uint64_t at = j->from ? s.trial(*j->from).checkpoint : 0;
    tune::config c = j->parameters;
    for (;;) {
      if (static_cast<double>(at) >= epochs) {
        s.ended(j->trial);
        break;
      }
      if (most_reports-- == 0) return false;
      ++at;
      const auto a = s.report(j->trial, {{"loss", loss_of(c, static_cast<double>(at))}}, 0, at);
      if ((a.save || a.what == kind::pause) && !s.options().folder.empty()) {
        const std::string file = "checkpoints/" + std::to_string(j->trial) + "-" + std::to_string(at);
        manta::output::make_folders(s.options().folder + "/checkpoints");
        manta::output::replace_file(s.options().folder + "/" + file, "here");
        s.checkpointed(j->trial, at, file);
      }
      if (a.change) {
        c = a.change->to;
        at = s.trial(a.change->source).checkpoint;
      }
      if (a.what != kind::go_on) break;
    }
  }
  s.finish();
  return true;
}

std::string outcome(const tune::study& s) {
  std::string all;
  for (const auto& t : s.trials()) {
    all += std::to_string(t.id) + " " + tune::name_of(t.state) + " " + t.parameters.text() + " " +
           tune::value(t.best_loss).text() + " " + std::to_string(t.iteration) + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("ask and tell: the best of a random search") {
  tune::study s(where, {.minimise = "loss", .trials = 50});
  while (auto job = s.next()) {
    CHECK(!job->from);
    s.report(job->trial, {{"loss", loss_of(job->parameters, 0)}});
    s.ended(job->trial);
  }
  s.finish();
  CHECK(s.trials().size() == 50U);
  double least = 1e9;
  for (const auto& t : s.trials()) least = std::min(least, loss_of(t.parameters, 0));
  CHECK(s.best()->best_loss == least);
  CHECK(tune::results(s).count(status::complete) == 50U);
}

TEST_CASE("points to evaluate first, and the number of trials of a grid") {
  const tune::space g = {{"a", tune::grid({1, 2, 3})}, {"x", tune::uniform(0, 1)}};
  tune::study s(g, {.maximise = "score", .trials = 2, .first = {{{"x", 0.25}, {"a", 3}}, {{"a", 2}}}});
  CHECK(s.trial_limit() == 8U);  // the six of the grid come on top of those
  const auto first = s.next(), second = s.next(), third = s.next();
  CHECK(first->parameters.text() == R"({"a":3,"x":0.25})");
  CHECK(second->parameters.get<int>("a") == 2);
  CHECK(third->parameters.get<int>("a") == 1);
  CHECK(tune::study(g, {.minimise = "l", .searcher = tune::grid_search({.per_parameter = 4})}).trial_limit() == 12U);
}

TEST_CASE("a maximised metric keeps its sign") {
  tune::study s(where, {.maximise = "accuracy", .trials = 3});
  for (const double x : {0.5, 0.9, 0.7}) {
    const auto j = s.next();
    s.report(j->trial, {{"accuracy", x}, {"other", 2}});
    s.ended(j->trial);
  }
  const tune::results r(s);
  CHECK(r.best_value() == 0.9);
  CHECK(r.best().id == 1U);
  CHECK(r.best().best["other"] == 2);
  CHECK(contains(
      r.to_csv(),
      "trial,state,at,seconds,begin,end,rank,host,config/x,config/y,config/c,accuracy,other,why\n0,complete,1,0,"));
}

TEST_CASE("whatever a trial does wrong is one clear line, and the experiment goes on") {
  tune::study s(where, {.minimise = "loss", .trials = 6, .retries = 1});
  auto j = s.next();
  CHECK(s.report(j->trial, {{"acc", 0.5}, {"time", 1}}).what == kind::stop);
  CHECK(s.trial(0).why == "reported \"acc\", \"time\", but the experiment's metric is \"loss\"");
  j = s.next();
  s.report(j->trial, {{"loss", 2}});
  CHECK(s.report(j->trial, {{"loss", std::nan("")}}).what == kind::stop);
  CHECK(s.trial(1).why == "reported loss = nan at 2: it is not continued");
  CHECK(s.trial(1).best_loss == 2);
  j = s.next();
  s.ended(j->trial);
  CHECK(s.trial(2).why == "ended without a report of \"loss\"");
  j = s.next();
  CHECK(s.failed(j->trial, "no memory"));  // tried again
  CHECK(s.trial(3).state == status::waiting);
  j = s.next();
  CHECK(j->trial == 3U);
  CHECK(!s.failed(j->trial, "no memory again"));
  CHECK(s.trial(3).why == "no memory again");
  j = s.next();
  CHECK(s.failed(j->trial, "its rank was lost", 0, tune::cause::lost));  // does not count
  j = s.next();
  CHECK(j->trial == 4U);
  s.report(j->trial, {{"loss", 1}});
  s.ended(j->trial);
  j = s.next();
  s.report(j->trial, {{"loss", 3}});
  s.ended(j->trial);
  CHECK(!s.next());
  s.finish();
  const tune::results r(s);
  CHECK(r.count(status::failed) == 4U);
  CHECK(r.best().id == 4U);
  CHECK(contains(thrown<tune::error>([&] { s.report(0, {{"loss", 1}}); }), "trial 0 does not run"));
}

TEST_CASE("if nothing was reported, best says why") {
  tune::study s(where, {.minimise = "loss", .trials = 1});
  s.failed(s.next()->trial, "cannot open data.bin");
  s.finish();
  CHECK(contains(thrown<tune::error>([&] { tune::results(s).best(); }),
                 "no trial has a best \"loss\": the only one failed; trial 0: cannot open data.bin"));
  CHECK(contains(thrown<tune::error>([] { tune::study({}, {}); }), ".minimise or .maximise"));
}

TEST_CASE("rules stop trials and experiments, and say why") {
  const auto run = [](tune::experiment e) {
    e.minimise = "loss";
    e.trials = 30;
    auto s = std::make_unique<tune::study>(where, e);
    drive(*s);
    return s;
  };
  const auto a = run({.stop = {tune::after(5)}});
  for (const auto& t : a->trials()) CHECK((t.why == "reached 5" && t.iteration == 5U && t.state == status::complete));
  const auto b = run({.stop = {tune::at_most("loss", 0.8)}});
  CHECK(contains(b->best()->why, "is at most 0.8"));
  const auto c = run({.stop = {tune::plateau("loss", {.reports = 3, .deviation = 0.01})}});
  CHECK(contains(c->trial(0).why, "on a plateau"));
  CHECK(c->trial(0).iteration > 5U);
  const auto d = run({.stop_all = {tune::report_budget(40)}});
  CHECK(d->summary().reports == 40U);
  CHECK(d->trials().size() == 4U);
  CHECK(d->trials().back().why == "the budget of 40 reports is used up");
  const auto e = run({.stop_all = {tune::no_improvement(5)}});
  CHECK(e->trials().size() < 30U);
  CHECK(e->trials().size() - e->best()->id == 6U);
  const auto f = run({.stop_all = {tune::best_reaches(0.9)}});
  CHECK(f->best()->best_loss <= 0.9);
  CHECK(f->best()->id + 1 == f->trials().size());
  const auto g = run({.stop_all = {[](const tune::overview& o) -> std::optional<std::string> {
                        if (o.ended < 7) return std::nullopt;
                        return "seven are enough";
                      }}});
  CHECK(g->trials().size() == 7U);
  CHECK(g->stopping() == "seven are enough");
  tune::study timed(where, {.minimise = "loss",
                            .trials = 5,
                            .stop = {tune::after_time(std::chrono::seconds(10))},
                            .stop_all = {tune::time_budget(std::chrono::minutes(1))}});
  const auto j = timed.next(0);
  CHECK(timed.report(j->trial, {{"loss", 1}}, 9, 0, 9).what == kind::go_on);
  CHECK(timed.report(j->trial, {{"loss", 1}}, 10, 0, 10).what == kind::stop);
  const auto k = timed.next(50);
  CHECK(timed.report(k->trial, {{"loss", 1}}, 61, 0, 5).what == kind::stop);
  CHECK(!timed.next(62));
}

TEST_CASE(
    "of several rules the first that has a reason ends the trial; a rule may be a lambda, each trial has its own") {
  const auto every_other = [reports = 0](const tune::progress& p) mutable -> std::optional<std::string> {
    if (++reports < 4 || p.trial % 2 == 0) return std::nullopt;
    return "trial " + std::to_string(p.trial) + " has reported " + std::to_string(reports) + " times";
  };
  tune::study s(where, {.minimise = "loss",
                        .trials = 6,
                        .stop = {tune::at_most("loss", -1), every_other, tune::after(7)},
                        .stop_all = {tune::report_budget(1000), tune::ended_budget(5), tune::best_reaches(-1)}});
  drive(s);
  REQUIRE(s.trials().size() == 5U);
  for (const auto& t : s.trials()) {
    CHECK(t.iteration == (t.id % 2 == 0 ? 7U : 4U));
    CHECK(t.why == (t.id % 2 == 0 ? "reached 7" : "trial " + std::to_string(t.id) + " has reported 4 times"));
  }
  CHECK(s.stopping() == "5 trials have ended");
}

TEST_CASE("a budget of time ends between reports as well, and is remembered") {
  const folder f;
  tune::experiment e = {
      .minimise = "loss", .trials = 5, .stop_all = {tune::time_budget(std::chrono::minutes(1))}, .folder = f.path};
  {
    tune::study s(where, e);
    const auto j = s.next(0);
    s.tick(59);
    CHECK(s.stopping().empty());
    s.tick(61);
    CHECK(s.stopping() == "the time budget of 60 s is used up");
    CHECK(!s.next(61));
    CHECK(s.report(j->trial, {{"loss", 1}}, 70).what == kind::stop);
  }
  {
    tune::study s(where, e);  // killed before it could end
    CHECK(s.stopping() == "the time budget of 60 s is used up");
    CHECK(!s.next(71));
  }
  e.stop_all = {tune::time_budget(std::chrono::minutes(2))};
  tune::study s(where, e);
  CHECK(s.stopping().empty());
  CHECK(s.next(71).has_value());
}

namespace {

/// A scheduler of a user's: trials go on in turn, two reports at a time; only the first two go beyond 6.
struct in_turn {
  std::vector<std::uint64_t> waiting;
  void add(std::uint64_t, const tune::config&) {}
  tune::verdict report(std::uint64_t trial, double at, double) {
    if (at == 6 && trial >= 2) return tune::verdict::stop("not one of the first two");
    if (static_cast<int>(at) % 2 == 1) return tune::verdict::go_on();
    waiting.push_back(trial);
    return tune::verdict::pause("the next one's turn");
  }
  void remove(std::uint64_t) {}
  tune::action next(bool may_add) {
    if (may_add) return tune::action::add();
    if (waiting.empty()) return tune::action::nothing();
    const auto t = waiting.front();
    waiting.erase(waiting.begin());
    return tune::action::resume(t, "its turn");
  }
};
static_assert(tune::scheduler<in_turn>);
static_assert(!tune::scheduler<int>);

/// An output of a user's, which leaves out what it does not care for.
struct chronicle {
  std::shared_ptr<std::vector<std::string>> lines;
  void begin(const tune::output_context& c) { lines->push_back("begin " + c.name + " " + c.metric); }
  void report(const tune::trial_record& t, const tune::metrics& m, double) {
    lines->push_back(std::to_string(t.id) + " reports " + tune::value(m["loss"]).text());
  }
  void decision(const tune::trial_record& t, std::string_view what, std::string_view why) {
    lines->push_back(std::to_string(t.id) + " " + std::string(what) + ": " + std::string(why));
  }
  void finish(const std::vector<tune::trial_record>& all) { lines->push_back("finish " + std::to_string(all.size())); }
};

}  // namespace

TEST_CASE("a scheduler and an output of the user's own") {
  const folder f;
  const auto lines = std::make_shared<std::vector<std::string>>();
  tune::study s(where, {.minimise = "loss",
                        .trials = 4,
                        .scheduler = in_turn(),
                        .folder = f.path,
                        .outputs = {chronicle{lines}},
                        .name = "mine"});
  drive(s, ~std::size_t{0}, 8);
  for (const auto& t : s.trials()) {
    CHECK(t.state == (t.id < 2 ? status::complete : status::stopped));
    CHECK(t.iteration == (t.id < 2 ? 8U : 6U));
  }
  REQUIRE(lines->size() > 10U);
  CHECK(lines->front() == "begin mine loss");
  CHECK(lines->back() == "finish 4");
  CHECK((*lines)[3] == "0 pause: the next one's turn");
  CHECK((*lines)[4].starts_with("1 reports "));
  CHECK(std::count(lines->begin(), lines->end(), "0 resume: its turn") >= 2);
  CHECK(std::count_if(lines->begin(), lines->end(),
                      [](const std::string& l) { return contains(l, "stopped: not one of the first two"); }) == 2);
}

TEST_CASE("an experiment's clock may be a metric") {
  tune::study s(where, {.minimise = "loss", .trials = 2, .stop = {tune::after(100)}, .clock = "samples"});
  auto j = s.next();
  CHECK(s.report(j->trial, {{"loss", 1}, {"samples", 64}}).what == kind::go_on);
  CHECK(s.report(j->trial, {{"loss", 1}, {"samples", 128}}).what == kind::stop);
  j = s.next();
  CHECK(s.report(j->trial, {{"loss", 1}}).what == kind::stop);
  CHECK(contains(s.trial(1).why, "the experiment's clock is \"samples\""));
  for (const double late : {std::nan(""), tune::infinity}) {
    tune::study other(where, {.minimise = "loss", .trials = 1, .clock = "samples"});
    j = other.next();
    other.report(j->trial, {{"loss", 1}, {"samples", 64}});
    CHECK(other.report(j->trial, {{"loss", 0}, {"samples", late}}).what == kind::stop);
    CHECK(other.trial(0).state == status::failed);
    CHECK(other.trial(0).why.starts_with("reported samples, the experiment's clock, = "));
    CHECK(other.trial(0).at == 64);
  }
}

namespace {

const std::vector<std::pair<std::string, tune::experiment>> kinds = {
    {"random, fifo", {.minimise = "loss", .trials = 12}},
    {"sobol, asha",
     {.minimise = "loss",
      .trials = 40,
      .searcher = tune::sobol_search(),
      .scheduler = tune::asha({.max = 9, .eta = 3})}},
    {"promotion", {.minimise = "loss", .trials = 40, .scheduler = tune::asha_promotion({.max = 9, .eta = 3})}},
    {"hyperband", {.minimise = "loss", .trials = 30, .scheduler = tune::hyperband({.max = 9})}},
    {"median", {.minimise = "loss", .trials = 20, .scheduler = tune::median_stopping()}},
    {"percentile", {.minimise = "loss", .trials = 20, .scheduler = tune::percentile_stopping({.startup = 2})}},
    {"wilcoxon",
     {.minimise = "loss", .counts = tune::counted::mean, .trials = 20, .scheduler = tune::wilcoxon_stopping()}},
    {"pbt", {.minimise = "loss", .trials = 6, .scheduler = tune::pbt({.interval = 3})}},
    {"pbt, synchronous",
     {.minimise = "loss", .trials = 6, .scheduler = tune::pbt({.interval = 3, .synchronous = true})}},
    {"pb2", {.minimise = "loss", .trials = 6, .scheduler = tune::pb2({.interval = 3, .mutate = {"x", "y"}})}},
    {"grid", {.minimise = "loss", .searcher = tune::grid_search({.per_parameter = 3}), .stop = {tune::after(3)}}},
    {"tpe", {.minimise = "loss", .trials = 20, .searcher = tune::tpe({.startup = 5})}},
    {"tpe, joint", {.minimise = "loss", .trials = 20, .searcher = tune::tpe({.startup = 5, .multivariate = true})}},
    {"bayesian", {.minimise = "loss", .trials = 14, .searcher = tune::bayesian({.startup = 4, .candidates = 100})}},
    {"cma_es", {.minimise = "loss", .trials = 25, .searcher = tune::cma_es()}},
    {"bohb", {.minimise = "loss", .trials = 40, .searcher = tune::bohb(), .scheduler = tune::hyperband({.max = 9})}},
};

}  // namespace

TEST_CASE("continued after a kill at any moment, an experiment is the same as undisturbed") {
  tune::random r(2024);
  for (const auto& each : kinds) {
    const auto& name = each.first;
    CAPTURE(name);
    const folder calm;
    tune::experiment kept = each.second;
    kept.folder = calm.path;
    kept.outputs = {};
    tune::study undisturbed(where, kept);
    drive(undisturbed);
    for (int round = 0; round < manta::testing::rounds(12, 50); ++round) {
      const folder f;
      kept.folder = f.path;
      int runs = 0;
      for (bool done = false; !done; ++runs) {
        {
          tune::study s(where, kept);
          done = drive(s, runs < 4 ? r.index(60) : ~std::size_t{0});
          if (done) {
            CHECK(s.trials().size() == undisturbed.trials().size());
            CHECK(s.best()->parameters == undisturbed.best()->parameters);
            CHECK(s.best()->best_loss == undisturbed.best()->best_loss);
            CHECK((outcome(s) == outcome(undisturbed)));
          }
        }
        // The end of the file may be missing or torn. In a population only the last line is: with more of it a
        // checkpoint may be missing of which others made use, whose configurations are the same then, but not what
        // they went on from.
        if (!done) {
          const std::string path = f.path + "/journal.jsonl";
          std::string text = text_of(path);
          const std::size_t last = text.size() - (text.rfind('\n', text.size() - 2) + 1);
          const std::size_t lost = r.index(name.starts_with("pb") ? last : 200);
          text.resize(std::max<std::size_t>(text.find('\n') + 1, text.size() - lost));
          std::ofstream(path, std::ios::binary) << text;
        }
      }
    }
  }
}

TEST_CASE("an experiment that has ended is read, not run, when it is continued") {
  folder f;
  const tune::experiment e = {.minimise = "loss", .trials = 5, .folder = f.path};
  std::string before;
  {
    tune::study s(where, e);
    drive(s);
    before = outcome(s);
  }
  const std::string journal = text_of(f.path + "/journal.jsonl");
  tune::study again(where, e);
  CHECK(again.finished());
  CHECK(outcome(again) == before);
  CHECK(text_of(f.path + "/journal.jsonl") == journal);
}

TEST_CASE("names and options of any bytes go through the journal, and every line of it is JSON") {
  const std::string latin = "caf\xe9", both = "\xc3\xa9\xe9", zero("a\0b\x01\x7f", 5), escape = "\\u00e9",
                    mark("\0bytes:x", 8);
  tune::space s{{"x " + latin, tune::uniform(0, 1)},
                {zero, tune::choice({tune::value(latin), tune::value(both), tune::value(zero), tune::value(escape),
                                     tune::value(mark), tune::value("caf\xc3\xa9")})}};
  for (const tune::any_searcher& searcher :
       {tune::any_searcher(tune::random_search()), tune::any_searcher(tune::tpe({.startup = 5}))}) {
    const folder f;
    std::vector<tune::config> before;
    for (const std::size_t until : {12U, 24U}) {
      tune::study study(s, {.minimise = "loss " + latin, .trials = 24, .searcher = searcher, .folder = f.path});
      for (std::size_t t = 0; t < before.size(); ++t) CHECK(study.trial(t).parameters == before[t]);
      if (!before.empty()) CHECK(study.trial(0).why == zero + both);
      while (study.trials().size() < until) {
        const auto j = study.next();
        CHECK(study.report(j->trial, {{"loss " + latin, j->parameters.get<double>("x " + latin)}, {both, 1}}).what ==
              kind::go_on);
        j->trial == 0 ? (void)study.failed(0, zero + both) : study.ended(j->trial);
        before.push_back(j->parameters);
      }
      CHECK(study.trials().size() == until);
      CHECK(study.best()->best.find(both) != nullptr);
      study.flush();
    }
    std::istringstream lines(text_of(f.path + "/journal.jsonl"));
    for (std::string line; std::getline(lines, line);) CHECK(nlohmann::json::accept(line));
  }
}

TEST_CASE("texts stay texts and numbers stay numbers in the journal, and any bytes of a failure are read again") {
  const folder f;
  const tune::space s{{"a", tune::choice({"inf", "nan", "1e5", "true"})}, {"b", tune::choice({tune::infinity, 0.5})}};
  for (int start = 0; start < 2; ++start) {
    tune::study study(s, {.minimise = "loss", .trials = 12, .folder = f.path, .seed = 3});
    CHECK(study.finished() == (start == 1));
    while (const auto j = study.next()) {
      study.report(j->trial, {{"loss", 1.0}});
      if (j->trial % 3 == 0) {
        study.failed(j->trial, "cannot open caf\xe9.csv\x01");
      } else {
        study.ended(j->trial);
      }
    }
    if (start == 0) study.finish();
    CHECK(study.trials().size() == 12);
    for (const auto& t : study.trials()) {
      CHECK((t.state == status::failed) == (t.id % 3 == 0));
      CHECK(t.parameters["a"].is_text());
      CHECK(t.parameters["b"].is_number());
    }
  }
}

TEST_CASE("failed trials are started again if asked for when an experiment is continued") {
  folder f;
  tune::experiment e = {.minimise = "loss", .trials = 3, .folder = f.path};
  {
    tune::study s(where, e);
    s.failed(s.next()->trial, "no disk");
    drive(s);
  }
  e.retry_failed = true;
  for (int i = 0; i < 2; ++i) {
    tune::study s(where, e);
    CHECK(s.finished() == (i == 1));
    if (i == 0) {
      const auto j = s.next();
      CHECK(j->trial == 0U);
      s.report(j->trial, {{"loss", 0.5}});
      s.ended(j->trial);
      CHECK(!s.next());
      s.finish();
    }
    CHECK(tune::results(s).count(status::complete) == 3U);
  }
}

TEST_CASE("a journal that does not belong to the experiment, is damaged or in use is refused") {
  folder f;
  tune::experiment e = {.minimise = "loss", .trials = 5, .folder = f.path};
  {
    tune::study s(where, e);
    CHECK(contains(thrown<tune::error>([&] { tune::study t(where, e); }), "another process continues"));
    drive(s);
  }
  const std::string why = thrown<tune::error>([&] {
    tune::study t({{"x", tune::uniform(0, 1)}, {"y", tune::loguniform(1e-3, 2)}, {"c", tune::choice({"a", "b"})}}, e);
  });
  CHECK(contains(why,
                 "another space (y: loguniform(0.001, 1) there, y: loguniform(0.001, 2) here); give another folder"));
  CHECK(!contains(why, "\n"));
  tune::experiment other = e;
  other.seed = 2;
  CHECK(contains(thrown<tune::error>([&] { tune::study t(where, other); }), "another seed (1 there, 2 here)"));
  other = e;
  other.searcher = tune::sobol_search();
  CHECK_NOTHROW(tune::study(where, other));  // what was drawn stays; what comes is the new searcher's
  const std::string path = f.path + "/journal.jsonl";
  std::string text = text_of(path);
  text[text.size() / 2] ^= 1;
  std::ofstream(path, std::ios::binary) << text;
  CHECK(contains(thrown<tune::error>([&] { tune::study t(where, e); }), "is damaged"));
  e.fresh = true;
  CHECK(!tune::study(where, e).finished());
}

TEST_CASE("a write of the journal or of a trial's file that fails once leaves no torn line behind") {
  const folder f;
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ::rlimit old = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const auto limit_files = [&](std::size_t bytes) {
    ::rlimit now = old;
    now.rlim_cur = static_cast<::rlim_t>(bytes);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &now) == 0);
  };
  const std::string journal = f.path + "/journal.jsonl", results = f.path + "/trials/00000/result.jsonl";
  const tune::experiment e = {.minimise = "loss", .folder = f.path, .outputs = {tune::json_lines()}};
  {
    tune::study s(where, e);
    const auto j = s.next();
    s.report(j->trial, {{"loss", 1}});
    s.flush();
    s.flush_outputs();
    const std::size_t sizes[] = {text_of(journal).size(), text_of(results).size()};
    s.report(j->trial, {{"loss", 2}});
    limit_files(sizes[0] + 20);  // the disk is full in the middle of a line
    CHECK(contains(thrown<tune::error>([&] { s.flush(); }), "cannot write " + journal));
    CHECK(text_of(journal).size() == sizes[0] + 20);
    limit_files(sizes[1] + 7);
    CHECK(contains(thrown<manta::error>([&] { s.flush_outputs(); }), "cannot write " + results));
    limit_files(old.rlim_cur);
    s.report(j->trial, {{"loss", 3}});
    s.flush();
    s.flush_outputs();
  }
  std::signal(SIGXFSZ, before);
  CHECK(tune::study(where, e).trial(0).iteration == 3U);
  std::istringstream lines(text_of(results));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) CHECK(nlohmann::json::accept(line));
  CHECK(count == 3);
}

TEST_CASE("a trial is one line for people") {
  tune::study s(where, {.minimise = "loss"});
  const auto j = s.next();
  std::ostringstream out;
  out << s.trial(0);
  CHECK(out.str() == "trial 0, running: " + j->parameters.text() + " has reported no value after 0 reports");
  s.report(0, {{"loss", 0.25}, {"accuracy", 1}});
  s.ended(0);
  CHECK(tune::results(s).best().text() ==
        "trial 0, complete: " + j->parameters.text() + " has loss 0.25, accuracy 1 after 1 report");
}

TEST_CASE("a function is named in messages as the program has it") {
  const auto name = [](const std::string& of) { return tune::detail::readable_name("manta::tune::detail::" + of); };
  CHECK(name("function_body<&(first(manta::tune::config const&))>") == "first");
  CHECK(name("function_body<&((anonymous namespace)::train(manta::tune::config const&, manta::tune::trial&))>") ==
        "train");
  CHECK(name("class_body<(anonymous namespace)::climber>") == "climber");
  CHECK(name("lambda_body<main::{lambda()#1}::operator()() const::{lambda(manta::tune::config const&)#1}>") ==
        "a lambda of main");
}

TEST_CASE(
    "a trial that takes its rank with it twice is given up, and one whose ranks die four times; both across restarts") {
  folder f;
  const tune::experiment e = {.minimise = "loss", .trials = 2, .retries = 9, .folder = f.path};
  const auto again = [&](tune::trial_number t, const std::string& why, tune::cause c) {
    tune::study s(where, e);  // each in a start of its own, which interrupts what ran
    while (s.next()->trial != t) {
    }
    return s.failed(t, why, 0, c);
  };
  CHECK(again(0, "segmentation fault", tune::cause::crash));
  CHECK(!again(0, "bus error", tune::cause::crash));
  for (int i = 0; i < 3; ++i) CHECK(again(1, "killed", tune::cause::lost));
  CHECK(!again(1, "killed again", tune::cause::lost));
  tune::study s(where, e);
  CHECK(s.trial(0).why == "it has taken 2 ranks with it, and it is not tried again; the last: bus error");
  CHECK(s.trial(0).failures == 2);
  CHECK(s.trial(1).why == "4 ranks died while they ran it, and it is not tried again; the last: killed again");
  CHECK(s.trial(1).failures == 0);
  CHECK(!s.next());
}

TEST_CASE("a crash counts against the retries, a kill of the experiment never") {
  folder f;
  const tune::experiment e = {.minimise = "loss", .trials = 1, .folder = f.path};
  for (int i = 0; i < 20; ++i) CHECK(tune::study(where, e).next()->trial == 0U);
  tune::study s(where, e);
  CHECK(!s.failed(s.next()->trial, "segmentation fault", 0, tune::cause::crash));
  CHECK(s.trial(0).why == "segmentation fault");
}

namespace {

/// A study whose checkpoints are written as trials would write them.
struct with_files {
  folder f;
  std::unique_ptr<tune::study> s;

  explicit with_files(tune::experiment e) {
    e.folder = f.path;
    e.outputs = {};
    s = std::make_unique<tune::study>(where, e);
    manta::output::make_folders(f.path + "/checkpoints");
  }
  static std::string name(std::size_t t, std::uint64_t at) {
    return "checkpoints/" + std::to_string(t) + "-1-" + std::to_string(at);
  }
  bool has(std::size_t t, std::uint64_t at) const { return ::access((f.path + "/" + name(t, at)).c_str(), F_OK) == 0; }
  std::string all(std::size_t t) const {  // the iterations of those that are there
    std::string text;
    for (std::uint64_t at = 0; at < 20; ++at) text += has(t, at) ? (text.empty() ? "" : " ") + std::to_string(at) : "";
    return text;
  }
  /// In the order of a rank's notice: the checkpoint is known before the report that it was made at.
  tune::answer save_and_report(std::size_t t, std::uint64_t at, const tune::metrics& m, std::size_t bytes = 1000,
                               int members = 1) {
    tune::checkpoint c;
    c.iteration = at;
    c.pack(std::string(bytes, 'x'), at);
    for (int i = 0; i < members; ++i) c.write(f.path + "/" + name(t, at) + (i == 0 ? "" : "." + std::to_string(i)));
    s->checkpointed(t, at, name(t, at));
    const auto a = s->report(t, m, 0, at);
    s->flush();
    return a;
  }
};

}  // namespace

TEST_CASE("of each trial the last checkpoints stay on disk, and the best") {
  with_files w({.minimise = "loss", .trials = 2, .checkpoints = {.keep = 2, .keep_best = 2}});
  REQUIRE(w.s->next()->trial == 0U);
  for (std::uint64_t at = 1; at <= 9; ++at)
    w.save_and_report(0, at, {{"loss", std::abs(static_cast<double>(at) - 3.2)}});
  CHECK(w.all(0) == "3 4 8 9");
  CHECK(w.s->trial(0).best_checkpoint == 3U);
  w.s->ended(0);
  w.s->finish();
  CHECK(w.all(0) == "3 4 8 9");
  const tune::results r(*w.s);
  const auto c = r.best_checkpoint();
  CHECK(c.iteration == 3U);
  std::string text;
  std::uint64_t at = 0;
  c.unpack(text, at);
  CHECK((text == std::string(1000, 'x') && at == 3));
  const std::string path = w.f.path + "/" + with_files::name(0, 3);
  std::string bytes = text_of(path);
  bytes[100] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  CHECK(contains(thrown<tune::error>([&] { r.best_checkpoint(); }), "is damaged"));
}

TEST_CASE("checkpoints are kept by another metric if one is named") {
  with_files w({.minimise = "loss", .checkpoints = {.keep_best = 1, .maximise = "accuracy"}});
  w.s->next();
  for (std::uint64_t at = 1; at <= 6; ++at) w.save_and_report(0, at, {{"loss", at}, {"accuracy", at == 4 ? 0.9 : 0.5}});
  CHECK(w.all(0) == "4 6");
  with_files none({.minimise = "loss", .checkpoints = {.keep = 3, .keep_best = 0}});
  none.s->next();
  for (std::uint64_t at = 1; at <= 6; ++at) none.save_and_report(0, at, {{"loss", at}});
  CHECK(none.all(0) == "4 5 6");
  with_files every({.minimise = "loss", .checkpoints = {.keep = 0}});
  every.s->next();
  for (std::uint64_t at = 1; at <= 6; ++at) every.save_and_report(0, at, {{"loss", at}});
  CHECK(every.all(0) == "1 2 3 4 5 6");
  CHECK(contains(thrown<tune::error>(
                     [] { tune::study(where, {.minimise = "l", .checkpoints = {.minimise = "a", .maximise = "b"}}); }),
                 "not by both"));
}

TEST_CASE(
    "above the budget of bytes the worst ended trials lose their checkpoints, then running ones all but the last") {
  with_files w({.minimise = "loss", .trials = 4, .checkpoints = {.keep = 0, .budget_bytes = 7000}});
  for (std::size_t t = 0; t < 4; ++t) REQUIRE(w.s->next()->trial == t);
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::uint64_t at = 1; at <= 2; ++at) w.save_and_report(t, at, {{"loss", static_cast<double>(t + at)}});
    w.s->ended(t);
  }
  w.save_and_report(3, 1, {{"loss", 9}});
  CHECK((w.all(0) == "1 2" && w.all(1) == "1 2" && w.all(2) == "1" && w.all(3) == "1"));
  w.save_and_report(3, 2, {{"loss", 8}});
  CHECK((w.all(0) == "1 2" && w.all(1) == "1" && w.all(2) == "1" && w.all(3) == "1 2"));
  w.save_and_report(3, 3, {{"loss", 9}}, 4500);
  CHECK(w.all(0) == "1");    // of the best trial
  CHECK(w.all(3) == "2 3");  // its best, and what it would go on from
  w.save_and_report(3, 4, {{"loss", 9}}, 30'000);
  CHECK(w.all(0) == "1");
  CHECK(w.all(3) == "4");  // more than the budget, and still needed
}

TEST_CASE("the budget counts the files of all members of a gang") {
  with_files w({.minimise = "loss", .trials = 2, .ranks = 3, .checkpoints = {.keep = 0, .budget_bytes = 7000}});
  w.s->next();
  for (std::uint64_t at = 1; at <= 4; ++at) w.save_and_report(0, at, {{"loss", -static_cast<double>(at)}}, 1000, 3);
  CHECK(w.all(0) == "3 4");
  CHECK(::access((w.f.path + "/" + with_files::name(0, 1) + ".2").c_str(), F_OK) != 0);
  CHECK(::access((w.f.path + "/" + with_files::name(0, 4) + ".2").c_str(), F_OK) == 0);
}

TEST_CASE(
    "what another trial goes on from stays on disk until that one has a checkpoint of its own, and after a restart") {
  tune::experiment e = {.minimise = "loss", .trials = 2, .scheduler = tune::pbt({.interval = 2, .quantile = 0.5})};
  with_files w(e);
  w.s->next();
  w.s->next();
  w.save_and_report(0, 2, {{"loss", 1}});
  const auto a = w.save_and_report(1, 2, {{"loss", 5}});
  REQUIRE(a.change.has_value());
  CHECK(a.change->source == 0U);
  w.s->continues_from(1, 0);
  for (std::uint64_t at = 3; at <= 6; ++at) w.save_and_report(0, at, {{"loss", 1.0 / static_cast<double>(at)}});
  CHECK(w.all(0) == "2 6");
  std::ofstream(w.f.path + "/checkpoints/0-1-7") << "written just before a kill";
  std::ofstream(w.f.path + "/checkpoints/0-1-8.new") << "half written";
  w.s = nullptr;
  e.folder = w.f.path;
  e.outputs = {};
  w.s = std::make_unique<tune::study>(where, e);
  CHECK(w.all(0) == "2 6");
  CHECK(::access((w.f.path + "/checkpoints/0-1-8.new").c_str(), F_OK) != 0);
  CHECK(w.s->trial(1).checkpoint_file == with_files::name(0, 2));
  std::vector<tune::trial_number> began;
  while (const auto j = w.s->next()) began.push_back(j->trial);
  CHECK(began.size() == 2U);
  w.save_and_report(1, 4, {{"loss", -1}});
  CHECK(w.all(0) == "6");
  ::unlink((w.f.path + "/" + with_files::name(1, 4)).c_str());
  w.s = nullptr;
  w.s = std::make_unique<tune::study>(where, e);
  CHECK(w.s->trial(1).checkpoint == 0U);  // its file has gone: it begins anew
}

namespace {
/// What the report of an experiment shows of its trials.
nlohmann::json report_of(const std::string& folder) {
  const std::string html = text_of(folder + "/report.html"), mark = "id=\"data\">";
  const std::size_t begin = html.find(mark) + mark.size();
  return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin))["sections"][1];
}
}  // namespace

namespace {
struct optimiser {
  std::string name;
  double rate = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(rate));
  }
};
}  // namespace

TEST_CASE("options of the user's own class go through the journal, continuing, the results and the files") {
  const folder f;
  const tune::space objects = {{"by", tune::choice({optimiser{"sgd", 0.1}, optimiser{"adam, \"w\"", 1e-3}})},
                               {"x", tune::uniform(0, 1)}};
  const tune::experiment e = {
      .minimise = "loss", .trials = 20, .searcher = tune::tpe({.startup = 5}), .folder = f.path};
  const auto loss = [](const tune::config& c) {
    const optimiser by = c["by"];
    return by.rate + c["x"] * 0.01;
  };
  for (int part = 0; part < 2; ++part) {  // the second continues
    tune::study s(objects, e);
    for (int i = 0; i < 10; ++i) {
      const auto j = s.next();
      REQUIRE(j->trial == static_cast<std::size_t>(10 * part + i));
      s.report(j->trial, {{"loss", loss(j->parameters)}});
      s.ended(j->trial);
    }
    if (part == 1) s.finish();
  }
  const tune::results r(tune::study(objects, e));
  CHECK(r.size() == 20U);
  const optimiser best = r.best().parameters["by"];
  CHECK((best.name == "adam, \"w\"" && best.rate == 1e-3));
  CHECK(contains(r.to_csv(), R"(,"{""name"":""sgd"",""rate"":0.1}",)"));
  const auto config = nlohmann::json::parse(text_of(f.path + "/trials/00007/config.json"));
  const auto object = nlohmann::json::parse(config["by"].get<std::string>());
  CHECK(object["rate"] == r[7].parameters["by"].as<optimiser>().rate);
}

TEST_CASE("files of the trials and the log of decisions") {
  folder f;
  {
    tune::study s(where,
                  {.minimise = "loss", .trials = 9, .scheduler = tune::asha({.max = 9, .eta = 3}), .folder = f.path});
    drive(s);
  }
  // Files of thousands of trials are many: each has its configuration, its reports, and the events for TensorBoard.
  for (const auto& trial : std::filesystem::directory_iterator(f.path + "/trials")) {
    if (!trial.is_directory()) continue;
    CHECK(std::distance(std::filesystem::directory_iterator(trial), {}) == 3);
  }
  folder with_csv;
  {
    tune::study s(where, {.minimise = "loss",
                          .trials = 9,
                          .scheduler = tune::asha({.max = 9, .eta = 3}),
                          .folder = with_csv.path,
                          .outputs = {tune::csv()}});
    drive(s);
  }
  const std::string rows = text_of(with_csv.path + "/trials/00000/progress.csv");
  CHECK(rows.starts_with("iteration,seconds,loss\n1,0,"));
  CHECK(std::count(rows.begin(), rows.end(), '\n') == 10);
  const std::string lines = text_of(f.path + "/trials/00000/result.jsonl");
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 9);
  CHECK(nlohmann::json::parse(lines.substr(0, lines.find('\n')))["iteration"] == 1);
  CHECK(nlohmann::json::parse(text_of(f.path + "/trials/00003/config.json")).contains("x"));
  const auto flat = nlohmann::json::parse(
      text_of(with_csv.path + "/trials/00003/params.json"));  // VisKit: one level, no object in it
  CHECK(flat.size() == 3U);
  for (const auto& v : flat) CHECK(v.is_primitive());
  const std::string decisions = text_of(f.path + "/decisions.jsonl");
  CHECK(contains(decisions, R"("decision":"stopped","why":"at 1: loss )"));
  CHECK(contains(decisions, R"({"trial":0,"at":9.0,"decision":"complete","why":"reached 9, the maximum"})"));
  const auto report = report_of(f.path);
  CHECK(report["metric"] == "loss");
  CHECK(report["parameters"] == nlohmann::json::array({"x", "y", "c"}));
  CHECK(report["rows"].size() == 9U);
  CHECK(report["importance"].size() == 3U);
  CHECK(report["curves"][0][1].size() == 9U);
}

TEST_CASE(
    "the report shows the best value over time, and which trial ran when on which rank, also when it was continued") {
  const folder f;
  const tune::experiment e = {
      .maximise = "accuracy", .trials = 3, .retries = 1, .folder = f.path, .outputs = {tune::html_report()}};
  {
    tune::study s(where, e);
    for (const int rank : {4, 5}) s.opened(rank);
    for (std::size_t t = 0; t < 2; ++t)
      s.placed(s.next(static_cast<double>(t))->trial, static_cast<int>(t) + 4, static_cast<double>(t) + 0.5);
    s.report(0, {{"accuracy", 0.5}}, 2);
    s.report(1, {{"accuracy", 0.25}}, 3);
    s.failed(0, "no memory", 4);
    s.placed(s.next(5)->trial, 5, 5);
  }
  tune::study s(where, e);
  for (const int rank : {4, 6, 7}) s.opened(rank, 7);
  REQUIRE(s.next(7)->trial == 0U);
  s.placed(0, 6, 7);
  REQUIRE(s.next(7)->trial == 1U);
  s.report(0, {{"accuracy", 0.75}}, 8, 2);
  s.ended(0, 9);
  s.ended(1, 10);
  s.closed(7, 10);
  const auto j = s.next(10);
  s.placed(j->trial, 4, 10);
  s.report(j->trial, {{"accuracy", 0.5}}, 12);
  s.ended(j->trial, 12);
  s.finish(12);
  const auto& ran = s.trial(0).ran;
  REQUIRE(ran.size() == 3U);
  CHECK((ran[0].rank == 4 && ran[0].begin == 0.5 && ran[0].end == 4));
  CHECK((ran[1].rank == 5 && ran[1].begin == 5 && ran[1].end == 5));  // killed: how long it ran is not known
  CHECK((ran[2].rank == 6 && ran[2].begin == 7 && ran[2].end == 9));
  const auto report = report_of(f.path);
  CHECK(report["maximised"] == true);
  CHECK(report["rows"][0][2] == 0.75);
  CHECK(report["rows"][1][2] == 0.25);
  CHECK(report["seconds"] == 12);
  CHECK(report["ranks"] == nlohmann::json{4, 5, 6, 7});
  // two ranks until the kill, at the last thing that the journal knows; then two for five seconds, and one for three
  const double available = 2 * 5 + 2 * 5 + 3, busy = (4 - 0.5) + (5 - 1.5) + (9 - 7) + (12 - 10);
  CHECK(report["idle"].get<double>() == doctest::Approx(1 - busy / available));
  const auto& stretches = report["ran"];  // the last one first
  for (const auto& stretch : {nlohmann::json{0, 4, 0.5, 4}, nlohmann::json{0, 6, 7, 9}, nlohmann::json{2, 4, 10, 12}}) {
    CAPTURE(stretch.dump());
    CHECK(std::find(stretches.begin(), stretches.end(), stretch) != stretches.end());
  }
}

TEST_CASE("a curve keeps its ends and a bounded number of points") {
  tune::curve c;
  for (int i = 1; i <= 10'000; ++i) c.add(i, 2 * i);
  const auto points = c.points();
  CHECK(points.size() <= 65U);
  CHECK(points.size() >= 32U);
  CHECK(points.front().at == 1);
  CHECK(points.back().at == 10'000);
  for (const auto& p : points) CHECK(p.y == 2 * p.at);
}

TEST_CASE("a parameter that makes trials fail matters, whatever they reported before") {
  const tune::space x = {{"x", tune::uniform(0, 1)}, {"y", tune::uniform(0, 1)}};
  tune::study s(x, {.minimise = "loss", .trials = 200});
  while (auto j = s.next()) {
    s.report(j->trial, {{"loss", 1}});
    if (j->parameters["x"] > 0.5) s.failed(j->trial, "diverged");
    else s.ended(j->trial);
  }
  const auto shares = tune::parameter_importance(x, s.trials()),
             all_equal = tune::parameter_importance(x, s.trials(), true);
  CHECK(shares[0].first == "x");
  CHECK(shares[0].second > 0.9);
  CHECK(shares[1].second < 0.05);
  CHECK(all_equal[0].second == 0);
}

TEST_CASE("importance finds the parameter that matters") {
  tune::study s({{"big", tune::uniform(0, 1)}, {"small", tune::uniform(0, 1)}, {"none", tune::choice({1, 2, 3})}},
                {.minimise = "loss", .trials = 300});
  while (auto j = s.next()) {
    const double x = j->parameters["big"], y = j->parameters["small"];
    s.report(j->trial, {{"loss", 10 * x + 3 * y}});
    s.ended(j->trial);
  }
  const auto shares = tune::parameter_importance(
      {{"big", tune::uniform(0, 1)}, {"small", tune::uniform(0, 1)}, {"none", tune::choice({1, 2, 3})}}, s.trials());
  REQUIRE(shares.size() == 3U);
  CHECK(shares[0].first == "big");
  CHECK(shares[0].second > 0.8);
  CHECK(shares[1].first == "small");
  CHECK(shares[1].second == doctest::Approx(9.0 / 109).epsilon(0.6));
  CHECK(shares[2].second < 0.03);
}

namespace {

/// Trials of `epochs` reports each, the k-th of which is x + 1 / k, one after the other.
void train_all(tune::study& s, int epochs = 20) {
  while (const auto j = s.next()) {
    const auto x = j->parameters.get<double>("x");
    bool ends = false;
    for (int k = 1; k <= epochs && !ends; ++k) {
      ends = s.report(j->trial, {{"loss", x + 1.0 / k}}, 0, static_cast<std::uint64_t>(k)).what == kind::stop;
    }
    if (!ends) s.ended(j->trial);
  }
  s.finish();
}

}  // namespace

TEST_CASE(
    "an experiment that is continued with other trials and rules is what it would be if they had been so from the start") {
  const tune::space line = {{"x", tune::uniform(0, 1)}};
  const tune::experiment base{.minimise = "loss", .trials = 6, .outputs = {}};
  auto more = base, fewer = base, longer = base, shorter = base, budget = base;
  more.trials = 12;
  fewer.trials = 3;
  longer.stop = {tune::after(9)};
  shorter.stop = {tune::after(5)};
  budget.stop_all = {tune::report_budget(50)};
  for (const auto& [first, second] :
       {std::pair(base, more), std::pair(shorter, longer), std::pair(longer, shorter), std::pair(budget, base),
        std::pair(base, budget), std::pair(budget, more), std::pair(longer, more)}) {
    folder f;
    tune::study anew(line, second);
    train_all(anew);
    auto before = first, after = second;
    before.folder = after.folder = f.path;
    {
      tune::study s(line, before);
      CHECK(s.continued().empty());
      train_all(s);
    }
    for (int start = 0; start < 2; ++start) {  // the second time nothing is left to do
      tune::study s(line, after);
      CHECK(contains(s.continued(), "continues " + f.path + " with "));
      CHECK(contains(s.continued(), ".fresh = true begins anew"));
      CHECK((start == 0 || s.finished()));
      train_all(s);
      CHECK(outcome(s) == outcome(anew));
      CHECK(s.stopping() == anew.stopping());
    }
  }
  folder f;
  auto all = base, few = fewer;
  all.folder = few.folder = f.path;
  {
    tune::study s(line, all);
    train_all(s);
  }
  tune::study s(line, few);  // what there is stays
  train_all(s);
  CHECK(s.trials().size() == 6U);
}

TEST_CASE("another direction is refused, another function is said, when an experiment is continued") {
  folder f;
  const tune::space line = {{"x", tune::uniform(0, 1)}};
  {
    tune::study s(line, {.minimise = "loss", .trials = 2, .folder = f.path, .outputs = {}}, "train");
    train_all(s);
  }
  CHECK(contains(thrown<tune::error>(
                     [&] { tune::study(line, {.maximise = "loss", .trials = 2, .folder = f.path, .outputs = {}}); }),
                 "holds an experiment with another direction (minimise there, maximise here)"));
  const tune::study s(line, {.minimise = "loss", .trials = 2, .folder = f.path, .outputs = {}}, "fit");
  CHECK(
      contains(s.continued(), "with 2 trials: 2 complete; it was begun with another function (train there, fit here)"));
}

TEST_CASE("a trial that fails is not the best one, however good it looked before, unless that is wanted") {
  for (const bool may : {false, true}) {
    tune::study s({{"x", tune::uniform(0, 1)}}, {.minimise = "loss", .trials = 3, .best_may_fail = may});
    for (const double last : {0.5, std::nan(""), 0.4}) {
      const auto j = s.next();
      s.report(j->trial, {{"loss", j->trial == 1 ? 0.1 : 0.6}});
      CHECK(s.best()->id == (j->trial == 0 ? 0U : j->trial == 1 || may ? 1U : 0U));
      if (s.report(j->trial, {{"loss", last}}).what != kind::stop) s.ended(j->trial);
    }
    CHECK(s.trial(1).state == status::failed);
    CHECK(s.best()->id == (may ? 1U : 2U));
    CHECK(s.summary().best == (may ? 0.1 : 0.4));
  }
}

TEST_CASE("searchers that learn keep away from where trials fail") {
  for (const tune::any_searcher& how :
       {tune::any_searcher(tune::tpe()), tune::any_searcher(tune::tpe({.multivariate = true}))}) {
    tune::study s({{"x", tune::uniform(0, 1)}}, {.minimise = "loss", .trials = 60, .searcher = how});
    int late = 0;
    while (const auto j = s.next()) {
      const auto x = j->parameters.get<double>("x");
      const bool diverges = x > 0.5;
      s.report(j->trial, {{"loss", diverges ? 0.1 : 0.2 + std::abs(x - 0.3)}});
      late += diverges && j->trial >= 30;
      if (diverges) {
        s.failed(j->trial, "out of memory");
      } else {
        s.ended(j->trial);
      }
    }
    CHECK(late < 8);  // at random it would be half of 30
  }
}

TEST_CASE("the configuration of a trial that has become another is the one with which its best value was reported") {
  tune::study s({{"x", tune::uniform(0, 1)}},
                {.minimise = "loss", .trials = 4, .scheduler = tune::pbt({.interval = 1})});
  std::map<std::uint64_t, tune::config> with, best;
  std::map<std::uint64_t, double> least;
  for (int i = 0; i < 4; ++i) {
    const auto j = s.next();
    with[j->trial] = j->parameters;
  }
  int changes = 0;
  for (int at = 1; at <= 30; ++at) {
    for (auto& [t, c] : with) {
      const double loss = std::abs(c.get<double>("x") - 0.5) + (at < 3 ? 0 : 1.0 / at);  // flattering at first
      if (!least.contains(t) || loss < least[t]) {
        least[t] = loss;
        best[t] = c;
      }
      const auto a = s.report(t, {{"loss", loss}});
      if (a.change) {
        c = a.change->to;
        ++changes;
      }
      CHECK(s.trial(t).parameters == best[t]);
      CHECK(s.trial(t).runs_with() == c);
    }
  }
  CHECK(changes > 5);
  for (const auto& [t, c] : with) {  // a curve does not go on from what the trial was to what it became
    const auto points = s.trial(t).losses.points();
    CHECK(points.back().line + 1U >= s.trial(t).ran.size() - 1);
    CHECK(points.back().line < s.trial(t).ran.size());
  }
}
