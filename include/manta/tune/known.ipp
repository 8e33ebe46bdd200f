// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/output/csv.hpp"
#include "manta/tune/journal.hpp"
#include "manta/tune/known.hpp"

namespace manta::tune {

namespace detail {

/// A number, a truth value, or else the text itself.
inline value value_in(const std::string& cell) {
  char* end = nullptr;
  const double x = std::strtod(cell.c_str(), &end);
  if (cell == "true" || cell == "false") return cell == "true";
  if (cell.empty() || *end != '\0') return cell;
  return x == std::floor(x) && std::abs(x) < 9e15 ? value(static_cast<std::int64_t>(x)) : value(x);
}

/// The cells of a table, without the mark of UTF-8 and the spaces around them that other programs write.
inline std::vector<std::vector<std::string>> rows_of(const std::string& path) {
  std::string text = output::read_file(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  std::vector<std::vector<std::string>> rows = output::parse_csv(text);
  for (auto& row : rows) {
    for (std::string& cell : row) {
      cell.erase(0, cell.find_first_not_of(" \t"));
      cell.erase(cell.find_last_not_of(" \t") + 1);
    }
  }
  return rows;
}

inline std::vector<known_result> results_of_csv(const std::string& path) {
  const std::vector<std::vector<std::string>> rows = rows_of(path);
  if (rows.empty()) throw error(base::text("manta: tune: {} has no row of names", path));
  // A table of another program does not say which columns are parameters: the space and the experiment do.
  const bool is_ours =
      std::any_of(rows[0].begin(), rows[0].end(), [](const auto& n) { return n.starts_with("config/"); });
  std::vector<known_result> all;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    known_result& k = all.emplace_back();
    bool has_ended = true;
    for (std::size_t c = 0; c < std::min(rows[i].size(), rows[0].size()); ++c) {
      const std::string &name = rows[0][c], &cell = rows[i][c];
      if (cell.empty()) continue;
      if (!is_ours) k.parameters.set(name, cell);
      if (name == "state") {
        k.has_failed = cell == "failed";
        has_ended = cell != "running" && cell != "waiting" && cell != "paused";
      } else if (name.starts_with("config/")) {
        k.parameters.set(name.substr(7), cell);
      } else if (const value v = value_in(cell); v.is_number() && name == "at") {
        k.at = v.as<double>();
      } else if (v.is_number() && !metrics::is_column(name)) {
        k.values.set(name, v.as<double>());
      }
    }
    if (!has_ended) all.pop_back();
  }
  return all;
}

/// What each trial in the journal reported with its best value of the first metric.
inline std::vector<known_result> results_of_journal(const std::string& path) {
  std::map<std::int64_t, known_result> trials;
  std::string metric;
  double sign = 1;
  journal::read(path, [&](const journal::event& e) {
    if (e.kind == "begin") {
      metric = e.text("metric").substr(0, e.text("metric").find(", "));
      sign = e.text("direction").starts_with("maximise") ? -1 : 1;
    }
    if (e.others.find("t") == nullptr) return;
    known_result& k = trials[e.integer("t")];
    if (e.kind == "next" && k.parameters.empty()) k.parameters = e.parameters;
    if (e.kind == "fail" || e.kind == "next") k.has_failed = e.kind == "fail";
    if (e.kind != "report") return;
    const double *now = e.reported.find(metric), *before = k.values.find(metric);
    k.at = static_cast<double>(e.integer("i"));
    if (now != nullptr && !is_finite(*now)) k.has_failed = true;
    if (now != nullptr && is_finite(*now) && (before == nullptr || sign * *now < sign * *before)) k.values = e.reported;
  });
  std::vector<known_result> all;
  for (auto& [t, k] : trials) {
    if (k.has_failed || !k.values.empty()) all.push_back(std::move(k));
  }
  return all;
}

MANTA_DECL std::optional<config> fitted(const space& where, const config& known) {
  config c;
  for (const auto& [name, v] : known) {
    const parameter* p = where.find(name);
    if (p == nullptr && !where.is_program()) continue;
    if (p == nullptr || p->where.type() == domain::kind::dependent) {
      c.set(name, v);
      continue;
    }
    std::optional<value> own = p->where.find(v);
    if (!own && v.is_text()) own = p->where.find(value_in(v.as<std::string>()));  // of a CSV file
    if (!own) return std::nullopt;
    c.set(name, *own);
  }
  if (c.empty()) return std::nullopt;
  return c;
}

MANTA_DECL std::optional<outcome> outcome_of(const known_result& known, const std::vector<objective>& objectives,
                                             const std::vector<bound>& limits) {
  if (known.has_failed) return outcome(std::nan(""));
  metrics values = known.values;
  if (values.empty()) values.set(objectives.front().metric, known.value);
  outcome o;
  for (const objective& each : objectives) {
    const double* x = values.find(each.metric);
    if (x == nullptr) return std::nullopt;
    if (!is_finite(*x)) return outcome(std::nan(""));
    o.losses.push_back(each.flipped(*x));
  }
  o.loss = o.losses.front();
  if (objectives.size() == 1) o.losses.clear();
  for (const bound& limit : limits) {
    const double* x = values.find(limit.metric);
    if (x == nullptr) return std::nullopt;
    o.excess.push_back(limit.excess(*x));
  }
  return o;
}

}  // namespace detail

MANTA_DECL std::vector<known_result> known_results(const std::string& path) {
  const std::string journal = path + "/journal.jsonl";
  if (std::filesystem::exists(journal)) return detail::results_of_journal(journal);
  if (std::filesystem::is_regular_file(path)) return detail::results_of_csv(path);
  throw error(base::text("manta: tune: known_results: {} is neither the folder of a search nor a CSV file", path));
}

}  // namespace manta::tune
