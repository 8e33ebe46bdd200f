// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/base/clock.hpp"
#include "manta/base/sorting.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/account/rank_report.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::exec {

namespace detail {

inline double seconds_of(std::uint64_t ticks) { return 1e-9 * static_cast<double>(base::nanoseconds_of(ticks)); }

inline void write_facts(wire::buffer& out, const rank_facts& facts) {
  wire::put(out, facts.host);
  for (const int number : {facts.node, static_cast<int>(facts.is_spare), facts.cores, facts.threads}) {
    wire::put(out, number);
  }
  for (const std::uint64_t number :
       {facts.budget, facts.memory_bytes, facts.spilled_bytes, facts.sent_bytes, facts.transfers}) {
    wire::put(out, number);
  }
}

inline void write_counts(wire::buffer& out, const task_counts& counts) {
  wire::put(out, counts.from_journal());
  wire::put(out, counts.repeated());
  for (std::uint32_t f = 0; f < counts.rows().size(); ++f) {
    const task_counts::row& row = counts.rows()[f];
    if (row.done + row.failed + row.retried + row.cancelled == 0) continue;
    const task_counts::failure_text failure = counts.most_frequent(f);
    wire::put(out, f);
    wire::put(out, row);
    wire::put(out, failure.text);
    wire::put(out, failure.count);
  }
  wire::put(out, graph::no_index);
  for (const base::vector<task_counts::edge>& all : {counts.edges(), counts.children()}) {
    wire::put(out, all.size());
    for (const task_counts::edge& each : all) wire::put(out, each);
  }
}

inline void write_durations(wire::buffer& out, const function_times::row& row) {
  for (std::uint32_t bucket = 0; bucket < row.durations.size(); ++bucket) {
    if (row.durations[bucket] == 0) continue;
    wire::put(out, bucket);
    wire::put(out, row.durations[bucket]);
  }
  wire::put(out, graph::no_index);
}

inline void write_times(wire::buffer& out, const function_times& times, std::uint64_t begun, report_detail detail) {
  wire::put(out, times.rows().size());
  for (const auto& row : times.rows()) {
    wire::put(out, row->function);
    for (const std::uint64_t number : {row->count, row->estimated}) wire::put(out, number);
    for (const std::uint64_t ticks : {row->ticks, row->waited}) wire::put(out, seconds_of(ticks));
    if (detail == report_detail::brief) continue;
    write_durations(out, *row);
    wire::put(out, row->longest.size());
    for (const function_times::long_run& each : row->longest) {
      wire::put(out, seconds_of(each.ticks));
      wire::put(out, seconds_of(each.begin - begun));
      wire::put(out, each.id);
      wire::put(out, each.name);
    }
  }
}

inline void write_bins(wire::buffer& out, const time_bins& bins, std::uint64_t now) {
  const std::size_t count = bins.count(now);
  wire::put(out, seconds_of(bins.width()));
  wire::put(out, count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t states = 0;
    for (std::size_t s = 0; s < rank_states; ++s) states |= static_cast<std::uint8_t>((bins[i].ticks[s] != 0) << s);
    wire::put(out, states);
    wire::put(out, bins.function_of(i));
    for (const std::uint64_t ticks : bins[i].ticks) {
      if (ticks != 0) wire::put(out, static_cast<float>(seconds_of(ticks)));
    }
  }
}

inline void write_actors(wire::buffer& out, const base::vector<actor_times::entry>& actors) {
  wire::put(out, actors.size());
  for (const actor_times::entry& each : actors) {
    wire::put(out, each.name);
    wire::put(out, each.done.calls);
    wire::put(out, seconds_of(each.done.ticks));
    wire::put(out, seconds_of(each.done.waited));
  }
}

}  // namespace detail

MANTA_DECL void write_report(wire::buffer& out, const rank_facts& facts, const rank_accounts& accounts,
                             std::uint64_t now, report_detail detail) {
  const time_account& times = accounts.time_account;
  wire::put(out, detail);
  detail::write_facts(out, facts);
  for (const std::uint64_t ticks : times.bins().totals()) wire::put(out, detail::seconds_of(ticks));
  detail::write_counts(out, accounts.counts);
  detail::write_times(out, times.functions(), times.bins().begun(), detail);
  if (detail == report_detail::brief) return;
  detail::write_actors(out, accounts.actors);
  detail::write_bins(out, times.bins(), now);
}

MANTA_DECL report_reader::report_reader(std::uint32_t ranks, double seconds) : bins_(ranks) {
  all_.seconds = seconds;
  all_.ranks.resize(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    all_.ranks[r].rank = static_cast<int>(r);
    all_.ranks[r].is_known = false;
  }
}

