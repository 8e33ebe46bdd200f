// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that submit tasks: two experiments run at the same time, and each runs
// fifty simulations as tasks of its own and waits for them. Waiting inside a
// task never holds a rank, so this nests to any depth on any number of ranks.
// 06_nested.md walks through it.
//
//   scripts/run 06_nested -n 4        or        manta-run -n 4 ./06_nested
//
// Expected output:
//   disc in a square:  3.14 (pi)
//   ball in a cube:    4.19 (4/3 pi)
//   the 20th Fibonacci number is 6765
#include <manta/manta.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

constexpr int points = 20'000;

/// How many of `points` random points of [-1, 1]^dimensions lie in the unit ball.
std::int64_t simulate(int dimensions, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> coordinate(-1, 1);
  std::int64_t inside = 0;
  for (int point = 0; point < points; ++point) {
    double square = 0;
    for (int i = 0; i < dimensions; ++i) square += std::pow(coordinate(random), 2);
    inside += square < 1 ? 1 : 0;
  }
  return inside;
}

// [experiment]
/// The volume of the unit ball, from `simulations` nested tasks.
double experiment(int dimensions, unsigned simulations) {
  std::vector<manta::future<std::int64_t>> counts;
  for (unsigned seed = 0; seed < simulations; ++seed) counts.push_back(manta::async<simulate>(dimensions, seed));

  std::int64_t inside = 0;
  for (const std::int64_t n : manta::get(counts)) inside += n;
  return std::pow(2.0, dimensions) * static_cast<double>(inside) / (points * static_cast<double>(simulations));
}
// [end]

// [fibonacci]
int fibonacci(int n) {
  if (n < 2) return n;
  auto a = manta::async<fibonacci>(n - 1);
  auto b = manta::async<fibonacci>(n - 2);
  return a.get() + b.get();
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [driver]
    const auto disc = manta::async<experiment>(2, 50U);
    const auto ball = manta::async<experiment>(3, 50U);
    const auto number = manta::async<fibonacci>(20);
    // [end]

    std::printf("disc in a square:  %.2f (pi)\n", disc.get());
    std::printf("ball in a cube:    %.2f (4/3 pi)\n", ball.get());
    std::printf("the 20th Fibonacci number is %d\n", number.get());
    const bool right =
        std::abs(disc.get() - std::numbers::pi) < 0.01 && std::abs(ball.get() - 4.0 / 3.0 * std::numbers::pi) < 0.02;
    return right && number.get() == 6765 ? 0 : 1;
  });
}
