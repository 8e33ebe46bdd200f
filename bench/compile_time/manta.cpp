// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P13: what a first program with manta costs to compile. scripts/bench compiles
// this file with -O0 and takes the compiler's processor time. It also runs.
#include <manta/manta.hpp>

#include <iostream>
#include <numeric>
#include <vector>

std::vector<double> zeros(int count) { return std::vector<double>(static_cast<std::size_t>(count)); }
double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    manta::future<std::vector<double>> x = manta::async<zeros>(100);
    auto y = manta::async<zeros>(100);
    auto z = manta::async<dot>(x, y);
    std::cout << z.get() << "\n";
  });
}
