// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>

#include "manta/base/amounts.hpp"
#include "manta/base/sorting.hpp"
#include "manta/base/text.hpp"
#include "manta/base/vector.hpp"
#include "manta/base/version.hpp"
#include "manta/output/json_builder.hpp"
#include "manta/report/run_state.hpp"
#include "manta/report/text_table.hpp"

namespace manta::report {

MANTA_DECL std::string ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t most_shown = 8;
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (std::size_t i = 0; i < std::min(ranks.size(), most_shown); ++i) {
    text += base::text("{} {}", i == 0 ? "" : ",", ranks[i]);
  }
  if (ranks.size() > most_shown) text += base::text(" and {} others", ranks.size() - most_shown);
  return text;
}

namespace detail {

inline constexpr std::size_t most_tasks_shown = 8, most_waits_shown = 5;

inline void add_stack(output::json_builder& out, const char* key, const std::vector<std::string>& stack) {
  out.key(key).begin('[');
  for (const std::string& each : stack) out.value(each);
  out.end(']');
}

inline std::string state_line(const char* name, const std::string& text) {
  return base::text("  {}{}{}\n", name, std::string(std::max<std::size_t>(1, 9 - std::string_view(name).size()), ' '),
                    one_line(text));
}

inline std::string task_lines(const run_state& s) {
  base::vector<const running_task*> all;
  std::uint64_t count = 0;
  for (const rank_situation& r : s.ranks) {
    count += r.task_count;
    for (const running_task& t : r.tasks) all.push_back(&t);
  }
  base::sort(all, [](const running_task* a, const running_task* b) { return a->seconds > b->seconds; });
  std::string text;
  const std::size_t shown = std::min(all.size(), most_tasks_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const running_task& t = *all[i];
    const std::string name = t.name.empty() || t.name == t.function ? std::string() : base::text(" \"{}\"", t.name);
    text += state_line(i == 0 ? "longest" : "", base::text("rank {} {}  {}{}  {}", t.rank, t.host, t.function, name,
                                                           base::length_text(t.seconds)));
    if (!t.stack.empty()) text += state_line("", "  " + stack_text(t.stack));
  }
  std::string rest;
  if (all.size() > shown) rest = base::text("{} others", base::count_text(all.size() - shown));
  if (count > all.size()) {
    rest += base::text("{}{}", rest.empty() ? "" : ", and ",
                       base::things_text(count - all.size(), "task that waits", "tasks that wait"));
  }
  if (!rest.empty()) text += state_line(text.empty() ? "begun" : "", rest);
  return text;
}

inline std::string actor_lines(const run_state& s) {
  base::vector<waiting_actor> all;
  for (const rank_situation& r : s.ranks) all.append(r.actors);
  base::sort_falling(all, &waiting_actor::calls);
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 4); ++i) {
    text += state_line(i == 0 ? "actors" : "",
                       base::text("{} wait for '{}' on rank {}", base::things_text(all[i].calls, "call", "calls"),
                                  all[i].name, all[i].rank));
  }
  return text;
}

/// The node with most values.
inline std::string memory_line(const run_state& s) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> by_host;
  for (const rank_situation& r : s.ranks) {
    by_host[r.host].first += r.memory_bytes;
    by_host[r.host].second += r.memory_budget;
  }
  const auto most = std::ranges::max_element(by_host, {}, [](const auto& h) { return h.second.first; });
  if (most == by_host.end() || most->second.first < std::uint64_t{1} << 20U) return {};
  const auto& [used, budget] = most->second;
  const std::string of = budget == 0 ? std::string() : base::text(" of {}", base::bytes_text(budget));
  return state_line("memory", base::text("{}: {}{} of values", most->first, base::bytes_text(used), of));
}

inline std::string wait_lines(const run_state& s) {
  base::vector<std::pair<waiting_task, std::uint64_t>> kinds;  // and how many of each there are; the longest one stands
  std::uint64_t all = 0, shown = 0;
  for (const rank_situation& r : s.ranks) {
    all += r.wait_count;
    for (const waiting_task& w : r.waits) {
      const auto same = std::ranges::find_if(
          kinds, [&](const auto& k) { return k.first.text == w.text && k.first.stack == w.stack; });
      if (same == kinds.end()) {
        kinds.emplace_back(w, 1);
      } else {
        ++same->second;
        same->first.seconds = std::max(same->first.seconds, w.seconds);
      }
    }
  }
  base::sort(kinds, [](const auto& a, const auto& b) { return a.first.seconds > b.first.seconds; });
  if (kinds.size() > most_waits_shown) kinds.resize(most_waits_shown);
  std::string text;
  for (const auto& [wait, count] : kinds) {
    const std::string where = wait.stack.empty() ? std::string() : ", " + stack_text(wait.stack);
    const std::string times = count == 1 ? std::string() : base::text("{} times: ", base::count_text(count));
    text += state_line(text.empty() ? "waits" : "",
                       base::text("{}{}, {}{}", times, wait.text, base::length_text(wait.seconds), where));
    shown += count;
  }
  if (all > shown) text += state_line("", base::text("{} further waits", base::count_text(all - shown)));
  return text;
}

