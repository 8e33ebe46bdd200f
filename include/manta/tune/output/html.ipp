// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of html.hpp. Here are the numbers; html_script.ipp, html_chosen.ipp
// and html_parameters.ipp draw them.
#pragma once

#include <algorithm>
#include <ctime>
#include <set>

#include "manta/base/text.hpp"
#include "manta/output/append_file.hpp"
#include "manta/tune/fanova.hpp"
#include "manta/tune/math.hpp"
#include "manta/tune/output/html.hpp"
#include "manta/tune/output/html_chosen.ipp"
#include "manta/tune/output/html_parameters.ipp"
#include "manta/tune/output/html_script.ipp"
#include "manta/tune/scheduler.hpp"

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
/// What the ranks have done; of gangs their first ones.
struct use_of_ranks {
  std::set<int> ranks = {};
  double end = 0, busy = 0, available = 0;
  /// NaN if it is not known which ranks there were.
  double idle() const { return available > 0 ? std::clamp(1 - busy / available, 0.0, 1.0) : std::nan(""); }
};
inline use_of_ranks use_of(const std::vector<trial_record>& all, const std::vector<stretch>& places) {
  use_of_ranks u;
  for (const trial_record& t : all) {
    for (const stretch& s : t.ran) {
      u.end = std::max(u.end, s.end);
      if (s.rank < 0) continue;
      u.ranks.insert(s.rank);
      u.busy += s.end - s.begin;
    }
  }
  for (const stretch& p : places) {
    u.ranks.insert(p.rank);
    u.available += std::max(0.0, std::min(p.end, u.end) - p.begin);
  }
  if (places.empty())
    u.available = u.end * static_cast<double>(u.ranks.size());  // nobody has told where trials may run
  return u;
}
inline std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (seconds < 100) return number_text(std::round(seconds * 1000) / 1000) + " s";
  if (whole < 6000) return base::text("{} min {} s", whole / 60, whole % 60);
  return base::text("{} h {} min", whole / 3600, whole % 3600 / 60);
}
inline std::string date_text(double seconds) {
  const auto t = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  char text[40];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", ::localtime_r(&t, &parts)));
}
/// 200: 116 complete, 84 stopped
inline std::string count_text(const std::vector<trial_record>& all) {
  return std::to_string(all.size()) + (all.empty() ? "" : ": ") + states_text(all);
}
}  // namespace detail

MANTA_DECL void html_report::closed(int rank, double now) {
  const auto is_it = [&](const stretch& s) { return s.rank == rank && is_infinite(s.end); };
  if (const auto at = std::find_if(places_.begin(), places_.end(), is_it); at != places_.end()) at->end = now;
}

MANTA_DECL void html_report::refresh(const std::vector<trial_record>& all) {
  using namespace std::chrono_literals;
  const auto begin = clock::now();
  if (context_.folder.empty() || begin < next_) return;
  output::replace_file(context_.folder + "/report.html", page(all, ""));
  const auto end = clock::now();
  next_ = end + std::max<clock::duration>(4s, 150 * (end - begin));
}

MANTA_DECL void html_report::finish(const std::vector<trial_record>& all, const std::string& why) {
  if (!context_.folder.empty()) output::replace_file(context_.folder + "/report.html", page(all, why));
}

MANTA_DECL std::string html_report::page(const std::vector<trial_record>& all, const std::string& why) const {
  output::page p(context_.name);
  p.running(why.empty());
  p.script(detail::trials_script);
  p.script(detail::chosen_script);
  p.script(detail::parameters_script);
  const detail::use_of_ranks use = detail::use_of(all, places_);
  head(p, all, use, why);
  std::string out = "\"metric\":";
  output::append_json_text(out, context_.metric);
  output::append_json_text(out += ",\"clock\":", context_.clock.empty() ? "reports" : context_.clock);
  out += context_.maximised ? ",\"maximised\":true" : ",\"maximised\":false";
  out += context_.best_may_fail ? ",\"bestMayFail\":true" : ",\"bestMayFail\":false";
  output::append_page_number(out += ",\"seconds\":", use.end);
  output::append_page_number(out += ",\"idle\":", use.idle());
  detail::begin_list(out, "ranks");
  for (const int rank : use.ranks) {
    detail::next_element(out);
    append_number(out, static_cast<std::int64_t>(rank));
  }
  out += ']';
  rows(out, all);
  curves(out, all);
  schedule(out, all);
  importance(out, all, !why.empty());
  p.section("trials", "", out);
  return p.html();
}

