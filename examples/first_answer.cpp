// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Many look for the same thing, the first answer wins, the others are told to
// stop: cancel, this_task::stop_requested and a deadline. Each search tries to
// split a number by Pollard's rho method with a step of its own; how long that
// takes is luck.
//
//   scripts/run first_answer -n 4        or        mpirun -n 4 ./first_answer
//
// Expected output (which search wins and how many are cancelled varies):
//   search 2 found 1000000007 * 998244353
//   11 others cancelled
#include <manta/manta.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

using number = std::uint64_t;

number product_mod(number a, number b, number n) {
  __extension__ using wide = unsigned __int128;
  return static_cast<number>(static_cast<wide>(a) * b % n);
}

/// A divisor of n, or 1 if this step finds none or somebody else was faster.
number divide(number n, number step) {
  number slow = 2, fast = 2, divisor = 1;
  for (int i = 0; divisor == 1; ++i) {
    if (i % 256 == 0 && manta::this_task::stop_requested()) return 1;
    const auto next = [&](number x) { return (product_mod(x, x, n) + step) % n; };
    slow = next(slow);
    fast = next(next(fast));
    divisor = std::gcd(slow > fast ? slow - fast : fast - slow, n);
  }
  return divisor == n ? 1 : divisor;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    constexpr number n = 1'000'000'007ULL * 998'244'353ULL;
    std::vector<manta::future<number>> searches;
    for (number step = 1; step <= 12; ++step) {
      searches.push_back(manta::async<divide>({.deadline = std::chrono::seconds(30)}, n, step));
    }

    number found = 1;
    for (auto& f : manta::as_completed(searches)) {
      found = f.get();  // throws manta::timeout if it has not even started after 30 s
      if (found == 1) continue;
      std::size_t winner = 0;
      while (!(searches[winner] == f)) ++winner;
      std::printf("search %zu found %llu * %llu\n", winner + 1, static_cast<unsigned long long>(found),
                  static_cast<unsigned long long>(n / found));
      break;
    }
    int cancelled = 0, refused = 0;
    for (const auto& f : searches) {
      if (!manta::cancel(f)) continue;  // it has ended
      ++cancelled;
      try {
        f.get();
      } catch (const manta::cancelled&) {
        ++refused;
      }
    }
    std::printf("%d others cancelled\n", cancelled);
    return found > 1 && n % found == 0 && refused == cancelled ? 0 : 1;
  });
}
