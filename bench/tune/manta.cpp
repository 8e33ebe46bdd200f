// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an experiment costs besides its trials: trials that do nothing, reports with ASHA and
// all outputs on, one report's round trip, the journal and memory as trials become many. There is no rival program:
// nothing else runs such trials on MPI ranks. Ray, by its own documentation: 9 ms a trial, 500 reports a second.
//
//   mpirun -n 2 --bind-to core bench_tune_manta [repetitions]
//
//   tune_empty_trials      seconds for 10 000 trials of one report
//   tune_reports           thousand reports a second of 100 trials, ASHA, with JSON, CSV, TensorBoard, journal, report
//   tune_round_trip        microseconds of one report that waits for its answer
//   tune_event_100         microseconds of an event that is kept in the journal, after 100 trials
//   tune_event_1000, tune_event_10000, tune_event_100000
//   tune_trial_bytes       of memory that stay for a trial that has ended
#include <manta/tune.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "../common/measure.hpp"

namespace tune = manta::tune;

namespace {

double nothing(const tune::config& c) { return c["x"]; }
void many(const tune::config& c, tune::trial& trial) {
  const double x = c["x"];
  for (int i = 0; i < 8000; ++i) {
    if (!trial.report({{"loss", x + i}, {"accuracy", 1 - x}})) return;
  }
}
/// Microseconds between reports; every one has to be answered.
void waiting(const tune::config&, tune::trial& trial) {
  constexpr int count = 2000;
  double us = 0;
  for (int i = 0; i < count; ++i) {
    const bench::stopwatch watch;
    if (!trial.report({{"us", us}})) return;
    us = 1e6 * watch.seconds();
  }
}

const tune::space line = {{"x", tune::uniform(0, 1)}};

std::string new_folder() {
  char name[] = "/tmp/manta_bench_XXXXXX";
  return ::mkdtemp(name);
}
void remove(const std::string& folder) { (void)!std::system(("rm -rf " + folder).c_str()); }

double resident_bytes() {
  std::ifstream in("/proc/self/statm");
  double pages = 0, resident = 0;
  in >> pages >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Trials of three reports in a study alone. Prints what each event of a thousand trials takes after so many trials, and
/// the bytes that stay of a trial.
void events() {
  constexpr std::size_t window = 1000, trials = 100'000 + window;
  const std::string folder = new_folder();
  {
    tune::study s(line, {.minimise = "loss", .trials = trials, .folder = folder, .outputs = {}});
    const double before = resident_bytes();
    const bench::stopwatch watch;
    double begun = 0;
    std::size_t mark = 100;
    while (const auto j = s.next()) {
      if (j->trial == mark) begun = watch.seconds();
      for (int i = 0; i < 3; ++i) s.report(j->trial, {{"loss", i + j->parameters.get<double>("x")}});
      s.ended(j->trial);
      if (j->trial % 10 == 0) s.flush();
      if (j->trial + 1 == mark + window) {
        bench::report(("tune_event_" + std::to_string(mark)).c_str(), "manta",
                      1e6 * (watch.seconds() - begun) / (5.0 * window), "us");
        mark *= 10;
      }
    }
    bench::report("tune_trial_bytes", "manta", (resident_bytes() - before) / static_cast<double>(trials), "B");
  }
  remove(folder);
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  return manta::run(argc, argv, [repetitions] {
    for (int repetition = 0; repetition < repetitions; ++repetition) {
      bench::stopwatch empty;
      const auto a = tune::run<nothing>(line, {.minimise = "loss", .trials = 10'000, .show = false});
      if (a.count(tune::status::complete) != 10'000) return bench::failed("tune", "trials are missing");
      bench::report("tune_empty_trials", "manta", empty.seconds(), "s");

      const std::string folder = new_folder();
      std::uint64_t reports = 0;
      bench::stopwatch busy;
      const auto b = tune::run<many>(line, {.minimise = "loss",
                                            .trials = 100,
                                            .scheduler = tune::asha({.max = 8000, .grace = 500}),
                                            .folder = folder,
                                            .show = false});
      const double seconds = busy.seconds();
      for (const auto& t : b) reports += t.iteration;
      remove(folder);
      bench::report("tune_reports", "manta", 1e-3 * static_cast<double>(reports) / seconds, "k/s");

      const auto c = tune::run<waiting>(line, {.minimise = "us", .stop = {tune::at_most("us", -1)}, .show = false});
      std::vector<double> all;
      for (const auto& p : c[0].losses.points()) all.push_back(p.y);
      bench::report("tune_round_trip", "manta", tune::median(all), "us");

      events();
    }
    return 0;
  });
}
