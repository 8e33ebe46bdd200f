// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <filesystem>

#include "manta/output/append_file.hpp"
#include "manta/output/tensorboard.hpp"
#include "manta/tune/journal.hpp"
#include "manta/tune/output/summary.hpp"

namespace manta::tune {

MANTA_DECL std::string search_summary::state() const {
  return is_running ? "running" : why.empty() ? "interrupted" : "ended";
}

namespace detail {

MANTA_DECL search_summary summary_of(const output_context& c, const std::vector<trial_record>& all) {
  search_summary s;
  s.name = c.name;
  s.metric = c.metric;
  s.maximised = c.maximised;
  s.wanted = c.trials;
  double least = infinity;
  for (const trial_record& t : all) {
    s.running += t.state == status::running;
    s.paused += t.state == status::paused || t.state == status::waiting;
    s.complete += t.state == status::complete;
    s.stopped += t.state == status::stopped;
    s.failed += t.state == status::failed;
    for (const stretch& ran : t.ran) s.seconds = std::max(s.seconds, ran.end);
    const bool is_whole = t.averaged == 0 || t.state == status::complete;
    const bool counts = (t.state != status::failed || c.best_may_fail) && is_whole && t.is_feasible();
    if (!counts || !(t.best_loss < least)) continue;
    least = t.best_loss;
    s.best = t.id;
    s.best_value = c.maximised ? -least : least;
    s.parameters = t.parameters;
  }
  return s;
}

MANTA_DECL void summary_file::begin(const output_context& c) {
  context_ = c;
  if (!c.folder.empty()) write(summary_of(c, {}));
}

MANTA_DECL void summary_file::refresh(const std::vector<trial_record>& all) {
  if (context_.folder.empty() || clock::now() < next_) return;
  write(summary_of(context_, all));
  next_ = clock::now() + std::chrono::seconds(4);
}

MANTA_DECL void summary_file::finish(const std::vector<trial_record>& all, const std::string& why) {
  if (context_.folder.empty()) return;
  search_summary s = summary_of(context_, all);
  s.why = why;
  write(std::move(s));
}

MANTA_DECL void summary_file::write(search_summary s) const {
  std::string out = "{\"e\":\"summary\",\"s\":";
  const auto number = [&](const char* name, auto x) {
    out += std::string(",\"") + name + "\":";
    append_number(out, x);
  };
  append_number(out, s.seconds);
  append_exact_text(out += ",\"name\":", s.name);
  append_exact_text(out += ",\"metric\":", s.metric);
  out += s.maximised ? ",\"direction\":\"maximise\"" : ",\"direction\":\"minimise\"";
  number("wanted", static_cast<std::int64_t>(s.wanted));
  for (const auto& [name, count] : {std::pair("running", s.running),
                                    {"paused", s.paused},
                                    {"complete", s.complete},
                                    {"stopped", s.stopped},
                                    {"failed", s.failed}})
    number(name, static_cast<std::int64_t>(count));
  if (s.best) {
    number("best", static_cast<std::int64_t>(*s.best));
    number("value", s.best_value);
    append_parameters(out += ",\"p\":", s.parameters);
  }
  number("written", output::wall_time());
  append_exact_text(out += ",\"why\":", s.why);
  output::replace_file(context_.folder + "/summary.json", out + "}\n");
}

MANTA_DECL std::optional<search_summary> summary_file::read(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  if (!std::filesystem::is_regular_file(path)) return std::nullopt;
  try {
    const journal::event e = event_in(output::read_file(path));
    const auto count = [&](const char* name) { return static_cast<std::size_t>(e.integer(name)); };
    search_summary s;
    s.name = e.text("name");
    s.metric = e.text("metric");
    s.maximised = e.text("direction") == "maximise";
    s.wanted = count("wanted");
    s.running = count("running");
    s.paused = count("paused");
    s.complete = count("complete");
    s.stopped = count("stopped");
    s.failed = count("failed");
    if (e.others.find("best") != nullptr) {
      s.best = count("best");
      s.best_value = e.number("value");
      s.parameters = e.parameters;
    }
    s.seconds = e.seconds;
    s.written = e.number("written");
    s.why = e.text("why");
    return s;
  } catch (const error&) {
    return std::nullopt;
  }
}

}  // namespace detail

}  // namespace manta::tune
