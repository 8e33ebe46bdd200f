// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of html.hpp. The page's script draws the pictures; here are the numbers.
#pragma once

#include <algorithm>
#include <map>

#include "manta/output/append_file.hpp"
#include "manta/tune/importance.hpp"
#include "manta/tune/output/html.hpp"

namespace manta::tune {

namespace detail {
/// "name":["a","b"]
inline void append_names(std::string& out, const char* name, const std::vector<std::string>& names) {
  out += std::string(",\"") + name + "\":[";
  for (const std::string& n : names) {
    if (out.back() != '[') out += ',';
    output::append_json_text(out, n);
  }
  out += ']';
}
/// "name":[ and, after each use, a comma before the next element.
inline void begin_list(std::string& out, const char* name) { out += std::string(",\"") + name + "\":["; }
inline void next_element(std::string& out) {
  if (out.back() != '[') out += ',';
}
inline double experiment_end(const std::vector<trial_record>& all) {
  double last = 0;
  for (const trial_record& t : all) {
    if (!t.ran.empty()) last = std::max(last, t.ran.back().end);
  }
  return last;
}
}  // namespace detail

MANTA_DECL void html_report::refresh(const std::vector<trial_record>& all) {
  using namespace std::chrono_literals;
  const auto begin = clock::now();
  if (context_.folder.empty() || begin < next_) return;
  output::replace_file(context_.folder + "/report.html", page(all, true));
  const auto end = clock::now();
  next_ = end + std::max<clock::duration>(4s, 150 * (end - begin));
}

MANTA_DECL void html_report::finish(const std::vector<trial_record>& all) {
  if (!context_.folder.empty()) output::replace_file(context_.folder + "/report.html", page(all));
}

MANTA_DECL std::string html_report::page(const std::vector<trial_record>& all, bool running) const {
  output::page p(context_.name);
  p.running(running);
  head(p, all);
  if (all.empty()) return p.html();
  std::string out = "\"metric\":";
  output::append_json_text(out, context_.metric);
  output::append_json_text(out += ",\"clock\":", context_.clock.empty() ? "reports" : context_.clock);
  out += context_.maximised ? ",\"maximised\":true" : ",\"maximised\":false";
  output::append_page_number(out += ",\"seconds\":", detail::experiment_end(all));
  rows(out, all);
  curves(out, all);
  schedule(out, all);
  importance(out, all);
  p.section("trials", "", out);
  return p.html();
}

MANTA_DECL void html_report::head(output::page& p, const std::vector<trial_record>& all) const {
  std::size_t of[6] = {};
  std::vector<int> ranks;
  for (const trial_record& t : all) {
    ++of[static_cast<std::size_t>(t.state)];
    for (const stretch& s : t.ran) {
      if (s.rank >= 0 && std::find(ranks.begin(), ranks.end(), s.rank) == ranks.end()) ranks.push_back(s.rank);
    }
  }
  const std::string direction = (context_.maximised ? "maximise " : "minimise ") + context_.metric;
  std::vector<output::field> facts = {{"objective", direction}, {"trials", all.size()}};
  for (const status s : {status::running, status::waiting, status::paused, status::complete, status::stopped, status::failed}) {
    if (const std::size_t n = of[static_cast<std::size_t>(s)]; n > 0) facts.push_back({name_of(s), n});
  }
  facts.push_back({"seconds", detail::experiment_end(all)});
  if (!ranks.empty()) facts.push_back({"ranks", ranks.size()});
  if (!context_.searcher.empty()) facts.push_back({"searcher", context_.searcher});
  if (!context_.scheduler.empty()) facts.push_back({"scheduler", context_.scheduler});
  facts.push_back({"seed", context_.seed});
  p.facts("", facts);
}

MANTA_DECL std::vector<std::string> html_report::parameters_of(const std::vector<trial_record>& all) const {
  std::vector<std::string> names;
  for (const parameter& p : context_.where.parameters()) names.push_back(p.name);
  if (!names.empty()) return names;
  for (const trial_record& t : all) {
    for (const auto& entry : t.parameters) {
      if (std::find(names.begin(), names.end(), entry.first) == names.end()) names.push_back(entry.first);
    }
  }
  return names;
}

MANTA_DECL std::vector<std::string> html_report::metrics_of(const std::vector<trial_record>& all) const {
  std::vector<std::string> names;
  for (const trial_record& t : all) {
    for (const auto& entry : t.best) {
      if (entry.first != context_.metric && std::find(names.begin(), names.end(), entry.first) == names.end()) {
        names.push_back(entry.first);
      }
    }
  }
  return names;
}

MANTA_DECL void html_report::rows(std::string& out, const std::vector<trial_record>& all) const {
  const std::vector<std::string> parameters = parameters_of(all), others = metrics_of(all);
  detail::append_names(out, "parameters", parameters);
  detail::append_names(out, "metrics", others);
  detail::begin_list(out, "rows");
  for (const trial_record& t : all) {
    detail::next_element(out);
    append_number(out += '[', static_cast<std::int64_t>(t.id));
    output::append_json_text(out += ',', name_of(t.state));
    output::append_page_number(out += ',', metric(t.best_loss));
    output::append_page_number(out += ',', t.at);
    output::append_page_number(out += ',', t.seconds);
    out += ",[";
    for (const std::string& name : parameters) {
      detail::next_element(out);
      if (const value* v = t.parameters.find(name)) v->append_to(out);
      else out += "null";
    }
    out += "],[";
    for (const std::string& name : others) {
      detail::next_element(out);
      if (const double* x = t.best.find(name)) output::append_page_number(out, *x);
      else out += "null";
    }
    output::append_json_text(out += "],", t.why);
    out += ']';
  }
  out += ']';
}

MANTA_DECL void html_report::curves(std::string& out, const std::vector<trial_record>& all) const {
  std::vector<const trial_record*> order;
  for (const trial_record& t : all) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->best_loss < b->best_loss; });
  order.resize(std::min(order.size(), options_.most_curves));
  detail::begin_list(out, "curves");
  for (const trial_record* t : order) {
    detail::next_element(out);
    append_number(out += '[', static_cast<std::int64_t>(t->id));
    out += ",[";
    float before = 0;
    for (const auto& point : t->losses.points()) {
      detail::next_element(out);
      if (point.at < before) output::append_page_number(out += '[', output::widened(point.at)), out += ",null],";  // it began anew
      before = point.at;
      output::append_page_number(out += '[', output::widened(point.at));
      output::append_page_number(out += ',', metric(output::widened(point.y)));
      out += ']';
    }
    out += "]]";
  }
  out += ']';
}

