// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An experiment that is killed by kill.py, or one of its ranks; prints what its trials came to.
//
//   search FOLDER KIND MILLISECONDS    KIND: fifo, asha or pbt; each report takes so long
#include <manta/tune.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace tune = manta::tune;

void train(const tune::config& c, tune::trial& trial) {
  double value = 1;
  trial.keep(value);
  while (trial.iteration() < 12) {
    std::this_thread::sleep_for(std::chrono::milliseconds(c.get<int>("pause")));
    value *= c.get<double>("rate");
    if (!trial.report({{"loss", value}})) return;
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string folder = argv[1], kind = argv[2];
  const int pause = std::atoi(argv[3]);
  return manta::run(argc, argv, [&] {
    const tune::space where = {{"rate", tune::uniform(0.5, 1)}, {"pause", pause}};
    tune::experiment e = {.minimise = "loss", .trials = 20, .checkpoints = {.every = 3}, .folder = folder, .show = false};
    if (kind == "asha") e.scheduler = tune::asha({.max = 12, .eta = 2});
    if (kind == "pbt") {
      e.trials = 4;
      e.scheduler = tune::pbt({.interval = 3});
    }
    std::printf("started\n");
    std::fflush(stdout);
    const auto r = tune::run<train>(where, e);
    for (const auto& t : r) {
      std::printf("%d %s %.17g %s\n", static_cast<int>(t.id), tune::name_of(t.state), t.best_loss, t.parameters.text().c_str());
    }
    std::printf("best %d %.17g\n", static_cast<int>(r.best().id), r.best_value());
  });
}