MANTA_DECL void html_report::head(output::page& p, const std::vector<trial_record>& all,
                                  const detail::use_of_ranks& use, const std::string& why) const {
  const std::string direction = (context_.maximised ? "maximise " : "minimise ") + context_.metric,
                    counts = detail::count_text(all);
  const std::string took = detail::duration_text(use.end), began = detail::date_text(context_.started);
  std::vector<output::field> facts = {{"objective", direction}, {"trials", counts}};
  if (!why.empty()) facts.push_back({"ended because", why});
  if (context_.started > 0) facts.push_back({why.empty() ? "running since" : "last started", began});
  facts.push_back({"duration", took});
  const std::string gangs = std::to_string(use.ranks.size()) + (use.ranks.size() == 1 ? " gang of " : " gangs of ") +
                            std::to_string(context_.ranks);
  if (context_.ranks > 1 && !use.ranks.empty()) facts.push_back({"ranks", gangs});
  else if (!use.ranks.empty()) facts.push_back({"ranks", use.ranks.size()});
  if (!context_.searcher.empty()) facts.push_back({"searcher", context_.searcher});
  if (!context_.scheduler.empty()) facts.push_back({"scheduler", context_.scheduler});
  facts.push_back({"seed", context_.seed});
  p.facts("Experiment", facts);
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
  std::vector<std::string> domains;
  for (const parameter& p : context_.where.parameters()) domains.push_back(p.where.text());
  detail::append_names(out, "domains", domains);
  detail::begin_list(out, "log");
  for (const parameter& p : context_.where.parameters()) {
    detail::next_element(out);
    out += p.where.type() != domain::kind::number ? "null" : p.where.is_log() ? "true" : "false";
  }
  out += ']';
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
    output::append_page_number(out += ',', t.ran.empty() ? t.began : t.ran.back().end);
    out += ']';
  }
  out += ']';
}

MANTA_DECL void html_report::curves(std::string& out, const std::vector<trial_record>& all) const {
  std::vector<const trial_record*> order;
  for (const trial_record& t : all) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->best_loss < b->best_loss; });
  constexpr std::size_t best = 20;  // and a sample of the others
  if (order.size() > options_.most_curves && options_.most_curves > best) {
    const std::size_t others = order.size() - best, sampled = options_.most_curves - best;
    for (std::size_t i = 0; i < sampled; ++i) order[best + i] = order[best + i * others / sampled];
  }
  order.resize(std::min(order.size(), options_.most_curves));
  detail::begin_list(out, "curves");
  for (const trial_record* t : order) {
    detail::next_element(out);
    append_number(out += '[', static_cast<std::int64_t>(t->id));
    out += ",[";
    const std::vector<curve::point> points = t->losses.points();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const curve::point& point = points[i];
      detail::next_element(out);
      const bool goes_on = i == 0 || (point.line == points[i - 1].line && point.at >= points[i - 1].at);
      if (!goes_on) output::append_page_number(out += '[', output::widened(point.at)), out += ",null],";
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
  std::stable_sort(ran.begin(), ran.end(),
                   [](const auto& a, const auto& b) { return a.second.begin > b.second.begin; });
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

MANTA_DECL void html_report::importance(std::string& out, const std::vector<trial_record>& all, bool has_ended) const {
  fanova_options o;
  o.best_may_fail = context_.best_may_fail;
  constexpr std::size_t many = 20;  // parameters, for which small boxes would take seconds
  if (!has_ended) o.trees = 16, o.most_trials = 200;
  if (!has_ended || context_.where.parameters().size() > many) o.leaf = 3;
  const std::vector<effect> effects = fanova(context_.where, all, o);
  const auto alone = [&](const std::string& name) {
    const auto is_it = [&](const effect& e) { return e.parameters == std::vector{name}; };
    const auto at = std::find_if(effects.begin(), effects.end(), is_it);
    return at == effects.end() ? 0 : at->share;
  };
  detail::begin_list(out, "importance");
  for (const auto& [name, share] : parameter_importance(context_.where, effects)) {
    detail::next_element(out);
    output::append_json_text(out += '[', name);
    output::append_page_number(out += ',', alone(name));
    output::append_page_number(out += ',', share - alone(name));
    out += ']';
  }
  out += ']';
  const fanova_basis basis = fanova_trials(all, o);
  append_number(out += ",\"compared\":", static_cast<std::int64_t>(basis.trials));
  output::append_page_number(out += ",\"comparedAt\":", is_finite(basis.at) ? basis.at : 0);
  constexpr double least = 0.02;
  constexpr std::size_t most = 6;
  std::size_t pairs = 0;
  detail::begin_list(out, "pairs");
  for (const effect& e : effects) {
    if (e.parameters.size() < 2 || e.share < least || ++pairs > most) continue;
    detail::next_element(out);
    output::append_json_text(out += '[', e.parameters[0]);
    output::append_json_text(out += ',', e.parameters[1]);
    output::append_page_number(out += ',', e.share);
    out += ']';
  }
  out += ']';
}

}  // namespace manta::tune
