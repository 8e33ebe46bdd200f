// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/vector.hpp"
#include "manta/report/run_page.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "manta/base/amounts.hpp"
#include "manta/base/text.hpp"
#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/output/page.hpp"
#include "manta/report/advice.hpp"
#include "manta/report/children.hpp"
#include "manta/report/page_script.ipp"
#include "manta/report/shares.hpp"

namespace manta::report {

namespace detail {

inline constexpr std::size_t most_colours = 8;        // of functions in pictures
inline constexpr std::size_t most_functions = 255;    // in rows of bins, where a byte names them
inline constexpr std::size_t most_table_rows = 1000;  // of a table

/// The members of a section of a page.
class section_members {
 public:
  section_members() { out_.begin('{'); }
  output::json_builder& operator()() { return out_; }
  /// The text of the members without the brackets around them.
  std::string_view text() {
    out_.end('}');
    return std::string_view(out_.text()).substr(1, out_.text().size() - 2);
  }

 private:
  output::json_builder out_;
};

inline const char* words_of(rank_state state) {
  static constexpr const char* words[rank_states] = {"in tasks",
                                                     "in manta",
                                                     "waited for values under way",
                                                     "kept for gangs",
                                                     "actors without calls",
                                                     "nothing to do",
                                                     "the driver's own code",
                                                     "dead"};
  return words[static_cast<std::size_t>(state)];
}

/// "27 Nov 2026 09:12", in the time zone of this process.
inline std::string date_text(double seconds_since_1970, const char* format) {
  const auto time = static_cast<std::time_t>(seconds_since_1970);
  std::tm parts{};
  char text[64] = "";
  if (::localtime_r(&time, &parts) != nullptr) std::strftime(text, sizeof text, format, &parts);
  return text;
}

/// Bytes in base64, which JSON can hold.
inline std::string base64(const std::vector<std::uint8_t>& bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const auto at = [&](std::size_t k) { return k < left ? std::uint32_t{bytes[i + k]} : 0U; };
    const std::uint32_t three = at(0) << 16U | at(1) << 8U | at(2);
    for (std::size_t k = 0; k < 4; ++k) text += k <= left ? digits[three >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

/// The bins of one row, nine bytes each, as page_script.ipp reads them.
inline std::string packed_bins(const rank_statistics& rank) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(9 * rank.bins.size());
  for (const rank_statistics::bin& b : rank.bins) {
    float all = 0;
    for (const float x : b.seconds) all += x;
    for (const float x : b.seconds)
      bytes.push_back(all > 0 ? static_cast<std::uint8_t>(std::lround(255 * static_cast<double>(x / all))) : 0);
    const bool has_function = b.function >= 0 && b.function < static_cast<int>(most_functions);
    bytes.push_back(has_function ? static_cast<std::uint8_t>(b.function) : std::uint8_t{255});
  }
  return base64(bytes);
}

/// A row of the picture: a rank, or a node where its ranks stand together.
inline void add_row(output::json_builder& out, const statistics& s, const rank_statistics& rank) {
  const std::string host = host_of(s, rank.node);
  const std::string number = s.bins_by_node ? base::text("{}", rank.node) : base::text("{}", rank.rank);
  std::string name = s.bins_by_node ? host.empty() ? "node " + number : host : "rank " + number;
  if (!s.bins_by_node && s.nodes.size() > 1 && !host.empty()) name = base::text("{}  {}", host, number);
  if (!s.bins_by_node && s.ranks.size() > 1 && rank.rank == 0) name = "driver";
  out.begin('{').member("label", name).member("short", number).member("node", rank.node);
  out.member("data", packed_bins(rank)).end('}');
}

/// What the script needs to know of the run as a whole, and the lines below the title.
inline void add_about(output::page& page, const statistics& s) {
  section_members out;
  out().key("run").begin('{').member("seconds", s.seconds).member("bin", s.bin_seconds);
  out().key("states").begin('[');
  for (std::size_t i = 0; i < rank_states; ++i) {
    const auto state = static_cast<rank_state>(i);
    out().begin('{').member("name", name_of(state)).member("words", words_of(state)).end('}');
  }
  out().end(']').key("functions").begin('[');
  for (std::size_t i = 0; i < std::min(s.functions.size(), most_functions); ++i) out().value(s.functions[i].name);
  out().end(']').key("rows").begin('[');
  for (const rank_statistics& rank : s.ranks) {
    if (!rank.bins.empty()) add_row(out(), s, rank);
  }
  out().end(']').end('}').key("lines").begin('[');
  std::string where = s.job.empty() ? std::string() : base::text("job {}, ", s.job);
  where += base::things_text(s.ranks.size(), "rank", "ranks");
  if (s.nodes.size() > 1) where += base::text(" on {} nodes", s.nodes.size());
  else if (!s.nodes.empty()) where += base::text(" on {}", s.nodes[0].host);
  const std::string end = s.is_over ? base::text(" to {}", date_text(s.began + s.seconds, "%H:%M")) : ", still running";
  out().value(base::text("{}, {}{}, {}, manta {}", where, date_text(s.began, "%e %b %Y %H:%M"), end,
                         base::length_text(s.seconds), manta::version));
  if (!s.why_ended.empty()) out().value(base::text("It had to end early: {}.", s.why_ended));
  out().end(']');
  page.section("about", "", out.text());
}

inline void add_shares(output::page& page, const statistics& s, const working_ranks& ranks) {
  section_members out;
  out().key("parts").begin('[');
  for (const rank_state state : {rank_state::task, rank_state::own, rank_state::fetch, rank_state::gang,
                                 rank_state::actor, rank_state::driver, rank_state::dead, rank_state::idle}) {
    if (ranks.share(state) >= 0.0005) out().begin('[').value(name_of(state)).value(ranks.share(state)).end(']');
  }
  out().end(']');
  if (s.ranks.size() > 1 && s.seconds > 0) {
    const double driver = seconds_in(s.ranks[0].seconds, rank_state::driver) / s.seconds;
    out().member("note", base::text("Rank 0 spent {} of its time in the driver's own code, and {} in manta.",
                                    base::percent_text(driver),
                                    base::percent_text(seconds_in(s.ranks[0].seconds, rank_state::own) / s.seconds)));
  }
  page.section("stack",
               base::text("Where the time of the {} went",
                          base::things_text(static_cast<std::uint64_t>(ranks.count), "working rank", "working ranks")),
               out.text());
}

inline void add_figure(output::page& page, const char* title, const std::string& value, const std::string& note) {
  section_members out;
  out().member("value", value).member("note", note);
  page.section("figure", title, out.text());
}

inline void add_figures(output::page& page, const statistics& s, const working_ranks& ranks) {
  const task_totals tasks = totals_of(s);
  std::string more = base::text("{} failed, {} tried again, {} cancelled", base::count_text(tasks.failed),
                                base::count_text(tasks.retried), base::count_text(tasks.cancelled));
  if (s.from_journal > 0) more += base::text(", {} from the journal", base::count_text(s.from_journal));
  if (s.waiting > 0) more += base::text(", {} wait at rank 0", base::count_text(s.waiting));
  add_figure(page, "Tasks", base::count_text(tasks.tasks), more);
  if (ranks.count > 1) {
    add_figure(page, "Efficiency", base::number_text(ranks.efficiency(), 2),
               base::text("load balance {} × transfer {} × overhead {}", base::number_text(ranks.load_balance(), 2),
                          base::number_text(ranks.transfer(), 2), base::number_text(ranks.overhead(), 2)));
  }
}

inline void add_advice(output::page& page, const statistics& s) {
  const base::vector<advice> all = advice_for(s);
  if (all.empty()) return;
  section_members out;
  out().key("items").begin('[');
  for (const advice& a : all) out().begin('[').value(a.what).value(a.remedy).end(']');
  out().end(']');
  page.section("advice", "What would help", out.text());
}

inline void add_phases(output::json_builder& out, const statistics& s) {
  out.key("phases").begin('[');
  for (const phase_statistics& p : s.phases)
    out.begin('{').member("name", p.name).member("begin", p.begin).member("end", p.end).end('}');
  out.end(']');
}

/// How many ranks were in tasks in each bin, by the main function; the functions without a colour are one.
inline void add_busy(output::page& page, const statistics& s, const working_ranks& ranks) {
  if (s.bin_seconds <= 0) return;
  std::vector<std::vector<double>> busy(most_colours + 1);
  for (const rank_statistics& rank : s.ranks) {
    for (std::size_t b = 0; b < rank.bins.size(); ++b) {
      const auto function = static_cast<std::size_t>(rank.bins[b].function);
      std::vector<double>& row = busy[rank.bins[b].function < 0 ? most_colours : std::min(function, most_colours)];
      row.resize(std::max(row.size(), b + 1));
      row[b] += static_cast<double>(rank.bins[b].seconds[0]) / s.bin_seconds;
    }
  }
  section_members out;
  out().key("functions").begin('[');
  for (std::size_t i = 0; i <= most_colours; ++i) {
    if (!busy[i].empty()) out().value(i);
  }
  out().end(']').key("busy").begin('[');
  for (const auto& row : busy) {
    if (row.empty()) continue;
    out().begin('[');
    for (const double n : row) out().value(std::round(n * 1000) / 1000);
    out().end(']');
  }
  out().end(']').member("ranks", std::max(1, ranks.count));
  add_phases(out(), s);
  page.section("busy", "Busy ranks", out.text());
}

inline void add_timeline(output::page& page, const statistics& s) {
  if (s.bin_seconds <= 0) return;
  std::vector<bool> has_function(most_colours), has_state(rank_states);
  for (const rank_statistics& rank : s.ranks) {
    for (const rank_statistics::bin& b : rank.bins) {
      if (b.function >= 0 && b.function < static_cast<int>(most_colours))
        has_function[static_cast<std::size_t>(b.function)] = true;
      for (std::size_t i = 0; i < rank_states; ++i) {
        if (static_cast<double>(b.seconds[i]) > 0.02 * s.bin_seconds) has_state[i] = true;
      }
    }
  }
  section_members out;
  out().key("functions").begin('[');
  for (std::size_t i = 0; i < most_colours; ++i) {
    if (has_function[i]) out().value(i);
  }
  out().end(']').key("states").begin('[');
  for (std::size_t i = 1; i < rank_states; ++i) {  // tasks are in the colours of their functions
    if (has_state[i]) out().value(name_of(static_cast<rank_state>(i)));
  }
  out().end(']');
  out().member("note", base::text("All {} tasks are in these colours, in steps of {}.",
                                  base::count_text(totals_of(s).tasks), base::duration_text(s.bin_seconds)));
  page.section("timeline", s.bins_by_node ? "Nodes over time" : "Ranks over time", out.text());
}

/// The frame of a table with units: its columns, and the column by which it is sorted at first, the largest first.
inline void add_columns(output::json_builder& out, const std::vector<std::pair<const char*, const char*>>& columns,
                        int sorted_by) {
  out.key("columns").begin('[');
  for (const auto& column : columns) out.value(column.first);
  out.end(']').key("units").begin('[');
  for (const auto& column : columns) out.value(column.second);
  out.end(']').key("order").begin('[').value(sorted_by).value(false).end(']');
}

inline void add_functions(output::page& page, const statistics& s) {
  section_members out;
  add_columns(out(),
              {{"function", ""},
               {"tasks", ""},
               {"failed", ""},
               {"total", "s"},
               {"mean", "s"},
               {"median", "s"},
               {"95 %", "s"},
               {"longest", "s"},
               {"on rank", ""},
               {"waited", "s"}},
              3);
  out().member("colours", true).key("rows").begin('[');
  for (std::size_t i = 0; i < std::min(s.functions.size(), most_table_rows); ++i) {
    const function_statistics& f = s.functions[i];
    const std::uint64_t ended = f.tasks + f.failed;
    out().begin('[').value(f.name).value(f.tasks).value(f.failed).value(f.seconds);
    if (ended > 0) out().value(f.mean_seconds());
    else out().json("null");
    if (f.durations.count() > 0) out().value(f.durations.quantile(0.5)).value(f.durations.quantile(0.95));
    else out().json("null").json("null");
    if (!f.longest.empty()) out().value(f.longest[0].seconds).value(f.longest[0].rank);
    else out().json("null").json("null");
    out().value(f.waited).end(']');
  }
  out().end(']');
  page.section("figures", "Functions", out.text());
}

inline void add_edges(output::page& page, const statistics& s) {
  if (s.edges.empty()) return;
  const auto name = [&](int index) -> std::string_view {
    const auto at = static_cast<std::size_t>(index);
    return index >= 0 && at < s.functions.size() ? std::string_view(s.functions[at].name) : "others";
  };
  section_members out;
  add_columns(out(), {{"from", ""}, {"to", ""}, {"values", ""}, {"bytes", "B"}}, 3);
  out().key("rows").begin('[');
  for (std::size_t i = 0; i < std::min(s.edges.size(), most_table_rows); ++i) {
    const edge_statistics& e = s.edges[i];
    out().begin('[').value(name(e.from)).value(name(e.to)).value(e.count).value(e.bytes).end(']');
  }
  out().end(']');
  page.section("figures", "Values between functions", out.text());
}

inline void add_fan_out(output::page& page, const statistics& s) {
  const base::vector<fan_out_place> tree = fan_out_tree(submitted_tasks_of(s), most_table_rows);
  if (tree.empty()) return;
  section_members out;
  add_columns(out(), {{"function", ""}, {"tasks", ""}}, -1);  // in the order of the walk
  out().key("rows").begin('[');
  for (const fan_out_place& each : tree) {
    std::string name;
    for (int i = 1; i < each.depth; ++i) name += "\u2003";
    name += each.depth == 0 ? "" : "\u2514 ";
    name += each.function.empty() ? "the driver" : each.function;
    out().begin('[').value(each.is_elsewhere ? name + " (see above)" : name).value(each.count).end(']');
  }
  out().end(']');
  page.section("figures", "Who submits what", out.text());
}

inline void add_actors(output::page& page, const statistics& s) {
  if (s.actors.empty()) return;
  section_members out;
  add_columns(out(), {{"actor", ""}, {"rank", ""}, {"calls", ""}, {"at work", "s"}, {"calls waited", "s"}}, 4);
  out().key("rows").begin('[');
  for (const actor_statistics& a : s.actors)
    out().begin('[').value(a.name).value(a.rank).value(a.calls).value(a.seconds).value(a.waited).end(']');
  out().end(']');
  page.section("figures", "Actors", out.text());
}

inline void add_memory(output::page& page, const statistics& s) {
  const std::vector<std::uint64_t> memory = memory_by_node(s);
  std::vector<std::uint64_t> spilled(memory.size()), sent(memory.size());
  for (const rank_statistics& rank : s.ranks) {
    const auto node = static_cast<std::size_t>(rank.node);
    if (rank.node < 0 || node >= memory.size()) continue;
    spilled[node] += rank.spilled_bytes;
    sent[node] += rank.sent_bytes;
  }
  if (values_of(s).memory_bytes == 0) return;
  section_members out;
  add_columns(
      out(),
      {{"node", ""}, {"ranks", ""}, {"values, at most", "B"}, {"may hold", "B"}, {"to a disk", "B"}, {"sent", "B"}}, 2);
  out().key("rows").begin('[');
  for (std::size_t i = 0; i < std::min(memory.size(), most_table_rows); ++i) {
    const node_statistics& n = s.nodes[i];
    out().begin('[').value(n.host).value(n.ranks).value(memory[i]);
    if (n.memory_budget > 0) out().value(n.memory_budget);
    else out().json("null");
    out().value(spilled[i]).value(sent[i]).end(']');
  }
  out().end(']');
  page.section("figures", "Values by node", out.text());
}

inline void add_rest(output::page& page, const statistics& s) {
  if (!s.settings.empty()) {
    std::vector<output::field> settings;
    for (const auto& [name, value] : s.settings) settings.push_back({name, std::string_view(value)});
    page.facts("Settings other than the defaults", settings);
  }
  if (s.deaths.empty()) return;
  std::string deaths;
  for (const std::string& d : s.deaths) deaths += d + "\n";
  page.text("Deaths", deaths);
}

}  // namespace detail

MANTA_DECL std::string run_page(const statistics& s) {
  output::page page(s.program.empty() ? "a run of manta" : s.program);
  page.running(!s.is_over);
  page.script(page_script);
  const working_ranks ranks = working_ranks_of(s);
  detail::add_about(page, s);
  if (ranks.all_seconds > 0) detail::add_shares(page, s, ranks);
  detail::add_figures(page, s, ranks);
  detail::add_advice(page, s);
  detail::add_busy(page, s, ranks);
  detail::add_timeline(page, s);
  if (!s.functions.empty()) detail::add_functions(page, s);
  detail::add_fan_out(page, s);
  detail::add_edges(page, s);
  detail::add_actors(page, s);
  detail::add_memory(page, s);
  detail::add_rest(page, s);
  return page.html();
}

}  // namespace manta::report