inline function_statistics& report_reader::function(std::uint32_t id) {
  const auto at = static_cast<std::size_t>(std::ranges::find(ids_, id) - ids_.begin());
  if (at < ids_.size()) return all_.functions[at];
  ids_.push_back(id);
  function_statistics& made = all_.functions.emplace_back();
  made.name = id == graph::no_index ? "others" : std::string(wire::function_at(id).name());
  return made;
}

MANTA_DECL void report_reader::add(rank_id rank, wire::source& in) {
  const auto detail = in.get<report_detail>();
  rank_statistics& own = all_.ranks[rank.number()];
  own.is_known = true;
  read_facts(own, in);
  for (double& seconds : own.seconds) in.get(seconds);
  read_counts(in);
  read_times(own, detail, in);
  if (detail == report_detail::brief) return;
  for (std::size_t left = in.get<std::size_t>(); left > 0; --left) {
    actor_statistics& actor = all_.actors.emplace_back();
    in.get(actor.name);
    in.get(actor.calls);
    in.get(actor.seconds);
    in.get(actor.waited);
    actor.rank = own.rank;
  }
  read_bins(rank, in);
}

inline void report_reader::read_facts(rank_statistics& rank, wire::source& in) {
  const auto host = in.get<std::string>();
  const int node = in.get<int>();
  rank.node = node;
  if (all_.nodes.size() <= static_cast<std::size_t>(node)) all_.nodes.resize(static_cast<std::size_t>(node) + 1);
  node_statistics& its = all_.nodes[static_cast<std::size_t>(node)];
  its.host = host;
  ++its.ranks;
  rank.is_spare = in.get<int>() != 0;
  its.cores += in.get<int>();
  its.threads_per_rank = std::max(its.threads_per_rank, in.get<int>());
  its.memory_budget += in.get<std::uint64_t>();
  for (std::uint64_t* const number : {&rank.memory_bytes, &rank.spilled_bytes, &rank.sent_bytes, &rank.transfers}) {
    in.get(*number);
  }
}

inline void report_reader::read_counts(wire::source& in) {
  all_.from_journal += in.get<std::uint64_t>();
  const auto repeated = in.get<task_counts::edge>();
  if (repeated.count > all_.same_value_count) {
    all_.same_value_function = std::string(wire::function_at(repeated.to).name());
  }
  all_.same_value_count += repeated.count;
  all_.same_value_bytes += repeated.bytes;
  for (auto id = in.get<std::uint32_t>(); id != graph::no_index; id = in.get<std::uint32_t>()) {
    function_statistics& f = function(id);
    const auto row = in.get<task_counts::row>();
    f.tasks += row.done;
    f.failed += row.failed;
    f.retried += row.retried;
    f.cancelled += row.cancelled;
    auto text = in.get<std::string>();
    const auto count = in.get<std::uint64_t>();
    if (text == f.failure) {
      f.failure_count += count;
    } else if (count > f.failure_count) {
      f.failure = std::move(text);
      f.failure_count = count;
    }
  }
  read_edges(in, all_.edges);
  read_edges(in, all_.children);
}

inline void report_reader::read_edges(wire::source& in, std::vector<edge_statistics>& all) {
  for (std::size_t left = in.get<std::size_t>(); left > 0; --left) {
    const auto each = in.get<task_counts::edge>();
    const auto index_of = [&](std::uint32_t id) {  // functions are sorted later
      if (id != graph::no_index) function(id);
      return static_cast<int>(id);
    };
    const int from = index_of(each.from), to = index_of(each.to);
    const auto known =
        std::ranges::find_if(all, [&](const edge_statistics& e) { return e.from == from && e.to == to; });
    edge_statistics& into = known != all.end() ? *known : all.emplace_back(from, to, 0, 0);
    into.count += each.count;
    into.bytes += each.bytes;
  }
}

inline void report_reader::read_times(rank_statistics& own, report_detail detail, wire::source& in) {
  const std::size_t rows = in.get<std::size_t>();
  for (std::size_t i = 0; i < rows; ++i) {
    function_statistics& f = function(in.get<std::uint32_t>());
    const auto count = in.get<std::uint64_t>(), estimated = in.get<std::uint64_t>();
    own.tasks += count;
    f.sampled = f.sampled || estimated > count / 64;
    f.seconds += in.get<double>();
    f.waited += in.get<double>();
    if (detail == report_detail::full) {
      for (auto bucket = in.get<std::uint32_t>(); bucket != graph::no_index; bucket = in.get<std::uint32_t>()) {
        f.durations[bucket] += in.get<std::uint32_t>();
      }
      for (std::size_t left = in.get<std::size_t>(); left > 0; --left) {
        long_task& task = f.longest.emplace_back();
        in.get(task.seconds);
        in.get(task.begin);
        in.get(task.id);
        in.get(task.name);
        task.rank = own.rank;
      }
    }
  }
}