inline std::string fan_out_lines(const run_state& s) {
  constexpr std::size_t most_lines = 3;
  base::vector<submitted_tasks> all;
  for (const rank_situation& r : s.ranks) all.append(r.submitted);
  std::string text;
  for (const std::string& each : fan_out_texts(summed(all), most_lines))
    text += state_line(text.empty() ? "tree" : "", each);
  return text;
}

inline std::string rank_lines(const run_state& s) {
  std::vector<int> idle, silent, dead, fetching;
  for (const rank_situation& r : s.ranks) {
    if (r.is_dead) dead.push_back(r.rank);
    else if (!r.answers) silent.push_back(r.rank);
    else if (r.missing_inputs > 0) fetching.push_back(r.rank);
    else if (r.task_count == 0 && r.queued == 0 && !r.is_spare && !r.is_in_driver) idle.push_back(r.rank);
  }
  std::string text;
  if (!idle.empty()) text += state_line("idle", ranks_text(idle));
  if (!fetching.empty())
    text += state_line("fetch", base::text("{}: tasks there wait for inputs", ranks_text(fetching)));
  if (!silent.empty()) text += state_line("silent", base::text("{}: no answer for 2 s", ranks_text(silent)));
  if (!dead.empty()) text += state_line("dead", ranks_text(dead));
  return text;
}

}  // namespace detail

MANTA_DECL std::string stack_text(const std::vector<std::string>& stack) {
  constexpr std::size_t longest = 240;
  std::string text;
  for (const std::string& each : stack) text += (text.empty() ? "in " : " < ") + each;
  return text.size() <= longest ? text : text.substr(0, longest - 3) + " ..";
}

MANTA_DECL std::string state_text(const run_state& s) {
  const run_status& all = s.status;
  std::string text = base::text("manta: state at {}, {}\n", base::clock_text(all.seconds), s.why);
  text += detail::state_line(
      "tasks", base::text("{} done, {} failed, {} run, {} wait for room, {} wait for inputs",
                          base::count_text(all.done), base::count_text(all.failed), base::count_text(all.running),
                          base::count_text(all.waiting_for_room), base::count_text(all.waiting_for_inputs)));
  if (all.rate > 0) {
    const double left = all.seconds_left();
    const std::string rest =
        left > 0 ? base::text("; what is submitted takes {} at this rate", base::length_text(left)) : std::string();
    text += detail::state_line("rate", base::text("{}/s in the last minute{}", base::number_text(all.rate, 2), rest));
  }
  text += detail::task_lines(s);
  const auto in_driver = std::ranges::find(s.ranks, true, &rank_situation::is_in_driver);
  if (in_driver != s.ranks.end()) {
    const std::string where = in_driver->driver.empty() ? "" : ", " + stack_text(in_driver->driver);
    text += detail::state_line("driver", "rank 0 is in the driver's own code" + where);
  }
  return text + detail::rank_lines(s) + detail::actor_lines(s) + detail::memory_line(s) + detail::wait_lines(s) +
         detail::fan_out_lines(s);
}

MANTA_DECL std::string state_json(const run_state& s) {
  output::json_builder out;
  out.begin('{').member("version", 1).member("manta", manta::version).member("why", s.why);
  out.key("status").json(status_json(s.status)).key("ranks").begin('[');
  for (const rank_situation& r : s.ranks) {
    out.begin('{').member("rank", r.rank).member("host", r.host).member("answers", r.answers);
    out.member("is_dead", r.is_dead).member("is_spare", r.is_spare).member("is_in_driver", r.is_in_driver);
    out.member("queued", r.queued).member("missing_inputs", r.missing_inputs);
    out.member("memory_bytes", r.memory_bytes).member("memory_budget", r.memory_budget);
    detail::add_stack(out, "driver", r.driver);
    out.member("task_count", r.task_count).key("tasks").begin('[');
    for (const running_task& t : r.tasks) {
      out.begin('{').member("function", t.function).member("name", t.name).member("seconds", t.seconds);
      detail::add_stack(out, "stack", t.stack);
      out.end('}');
    }
    out.end(']').key("actors").begin('[');
    for (const waiting_actor& a : r.actors) {
      out.begin('{').member("name", a.name).member("waiting_calls", a.calls).end('}');
    }
    out.end(']').key("submitted").begin('[');
    for (const submitted_tasks& each : r.submitted) {
      out.begin('{').member("by", each.by).member("function", each.function).member("count", each.count).end('}');
    }
    out.end(']').key("waits").begin('[');
    for (const waiting_task& w : r.waits) {
      out.begin('{').member("text", w.text).member("seconds", w.seconds);
      detail::add_stack(out, "stack", w.stack);
      out.end('}');
    }
    out.end(']').member("wait_count", r.wait_count).end('}');
  }
  out.end(']').end('}');
  return std::move(out.text()) + '\n';
}

}  // namespace manta::report
