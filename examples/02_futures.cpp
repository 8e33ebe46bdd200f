// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Futures: how a program takes the values of its tasks, waits for a while only,
// makes futures of its own values, and passes futures on. 02_futures.md walks
// through it.
//
//   scripts/run 02_futures -n 4        or        manta-run -n 4 ./02_futures
//
// Expected output:
//   1000 numbers, the last is 999
//   not within 10 ms
//   then it was 42
//   17 = 3 * 5 + 2
//   the sum of 10 sums is 499500
#include <manta/manta.hpp>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

std::vector<int> numbers(int begin, int end) {
  std::vector<int> all(static_cast<std::size_t>(end - begin));
  std::iota(all.begin(), all.end(), begin);
  return all;
}

// [pair]
std::pair<int, int> divide(int a, int b) { return {a / b, a % b}; }
// [end]

int sum(const std::vector<int>& all) { return std::accumulate(all.begin(), all.end(), 0); }

int sum_of_part(const std::vector<int>& all, int part) {
  return std::accumulate(all.begin() + 100 * part, all.begin() + 100 * (part + 1), 0);
}

// [inside]
/// Ten tasks of its own; returns their futures without waiting for them.
std::vector<manta::future<int>> sums_of(manta::future<std::vector<int>> all) {
  std::vector<manta::future<int>> sums;
  for (int part = 0; part < 10; ++part) {
    sums.push_back(manta::async<sum_of_part>(all, part));
  }
  return sums;
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    bool right = true;

    const auto x = manta::async<numbers>(0, 1000);
    // [get]
    const std::vector<int>& v = x.get();  // waits; refers to the value in the store of this rank
    std::vector<int> mine = manta::async<numbers>(0, 1000).get();        // moved out, for this was the last handle
    std::vector<std::vector<int>> both = manta::get(std::vector{x, x});  // in order; throws the first error in order
    // [end]
    std::printf("%zu numbers, the last is %d\n", v.size(), v.back());
    right = right && v == mine && both[1] == v;

    manta::promise<int> answer;
    const manta::future<int> later = answer.get_future();
    // [limits]
    if (!later.wait_for(10ms)) std::puts("not within 10 ms");
    try {
      manta::get_for(later, 10ms);
    } catch (const manta::timeout&) {
      answer.set_value(42);  // this program gives the value itself: a promise, chapter 10
    }
    if (later.ready()) std::printf("then it was %d\n", later.get());
    // [end]
    right = right && later.get() == 42;

    // [unpack]
    auto [quotient, remainder] = manta::unpack(manta::async<divide>(17, 5));
    std::printf("17 = %d * 5 + %d\n", quotient.get(), remainder.get());
    // [end]
    right = right && quotient.get() == 3 && remainder.get() == 2;

    // [put]
    const manta::future<std::vector<int>> all = manta::put(std::move(mine));  // a future of a value made here
    const std::vector<manta::future<int>> sums = manta::async<sums_of>(all).get();
    const int total = manta::async<sum>(sums).get();
    // [end]
    std::printf("the sum of %zu sums is %d\n", sums.size(), total);
    right = right && total == 499500;
    return right ? 0 : 1;
  });
}
