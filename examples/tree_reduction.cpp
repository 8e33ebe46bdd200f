// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Statistics of a large sample in two lines: manta::map makes one task for each
// block of it, manta::reduce merges their results pairwise by a tree across the
// ranks. Only the last value comes back to the driver.
//
//   scripts/run tree_reduction -n 4        or        manta-run -n 4 ./tree_reduction
//
// Expected output:
//   6400000 samples: mean 0.500, variance 0.083
#include <manta/manta.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

/// Count, mean and sum of squared deviations of a sample.
struct moments {
  std::int64_t count = 0;
  double mean = 0;
  double squares = 0;

  double variance() const { return squares / static_cast<double>(count); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(count, mean, squares);
  }
};

/// The moments of two samples together (Chan, Golub and LeVeque 1979).
moments merge(const moments& a, const moments& b) {
  const auto n = static_cast<double>(a.count + b.count);
  const auto na = static_cast<double>(a.count);
  const auto nb = static_cast<double>(b.count);
  const double delta = b.mean - a.mean;
  return {a.count + b.count, a.mean + delta * nb / n, a.squares + b.squares + delta * delta * na * nb / n};
}

moments measure(int block) {
  std::mt19937_64 random(static_cast<std::uint64_t>(block));
  std::uniform_real_distribution<double> uniform;
  moments m;
  for (int i = 0; i < 100'000; ++i) m = merge(m, {1, uniform(random), 0});
  return m;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    std::vector<int> blocks(64);
    std::iota(blocks.begin(), blocks.end(), 0);

    const auto parts = manta::map<measure>(blocks);
    const moments all = manta::reduce<merge>(parts).get();

    std::printf("%lld samples: mean %.3f, variance %.3f\n", static_cast<long long>(all.count), all.mean,
                all.variance());
    moments serial;  // the same without tasks, from left to right
    for (const int block : blocks) serial = merge(serial, measure(block));
    const bool right = all.count == serial.count && std::abs(all.mean - serial.mean) < 1e-12 &&
                       std::abs(all.variance() - serial.variance()) < 1e-12;
    return right ? 0 : 1;
  });
}
