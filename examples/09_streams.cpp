// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Streams: a coroutine sieves the numbers segment by segment on some rank and
// yields the primes of each; another one, on its way, keeps the first of each
// pair of twins; the driver reads while they run and stops them when it has
// enough. Neither says when to end. Then it reads two streams at once, each value
// when it comes. 09_streams.md walks through it.
//
//   scripts/run 09_streams -n 4        or        manta-run -n 4 ./09_streams
//
// Expected output:
//   twin primes: 3 5, 5 7, 11 13, 17 19, 29 31, ...
//   the 1000th pair is 79559 79561
//   the sum of both streams is 31880
#include <manta/manta.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

using segment = std::vector<int>;

// [primes]
/// All primes, in segments of `length` numbers.
manta::generator<segment> primes(int length) {
  segment small;  // up to the root of the segment's end
  for (int begin = 2;; begin += length) {
    segment found;
    for (int n = begin; n < begin + length; ++n) {
      const auto divides = [n](int p) { return n % p == 0; };
      const auto below_root = std::find_if(small.begin(), small.end(), [n](int p) { return p > n / p; });
      if (std::any_of(small.begin(), below_root, divides)) continue;
      found.push_back(n);
      small.push_back(n);
    }
    co_yield std::move(found);
  }
}
// [end]

// [twins]
/// Each p with p + 2 prime as well.
manta::generator<segment> twins(manta::stream<segment> source) {
  int last = -1;
  for (auto& f : source) {
    segment found;
    for (const int p : f.get()) {
      if (p == last + 2) found.push_back(last);
      last = p;
    }
    co_yield std::move(found);
  }
}
// [end]

manta::generator<int> multiples(int of, int count) {
  for (int i = 1; i <= count; ++i) co_yield of* i;
}

/// The sum of two streams, whose values are taken in the order in which they come.
int sum_of_both() {
  int sum = 0;
  // [both]
  std::array both{manta::async<multiples>(2, 100), manta::async<multiples>(3, 120)};
  manta::watcher events;
  for (std::uint64_t i = 0; i < both.size(); ++i) events.add(both[i].upcoming(), i);
  while (events.size() > 0) {
    const std::uint64_t i = *events.next();  // stream i has a value, or has ended
    const auto value = both[i].next();       // does not wait
    if (!value) continue;
    sum += value->get();
    events.add(both[i].upcoming(), i);
  }
  // [end]
  return sum;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    constexpr std::size_t enough = 1000;
    segment first;
    // [read]
    manta::stream<segment> pairs = manta::async<twins>(manta::async<primes>(5000));
    pairs.set_window({.items = 4});  // at most four segments ahead of the driver
    for (auto& f : pairs) {
      const segment& more = f.get();
      first.insert(first.end(), more.begin(), more.end());
      if (first.size() >= enough) break;
    }
    // [end]
    std::printf("twin primes: ");
    for (std::size_t i = 0; i < 5; ++i) std::printf("%d %d, ", first[i], first[i] + 2);
    std::printf("...\nthe %zuth pair is %d %d\n", enough, first[enough - 1], first[enough - 1] + 2);
    const int sum = sum_of_both();
    std::printf("the sum of both streams is %d\n", sum);
    return first[enough - 1] == 79559 && sum == 31'880 ? 0 : 1;
  });
}
