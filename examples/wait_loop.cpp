// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Takes results as they come: manta::wait splits futures into ready and pending
// as soon as one is done. Twelve searches take very different times; the driver
// uses the first eight answers, whichever they are, and leaves the rest behind:
// it ends without their values, and the run ends when they have.
//
//   scripts/run wait_loop -n 4        or        manta-run -n 4 ./wait_loop
//
// Expected output (which come first varies with the number of ranks):
//   search 0 came back
//   ...
//   8 answers used, 4 left behind
#include <manta/manta.hpp>

#include <cmath>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

struct answer {
  int search = 0;
  double root = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(search, root);
  }
};

/// The square root of search + 1 by very small steps of Newton's method; every third search is far slower.
answer slow_root(int search) {
  const double step = search % 3 == 2 ? 1e-6 : 1e-5;
  double x = 1 + search;
  while (std::abs(x * x - search - 1) > 1e-6) {
    x -= step * (x * x - search - 1) / x;
  }
  return {search, x};
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    constexpr std::size_t enough = 8;
    // [submit]
    std::vector<manta::future<answer>> pending;
    for (int search = 0; search < 12; ++search) pending.push_back(manta::async<slow_root>(search));
    // [end]

    bool right = true;
    std::set<int> used;
    // [loop]
    while (used.size() < enough) {
      auto [done, rest] = manta::wait(pending, {.count = 1});  // one or more
      for (const auto& f : done) {
        const answer& a = f.get();
        std::printf("search %d came back\n", a.search);
        right = right && used.insert(a.search).second && std::abs(a.root * a.root - a.search - 1) < 2e-6;
      }
      pending = std::move(rest);
    }
    // [end]
    std::printf("%zu answers used, %zu left behind\n", used.size(), pending.size());
    return right && used.size() + pending.size() == 12 ? 0 : 1;
  });
}
