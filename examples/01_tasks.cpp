// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks: functions that run on some rank and may depend on each other. The
// program integrates the sine piece by piece, and shows what may be called and
// what may be passed. 01_tasks.md walks through it.
//
//   scripts/run 01_tasks -n 4        or        manta-run -n 4 ./01_tasks
//
// Expected output:
//   from 0 to pi: 2.000
//   scaled: 5.000, squared: 4.000
//   64 pieces: 2.000000
//   this was the task 'report'
#include <manta/manta.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

// [value]
struct interval {
  double begin = 0;
  double end = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(begin, end);
  }
};
// [end]

// [functions]
/// The integral of the sine by the midpoint rule.
double integrate(const interval& over, int steps) {
  const double width = (over.end - over.begin) / steps;
  double sum = 0;
  for (int i = 0; i < steps; ++i) sum += std::sin(over.begin + (i + 0.5) * width) * width;
  return sum;
}

double add(double a, double b) { return a + b; }
// [end]

// [object]
struct scale {
  double factor = 1;
  double operator()(double x) const { return factor * x; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(factor);
  }
};
// [end]

double sum(const std::vector<double>& parts) {
  double all = 0;
  for (const double part : parts) all += part;
  return all;
}

double piece(const interval& over) { return integrate(over, 100); }

void check(const interval& over) {
  if (over.end < over.begin) throw std::invalid_argument("an interval that ends before it begins");
}

// [who]
std::string who_am_i() { return "this was the task '" + manta::this_task::name() + "'"; }
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    constexpr double pi = std::numbers::pi;
    // [graph]
    manta::future<double> lower = manta::async<integrate>(interval{0, pi / 2}, 1000);  // returns at once
    auto upper = manta::async<integrate>(interval{pi / 2, pi}, 1000);                  // runs beside it
    auto whole = manta::async<add>(lower, upper);                                      // starts when both have ended
    std::printf("from 0 to pi: %.3f\n", whole.get());                                  // waits
    // [end]

    // [forms]
    auto squared = manta::async([](double x) { return x * x; }, whole);     // a lambda without captures
    auto scaled = manta::async(scale{2.5}, whole);                          // a function object that is a value
    auto named = manta::async<who_am_i>({.name = "report", .retries = 2});  // options come first
    // [end]
    std::printf("scaled: %.3f, squared: %.3f\n", scaled.get(), squared.get());

    std::vector<interval> pieces;
    for (int i = 0; i < 64; ++i) pieces.push_back({pi * i / 64, pi * (i + 1) / 64});
    // [algorithms]
    manta::for_each<check>(pieces, {.grain = 16});                         // 16 elements a task; waits
    std::vector<manta::future<double>> parts = manta::map<piece>(pieces);  // a task for each element
    manta::future<double> total = manta::reduce<add>(parts);               // a tree of tasks, one future
    manta::future<double> again = manta::async<sum>(parts);                // one task that waits for all of them
    // [end]
    std::printf("64 pieces: %.6f\n", total.get());
    std::puts(named.get().c_str());

    const bool right = std::abs(whole.get() - 2) < 1e-5 && std::abs(squared.get() - 4) < 1e-4 &&
                       std::abs(scaled.get() - 5) < 1e-4 && std::abs(total.get() - 2) < 1e-5 &&
                       std::abs(again.get() - total.get()) < 1e-12 && named.get() == "this was the task 'report'";
    return right ? 0 : 1;
  });
}
