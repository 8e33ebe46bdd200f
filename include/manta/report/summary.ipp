// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/vector.hpp"
#include "manta/report/children.hpp"
#include "manta/report/summary.hpp"

#include <algorithm>

#include "manta/base/amounts.hpp"
#include "manta/base/text.hpp"
#include "manta/report/advice.hpp"
#include "manta/report/shares.hpp"
#include "manta/report/text_table.hpp"

namespace manta::report {

namespace detail {

inline constexpr std::size_t most_rows = 12;    // of functions
inline constexpr std::size_t widest_name = 44;  // columns of a function's name

/// "1 204 311 tasks in 5:12 on 64 ranks".
inline std::string headline(const statistics& s, const task_totals& tasks) {
  std::string text = base::text("manta: {} in {} on {}", base::things_text(tasks.tasks, "task", "tasks"),
                                base::length_text(s.seconds), base::things_text(s.ranks.size(), "rank", "ranks"));
  return text;
}

/// Appends "; a, b, c" of the counts that are not zero.
class list_of_counts {
 public:
  void add(std::uint64_t count, std::string_view words) {
    if (count == 0) return;
    text_ += text_.empty() ? "; " : ", ";
    text_ += base::text("{} {}", base::count_text(count), words);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

inline std::string first_line(const statistics& s, const task_totals& tasks) {
  std::string text = headline(s, tasks);
  if (s.nodes.size() > 1) text += base::text(" of {} nodes", s.nodes.size());
  list_of_counts counts;
  counts.add(tasks.failed, "failed");
  counts.add(tasks.retried, "tried again");
  counts.add(tasks.cancelled, "cancelled");
  counts.add(s.deaths.size(), s.deaths.size() == 1 ? "rank died" : "ranks died");
  text += counts.text();
  if (s.from_journal > 0) text += base::text("; {} came from the journal", base::count_text(s.from_journal));
  if (!s.is_over) text += "; so far";
  return text + "\n";
}

/// A line of the table: a name of fixed width and what it has.
inline std::string line(std::string_view name, std::string_view what) {
  std::string text = "  ";
  text += name;
  text.resize(std::max<std::size_t>(text.size() + 1, 21), ' ');
  text += what;
  return text + "\n";
}

/// "61 % in tasks   2 % in manta ...": the states that a rank was in, in an order of their own.
inline std::string shares_in_words(const working_ranks& ranks) {
  static constexpr std::pair<rank_state, const char*> words[] = {{rank_state::task, "in tasks"},
                                                                 {rank_state::own, "in manta"},
                                                                 {rank_state::fetch, "values under way"},
                                                                 {rank_state::gang, "kept for gangs"},
                                                                 {rank_state::actor, "actors without calls"},
                                                                 {rank_state::idle, "nothing to do"},
                                                                 {rank_state::dead, "dead"}};
  std::string text;
  for (const auto& [state, name] : words) {
    const double share = ranks.share(state);
    if (state != rank_state::task && share < 0.0005) continue;
    if (!text.empty()) text += "   ";
    text += base::text("{} {}", base::percent_text(share), name);
  }
  return text;
}

inline std::string ranks_lines(const statistics& s, const working_ranks& ranks) {
  std::string text;
  if (ranks.count > 0)
    text += line(base::things_text(static_cast<std::uint64_t>(ranks.count), "working rank", "working ranks"),
                 shares_in_words(ranks));
  if (ranks.count > 1) {
    text += line("efficiency",
                 base::text("{} = load balance {} x transfer {} x overhead {}",
                            base::number_text(ranks.efficiency(), 2), base::number_text(ranks.load_balance(), 2),
                            base::number_text(ranks.transfer(), 2), base::number_text(ranks.overhead(), 2)));
  }
  if (s.ranks.size() > 1 && s.seconds > 0) {
    const state_seconds& first = s.ranks[0].seconds;
    text += line("rank 0", base::text("{} in the driver's own code, {} in manta",
                                      base::percent_text(seconds_in(first, rank_state::driver) / s.seconds),
                                      base::percent_text(seconds_in(first, rank_state::own) / s.seconds)));
  }
  const auto unknown = std::count_if(s.ranks.begin(), s.ranks.end(), [](const auto& r) { return !r.is_known; });
  if (unknown > 0) {
    text += line("missing", base::text("the times of {}, which died or did not answer",
                                       base::things_text(static_cast<std::uint64_t>(unknown), "rank", "ranks")));
  }
  return text;
}

/// Where and when the longest task ran, if it is far from the others.
inline std::string place_of_longest(const function_statistics& f) {
  if (f.longest.empty() || f.tasks < 3) return {};
  const long_task& t = f.longest[0];
  if (t.seconds < 0.1 || t.seconds < 3 * f.durations.quantile(0.95)) return {};
  const std::string name = t.name.empty() ? "" : base::text("\"{}\", ", t.name);
  return base::text("rank {}, {}at {}", t.rank, name, base::clock_text(t.begin));
}

inline std::string functions_table(const statistics& s) {
  text_table table({"function", "tasks", "failed", "total", "mean", "median", "95 %", "longest", ""});
  const auto number_of = [](std::uint64_t n) { return base::count_text(n); };
  const std::size_t rows = s.functions.size() <= most_rows ? s.functions.size() : most_rows - 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const function_statistics& f = s.functions[i];
    const std::uint64_t ended = f.tasks + f.failed;
    const std::string about = f.sampled ? "~" : "";
    const bool has_durations = f.durations.count() >= 2;
    table.add({shortened(f.name, widest_name), number_of(f.tasks), number_of(f.failed),
               about + base::duration_text(f.seconds), ended == 0 ? "" : about + base::duration_text(f.mean_seconds()),
               has_durations ? about + base::duration_text(f.durations.quantile(0.5), 2) : "",
               has_durations ? about + base::duration_text(f.durations.quantile(0.95), 2) : "",
               f.longest.empty() ? "" : base::duration_text(f.longest[0].seconds), place_of_longest(f)});
  }
  if (rows < s.functions.size()) {
    std::uint64_t tasks = 0, failed = 0;
    double seconds = 0;
    for (std::size_t i = rows; i < s.functions.size(); ++i) {
      tasks += s.functions[i].tasks;
      failed += s.functions[i].failed;
      seconds += s.functions[i].seconds;
    }
    table.add({base::text("{} others", s.functions.size() - rows), number_of(tasks), number_of(failed),
               base::duration_text(seconds)});
  }
  return table.text("  ");
}

inline std::string values_line(const statistics& s) {
  const value_totals v = values_of(s);
  std::string text = v.transfers == 0 ? std::string("none were sent")
                                      : base::text("{} sent in {}", base::bytes_text(v.sent_bytes),
                                                   base::things_text(v.transfers, "transfer", "transfers"));
  if (v.memory_bytes > 0) {
    const std::string host = host_of(s, v.node);
    text += base::text("; at most {} at once{}", base::bytes_text(v.memory_bytes),
                       host.empty() || s.nodes.size() < 2 ? "" : ", on " + host);
  }
  text += v.spilled_bytes == 0 ? std::string("; nothing went to a disk")
                               : base::text("; {} went to a disk", base::bytes_text(v.spilled_bytes));
  return line("values", text);
}

/// A line for each phase: when it was, and what the ranks did in it.
inline std::string phases_lines(const statistics& s) {
  if (s.phases.empty()) return {};
  text_table table({"phase", "from", "to", "in tasks", "nothing to do"});
  const base::vector<state_seconds> bins = bins_of_working_ranks(s);
  for (const phase_statistics& p : s.phases) {
    const double end = p.end > 0 ? p.end : s.seconds;
    const working_ranks in = ranks_between(s, bins, p.begin, end);
    const bool is_known = in.all_seconds > 0;
    table.add({shortened(p.name, widest_name), base::clock_text(p.begin), base::clock_text(end),
               is_known ? base::percent_text(in.share(rank_state::task)) : "",
               is_known ? base::percent_text(in.share(rank_state::idle)) : ""});
  }
  return table.text("  ");
}

/// Which functions submit which. Where the driver submits all, the table of functions has said it.
inline std::string fan_out_lines(const statistics& s) {
  constexpr std::size_t most_lines = 4;
  const base::vector<submitted_tasks> all = submitted_tasks_of(s);
  if (std::ranges::all_of(all, [](const submitted_tasks& each) { return each.by.empty(); })) return {};
  std::string text;
  for (const std::string& each : fan_out_texts(all, most_lines)) text += line(text.empty() ? "submitted by" : "", each);
  return text;
}

inline std::string advice_lines(const statistics& s) {
  const base::vector<advice> all = advice_for(s);
  if (all.empty()) return {};
  std::string text = "  what would help\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += base::text("   {}. {}", i + 1, all[i].what);
    if (!all[i].remedy.empty()) text += " " + all[i].remedy;
    text += '\n';
  }
  return text;
}

}  // namespace detail

MANTA_DECL std::string last_line(const statistics& s) {
  const task_totals tasks = totals_of(s);
  const working_ranks ranks = working_ranks_of(s);
  std::string text = detail::headline(s, tasks);
  if (tasks.failed > 0) text += base::text(", {} failed", base::count_text(tasks.failed));
  if (ranks.count > 0) {
    text += base::text("; {} in tasks for {} of the time", s.ranks.size() > 1 ? "ranks were" : "it was",
                       base::percent_text(ranks.efficiency()));
  }
  text += " (MANTA_SUMMARY=1 says where the rest went)";
  const base::vector<advice> all = advice_for(s);
  if (!all.empty() && all[0].share > 0.2) text += ". " + all[0].what;
  return text + "\n";
}

MANTA_DECL std::string summary_table(const statistics& s) {
  const task_totals tasks = totals_of(s);
  std::string text = detail::first_line(s, tasks) + detail::ranks_lines(s, working_ranks_of(s));
  if (!s.functions.empty()) text += detail::functions_table(s);
  text += detail::phases_lines(s) + detail::fan_out_lines(s) + detail::values_line(s) + detail::advice_lines(s);
  return text;
}

}  // namespace manta::report
