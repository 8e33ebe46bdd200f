// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A search whose trials are noisy: each configuration runs three times, with other random numbers, as one trial. A trial
// whose mean does not improve any more ends early, and the search ends when trials bring nothing more. The last lines
// write a page of all searches in the folder, which may be called while they run. 16_tune.md walks through it.
//
//   scripts/run tune_repeats -n 4        or        manta-run -n 4 ./tune_repeats
//
// Expected output, with other numbers on other numbers of ranks:
//   the best of 26 trials has loss 0.097 +- 0.008: 20 trials have ended, and 12 trials have brought no improvement
//   rates: ended, best loss 0.097
#include <manta/tune.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

namespace tune = manta::tune;

// [train]
void train(const tune::config& c, tune::trial& trial) {
  const double aim = 0.1 + std::pow(std::log10(c.get<double>("lr")) + 2, 2);
  double loss = 1;
  trial.keep(loss);
  do {
    tune::random noise(trial.seed(), trial.iteration());  // other numbers in each repeat
    loss += 0.3 * (aim - loss) + 0.01 * noise.normal();
  } while (trial.report("loss", loss));
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const std::string folder = std::filesystem::temp_directory_path() / ("searches-" + std::to_string(::getpid()));
    // [search]
    const auto results =
        tune::run<train>({{"lr", tune::loguniform(1e-5, 1)}},
                         {.minimise = "loss",
                          .trials = 200,
                          .repeats = 3,
                          .searcher = tune::tpe(),
                          .scheduler = tune::patience_stopping({.reports = 5, .least = 0.01}),
                          .stop = {tune::after(50)},
                          .stop_all = {tune::failure_budget(3), tune::ended_budget(20) && tune::no_improvement(12)},
                          .folder = folder + "/rates"});
    std::printf("the best of %zu trials has loss %.3f +- %.3f: %s\n", results.size(), results.best_value(),
                results.standard_error_of(results.best()), results.ended_because().c_str());
    // [end]
    // [index]
    const auto searches = tune::index(folder);  // writes index.html there
    for (const auto& s : searches)
      std::printf("%s: %s, best %s %.3f\n", s.folder.c_str(), s.state().c_str(), s.metric.c_str(), s.best_value);
    // [end]
    std::filesystem::remove_all(folder);
    return results.best_value() < 0.2 && searches.size() == 1 ? 0 : 1;
  });
}
