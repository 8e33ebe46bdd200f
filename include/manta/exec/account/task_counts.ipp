// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/hash.hpp"
#include "manta/base/sorting.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/account/task_counts.hpp"

namespace manta::exec {

MANTA_DECL void task_counts::begin_run(std::size_t functions) {
  rows_ = base::array<row>(functions);
  edges_.clear();
  children_.clear();
  last_child_ = {};
  texts_.clear();
  last_edge_ = 0;
  from_journal_ = most_repeated_ = 0;
  arguments_ = {};
  repeated_ = {};
}

MANTA_DECL void task_counts::note_failure(function_id function, const store::failure& why) {
  if (function >= rows_.size()) return;
  if (why.kind == store::failure::kind::cancelled || !why.details.chain.empty()) {  // it has not run
    ++rows_[function].cancelled;
    return;
  }
  ++rows_[function].failed;
  auto of = std::ranges::find(texts_, function.number(), &texts::function);
  if (of == texts_.end()) of = &texts_.emplace_back(function);
  const std::string& whole = why.details.what.empty() ? why.message : why.details.what;
  const std::string text = whole.substr(0, longest_text);
  for (failure_text& each : of->each) {
    if (each.count != 0 && each.text != text) continue;
    if (each.count++ == 0) each.text = text;
    return;
  }
}

MANTA_DECL void task_counts::note_edge(function_id from, function_id to, std::uint64_t bytes) {
  const auto is_it = [&](const edge& e) { return e.from == from && e.to == to; };
  if (last_edge_ >= edges_.size() || !is_it(edges_[last_edge_])) {
    auto at = std::ranges::find_if(edges_, is_it);
    if (at == edges_.end() && edges_.size() >= most_edges - 1) {
      from = to = graph::no_index;
      at = std::ranges::find_if(edges_, is_it);
    }
    if (at == edges_.end()) at = &edges_.emplace_back(from, to, 0U, 0U);
    last_edge_ = static_cast<std::size_t>(at - edges_.begin());
  }
  ++edges_[last_edge_].count;
  edges_[last_edge_].bytes += bytes;
}

/// Adds an edge to the others, of which there are at most `most`.
inline void add_to(base::vector<task_counts::edge>& all, task_counts::edge added, std::size_t most) {
  const auto is_it = [&](const task_counts::edge& e) { return e.from == added.from && e.to == added.to; };
  auto at = std::ranges::find_if(all, is_it);
  if (at == all.end() && all.size() >= most - 1) {
    added.from = added.to = graph::no_index;
    at = std::ranges::find_if(all, is_it);
  }
  if (at == all.end()) return all.push_back(added);
  at->count += added.count;
}

MANTA_DECL void task_counts::change_child(function_id by, function_id function) {
  if (last_child_.count != 0) add_to(children_, last_child_, most_edges);
  last_child_ = {by.number(), function.number(), 0, 0};
}

MANTA_DECL base::vector<task_counts::edge> task_counts::children() const {
  base::vector<edge> all = children_;
  if (last_child_.count != 0) add_to(all, last_child_, most_edges + 1);
  base::sort_falling(all, &edge::count);
  return all;
}

MANTA_DECL void task_counts::note_arguments(function_id function, const void* data, std::size_t bytes) {
  constexpr std::size_t looked_at = 4096;  // at the end, where a long array is
  const auto* const end = static_cast<const std::byte*>(data) + bytes;
  const std::uint64_t digest = base::hash_bytes(end - looked_at, looked_at, bytes);
  arguments& known = arguments_[digest % arguments_.size()];
  if (known.digest != digest) known = {digest, 0};
  if (known.count++ == 0) return;
  ++repeated_.count;
  repeated_.bytes += bytes;
  if (known.count <= most_repeated_) return;
  most_repeated_ = known.count;
  repeated_.to = function;
}

MANTA_DECL task_counts::failure_text task_counts::most_frequent(function_id function) const {
  const auto of = std::ranges::find(texts_, function.number(), &texts::function);
  return of == texts_.end() ? failure_text() : *std::ranges::max_element(of->each, {}, &failure_text::count);
}

MANTA_DECL task_counts::row task_counts::totals() const {
  row all;
  for (const row& each : rows_) {
    all.done += each.done;
    all.failed += each.failed;
    all.retried += each.retried;
    all.cancelled += each.cancelled;
  }
  return all;
}

}  // namespace manta::exec
