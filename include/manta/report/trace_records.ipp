// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/report/trace_records.hpp"

#include <algorithm>

namespace manta::report {

namespace detail {

/// Can `next` be merged into the record before it?
inline bool can_merge(const trace_record& before, const trace_record& next, std::uint64_t limit) {
  if (before.extent >= limit || next.extent >= limit) return false;
  return next.begin < before.end() + limit;
}

}  // namespace detail

MANTA_DECL void merge(trace_record& into, const trace_record& next) {
  const std::uint64_t busy = into.busy() + next.busy();
  const auto tasks = static_cast<std::uint32_t>(into.tasks() + next.tasks());
  const std::uint64_t end = std::max(into.end(), next.end());
  if (into.kind == trace_record::task) into.kind = trace_record::burst;
  into.id = std::max<std::uint64_t>(busy, into.kind == trace_record::state ? 1 : 0);  // 0: it stands for one
  into.count = tasks;
  into.end_at(end);
  into.ends = false;
  into.attempt = 0;
  into.failed = into.failed || next.failed;
  if (into.function != next.function) into.function = trace_record::several;
}

MANTA_DECL std::size_t merge_short(std::span<trace_record> records, std::uint64_t limit) {
  std::size_t left = 0;
  std::size_t last[2] = {~std::size_t{0}, ~std::size_t{0}};  // the last record of each sequence
  for (const trace_record& next : records) {
    std::size_t& before = last[next.kind == trace_record::state];
    if (before < left && detail::can_merge(records[before], next, limit)) {
      merge(records[before], next);
      continue;
    }
    before = left;
    records[left++] = next;
  }
  return left;
}

MANTA_DECL std::size_t merge_until(std::span<trace_record> records, std::size_t most, std::uint64_t& limit) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 48;
  std::size_t left = merge_short(records, limit);
  while (left > std::max<std::size_t>(most, 2) && limit < longest) {  // every extent is below the longest
    limit = std::min(2 * std::max<std::uint64_t>(limit, 1), longest);
    left = merge_short(records.first(left), limit);
  }
  return left;
}

MANTA_DECL std::size_t thin_arrows(std::span<trace_arrow> arrows, unsigned rounds) {
  const auto gone = std::ranges::remove_if(arrows, [&](const trace_arrow& a) { return !stays(a, rounds); });
  return arrows.size() - gone.size();
}

}  // namespace manta::report
