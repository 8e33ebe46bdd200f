// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A bit of everything: what compilers and flags are tried with (cuda.py and
// flags.py), compiled, linked and run.
#pragma once

#include <manta/eigen.hpp>
#include <manta/manta.hpp>
#include <manta/tune.hpp>

#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

namespace tune = manta::tune;

namespace {

int square(int x) { return x * x; }
int add(int a, int b) { return a + b; }
double norm(const Eigen::MatrixXd& m) { return m.norm(); }
double trace(Eigen::Ref<const Eigen::MatrixXd> m) { return m.trace(); }
double total(std::span<const double> v) {
  double sum = 0;
  for (double e : v) sum += e;
  return sum;
}
int ranks_of(manta::team team, int n) { return n * team.size(); }

manta::generator<int> count_to(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}

class counter {
 public:
  explicit counter(int start) : count_(start) {}
  int add(int n) { return count_ += n; }
  int count() const { return count_; }

 private:
  int count_;
};

double loss(const tune::config& c) {
  const double x = c["x"];
  return (x - 1) * (x - 1);
}

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("wrong: %s\n", what);
}

void try_everything() {
  const std::vector<double> ones(1000, 1.0);
  const auto squares = manta::map<square>(std::vector<int>{1, 2, 3});
  expect(manta::reduce<add>(squares).get() == 14, "map and reduce");
  expect(manta::async([](int a, int b) { return a - b; }, squares[2], 4).get() == 5, "a lambda");
  const auto identity = manta::put(Eigen::MatrixXd(Eigen::MatrixXd::Identity(40, 40)));
  expect(std::abs(manta::async<norm>(identity).get() - std::sqrt(40.0)) < 1e-12, "an Eigen matrix");
  expect(manta::async<trace>(identity).get() == 40, "an Eigen view");
  expect(manta::async<total>(ones).get() == 1000, "a span");
  expect(manta::async<ranks_of>({.ranks = 1}, 7).get() == 7, "a gang");
  int sum = 0;
  for (auto& f : manta::async<count_to>(5)) sum += f.get();
  expect(sum == 10, "a stream");
  const auto c = manta::spawn<counter>({.name = "counter"}, 1);
  manta::async<&counter::add>(c, squares[1]);
  expect(manta::async<&counter::count>(c).get() == 5, "an actor");
  const auto found = tune::run<loss>({{"x", tune::uniform(0, 2)}}, {.minimise = "loss", .trials = 8});
  expect(found.best_value() < 1, "a search");
}

}  // namespace