MANTA_DECL void html_report::schedule(std::string& out, const std::vector<trial_record>& all) const {
  std::vector<std::pair<trial_number, stretch>> ran;
  for (const trial_record& t : all) {
    for (const stretch& s : t.ran) ran.emplace_back(t.id, s);
  }
  std::stable_sort(ran.begin(), ran.end(), [](const auto& a, const auto& b) { return a.second.begin > b.second.begin; });
  ran.resize(std::min(ran.size(), options_.most_stretches));
  detail::begin_list(out, "ran");
  for (const auto& [id, s] : ran) {
    detail::next_element(out);
    append_number(out += '[', static_cast<std::int64_t>(id));
    append_number(out += ',', static_cast<std::int64_t>(s.rank));
    output::append_page_number(out += ',', s.begin);
    output::append_page_number(out += ',', s.end);
    out += ']';
  }
  out += ']';
}

MANTA_DECL void html_report::importance(std::string& out, const std::vector<trial_record>& all) const {
  detail::begin_list(out, "importance");
  for (const auto& [name, share] : parameter_importance(context_.where, all)) {
    detail::next_element(out);
    output::append_json_text(out += '[', name);
    output::append_page_number(out += ',', share);
    out += ']';
  }
  out += ']';
}

}  // namespace manta::tune
