// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The smallest search, the counterpart of Ray's run_experiments: a function is run for
// every combination of two grids until its accuracy is high enough. Trials go to all
// ranks. Each report of the "training" adds alpha times beta to the accuracy.
// 16_tune.md walks through it.
//
//   scripts/run tune_grid -n 4        or        manta-run -n 4 ./tune_grid
//
// Expected output:
//   6 trials, the fastest with {"alpha":0.6,"beta":2} after 85 reports
#include <manta/tune.hpp>

#include <algorithm>
#include <cstdio>

namespace tune = manta::tune;

// [train]
void train(const tune::config& c, tune::trial& trial) {
  for (double accuracy = 0; trial.report({{"accuracy", accuracy}});)
    accuracy += c.get<double>("alpha") * c.get<double>("beta");
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [search]
    const auto results = tune::run<train>({{"alpha", tune::grid({0.2, 0.4, 0.6})}, {"beta", tune::grid({1, 2})}},
                                          {.maximise = "accuracy", .stop = {tune::at_least("accuracy", 100)}});
    // [end]
    const auto fastest = std::min_element(results.begin(), results.end(), [](auto& a, auto& b) { return a.at < b.at; });
    std::printf("%zu trials, the fastest with %s after %g reports\n", results.size(),
                fastest->parameters.text().c_str(), fastest->at);
    return results.size() == 6 && fastest->at == 85 ? 0 : 1;
  });
}
