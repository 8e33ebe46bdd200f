// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the process takes from the machine: memory and processor time.
#pragma once

#include <cstdio>
#include <ctime>

#include <unistd.h>

namespace bench {

/// Memory of this process that is in the machine's.
inline double resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long all = 0, resident = 0;
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

inline double seconds_of(clockid_t clock) {
  timespec t{};
  ::clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
/// Processor seconds of all threads of this process, and of this thread.
inline double process_seconds() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }
inline double thread_seconds() { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace bench
