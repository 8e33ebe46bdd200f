// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/report/statistics_json.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/report/advice.hpp"
#include "manta/report/shares.hpp"

namespace manta::report {

namespace detail {

using output::json_builder;

inline std::uint64_t nanoseconds(double seconds) {
  return static_cast<std::uint64_t>(std::llround(std::max(0., seconds) * 1e9));
}

/// Seconds, to the nanosecond: more digits are noise.
inline double rounded(double seconds) { return std::round(seconds * 1e9) / 1e9; }

inline void add_run(json_builder& out, const statistics& s) {
  out.member("version", json_version).member("manta", manta::version);
  out.member("program", s.program).member("job", s.job);
  out.member("began", s.began).member("seconds", rounded(s.seconds)).member("is_over", s.is_over);
  out.member("why_ended", s.why_ended).member("allocation_seconds", s.allocation_seconds);
  const task_totals tasks = totals_of(s);
  out.member("tasks", tasks.tasks).member("failed", tasks.failed).member("retried", tasks.retried);
  out.member("cancelled", tasks.cancelled).member("from_journal", s.from_journal).member("waiting", s.waiting);
  const working_ranks ranks = working_ranks_of(s);
  out.member("working_ranks", ranks.count).member("efficiency", ranks.efficiency());
  out.member("load_balance", ranks.load_balance()).member("transfer", ranks.transfer());
  out.member("overhead", ranks.overhead()).member("ready_seconds", rounded(s.ready_seconds));
  out.key("same_value").begin('{').member("bytes", s.same_value_bytes).member("count", s.same_value_count);
  out.member("function", s.same_value_function).end('}');
}

inline void add_ranks(json_builder& out, const statistics& s) {
  out.key("nodes").begin('[');
  for (const node_statistics& n : s.nodes) {
    out.begin('{').member("host", n.host).member("ranks", n.ranks).member("cores", n.cores);
    out.member("threads_per_rank", n.threads_per_rank).member("memory_budget", n.memory_budget).end('}');
  }
  out.end(']').text() += '\n';
  out.key("ranks").begin('[');
  for (const rank_statistics& r : s.ranks) {
    out.begin('{').member("rank", r.rank).member("node", r.node).member("tasks", r.tasks);
    out.member("is_known", r.is_known).member("is_spare", r.is_spare);
    for (std::size_t i = 0; i < rank_states; ++i)
      out.member(name_of(static_cast<rank_state>(i)), rounded(r.seconds[i]));
    out.member("memory_bytes", r.memory_bytes).member("spilled_bytes", r.spilled_bytes);
    out.member("sent_bytes", r.sent_bytes).member("transfers", r.transfers).end('}').text() += '\n';
  }
  out.end(']');
}

/// Durations by bucket: pairs of the least nanoseconds of the bucket and the number of durations in it.
inline void add_histogram(json_builder& out, const duration_histogram& durations) {
  out.begin('[');
  for (std::size_t i = 0; i < duration_histogram::buckets; ++i) {
    if (durations[i] == 0) continue;
    out.begin('[').value(duration_histogram::begin_of(i)).value(durations[i]).end(']');
  }
  out.end(']');
}

inline void add_function(json_builder& out, const function_statistics& f) {
  out.begin('{').member("name", f.name).member("tasks", f.tasks).member("failed", f.failed);
  out.member("retried", f.retried).member("cancelled", f.cancelled);
  out.member("ns", nanoseconds(f.seconds)).member("wait_ns", nanoseconds(f.waited));
  out.member("sampled", f.sampled ? 256 : 1);
  const long_task none, &longest = f.longest.empty() ? none : f.longest[0];
  out.member("max_ns", nanoseconds(longest.seconds)).member("max_at", rounded(longest.begin));
  out.member("max_rank", longest.rank).member("max_name", longest.name);
  out.key("quantiles").begin('{');
  for (const char* const q : {"0.5", "0.9", "0.95", "0.99"})
    out.member(q, nanoseconds(f.durations.quantile(std::atof(q))));
  out.end('}').key("histogram");
  add_histogram(out, f.durations);
  out.key("longest").begin('[');
  for (const long_task& t : f.longest) {
    out.begin('{').member("seconds", rounded(t.seconds)).member("begin", rounded(t.begin)).member("rank", t.rank);
    out.member("id", t.id).member("name", t.name).end('}');
  }
  out.end(']').member("failure", f.failure).member("failure_count", f.failure_count).end('}').text() += '\n';
}

inline void add_edges_and_actors(json_builder& out, const statistics& s) {
  const auto name = [&](int index) {
    const auto at = static_cast<std::size_t>(index);
    return index >= 0 && at < s.functions.size() ? s.functions[at].name : std::string();
  };
  out.key("edges").begin('[');
  for (const edge_statistics& e : s.edges) {
    out.begin('{').member("from", name(e.from)).member("to", name(e.to)).member("count", e.count);
    out.member("bytes", e.bytes).end('}');
  }
  out.end(']').key("children").begin('[');
  for (const edge_statistics& e : s.children) {
    out.begin('{').member("from", name(e.from)).member("to", name(e.to)).member("count", e.count).end('}');
  }
  out.end(']').key("actors").begin('[');
  for (const actor_statistics& a : s.actors) {
    out.begin('{').member("name", a.name).member("rank", a.rank).member("calls", a.calls);
    out.member("seconds", rounded(a.seconds)).member("waited", rounded(a.waited)).end('}');
  }
  out.end(']').key("phases").begin('[');
  for (const phase_statistics& p : s.phases)
    out.begin('{').member("name", p.name).member("begin", rounded(p.begin)).member("end", rounded(p.end)).end('}');
  out.end(']');
}

/// Rows of bins: for each bin the seconds by state, in the order of "states", and the index of its main function.
inline void add_bins(json_builder& out, const statistics& s) {
  out.key("bins").begin('{').member("seconds", s.bin_seconds).member("by_node", s.bins_by_node);
  out.key("states").begin('[');
  for (std::size_t i = 0; i < rank_states; ++i) out.value(name_of(static_cast<rank_state>(i)));
  out.end(']').key("rows").begin('[');
  for (const rank_statistics& r : s.ranks) {
    if (r.bins.empty()) continue;
    out.begin('{').member("rank", r.rank).member("node", r.node).key("bins").begin('[');
    for (const rank_statistics::bin& b : r.bins) {
      out.begin('[');
      for (const float x : b.seconds) out.value(std::round(static_cast<double>(x) * 1e6) / 1e6);
      out.value(b.function).end(']');
    }
    out.end(']').end('}').text() += '\n';
  }
  out.end(']').end('}');
}

inline void add_texts(json_builder& out, const statistics& s) {
  out.key("deaths").begin('[');
  for (const std::string& d : s.deaths) out.value(d);
  out.end(']').key("settings").begin('{');
  for (const auto& [name, value] : s.settings) out.member(name, value);
  out.end('}').key("advice").begin('[');
  for (const advice& a : advice_for(s)) {
    out.begin('{').member("rule", a.rule).member("text", a.remedy.empty() ? a.what : a.what + " " + a.remedy);
    out.member("share", a.share).end('}');
  }
  out.end(']');
}

}  // namespace detail

MANTA_DECL std::string to_json(const statistics& s) {
  output::json_builder out;
  out.begin('{');
  detail::add_run(out, s);
  out.text() += '\n';
  detail::add_ranks(out, s);
  out.key("functions").begin('[');
  for (const function_statistics& f : s.functions) detail::add_function(out, f);
  out.end(']');
  detail::add_edges_and_actors(out, s);
  out.text() += '\n';
  detail::add_bins(out, s);
  detail::add_texts(out, s);
  out.end('}');
  return std::move(out.text()) + '\n';
}

}  // namespace manta::report
