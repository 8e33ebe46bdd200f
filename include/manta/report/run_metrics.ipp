// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/vector.hpp"
#include "manta/report/run_metrics.hpp"

#include <algorithm>
#include <cmath>

#include "manta/output/metrics.hpp"
#include "manta/report/shares.hpp"

namespace manta::report {

namespace detail {

using output::label;
using output::metrics_writer;

/// A function as the metrics show it.
struct metrics_row {
  std::string name = {};
  std::uint64_t tasks = 0, failed = 0, retried = 0, cancelled = 0;
  double seconds = 0;
  duration_histogram durations = {};
};

inline base::vector<metrics_row> rows_of(const statistics& s) {
  base::vector<metrics_row> rows;
  const bool has_others = s.functions.size() > most_functions_in_metrics;
  for (const function_statistics& f : s.functions) {
    // Two functions may have one name, for example two lambdas; samples with the same labels are an error.
    const bool is_full = has_others && rows.size() >= most_functions_in_metrics - 1;
    const std::string name = is_full ? "other" : f.name;
    auto row = std::find_if(rows.begin(), rows.end(), [&](const metrics_row& r) { return r.name == name; });
    if (row == rows.end()) row = &rows.emplace_back(name);
    row->tasks += f.tasks;
    row->failed += f.failed;
    row->retried += f.retried;
    row->cancelled += f.cancelled;
    row->seconds += f.seconds;
    row->durations.add(f.durations);
  }
  return rows;
}

inline void add_tasks(metrics_writer& out, const base::vector<metrics_row>& rows) {
  out.family("manta_tasks_total", "counter", "Tasks that have ended, and further attempts.");
  for (const metrics_row& r : rows) {
    const std::string function = label("function", r.name) + ",";
    out.sample(function + label("outcome", "done"), r.tasks);
    out.sample(function + label("outcome", "failed"), r.failed);
    out.sample(function + label("outcome", "retried"), r.retried);
    out.sample(function + label("outcome", "cancelled"), r.cancelled);
  }
  out.family("manta_task_seconds", "histogram", "Own time of tasks. Of tasks below 1 us one of 256 is measured.");
  for (const metrics_row& r : rows) {
    const std::string function = label("function", r.name);
    const std::uint64_t all = r.tasks + r.failed, measured = r.durations.count();
    const double scale = measured > 0 ? static_cast<double>(all) / static_cast<double>(measured) : 0;
    std::uint64_t below = 0;
    std::size_t bucket = 0;
    double bound_ns = 1000;
    for (int i = 0; i < 13; ++i, bound_ns *= 4) {  // 1 us to 4.7 h
      for (; bucket + 1 < duration_histogram::buckets && duration_histogram::begin_of(bucket + 1) <= bound_ns; ++bucket)
        below += r.durations[bucket];
      const auto scaled = static_cast<std::uint64_t>(std::llround(scale * static_cast<double>(below)));
      out.sample(function + "," + label("le", base::text("{}", bound_ns / 1e9)), scaled, "_bucket");
    }
    out.sample(function + "," + label("le", "+Inf"), all, "_bucket");
    out.sample(function, r.seconds, "_sum");
    out.sample(function, all, "_count");
  }
}

inline std::string node_label(const statistics& s, std::size_t node) {
  const std::string& host = s.nodes[node].host;
  return label("node", host.empty() ? base::text("{}", node) : host);
}

inline void add_nodes(metrics_writer& out, const statistics& s) {
  base::vector<state_seconds> seconds(s.nodes.size());
  std::vector<std::uint64_t> sent(s.nodes.size()), spilled(s.nodes.size());
  for (const rank_statistics& r : s.ranks) {
    const auto node = static_cast<std::size_t>(r.node);
    if (r.node < 0 || node >= seconds.size()) continue;
    for (std::size_t i = 0; i < rank_states; ++i) seconds[node][i] += r.seconds[i];
    sent[node] += r.sent_bytes;
    spilled[node] += r.spilled_bytes;
  }
  out.family("manta_rank_seconds_total", "counter", "Time of the ranks of a node, by what they did.");
  for (std::size_t n = 0; n < seconds.size(); ++n) {
    for (std::size_t i = 0; i < rank_states; ++i) {
      const std::string state = label("state", name_of(static_cast<rank_state>(i)));
      out.sample(node_label(s, n) + "," + state, seconds[n][i]);
    }
  }
  const std::vector<std::uint64_t> memory = memory_by_node(s);
  out.family("manta_value_bytes", "gauge", "Values in memory, at most, and those that moved to a disk.");
  for (std::size_t n = 0; n < memory.size(); ++n) {
    out.sample(node_label(s, n) + "," + label("place", "memory"), memory[n]);
    out.sample(node_label(s, n) + "," + label("place", "disk"), spilled[n]);
  }
  out.family("manta_sent_bytes_total", "counter", "Values that the ranks of a node have sent to other ranks.");
  for (std::size_t n = 0; n < sent.size(); ++n) out.sample(node_label(s, n), sent[n]);
}

}  // namespace detail

MANTA_DECL std::string run_metrics(const statistics& s) {
  output::metrics_writer out;
  detail::add_tasks(out, detail::rows_of(s));
  detail::add_nodes(out, s);
  std::uint64_t working = 0, spare = 0, missing = 0;
  for (const rank_statistics& r : s.ranks) ++(r.is_spare ? spare : r.is_known ? working : missing);
  out.family("manta_ranks", "gauge", "Ranks that work, stand by, or have died or do not answer.");
  out.sample(output::label("state", "working"), working);
  out.sample(output::label("state", "spare"), spare);
  out.sample(output::label("state", "missing"), missing);
  out.family("manta_tasks_waiting", "gauge", "Tasks that wait at rank 0 for room.");
  out.sample(output::label("why", "room"), s.waiting);
  out.family("manta_run_seconds", "gauge", "Length of the run so far.");
  out.sample("", s.seconds);
  return std::move(out.text());
}

}  // namespace manta::report
