// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/sorting.hpp"
#include "manta/base/vector.hpp"
#include "manta/report/trace_file.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>

#include "manta/base/text.hpp"
#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/report/file_replacement.hpp"
#include "manta/report/trace_arrows.hpp"
#include "manta/report/trace_json.hpp"
#include "manta/report/trace_perfetto.hpp"
#include "manta/report/trace_rows.hpp"

namespace manta::report {

namespace detail {

/// Writes a run, event by event, in order of time.
class trace_writer {
 public:
  trace_writer(run_trace& run, trace_format& format, std::uint64_t most_bytes)
      : run_(run), format_(format), sizes_(format.most_bytes()) {
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
  static constexpr std::size_t busy_bins = 1000;

  std::uint64_t bytes_of(const trace_of_rank& r, const trace_record& each) const;
  std::string_view name_of(const trace_record& r) const;  ///< The function, or the state.
  std::uint64_t most_bytes() const;                       ///< At least the number of bytes that the file will have.
  void shorten(std::uint64_t most);
  base::vector<place> in_order();
  void sum_busy_ranks();

  /// Begins an event in a rank's row of tasks or of waits.
  /// `tid`: the number of another row of its node instead; 0: none.
  trace_event& open(trace_event::kind what, std::size_t rank, bool is_wait, std::uint64_t at, int tid = 0);
  void close() { format_.put(*text_, event_); }  ///< The event is complete.
  void put_names();
  void put_phase(std::uint64_t at, bool is_end, std::size_t number);
  void put_slice(std::size_t rank, const trace_record& r);
  void put_extra(const extra_slice& s);
  void put_arrow(const arrow_end& end);
  void put_sample(std::size_t rank, const trace_sample& s);
  void put_busy_ranks(std::size_t bin);
  std::string facts() const;  ///< What a reader has to know of the whole trace, as JSON.

  run_trace& run_;
  trace_format& format_;
  trace_format::sizes sizes_;
  std::string* text_ = nullptr;  // of the file
  trace_event event_;
  base::vector<arrow_end> arrows_;
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

/// Has the slice of this record nothing more to say than its name and the id of its task?
inline bool is_plain(const trace_record& r) {
  return r.kind == trace_record::task ? r.ends && r.count == 0 && r.attempt == 0 && !r.failed : !r.is_merged();
}

inline std::uint64_t trace_writer::bytes_of(const trace_of_rank& r, const trace_record& each) const {
  std::uint64_t bytes = sizes_.slice + (is_plain(each) ? 0 : sizes_.arguments);
  if (each.kind != trace_record::state) bytes += sizes_.times_of_name * name_of(each).size();
  if (each.kind == trace_record::task && each.count != 0)
    bytes += sizes_.times_of_task_name * r.names[each.count - 1].size();
  if (each.kind == trace_record::task && (each.is_call || each.is_member)) bytes += bytes;  // in a further row
  return bytes;
}

inline std::uint64_t trace_writer::most_bytes() const {
  std::uint64_t bytes = sizes_.head + run_.ranks.size() * sizes_.head_of_rank + run_.phases.size() * sizes_.phase;
  for (const trace_of_rank& r : run_.ranks) {
    for (const trace_record& each : r.records) bytes += bytes_of(r, each);
    bytes += r.arrows.size() * sizes_.arrow + r.samples.size() * sizes_.sample;
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

inline base::vector<trace_writer::place> trace_writer::in_order() {
  base::vector<place> all;
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
  base::sort(all, [](const place& a, const place& b) {
    return a.at != b.at ? a.at < b.at : a.kind != b.kind ? a.kind < b.kind : a.index < b.index;
  });
  return all;
}

inline trace_event& trace_writer::open(trace_event::kind what, std::size_t rank, bool is_wait, std::uint64_t at,
                                       int tid) {
  const trace_of_rank& r = run_.ranks[rank];
  event_ = {.what = what,
            .row = {r.node, tid != 0 ? tid : 2 * r.rank + 1 + is_wait},
            .at = std::max(at, run_.begin) - run_.begin};
  return event_;
}

inline void add_task_arguments(trace_event& event, const trace_of_rank& of, const trace_record& r) {
  auto& all = event.arguments;
  if (!r.ends) {
    all.push_back({"tasks", std::uint64_t{0}});
    all.push_back({"then", std::string_view("waits")});
  }
  if (r.count != 0) all.push_back({r.is_call ? "actor" : "name", std::string_view(of.names[r.count - 1])});
  if (r.attempt != 0) all.push_back({"attempt", std::uint64_t{r.attempt}});
  if (r.failed) all.push_back({"failed", true});
}

/// Viewers add floating-point numbers: where slices touch, the first would end within the second.
inline std::uint64_t shown_extent(std::uint64_t extent) { return extent > 1 ? extent - 1 : extent; }

inline void trace_writer::put_slice(std::size_t rank, const trace_record& r) {
  ++totals_.slices;
  totals_.tasks += r.tasks();
  trace_event& event = open(trace_event::kind::slice, rank, r.kind == trace_record::state, r.begin);
  event.extent = shown_extent(r.extent);
  const bool is_many = r.kind == trace_record::burst && r.count > 1;
  event.name = is_many ? base::text("{} (many)", name_of(r)) : std::string(name_of(r));
  if (r.kind == trace_record::task) {
    event.task = r.id;
    add_task_arguments(event, run_.ranks[rank], r);
  } else if (r.is_merged()) {
    event.arguments.push_back({"tasks", r.tasks()});
    event.arguments.push_back({"busy_us", trace_argument::nanoseconds{r.busy()}});
    if (r.failed) event.arguments.push_back({"failed", true});
  }
  close();
  if (r.kind != trace_record::task || !r.failed) return;
  open(trace_event::kind::mark, rank, false, r.begin).name = "a failure";
  close();
}

inline void trace_writer::put_extra(const extra_slice& s) {
  trace_event& event = open(trace_event::kind::slice, s.rank, false, s.begin, extra_.rows[s.row].tid);
  event.extent = shown_extent(s.end - s.begin);
  event.name = s.function < run_.functions.size() ? run_.functions[s.function] : "several functions";
  event.arguments.push_back({"rank", static_cast<std::uint64_t>(run_.ranks[s.rank].rank)});
  if (s.members != 0) event.arguments.push_back({"members", std::uint64_t{s.members}});
  close();
}

inline void trace_writer::put_arrow(const arrow_end& end) {
  open(end.is_begin ? trace_event::kind::arrow_begin : trace_event::kind::arrow_end, end.rank, false, end.at).number =
      end.number;
  close();
}

inline void trace_writer::put_sample(std::size_t rank, const trace_sample& s) {
  constexpr const char* names[] = {"bytes of values", "bytes sent", "tasks that wait for room"};
  const trace_of_rank& r = run_.ranks[rank];
  std::uint64_t& known = of_rank_[{r.rank, s.what}];
  std::uint64_t& sum = of_node_[{r.node, s.what}];
  sum += s.value - known;
  known = s.value;
  trace_event& event = open(trace_event::kind::counter, rank, false, s.at);
  event.name = names[s.what];
  event.value = static_cast<double>(sum);
  close();
}

inline void trace_writer::put_busy_ranks(std::size_t bin) {
  const double ranks = busy_[bin] / static_cast<double>(bin_ns_);
  trace_event& event = open(trace_event::kind::counter, 0, false, run_.begin + bin * bin_ns_);
  event.name = "ranks in tasks";
  event.value = static_cast<double>(std::llround(1000 * ranks)) / 1000;
  close();
}

inline void trace_writer::put_phase(std::uint64_t at, bool is_end, std::size_t number) {
  trace_event& event = open(is_end ? trace_event::kind::phase_end : trace_event::kind::phase_begin, 0, true, at);
  event.number = number + 1;
  event.name = run_.phases[number].name.substr(0, 80);
  close();
}

// --- what stands around the events

inline void trace_writer::put_names() {
  std::map<int, std::string> hosts;
  for (const trace_of_rank& r : run_.ranks) hosts.emplace(r.node, r.host);
  for (const auto& [node, host] : hosts) format_.name_node(*text_, node, base::text("node {} ({})", node, host));
  for (const trace_of_rank& r : run_.ranks) {
    for (const bool is_wait : {false, true}) {
      const char* const what = !is_wait ? "" : r.rank == 0 ? ": driver and waits" : ": waits";
      format_.name_row(*text_, {r.node, 2 * r.rank + 1 + is_wait}, base::text("rank {}{}", r.rank, what));
    }
  }
  for (const extra_row& row : extra_.rows) format_.name_row(*text_, {row.node, row.tid}, row.name);
}

inline std::string trace_writer::facts() const {
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
  return facts.end(']').end('}').text();
}

inline trace_totals trace_writer::write_to(file_replacement& file) {
  text_ = &file.text();
  sum_busy_ranks();
  format_.begin(*text_);
  put_names();
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
  format_.end(*text_, facts());
  totals_.bytes = file.finish();
  return totals_;
}

/// The format for a file of this name.
inline std::unique_ptr<trace_format> format_for(const std::string& path) {
  if (!path.ends_with(".pftrace")) return std::make_unique<trace_json>();
  std::unique_ptr<trace_format> format = perfetto_format();
  if (format != nullptr) return format;
  throw error(base::text(
      "manta: cannot write {}: this program was compiled without protozero (Debian's libprotozero-dev), which "
      "Perfetto's own format needs; name the file .json, which ui.perfetto.dev reads too",
      path));
}
}  // namespace detail

MANTA_DECL void check_trace_format(const std::string& path) { (void)detail::format_for(path); }

MANTA_DECL trace_totals write_trace(const std::string& path, run_trace& run, std::uint64_t most_bytes) {
  const std::unique_ptr<trace_format> format = detail::format_for(path);
  file_replacement at(path);
  return detail::trace_writer(run, *format, most_bytes).write_to(at);
}

}  // namespace manta::report
