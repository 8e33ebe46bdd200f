// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that are MPI programs. An existing solver that takes a communicator
// (poisson.hpp) runs as a gang of two ranks: the task hands it that of its team.
// The driver runs an ensemble of such gangs to find the relaxation factor with the
// fewest iterations, each round between the neighbours of the best so far, and
// compares with the theory: 2 / (1 + sin(pi / (n + 1))). Then each member of a gang
// gives a value of its own, and an actor lives on several ranks. 07_gangs.md walks
// through it.
//
//   scripts/run 07_gangs -n 5        or        manta-run -n 5 ./07_gangs
//
// Expected output:
//   round 1: omega 1.8486 takes 247 iterations
//   ...
//   best omega 1.9265 with 103 iterations, theory 1.9065
//   the members have the parts 0, 1
//   the field's mean is 0.500
#include <manta/manta.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "poisson.hpp"

// [gang]
int iterations(manta::team team, double omega) { return poisson::iterations(team.comm(), omega, omega, 10'000); }
// [end]

// [members]
manta::per_rank<int> part_of(manta::team team) { return team.rank(); }
// [end]

// [actor]
/// A field on all ranks of a team: each holds a part of it.
class field {
 public:
  field(manta::team team, int length) : team_(team) {
    for (int i = team.rank(); i < length; i += team.size()) mine_.push_back(static_cast<double>(i) / (length - 1));
  }

  double mean() const {
    double sums[2] = {0, static_cast<double>(mine_.size())};
    for (const double x : mine_) sums[0] += x;
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, team_.comm());
    return sums[0] / sums[1];
  }

 private:
  manta::team team_;
  std::vector<double> mine_;
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const int ranks = manta::size() > 2 ? 2 : 1;
    double low = 1.0, high = 1.99, best = 0;
    int fewest = 10'000;
    for (int round = 1; round <= 4; ++round) {
      constexpr int members = 8;
      const auto omega = [&](int i) { return low + (high - low) * i / (members - 1); };
      // [ensemble]
      std::vector<manta::future<int>> ensemble;
      for (int i = 0; i < members; ++i) ensemble.push_back(manta::async<iterations>({.ranks = ranks}, omega(i)));
      const std::vector<int> counts = manta::get(ensemble);
      // [end]
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

    // [values]
    const manta::per_rank<int> parts = manta::async<part_of>({.ranks = ranks}).get();
    // [end]
    bool right = parts.size() == static_cast<std::size_t>(ranks);
    std::printf("the members have the parts");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::printf("%s %d", i == 0 ? "" : ",", parts[i]);
      right = right && parts[i] == static_cast<int>(i);
    }

    // [spawn]
    const auto f = manta::spawn<field>({.ranks = ranks}, 1001);  // a part on each of the ranks
    const double mean = manta::async<&field::mean>(f).get();     // runs on all parts, gives the first one's value
    // [end]
    std::printf("\nthe field's mean is %.3f\n", mean);
    return right && std::abs(mean - 0.5) < 1e-9 && std::abs(best - theory) < 0.05 && fewest < 150 ? 0 : 1;
  });
}
