// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A graph of three tasks: two make a matrix each, the third multiplies them. It
// is given the futures of its inputs, so it starts when both exist, and the
// matrices go from rank to rank without passing through this program.
//
//   scripts/run matrix_graph -n 4        or        manta-run -n 4 ./matrix_graph
//
// Expected output:
//   norm of the product: 20000
// [program]
#include <manta/manta.hpp>

#include <manta/eigen.hpp>  // opt-in: Eigen matrices as arguments and results

#include <iostream>

Eigen::MatrixXd constant(int size, double value) { return Eigen::MatrixXd::Constant(size, size, value); }
Eigen::MatrixXd multiply(const Eigen::MatrixXd& x, const Eigen::MatrixXd& y) { return x * y; }

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    manta::future<Eigen::MatrixXd> x = manta::async<constant>(100, 1.0);  // returns at once
    auto y = manta::async<constant>(100, 2.0);                            // runs beside it
    auto z = manta::async<multiply>(x, y);                                // starts when x and y exist

    std::cout << "norm of the product: " << z.get().norm() << "\n";  // waits
    return z.get()(0, 0) == 200 ? 0 : 1;                             // 100 * 1 * 2
  });
}
// [end]
