// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// P13 with Eigen: the first program of the README.
#include <iostream>
#include <manta/eigen.hpp>
#include <manta/manta.hpp>

Eigen::MatrixXd zeros(int rows, int cols) { return Eigen::MatrixXd::Zero(rows, cols); }
Eigen::MatrixXd multiply(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) { return x * y; }

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    manta::future<Eigen::MatrixXd> x = manta::async<zeros>(100, 100);
    auto y = manta::async<zeros>(100, 100);
    auto z = manta::async<multiply>(x, y);
    std::cout << z.get().norm() << "\n";
  });
}
