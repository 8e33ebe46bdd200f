// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How long the tasks of each function took on this rank. A function has a row from
// its first task on. The first 63 functions have rows of their own, all others
// share one, so the memory stays below 110 KiB.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "manta/base/clock.hpp"
#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/report/statistics.hpp"

namespace manta::exec {

class function_times {
 public:
  /// A long task.
  struct long_run {
    std::uint64_t ticks = 0, begin = 0, id = 0;
    std::string name;
  };
  /// The tasks of one function. Times are in ticks, those of the histogram in nanoseconds.
  struct row {
    std::uint32_t function = graph::no_index;  ///< no_index: functions without a row of their own
    std::uint64_t count = 0;                   ///< number of runs, further attempts included
    std::uint64_t estimated = 0;               ///< those of them whose time was not measured
    std::uint64_t ticks = 0;                   ///< own time
    std::uint64_t waited = 0;                  ///< ticks in which they waited
    std::uint64_t recent = 0;                  ///< own time of those measured last, of 32 together
    std::array<std::uint32_t, duration_histogram::buckets> durations{};
    base::vector<long_run> longest;  ///< the longest first

    /// The own time of a task, from those measured last; 0: none was.
    std::uint64_t mean() const { return recent / 32; }
  };
  static constexpr std::size_t most_longest = 8;

  /// A run of a program with this number of functions begins.
  MANTA_DECL void begin_run(std::size_t functions);
  /// The row of a function.
  row& of(function_id function) {
    row* const known = by_function_[function];
    return known != nullptr ? *known : make(function);
  }
  /// The own time of its measured tasks, in ticks; 0: there is none.
  std::uint64_t mean_of(function_id function) const {
    const row* const known = by_function_[function];
    return known == nullptr ? 0 : known->mean();
  }
  /// A task whose own time was measured. Its name option is asked for only if the task is among the longest.
  template <class Name>
  void add(row& r, long_run&& task, std::uint64_t waited, Name&& name_of_it) {
    note(r, task.ticks, waited);
    if (r.longest.size() == most_longest && task.ticks <= r.longest.back().ticks) return;
    task.name = name_of_it();
    keep(r, std::move(task));
  }
  /// Tasks whose own time was not measured: they are given that of the measured ones. Returns the ticks of all of them,
  /// at most `most`.
  MANTA_DECL std::uint64_t add_estimated(row& r, std::uint64_t count, std::uint64_t most);

  const base::vector<std::unique_ptr<row>>& rows() const { return rows_; }

 private:
  static constexpr std::size_t most_rows = 64;

  MANTA_DECL row& make(function_id function);  ///< The function has no row yet.
  /// Adds a measured task to the sums.
  static void note(row& r, std::uint64_t ticks, std::uint64_t waited) {
    r.recent = r.count++ == r.estimated ? 32 * ticks : r.recent + ticks - r.recent / 32;
    r.ticks += ticks;
    r.waited += waited;
    ++r.durations[duration_histogram::bucket_of(base::nanoseconds_of(ticks))];
  }
  MANTA_DECL static void keep(row& r, long_run&& task);  ///< The task is among the longest.

  base::vector<std::unique_ptr<row>> rows_;
  base::array<row*> by_function_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/account/function_times.ipp"
#endif
