// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/page.hpp"
#include "manta/tune/index.hpp"
#include "manta/tune/journal.hpp"

namespace manta::tune {

namespace detail {

/// A row is a list of cells; the last one is the path of the search's page, or null.
inline constexpr std::string_view searches_script = R"js(
kinds.searches = s => {
  const pages = new Map(s.rows.map(row => [row, row.pop()])), at = name => s.columns.indexOf(name);
  const ways = {
    [at("duration")]: duration, [at("written")]: v => new Date(1000 * v).toLocaleString("sv-SE"),
  };
  drawTable(card(s.title, true), s.columns, s.rows, {
    order: [at("written"), false], link: row => pages.get(row), text: (v, i) => (ways[i] ?? fmt)(v),
  });
};
)js";

inline void append_row(std::string& out, const search_summary& s) {
  output::append_json_text(out += '[', s.folder);
  for (const std::string& text : {s.name, s.state()}) output::append_json_text(out += ',', text);
  output::append_json_text(out += ',', (s.maximised ? "maximise " : "minimise ") + s.metric);
  output::append_page_number(out += ',', s.best ? s.best_value : std::nan(""));
  const std::string done = base::text("{}", s.complete + s.stopped + s.failed);
  output::append_json_text(out += ',', s.wanted > 0 ? base::text("{} of {}", done, s.wanted) : done);
  for (const std::size_t n : {s.running, s.failed}) append_number(out += ',', static_cast<std::int64_t>(n));
  for (const double x : {s.seconds, s.written}) output::append_page_number(out += ',', x);
  output::append_json_text(out += ',', s.why);
  output::append_json_text(out += ',', s.best ? base::text("trial {}: {}", *s.best, s.parameters.text()) : "");
  if (s.has_page) output::append_json_text(out += ',', (s.folder == "." ? "" : s.folder + "/") + "report.html");
  else out += ",null";
  out += ']';
}

}  // namespace detail

MANTA_DECL std::vector<search_summary> searches_in(const std::string& folder) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(folder)) throw error(base::text("manta: tune: index: there is no folder {}", folder));
  std::vector<search_summary> all;
  const auto look = [&](const fs::path& path) {
    auto s = detail::summary_file::read(path);
    if (!s) return false;
    s->folder = fs::relative(path, folder).string();
    s->is_running = journal::is_in_use(path / "journal.jsonl");
    s->has_page = fs::exists(path / "report.html");
    all.push_back(std::move(*s));
    return true;
  };
  look(folder);
  std::error_code failed;  // a folder that goes meanwhile is left out
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, failed), end;
       !failed && at != end; at.increment(failed)) {
    if (!at->is_directory(failed)) continue;
    const std::string name = at->path().filename();
    const bool is_part = fs::exists(at->path().parent_path() / "journal.jsonl", failed) &&
                         (name == "trials" || name == "checkpoints");  // of a search: may be large
    if (is_part || look(at->path())) at.disable_recursion_pending();
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return all;
}

MANTA_DECL std::vector<search_summary> index(const std::string& folder) {
  const std::vector<search_summary> all = searches_in(folder);
  const auto runs = [](const search_summary& s) { return s.is_running; };
  const auto running = std::count_if(all.begin(), all.end(), runs);
  output::page p("Searches");
  p.running(running > 0);
  p.script(detail::searches_script);
  p.facts("", {{"folder", std::filesystem::absolute(folder).lexically_normal().string()},
               {"searches", static_cast<std::int64_t>(all.size())},
               {"running", static_cast<std::int64_t>(running)}});
  std::string out =
      "\"columns\":[\"folder\",\"name\",\"state\",\"objective\",\"best\",\"trials\",\"running\",\"failed\","
      "\"duration\",\"written\",\"ended because\",\"configuration\"],\"rows\":[";
  for (const search_summary& s : all) {
    if (out.back() != '[') out += ',';
    detail::append_row(out, s);
  }
  p.section("searches", "", out + ']');
  p.write(folder + "/index.html");
  return all;
}

}  // namespace manta::tune
