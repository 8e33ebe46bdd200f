// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/report/trace_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "manta/base/text.hpp"
#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/report/file_replacement.hpp"
#include "manta/report/trace_arrows.hpp"
#include "manta/report/trace_rows.hpp"

namespace manta::report {

namespace detail {

/// Writes a run, event by event, in order of time.
class trace_writer {
 public:
  trace_writer(run_trace& run, std::uint64_t most_bytes) : run_(run) {
    for (const trace_of_rank& r : run.ranks) {  // a rank may begin before rank 0
      for (const trace_record& each : r.records) run.begin = std::min(run.begin, each.begin);
    }
    shorten(most_bytes);
    arrows_ = find_arrows(run, totals_);
    extra_ = find_extra_rows(run);
  }
  trace_totals write_to(file_replacement& file);

 private:
  enum class sort : std::uint32_t { slice, extra, arrow, sample, busy_ranks, phase };
  struct place {
    std::uint64_t at;
    sort kind;
    std::uint32_t rank, index;
  };
  /// The most bytes of an event of each kind, beside names.
  static constexpr std::uint64_t slice_bytes = 170, arrow_bytes = 2 * 120, sample_bytes = 140, head_bytes = 400'000;
  static constexpr std::uint64_t head_bytes_of_rank = 800;
  static constexpr std::size_t busy_bins = 1000;

  std::uint64_t bytes_of(const trace_of_rank& r, const trace_record& each) const;
  std::string_view name_of(const trace_record& r) const;  ///< The function, or the state.
  std::uint64_t most_bytes() const;                       ///< At least the number of bytes that the file will have.
  void shorten(std::uint64_t most);
  std::vector<place> in_order();
  void sum_busy_ranks();

  /// The begin of an event in a rank's row of tasks or of waits.
  /// `tid`: the number of another row of its node instead; 0: none.
  output::json_builder open(const char* phase, std::size_t rank, bool is_wait, std::uint64_t at, int tid = 0) const;
  void close(output::json_builder& event);  ///< The event is complete.
  void put_head();
  void put_rank_names();
  void put_phase(std::uint64_t at, bool is_end, std::size_t number);
  void put_slice(std::size_t rank, const trace_record& r);
  void put_extra(const extra_slice& s);
  void put_arrow(const arrow_end& end);
  void put_sample(std::size_t rank, const trace_sample& s);
  void put_busy_ranks(std::size_t bin);
  void put_tail();

