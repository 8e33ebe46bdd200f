// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that are MPI programs. An existing solver that takes a communicator
// (poisson.hpp) runs as a gang of two ranks: the task hands it that of its team.
// The driver runs an ensemble of such gangs to find the relaxation factor with the
// fewest iterations, each round between the neighbours of the best so far, and
// compares with the theory: 2 / (1 + sin(pi / (n + 1))).
//
//   scripts/run gang_ensemble -n 5        or        mpirun -n 5 ./gang_ensemble
//
// Expected output:
//   round 1: omega 1.8486 takes 247 iterations
//   ...
//   best omega 1.9265 with 103 iterations, theory 1.9065
#include <manta/manta.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "poisson.hpp"

int iterations(manta::team team, double omega) { return poisson::iterations(team.comm(), omega, omega, 10'000); }

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const int ranks = manta::size() > 2 ? 2 : 1;
    double low = 1.0, high = 1.99, best = 0;
    int fewest = 10'000;
    for (int round = 1; round <= 4; ++round) {
      constexpr int members = 8;
      const auto omega = [&](int i) { return low + (high - low) * i / (members - 1); };
      std::vector<manta::future<int>> ensemble;
      for (int i = 0; i < members; ++i) ensemble.push_back(manta::async<iterations>({.ranks = ranks}, omega(i)));
      const std::vector<int> counts = manta::get(ensemble);
      const auto least = std::min_element(counts.begin(), counts.end());
      const int at = static_cast<int>(least - counts.begin());
      std::printf("round %d: omega %.4f takes %d iterations\n", round, omega(at), *least);
      if (*least < fewest) {
        fewest = *least;
        best = omega(at);
      }
      const double left = omega(std::max(at - 1, 0)), right = omega(std::min(at + 1, members - 1));
      low = left;
      high = right;
    }
    const double theory = 2 / (1 + std::sin(std::acos(-1.0) / (poisson::n + 1)));
    std::printf("best omega %.4f with %d iterations, theory %.4f\n", best, fewest, theory);
    return std::abs(best - theory) < 0.05 && fewest < 150 ? 0 : 1;
  });
}
