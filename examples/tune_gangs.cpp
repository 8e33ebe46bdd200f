// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parameters of an MPI program, searched by Bayesian optimisation: each trial is
// a gang of two ranks that solve Poisson's equation together by red-black SOR. The
// relaxation factors of the red and of the black points are chosen so that it
// takes few iterations.
//
//   scripts/run tune_gangs -n 5        or        mpirun -n 5 ./tune_gangs
//
// Expected output (trials that run at once make the numbers differ a little):
//   best of 30: 111 iterations with {"red":1.99,"black":1.8614382940210978}
#include <manta/tune.hpp>
#include <manta/tune/bayesian.hpp>

#include <cmath>
#include <cstdio>

namespace tune = manta::tune;

constexpr int n = 63;  // inner points in each direction

/// Iterations until the largest update is below 1e-6, the same on every member.
double iterations(manta::team team, const tune::config& c) {
  const double omega[2] = {c["red"], c["black"]};
  const int first = n * team.rank() / team.size(), rows = n * (team.rank() + 1) / team.size() - first;
  const int above = team.rank() > 0 ? team.rank() - 1 : MPI_PROC_NULL;
  const int below = team.rank() + 1 < team.size() ? team.rank() + 1 : MPI_PROC_NULL;
  constexpr int width = n + 2;
  std::vector<double> u(static_cast<std::size_t>((rows + 2) * width), 0.0);
  const auto at = [&](int i, int j) -> double& { return u[static_cast<std::size_t>(i * width + j)]; };
  for (int sweep = 1; sweep <= 2000; ++sweep) {
    double change = 0;
    for (int colour = 0; colour < 2; ++colour) {
      MPI_Sendrecv(&at(1, 0), width, MPI_DOUBLE, above, 1, &at(rows + 1, 0), width, MPI_DOUBLE, below, 1, team.comm(),
                   MPI_STATUS_IGNORE);
      MPI_Sendrecv(&at(rows, 0), width, MPI_DOUBLE, below, 2, &at(0, 0), width, MPI_DOUBLE, above, 2, team.comm(),
                   MPI_STATUS_IGNORE);
      for (int i = 1; i <= rows; ++i) {
        for (int j = 1 + (first + i + 1 + colour) % 2; j <= n; j += 2) {
          const double step = omega[colour] * ((at(i - 1, j) + at(i + 1, j) + at(i, j - 1) + at(i, j + 1) + 1.0 / (n * n)) / 4 - at(i, j));
          at(i, j) += step;
          change = std::max(change, std::abs(step));
        }
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, team.comm());
    if (change < 1e-6) return sweep;
  }
  return 2000;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const auto results = tune::run<iterations>({{"red", tune::uniform(1, 1.99)}, {"black", tune::uniform(1, 1.99)}},
                                               {.minimise = "iterations", .trials = 30, .searcher = tune::bayesian(),
                                                .ranks = manta::size() > 2 ? 2 : 1});
    std::printf("best of %zu: %g iterations with %s\n", results.size(), results.best_value(), results.best().parameters.text().c_str());
    return results.best_value() < 150 ? 0 : 1;
  });
}
