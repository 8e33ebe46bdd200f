// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <utility>

#include "manta/output/json_builder.hpp"
#include "manta/report/trace_json.hpp"

namespace manta::report {

namespace detail {

/// Microseconds with three places behind the point.
inline std::string microseconds(std::uint64_t ns) {
  char digits[32];
  const int length = std::snprintf(digits, sizeof digits, "%llu.%03u", static_cast<unsigned long long>(ns / 1000),
                                   static_cast<unsigned>(ns % 1000));
  return {digits, static_cast<std::size_t>(length)};
}

inline void add_member(output::json_builder& event, const trace_argument& a) {
  event.key(a.name);
  if (const auto* number = std::get_if<std::uint64_t>(&a.value)) event.value(*number);
  else if (const auto* flag = std::get_if<bool>(&a.value)) event.value(*flag);
  else if (const auto* text = std::get_if<std::string_view>(&a.value)) event.value(*text);
  else event.json(microseconds(std::get<trace_argument::nanoseconds>(a.value).count));
}

inline const char* letter_of(trace_event::kind what) {
  switch (what) {
    case trace_event::kind::slice: return "X";
    case trace_event::kind::mark: return "i";
    case trace_event::kind::arrow_begin: return "s";
    case trace_event::kind::arrow_end: return "f";
    case trace_event::kind::phase_begin: return "b";
    case trace_event::kind::phase_end: return "e";
    case trace_event::kind::counter: return "C";
  }
  return "";
}

/// A slice. Most tasks need no arguments: viewers put slices of the same name and arguments together.
inline void add_slice(output::json_builder& out, const trace_event& event) {
  out.key("dur").json(microseconds(event.extent)).member("name", event.name);
  if (event.task != 0) {
    char id[32];
    std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(event.task));
    out.member("id", id);
  }
  if (event.arguments.empty()) return;
  out.key("args").begin('{');
  for (const trace_argument& each : event.arguments) add_member(out, each);
  out.end('}');
}

}  // namespace detail

MANTA_DECL trace_format::sizes trace_json::most_bytes() const {
  return {.slice = 170,
          .arrow = 2 * 120,
          .sample = 140,
          .phase = 600,
          .head = 400'000,
          .head_of_rank = 800,
          .arguments = 0,
          .times_of_name = 2,
          .times_of_task_name = 6};
}

MANTA_DECL void trace_json::separate(std::string& out) {
  if (std::exchange(has_events_, true)) out += ",\n";
}

MANTA_DECL void trace_json::begin(std::string& out) { out += "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"; }

MANTA_DECL void trace_json::name_node(std::string& out, int node, const std::string& host) {
  output::json_builder event;
  event.begin('{').member("ph", "M").member("pid", node + 1).member("tid", 0).member("name", "process_name");
  separate(out);
  out += event.key("args").begin('{').member("name", host).end('}').end('}').text();
}

MANTA_DECL void trace_json::name_row(std::string& out, trace_row row, const std::string& name) {
  const auto put_one = [&](const char* what, const char* member, const auto& value) {
    output::json_builder event;
    event.begin('{').member("ph", "M").member("pid", row.node + 1).member("tid", row.number).member("name", what);
    separate(out);
    out += event.key("args").begin('{').member(member, value).end('}').end('}').text();
  };
  put_one("thread_name", "name", name);
  put_one("thread_sort_index", "sort_index", row.number);
}

MANTA_DECL void trace_json::put(std::string& out, const trace_event& event) {
  output::json_builder its;
  its.begin('{').member("ph", detail::letter_of(event.what));
  its.member("pid", event.row.node + 1).member("tid", event.row.number).key("ts").json(detail::microseconds(event.at));
  switch (event.what) {
    case trace_event::kind::slice: detail::add_slice(its, event); break;
    case trace_event::kind::mark: its.member("s", "t").member("name", event.name); break;
    case trace_event::kind::arrow_begin:
    case trace_event::kind::arrow_end:
      its.member("id", event.number).member("cat", "value").member("name", "value");
      if (event.what == trace_event::kind::arrow_end) its.member("bp", "e");
      break;
    case trace_event::kind::phase_begin:
    case trace_event::kind::phase_end:
      its.member("id", event.number).member("cat", "phase").member("name", event.name);
      break;
    case trace_event::kind::counter:
      its.member("name", event.name).key("args").begin('{').member("value", event.value).end('}');
      break;
  }
  separate(out);
  out += its.end('}').text();
}

MANTA_DECL void trace_json::end(std::string& out, const std::string& facts) {
  out += "\n],\n\"otherData\":" + facts + "}\n";
}

}  // namespace manta::report
