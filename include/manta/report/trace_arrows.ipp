// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unordered_map>
#include <utility>

#include "manta/base/vector.hpp"
#include "manta/report/trace_arrows.hpp"

namespace manta::report {

namespace detail {

/// Where a task is in the trace.
struct task_place {
  std::uint32_t rank = ~std::uint32_t{0};  ///< place in `ranks` of its last attempt; none: unknown
  std::uint64_t begin = 0, end = 0;
  std::uint64_t last_begin = 0;  ///< begin of its last stretch
};

class arrow_finder {
 public:
  arrow_finder(run_trace& run, trace_totals& totals) : run_(run), totals_(totals) { find_places(); }
  void add_arrow(const trace_arrow& arrow);
  base::vector<arrow_end>& arrows() { return arrows_; }

 private:
  void find_places();  ///< Notes where the tasks with arrows are.

  run_trace& run_;
  trace_totals& totals_;
  std::unordered_map<std::uint64_t, task_place> places_;
  base::vector<arrow_end> arrows_;
};

inline void arrow_finder::find_places() {
  for (const trace_of_rank& r : run_.ranks) {
    for (const trace_arrow& a : r.arrows) places_[a.from], places_[a.to];
  }
  for (std::uint32_t i = 0; i < run_.ranks.size(); ++i) {
    for (const trace_record& each : run_.ranks[i].records) {
      if (each.kind != trace_record::task) continue;
      const auto found = places_.find(each.id);
      if (found == places_.end()) continue;
      task_place& p = found->second;
      if (p.rank == ~std::uint32_t{0} || each.begin < p.begin) p.begin = each.begin;
      if (p.rank == ~std::uint32_t{0} || each.begin >= p.last_begin) {
        p.rank = i;
        p.last_begin = each.begin;
        p.end = each.end();
      }
    }
  }
}

inline void arrow_finder::add_arrow(const trace_arrow& arrow) {
  constexpr std::uint64_t short_ns = 1000;
  const task_place& from = places_[arrow.from];
  const task_place& to = places_[arrow.to];
  const bool is_shown = from.rank != ~std::uint32_t{0} && to.rank != ~std::uint32_t{0};
  if (!is_shown || (from.rank == to.rank && from.end - from.begin < short_ns)) {
    ++totals_.arrows_left_out;
    return;
  }
  std::uint64_t leaves = from.end > from.last_begin ? from.end - 1 : from.end;
  if (leaves > to.begin) {  // the clocks are not exact; or the value was made again
    ++totals_.arrows_backwards;
    if (to.begin < from.last_begin) {
      ++totals_.arrows_left_out;
      return;
    }
    leaves = to.begin;
  }
  const auto number = static_cast<std::uint32_t>(++totals_.arrows);
  arrows_.push_back({leaves, from.rank, number, true});
  arrows_.push_back({to.begin, to.rank, number, false});
}

}  // namespace detail

MANTA_DECL base::vector<arrow_end> find_arrows(run_trace& run, trace_totals& totals) {
  detail::arrow_finder finder(run, totals);
  for (trace_of_rank& r : run.ranks) {
    for (const trace_arrow& each : r.arrows) finder.add_arrow(each);
    r.arrows = {};
  }
  return std::move(finder.arrows());
}

}  // namespace manta::report
