// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "manta/base/sorting.hpp"
#include "manta/base/text.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/trace_rows.hpp"

namespace manta::report {

namespace detail {

class row_finder {
 public:
  explicit row_finder(const run_trace& run) : run_(run) {
    int most = 0;
    for (const trace_of_rank& r : run.ranks) most = std::max(most, r.rank);
    next_tid_ = 2 * most + 4;
  }
  extra_rows find() {
    for (std::uint32_t i = 0; i < run_.ranks.size(); ++i) {
      for (const trace_record& each : run_.ranks[i].records) {
        if (each.kind != trace_record::task) continue;
        if (each.is_member) note_member(i, each);
        else if (each.is_call && each.count != 0) add_call(i, each);
      }
    }
    add_gangs();
    return std::move(all_);
  }

 private:
  std::uint32_t add_row(int node, std::string name) {
    all_.rows.push_back({node, next_tid_, std::move(name)});
    next_tid_ += 2;
    return static_cast<std::uint32_t>(all_.rows.size() - 1);
  }
  void add_call(std::uint32_t rank, const trace_record& r) {
    const trace_of_rank& of = run_.ranks[rank];
    const std::string& name = of.names[r.count - 1];
    const auto [known, is_new] = actors_.try_emplace({of.rank, name}, 0U);
    if (is_new) known->second = add_row(of.node, base::text("actor '{}' on rank {}", name, of.rank));
    all_.slices.push_back({r.begin, r.end(), known->second, rank, r.function, 0});
  }
  void note_member(std::uint32_t rank, const trace_record& r) {
    const auto [known, is_new] = gangs_.try_emplace(r.id);
    extra_slice& gang = known->second;
    if (is_new) gang = {r.begin, r.end(), 0, rank, r.function, 0};
    if (r.begin < gang.begin) gang.rank = rank;
    gang.begin = std::min(gang.begin, r.begin);
    gang.end = std::max(gang.end, r.end());
    gang.members += r.ends ? 1U : 0U;
  }
  /// Gangs that overlap stand in different rows.
  void add_gangs() {
    base::vector<extra_slice> all;
    for (const auto& [id, gang] : gangs_) all.push_back(gang);
    base::sort(all, [](const extra_slice& a, const extra_slice& b) { return a.begin < b.begin; });
    std::map<int, base::vector<std::pair<std::uint32_t, std::uint64_t>>> lanes;  // of a node: row and its last end
    for (extra_slice& gang : all) {
      const int node = run_.ranks[gang.rank].node;
      auto& of_node = lanes[node];
      auto lane = std::ranges::find_if(of_node, [&](const auto& each) { return each.second <= gang.begin; });
      if (lane == of_node.end()) {
        const std::string number = of_node.empty() ? std::string() : base::text(" ({})", of_node.size() + 1);
        of_node.emplace_back(add_row(node, base::text("gangs{}", number)), 0);
        lane = of_node.end() - 1;
      }
      lane->second = gang.end;
      gang.row = lane->first;
      all_.slices.push_back(gang);
    }
  }

  const run_trace& run_;
  extra_rows all_;
  int next_tid_ = 0;
  std::map<std::pair<int, std::string>, std::uint32_t> actors_;  // rank and name: the row
  std::unordered_map<std::uint64_t, extra_slice> gangs_;         // by id
};

}  // namespace detail

MANTA_DECL extra_rows find_extra_rows(const run_trace& run) { return detail::row_finder(run).find(); }

}  // namespace manta::report