inline void report_reader::read_bins(rank_id rank, wire::source& in) {
  bins_of_rank& of = bins_[rank.number()];
  in.get(of.width);
  of.bins.resize(in.get<std::size_t>());
  for (rank_statistics::bin& each : of.bins) {
    const auto states = in.get<std::uint8_t>();
    each.function = static_cast<int>(in.get<std::uint32_t>());
    for (std::size_t s = 0; s < rank_states; ++s) {
      if ((states >> s & 1) != 0) in.get(each.seconds[s]);
    }
  }
}

/// Ranks have bins of different widths, since their clocks differ: all are given the widest.
inline void report_reader::align_bins() {
  double width = 0, end = 0;
  for (const bins_of_rank& of : bins_) {
    width = std::max(width, of.width);
    end = std::max(end, of.width * static_cast<double>(of.bins.size()));
  }
  if (width == 0) return;
  all_.bin_seconds = width;
  const auto count = static_cast<std::size_t>(std::ceil(std::max(all_.seconds, 1e-9) / width));
  for (std::size_t r = 0; r < bins_.size(); ++r) {
    std::vector<rank_statistics::bin>& into = all_.ranks[r].bins;
    if (bins_[r].bins.empty()) continue;
    into.resize(count);
    std::vector<float> most(count);
    for (std::size_t i = 0; i < bins_[r].bins.size(); ++i) {
      const rank_statistics::bin& from = bins_[r].bins[i];
      const double begin = bins_[r].width * static_cast<double>(i) / width, part = bins_[r].width / width;
      const auto first = std::min(static_cast<std::size_t>(begin), count - 1);
      const auto second = std::min(first + 1, count - 1);
      const double in_first = std::clamp((static_cast<double>(first) + 1 - begin) / part, 0., 1.);
      const float in_tasks = from.seconds[static_cast<std::size_t>(rank_state::task)];
      const auto add = [&](std::size_t at, double share) {
        for (std::size_t s = 0; s < rank_states; ++s) {
          into[at].seconds[s] += static_cast<float>(share * static_cast<double>(from.seconds[s]));
        }
        const auto time = static_cast<float>(share * static_cast<double>(in_tasks));
        if (time < most[at]) return;
        most[at] = time;
        into[at].function = from.function;
      };
      add(first, in_first);
      if (in_first < 1) add(second, 1 - in_first);
    }
  }
}

inline void report_reader::sort_functions() {
  std::vector<std::size_t> order(ids_.size());
  std::iota(order.begin(), order.end(), 0);
  base::sort(order,
             [&](std::size_t a, std::size_t b) { return all_.functions[a].seconds > all_.functions[b].seconds; });
  std::vector<function_statistics> sorted;
  std::vector<std::uint32_t> ids;
  for (const std::size_t i : order) {
    sorted.push_back(std::move(all_.functions[i]));
    ids.push_back(ids_[i]);
  }
  all_.functions.swap(sorted);
  const auto index_of = [&](int id) {
    const auto at = std::ranges::find(ids, static_cast<std::uint32_t>(id));
    return at == ids.end() || *at == graph::no_index ? -1 : static_cast<int>(at - ids.begin());
  };
  for (std::vector<edge_statistics>* const edges : {&all_.edges, &all_.children}) {
    for (edge_statistics& each : *edges) each = {index_of(each.from), index_of(each.to), each.count, each.bytes};
  }
  for (rank_statistics& rank : all_.ranks) {
    for (rank_statistics::bin& each : rank.bins) each.function = index_of(each.function);
  }
}

MANTA_DECL statistics report_reader::finish() {
  align_bins();
  sort_functions();
  for (function_statistics& f : all_.functions) {
    base::sort_falling(f.longest, &long_task::seconds);
    if (f.longest.size() > function_times::most_longest) f.longest.resize(function_times::most_longest);
  }
  base::sort_falling(all_.edges, &edge_statistics::bytes);
  base::sort_falling(all_.children, &edge_statistics::count);
  base::sort_falling(all_.actors, &actor_statistics::waited);
  if (all_.actors.size() > actor_times::most) all_.actors.resize(actor_times::most);
  return std::move(all_);
}

}  // namespace manta::exec
