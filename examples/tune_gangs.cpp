// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parameters of an MPI program, searched by Bayesian optimisation: each trial is
// a gang of two ranks that solve Poisson's equation together (poisson.hpp). The
// relaxation factors of the red and of the black points are chosen so that it
// takes few iterations.
//
//   scripts/run tune_gangs -n 5        or        manta-run -n 5 ./tune_gangs
//
// Expected output (trials that run at once make the numbers differ a little):
//   best of 30: 111 iterations with {"red":1.99,"black":1.8614382940210978}
#include <manta/tune.hpp>
#include <manta/tune/bayesian.hpp>

#include <cstdio>

#include "poisson.hpp"

namespace tune = manta::tune;

double iterations(manta::team team, const tune::config& c) {
  return poisson::iterations(team.comm(), c["red"], c["black"], 2000);
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const auto results = tune::run<iterations>(
        {{"red", tune::uniform(1, 1.99)}, {"black", tune::uniform(1, 1.99)}},
        {.minimise = "iterations", .trials = 30, .searcher = tune::bayesian(), .ranks = manta::size() > 2 ? 2 : 1});
    std::printf("best of %zu: %g iterations with %s\n", results.size(), results.best_value(),
                results.best().parameters.text().c_str());
    return results.best_value() < 150 ? 0 : 1;
  });
}