  run_trace& run_;
  std::string* text_ = nullptr;  // of the file
  bool has_events_ = false;
  std::vector<arrow_end> arrows_;
  extra_rows extra_;
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> of_node_;  // the sums of samples, by node and quantity
  std::map<std::pair<int, std::uint32_t>, std::uint64_t> of_rank_;
  std::vector<double> busy_;  // nanoseconds in which tasks ran, by bin
  std::uint64_t bin_ns_ = 1;
  trace_totals totals_;
};

// --- the size

inline std::string_view trace_writer::name_of(const trace_record& r) const {
  if (r.kind != trace_record::state) {
    return r.function < run_.functions.size() ? std::string_view(run_.functions[r.function]) : "several functions";
  }
  const auto is = [&](rank_state state) { return r.function == static_cast<std::uint32_t>(state); };
  return is(rank_state::fetch)    ? "inputs under way"
         : is(rank_state::gang)   ? "kept for a gang"
         : is(rank_state::driver) ? "the driver"
                                  : "several waits";
}

inline std::uint64_t trace_writer::bytes_of(const trace_of_rank& r, const trace_record& each) const {
  std::uint64_t bytes = slice_bytes;
  if (each.kind != trace_record::state) bytes += 2 * name_of(each).size();
  if (each.kind == trace_record::task && each.count != 0) bytes += 6 * r.names[each.count - 1].size();
  if (each.kind == trace_record::task && (each.is_call || each.is_member)) bytes += bytes;  // in a further row
  return bytes;
}

inline std::uint64_t trace_writer::most_bytes() const {
  std::uint64_t bytes = head_bytes + run_.ranks.size() * head_bytes_of_rank + run_.phases.size() * 600;
  for (const trace_of_rank& r : run_.ranks) {
    for (const trace_record& each : r.records) bytes += bytes_of(r, each);
    bytes += r.arrows.size() * arrow_bytes + r.samples.size() * sample_bytes;
  }
  return bytes;
}

inline void trace_writer::shorten(std::uint64_t most) {
  constexpr std::uint64_t longest = std::uint64_t{1} << 47;
  for (std::uint64_t limit = 500; most_bytes() > most && limit < longest; limit *= 2) {
    for (trace_of_rank& r : run_.ranks) {
      const std::size_t left = merge_short(r.records, limit);
      if (left < r.records.size()) r.merged_below = std::max(r.merged_below, limit);
      r.records = r.records.first(left);
      if (r.arrows.size() > left) r.arrows.resize(thin_arrows(r.arrows, ++r.arrow_rounds));
      if (r.samples.size() > left) r.samples.resize(left);
    }
  }
}

// --- events

inline void trace_writer::sum_busy_ranks() {
  busy_.assign(busy_bins, 0);
  bin_ns_ = std::max<std::uint64_t>((run_.end - run_.begin) / busy_bins + 1, 1000);
  for (const trace_of_rank& r : run_.ranks) {
    for (const trace_record& each : r.records) {
      if (each.kind == trace_record::state || each.extent == 0) continue;
      const double share = static_cast<double>(each.busy()) / static_cast<double>(each.extent);
      const std::uint64_t begin = std::max(each.begin, run_.begin) - run_.begin;
      const std::uint64_t end = std::max(each.end(), run_.begin) - run_.begin;
      for (std::uint64_t bin = begin / bin_ns_; bin * bin_ns_ < end && bin < busy_bins; ++bin) {
        const std::uint64_t from = std::max(begin, bin * bin_ns_), to = std::min(end, (bin + 1) * bin_ns_);
        busy_[bin] += share * static_cast<double>(to - from);
      }
    }
  }
}

inline std::vector<trace_writer::place> trace_writer::in_order() {
  std::vector<place> all;
  std::size_t count = busy_bins + arrows_.size() + extra_.slices.size();
  for (const trace_of_rank& r : run_.ranks) count += r.records.size() + r.samples.size();
  all.reserve(count);
  for (std::uint32_t r = 0; r < run_.ranks.size(); ++r) {
    const trace_of_rank& of = run_.ranks[r];
    for (std::uint32_t i = 0; i < of.records.size(); ++i) all.push_back({of.records[i].begin, sort::slice, r, i});
    for (std::uint32_t i = 0; i < of.samples.size(); ++i) all.push_back({of.samples[i].at, sort::sample, r, i});
  }
  for (std::uint32_t i = 0; i < arrows_.size(); ++i) all.push_back({arrows_[i].at, sort::arrow, 0, i});
  for (std::uint32_t i = 0; i < extra_.slices.size(); ++i) all.push_back({extra_.slices[i].begin, sort::extra, 0, i});
  for (std::uint32_t i = 0; i < busy_bins && run_.begin + i * bin_ns_ <= run_.end; ++i) {
    all.push_back({run_.begin + i * bin_ns_, sort::busy_ranks, 0, i});
  }
  for (std::uint32_t i = 0; i < run_.phases.size(); ++i) {
    const phase_statistics& each = run_.phases[i];
    const auto ns_of = [](double seconds) { return static_cast<std::uint64_t>(1e9 * seconds); };
    all.push_back({run_.begin + ns_of(each.begin), sort::phase, 0, i});
    all.push_back({each.end > each.begin ? run_.begin + ns_of(each.end) : run_.end, sort::phase, 1, i});
  }
  std::ranges::sort(all, [](const place& a, const place& b) {
    return a.at != b.at ? a.at < b.at : a.kind != b.kind ? a.kind < b.kind : a.index < b.index;
  });
  return all;
}

/// Microseconds with three places behind the point.
inline std::string microseconds(std::uint64_t ns) {
  char digits[32];
  const int length = std::snprintf(digits, sizeof digits, "%llu.%03u", static_cast<unsigned long long>(ns / 1000),
                                   static_cast<unsigned>(ns % 1000));
  return {digits, static_cast<std::size_t>(length)};
}

inline output::json_builder trace_writer::open(const char* phase, std::size_t rank, bool is_wait, std::uint64_t at,
                                               int tid) const {
  const trace_of_rank& r = run_.ranks[rank];
  output::json_builder event;
  event.begin('{')
      .member("ph", phase)
      .member("pid", r.node + 1)
      .member("tid", tid != 0 ? tid : 2 * r.rank + 1 + is_wait);
  event.key("ts").json(microseconds(std::max(at, run_.begin) - run_.begin));
  return event;
}

inline void trace_writer::close(output::json_builder& event) {
  if (std::exchange(has_events_, true)) *text_ += ",\n";
  *text_ += event.end('}').text();
}

/// Most tasks need no arguments: viewers put slices of the same name and arguments together.
inline void put_task_arguments(output::json_builder& event, const trace_of_rank& of, const trace_record& r) {
  char id[32];
  std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(r.id));
  event.member("id", id);
  if (r.ends && r.count == 0 && r.attempt == 0 && !r.failed) return;
  event.key("args").begin('{');
  if (!r.ends) event.member("tasks", 0).member("then", "waits");
  if (r.count != 0) event.member(r.is_call ? "actor" : "name", of.names[r.count - 1]);
  if (r.attempt != 0) event.member("attempt", std::uint64_t{r.attempt});
  if (r.failed) event.member("failed", true);
  event.end('}');
}

inline void trace_writer::put_slice(std::size_t rank, const trace_record& r) {
  ++totals_.slices;
  totals_.tasks += r.tasks();
  output::json_builder event = open("X", rank, r.kind == trace_record::state, r.begin);
  // Viewers add floating-point numbers: where slices touch, the first would end within the second.
  event.key("dur").json(microseconds(r.extent > 1 ? r.extent - 1 : r.extent));
  const bool is_many = r.kind == trace_record::burst && r.count > 1;
  event.member("name", is_many ? base::text("{} (many)", name_of(r)) : std::string(name_of(r)));
  if (r.kind == trace_record::task) {
    put_task_arguments(event, run_.ranks[rank], r);
  } else if (r.is_merged()) {
    event.key("args").begin('{').member("tasks", r.tasks()).key("busy_us").json(microseconds(r.busy()));
    if (r.failed) event.member("failed", true);
    event.end('}');
  }
  close(event);
  if (r.kind != trace_record::task || !r.failed) return;
  output::json_builder mark = open("i", rank, false, r.begin);
  mark.member("s", "t").member("name", "a failure");
  close(mark);
}

inline void trace_writer::put_extra(const extra_slice& s) {
  output::json_builder event = open("X", s.rank, false, s.begin, extra_.rows[s.row].tid);
  const std::uint64_t length = s.end - s.begin;
  event.key("dur").json(microseconds(length > 1 ? length - 1 : length));
  event.member("name", s.function < run_.functions.size() ? run_.functions[s.function] : "several functions");
  event.key("args").begin('{').member("rank", run_.ranks[s.rank].rank);
  if (s.members != 0) event.member("members", s.members);
  close(event.end('}'));
}

inline void trace_writer::put_arrow(const arrow_end& end) {
  output::json_builder event = open(end.is_begin ? "s" : "f", end.rank, false, end.at);
  event.member("id", end.number).member("cat", "value").member("name", "value");
  if (!end.is_begin) event.member("bp", "e");
  close(event);
}

inline void trace_writer::put_sample(std::size_t rank, const trace_sample& s) {
  constexpr const char* names[] = {"bytes of values", "bytes sent", "tasks that wait for room"};
  const trace_of_rank& r = run_.ranks[rank];
  std::uint64_t& known = of_rank_[{r.rank, s.what}];
  std::uint64_t& sum = of_node_[{r.node, s.what}];
  sum += s.value - known;
  known = s.value;
  output::json_builder event = open("C", rank, false, s.at);
  event.member("name", names[s.what]).key("args").begin('{').member("value", sum).end('}');
  close(event);
}

inline void trace_writer::put_busy_ranks(std::size_t bin) {
  const double ranks = busy_[bin] / static_cast<double>(bin_ns_);
  output::json_builder event = open("C", 0, false, run_.begin + bin * bin_ns_);
  event.member("name", "ranks in tasks").key("args").begin('{');
  event.member("value", static_cast<double>(std::llround(1000 * ranks)) / 1000).end('}');
  close(event);
}

// --- what stands around the events

inline void trace_writer::put_rank_names() {
  std::map<int, std::string> hosts;
  const auto put = [&](int node, int row, const char* what, const char* member, const auto& value) {
    output::json_builder event;
    event.begin('{').member("ph", "M").member("pid", node + 1).member("tid", row).member("name", what);
    event.key("args").begin('{').member(member, value).end('}');
    close(event);
  };
  for (const trace_of_rank& r : run_.ranks) {
    hosts.emplace(r.node, r.host);
    for (const bool is_wait : {false, true}) {
      const int row = 2 * r.rank + 1 + is_wait;
      const char* const what = !is_wait ? "" : r.rank == 0 ? ": driver and waits" : ": waits";
      put(r.node, row, "thread_name", "name", base::text("rank {}{}", r.rank, what));
      put(r.node, row, "thread_sort_index", "sort_index", row);
    }
  }
  for (const extra_row& row : extra_.rows) {
    put(row.node, row.tid, "thread_name", "name", row.name);
    put(row.node, row.tid, "thread_sort_index", "sort_index", row.tid);
  }
  for (const auto& [node, host] : hosts) put(node, 0, "process_name", "name", base::text("node {} ({})", node, host));
}

inline void trace_writer::put_phase(std::uint64_t at, bool is_end, std::size_t number) {
  output::json_builder event = open(is_end ? "e" : "b", 0, true, at);
  event.member("id", number + 1).member("cat", "phase").member("name", run_.phases[number].name.substr(0, 80));
  close(event);
}

inline void trace_writer::put_head() {
  *text_ += "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  put_rank_names();
}

inline void trace_writer::put_tail() {
  std::uint64_t merged = 0;
  unsigned rounds = 0;
  for (const trace_of_rank& r : run_.ranks) {
    merged = std::max(merged, r.merged_below);
    rounds = std::max(rounds, r.arrow_rounds);
  }
  output::json_builder facts;
  facts.begin('{').member("manta", manta::version).member("program", run_.program).member("job", run_.job);
  facts.member("ranks", run_.ranks.size() + run_.missing.size()).member("slices", totals_.slices);
  facts.member("tasks", totals_.tasks).member("arrows", totals_.arrows);
  facts.member("arrows_left_out", totals_.arrows_left_out).member("arrows_backwards", totals_.arrows_backwards);
  facts.member("arrows_of", base::text("1 of {} tasks", std::uint64_t{1} << rounds));
  facts.member("merged_below_us", static_cast<double>(merged) / 1000).member("clock_error_us", 1e6 * run_.clock_error);
  facts.key("missing_ranks").begin('[');
  for (std::size_t i = 0; i < std::min<std::size_t>(run_.missing.size(), 1000); ++i) facts.value(run_.missing[i]);
  *text_ += "\n],\n\"otherData\":" + facts.end(']').end('}').text() + "}\n";
}

inline trace_totals trace_writer::write_to(file_replacement& file) {
  text_ = &file.text();
  sum_busy_ranks();
  put_head();
  for (const place& p : in_order()) {
    switch (p.kind) {
      case sort::slice: put_slice(p.rank, run_.ranks[p.rank].records[p.index]); break;
      case sort::extra: put_extra(extra_.slices[p.index]); break;
      case sort::arrow: put_arrow(arrows_[p.index]); break;
      case sort::sample: put_sample(p.rank, run_.ranks[p.rank].samples[p.index]); break;
      case sort::busy_ranks: put_busy_ranks(p.index); break;
      case sort::phase: put_phase(p.at, p.rank != 0, p.index); break;
    }
    file.written();
  }
  put_tail();
  totals_.bytes = file.finish();
  return totals_;
}

}  // namespace detail

MANTA_DECL trace_totals write_trace(const std::string& path, run_trace& run, std::uint64_t most_bytes) {
  file_replacement at(path);
  return detail::trace_writer(run, most_bytes).write_to(at);
}

}  // namespace manta::report
