// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What every benchmark program shares: the repetitions asked for on the command
// line, a stopwatch, and the line that scripts/bench reads. No MPI, no manta.
//
//   task_rate manta 12.345 M/s
//   ^ figure  ^ who ^ value ^ unit
#pragma once

#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace bench {

/// How often a program repeats its measurement after the warm-up: its first argument that is a
/// positive number, else 5.
inline int repetitions(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    int count = 0;
    const char* end = argv[i] + std::strlen(argv[i]);
    const auto [stopped, problem] = std::from_chars(argv[i], end, count);
    if (problem == std::errc{} && stopped == end && count > 0) return count;
  }
  return 5;
}

/// Seconds since it was made.
class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point start_ = clock::now();
};

inline double million_per_second(int count, double seconds) { return 1e-6 * count / seconds; }
inline double microseconds_each(int count, double seconds) { return 1e6 * seconds / count; }

/// Prints one measurement. Flushes, so that a later hang does not swallow it.
inline void report(const char* figure, const char* program, double value, const char* unit) {
  std::printf("%s %s %.3f %s\n", figure, program, value, unit);
  std::fflush(stdout);
}

/// Says on stderr what is wrong; for `return bench::failed(...)` out of main or of a driver.
inline int failed(const char* figure, const char* why) {
  std::fprintf(stderr, "%s: %s\n", figure, why);
  return 1;
}

}  // namespace bench
