// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Large values: a table of vectors lies once in the memory of each node, and the
// tasks of all its ranks look at it in place. 08_large_values.md walks through it.
//
//   scripts/run 08_large_values -n 4        or        manta-run -n 4 ./08_large_values
//
// Expected output (how much memory it takes varies with the number of ranks):
//   40 of 40 queries found their entry
//   the table of 5.1 MB takes 5.1 MB on 4 ranks
#include <manta/manta.hpp>

#include <manta/eigen.hpp>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <span>
#include <vector>

using Eigen::MatrixXf;
using Eigen::VectorXf;

// [look]
/// The column that is nearest to the query.
int nearest(Eigen::Ref<const MatrixXf> table, const VectorXf& query) {
  int best = 0;
  (table.colwise() - query).colwise().squaredNorm().minCoeff(&best);
  return best;
}

double sum(std::span<const double> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    constexpr int dimensions = 64, entries = 20'000, queries = 40;
    std::srand(1);
    const MatrixXf values = MatrixXf::Random(dimensions, entries);
    // [put]
    const manta::future<MatrixXf> table = manta::put(values);  // into memory that the ranks of this node share
    // [end]

    std::vector<manta::future<int>> found;
    for (int q = 0; q < queries; ++q) {
      const VectorXf disturbed = values.col(q * 397) + 0.01f * VectorXf::Random(dimensions);
      // [search]
      found.push_back(manta::async<nearest>({.spread = true}, table, disturbed));
      // [end]
    }
    int right = 0;
    for (int q = 0; q < queries; ++q) right += found[static_cast<std::size_t>(q)].get() == q * 397;

    std::printf("%d of %d queries found their entry\n", right, queries);

    // [memory]
    double in_memory = 0;
    for (const manta::rank_memory& m : manta::memory()) in_memory += static_cast<double>(m.in_memory);
    // [end]
    std::printf("the table of %.1f MB takes %.1f MB on %d ranks\n", 4e-6 * dimensions * entries, 1e-6 * in_memory,
                manta::size());

    std::vector<double> state(1'000'000, 0.5);
    // [replicas]
    const auto kept = manta::put(std::move(state), {.replicas = 2});  // copies on two other ranks, best on other nodes
    const double total = manta::async<sum>(kept).get();
    // [end]
    return right == queries && total == 500'000 ? 0 : 1;
  });
}
