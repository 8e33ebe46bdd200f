// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Many look for the same thing, the first answer wins, the others are told to
// stop: cancel, this_task::stop_requested and a deadline. Each search tries to
// split a number by Pollard's rho method with a step of its own; how long that
// takes is luck. Then a task that fails twice is tried again.
// 12_cancel_and_retries.md walks through it.
//
//   scripts/run 12_cancel_and_retries -n 4        or        manta-run -n 4 ./12_cancel_and_retries
//
// Expected output (the order of the factors and how many are cancelled varies):
//   found 1000000007 * 998244353
//   11 others cancelled
//   fetched at attempt 2
//   a wrong address is not tried again
#include <manta/manta.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using number = std::uint64_t;

number product_mod(number a, number b, number n) {
  __extension__ using wide = unsigned __int128;
  return static_cast<number>(static_cast<wide>(a) * b % n);
}

// [stop]
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
// [end]

// [fetch]
int fetch(const std::string& address) {
  if (address.empty()) throw std::invalid_argument("no address");
  if (manta::this_task::attempt() < 2) throw std::runtime_error("the network is down");
  return manta::this_task::attempt();
}
bool is_worth_another_try(const manta::task_failed& e) { return e.details().type == "std::runtime_error"; }
// [end]

/// The first answer, and the others cancelled.
bool first_answer() {
  constexpr number n = 1'000'000'007ULL * 998'244'353ULL;
  // [searches]
  std::vector<manta::future<number>> searches;
  for (number step = 1; step <= 12; ++step) {
    searches.push_back(manta::async<divide>({.deadline = 30s}, n, step));
  }
  // [end]

  // [first]
  number found = 1;
  for (auto& f : manta::as_completed(searches)) {
    found = f.get();  // throws manta::timeout if it has not even started after 30 s
    if (found > 1) break;
  }
  // [end]
  std::printf("found %llu * %llu\n", static_cast<unsigned long long>(found),
              static_cast<unsigned long long>(n / found));

  int cancelled = 0, refused = 0;
  // [cancel]
  for (const auto& f : searches) {
    if (!manta::cancel(f)) continue;  // it has ended
    ++cancelled;
    try {
      f.get();
    } catch (const manta::cancelled&) {
      ++refused;
    }
  }
  // [end]
  std::printf("%d others cancelled\n", cancelled);
  return found > 1 && n % found == 0 && refused == cancelled;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const bool right = first_answer();

    // [retry]
    const manta::task_options patient{.retries = 5, .retry_if = is_worth_another_try, .retry_after = 10ms};
    std::printf("fetched at attempt %d\n", manta::async<fetch>(patient, "example.org").get());
    try {
      manta::async<fetch>(patient, "").get();
    } catch (const manta::task_failed& e) {
      if (e.details().attempt == 0) std::puts("a wrong address is not tried again");
    }
    // [end]
    return right ? 0 : 1;
  });
}
