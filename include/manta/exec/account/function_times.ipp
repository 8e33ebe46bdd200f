// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/exec/account/function_times.hpp"

namespace manta::exec {

MANTA_DECL void function_times::begin_run(std::size_t functions) {
  rows_.clear();
  by_function_ = base::array<row*>(functions);
}

MANTA_DECL function_times::row& function_times::make(function_id function) {
  if (rows_.size() < most_rows) {
    rows_.push_back(std::make_unique<row>());
    if (rows_.size() < most_rows) rows_.back()->function = function;
  }
  return *(by_function_[function] = rows_.back().get());
}

MANTA_DECL void function_times::keep(row& r, long_run&& task) {
  if (r.longest.size() == most_longest) r.longest.pop_back();
  const auto at = std::ranges::find_if(r.longest, [&](const long_run& l) { return l.ticks < task.ticks; });
  r.longest.insert(at, std::move(task));
}

MANTA_DECL std::uint64_t function_times::add_estimated(row& r, std::uint64_t count, std::uint64_t most) {
  const std::uint64_t all = std::min(most, r.mean() * count);
  r.count += count;
  r.estimated += count;
  r.ticks += all;
  if (count != 0) {
    r.durations[duration_histogram::bucket_of(base::nanoseconds_of(all / count))] += static_cast<std::uint32_t>(count);
  }
  return all;
}

}  // namespace manta::exec
