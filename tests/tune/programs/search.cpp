// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An experiment that is killed by kill.py, or one of its ranks; prints what its trials came to.
//
//   search FOLDER KIND MILLISECONDS [TRIALS]    each report takes so long; KIND is a scheduler (fifo, asha, hyperband,
//       pbt, patience), a searcher (tpe, joint, bohb), two objectives with a constraint and known results (front),
//       rules of its end (ends), three runs of each trial (repeats, and with ASHA
//       repeats_asha), where it runs (isolated), or what trial 3 does at its fifth report, always (crash, hang)
#include <manta/tune.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace tune = manta::tune;

void train(const tune::config& c, tune::trial& trial) {
  const auto how = c.get<std::string>("kind");
  double value = how.starts_with("repeats") ? (1 + trial.repeat()) / 2.0 : 1;  // of three repeats the mean is 1
  trial.keep(value);
  while (trial.iteration() < 12) {
    std::this_thread::sleep_for(std::chrono::milliseconds(c.get<int>("pause")));
    if (trial.id() == 3 && trial.iteration() == 4 && (how == "crash" || how == "hang")) {
      if (how == "crash") std::raise(SIGSEGV);
      for (volatile bool on = true; on;) {
      }
    }
    value *= c.get<double>("rate");
    if (!trial.report({{"loss", value}, {"rate", c.get<double>("rate")}})) return;
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string folder = argv[1], kind = argv[2];
  const int pause = std::atoi(argv[3]);
  const bool bad = kind == "crash" || kind == "hang";
  return manta::run(argc, argv, [&] {
    const tune::space where = {{"rate", tune::uniform(0.5, 1)}, {"pause", pause}, {"kind", kind}};
    tune::experiment e = {.minimise = "loss", .trials = 20, .checkpoints = {.every = 3}, .folder = folder, .show = bad};
    if (argc > 4) e.trials = static_cast<std::size_t>(std::atoi(argv[4]));
    if (kind.starts_with("repeats")) e.repeats = 3;
    if (kind == "asha" || kind == "repeats_asha") e.scheduler = tune::asha({.max = 12, .eta = 2});
    if (kind == "patience") e.scheduler = tune::patience_stopping({.reports = 3, .least = 0.05});
    if (kind == "ends") e.stop_all = {tune::complete_budget(8) && tune::no_improvement(4)};
    if (kind == "hyperband") e.scheduler = tune::hyperband({.max = 12, .eta = 2});
    if (kind == "tpe") e.searcher = tune::tpe({.startup = 5});
    if (kind == "joint") e.searcher = tune::tpe({.startup = 5, .multivariate = true});
    if (kind == "bohb") {
      e.searcher = tune::bohb();
      e.scheduler = tune::hyperband({.max = 12, .eta = 2});
    }
    if (kind == "front") {
      e.minimise = {"loss"};
      e.maximise = {"rate"};
      e.subject_to = {tune::at_most("rate", 0.95)};
      e.searcher = tune::nsga2({.population = 6});
      for (const double rate : {0.6, 0.9})
        e.known.push_back({tune::config{{"rate", rate}}, tune::metrics{{"loss", std::pow(rate, 12)}, {"rate", rate}}});
    }
    if (kind == "isolated") e.isolate = true;
    if (kind == "crash") e.retries = 9;
    if (kind == "pbt") {
      e.trials = 4;
      e.scheduler = tune::pbt({.interval = 3});
    }
    std::printf("started\n");
    std::fflush(stdout);
    const auto r = tune::run<train>(where, e);
    for (const auto& t : r) {
      std::printf("%d %s %d %.17g %.17g\n", static_cast<int>(t.id), tune::name_of(t.state),
                  static_cast<int>(t.iteration), t.best_loss, t.parameters.get<double>("rate"));
    }
    const tune::trial_record& best = r[r.front().front()];
    std::printf("best %d %.17g\n", static_cast<int>(best.id), best.best_loss);
  });
}
