// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A table of vectors that many tasks search: it lies once in the memory of
// each node, and the tasks of all its ranks look at it in place.
//
//   mpirun -n 4 shared_table
#include <cstdio>
#include <manta/eigen.hpp>
#include <manta/manta.hpp>

using Eigen::MatrixXf;
using Eigen::VectorXf;

/// The column that is nearest to the query.
int nearest(Eigen::Ref<const MatrixXf> table, const VectorXf& query) {
  int best = 0;
  (table.colwise() - query).colwise().squaredNorm().minCoeff(&best);
  return best;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    constexpr int dimensions = 64, entries = 20'000, queries = 40;
    std::srand(1);
    const MatrixXf values = MatrixXf::Random(dimensions, entries);
    const manta::future<MatrixXf> table = manta::put(values);

    std::vector<manta::future<int>> found;
    for (int q = 0; q < queries; ++q) {
      const VectorXf disturbed = values.col(q * 397) + 0.01f * VectorXf::Random(dimensions);
      found.push_back(manta::async<nearest>({.spread = true}, table, disturbed));
    }
    int right = 0;
    for (int q = 0; q < queries; ++q) right += found[static_cast<std::size_t>(q)].get() == q * 397;

    double in_memory = 0;
    for (const manta::rank_memory& m : manta::memory()) in_memory += static_cast<double>(m.in_memory);
    std::printf("%d of %d queries found their entry; the table of %.1f MB takes %.1f MB on %d ranks\n", right, queries,
                4e-6 * dimensions * entries, 1e-6 * in_memory, manta::size());
    return right == queries ? 0 : 1;
  });
}
