// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of html.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "manta/output/append_file.hpp"
#include "manta/tune/importance.hpp"
#include "manta/tune/output/html.hpp"

namespace manta::tune {

MANTA_DECL void html_report::begin(const output_context& c) {
  context_ = c;
  improvements_.clear();
  reports_ = 0;
  last_ = 0;
}

MANTA_DECL void html_report::report(const trial_record& t, const metrics& m, double) {
  ++reports_;
  if (!t.ran.empty()) last_ = t.ran.back().end;
  const double* x = m.find(context_.metric);
  if (x == nullptr || !is_finite(*x)) return;
  if (!improvements_.empty() && !(context_.maximised ? *x > improvements_.back().value : *x < improvements_.back().value)) return;
  improvements_.push_back({last_, reports_, *x});
}

MANTA_DECL void html_report::finish(const std::vector<trial_record>& all) {
  if (context_.folder.empty()) return;
  manta::output::replace_file(context_.folder + "/report.html", page(all));
}

MANTA_DECL std::string html_report::page(const std::vector<trial_record>& all) const {
  std::vector<const trial_record*> order;
  for (const trial_record& t : all) order.push_back(&t);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->best_loss < b->best_loss; });
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(context_.name) +
      "</title>\n<style>body{font:14px sans-serif;margin:2em;max-width:70em}svg{background:#fafafa;border:1px solid #ddd}"
      "table{border-collapse:collapse}td,th{border:1px solid #ddd;padding:2px 6px;text-align:right}"
      "path,polyline{fill:none;stroke-width:1}text{font-size:11px;fill:#333}</style></head><body>\n<h1>" +
      escaped(context_.name) + "</h1>\n";
  if (order.empty() || !is_finite(order.front()->best_loss)) {
    return out + "<p>No trial has reported " + escaped(context_.metric) + ".</p></body></html>\n";
  }
  const trial_record& best = *order.front();
  out += "<p>" + std::to_string(all.size()) + " trials. Best " + escaped(context_.metric) + " " +
         short_number(metric(best.best_loss)) + ": trial " + std::to_string(best.id) + " with <code>" +
         escaped(best.parameters.text()) + "</code>.</p>\n";
  best_over_time(out);
  curves(out, order);
  importance(out, all);
  parallel(out, order);
  schedule(out, all);
  table(out, order);
  return out + "</body></html>\n";
}

MANTA_DECL std::string html_report::escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

MANTA_DECL std::string html_report::short_number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.5g", x);
  return text;
}

MANTA_DECL std::string html_report::colour(double rank) {
  char text[40];
  std::snprintf(text, sizeof text, "hsl(%d,70%%,45%%)", static_cast<int>(220 * (1 - rank)));
  return text;
}

MANTA_DECL std::string html_report::pixel(double x) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

MANTA_DECL std::string html_report::label(double x, double y, const std::string& text, const char* anchor) {
  return "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>";
}

MANTA_DECL std::string html_report::open_svg(double h) {
  return "<svg width=\"" + pixel(width) + "\" height=\"" + pixel(h) + "\">";
}

MANTA_DECL double html_report::scaled(double x, double low, double high, double from, double to) {
  return high > low ? from + (x - low) / (high - low) * (to - from) : (from + to) / 2;
}

MANTA_DECL void html_report::best_over_time(std::string& out) const {
  if (improvements_.empty()) return;
  const bool timed = last_ > 0;
  const double end = timed ? last_ : static_cast<double>(reports_);
  const double first = improvements_.front().value, best = improvements_.back().value;
  const double low = std::min(first, best), high = std::max(first, best);
  const auto x_of = [&](const improvement& i) {
    return scaled(timed ? i.seconds : static_cast<double>(i.reports), 0, end, margin, width - margin);
  };
  const auto y_of = [&](double value) { return scaled(value, low, high, height - margin / 2, margin / 2); };
  std::string line, points;
  for (std::size_t i = 0; i < improvements_.size(); ++i) {
    const improvement& here = improvements_[i];
    if (i > 0) line += pixel(x_of(here)) + "," + pixel(y_of(improvements_[i - 1].value)) + " ";
    line += pixel(x_of(here)) + "," + pixel(y_of(here.value)) + " ";
    points += "<circle r=\"3\" fill=\"steelblue\" cx=\"" + pixel(x_of(here)) + "\" cy=\"" + pixel(y_of(here.value)) + "\"><title>" +
              short_number(here.value) + " at report " + std::to_string(here.reports) +
              (timed ? ", after " + short_number(here.seconds) + " s" : "") + "</title></circle>";
  }
  line += pixel(width - margin) + "," + pixel(y_of(best));
  out += "<h2>Best over time</h2>\n" + open_svg() + "<polyline stroke=\"steelblue\" points=\"" + line + "\"/>" + points +
         label(2, margin / 2, short_number(high)) + label(2, height - margin / 2, short_number(low)) +
         label(width - margin, height - 5, short_number(end) + (timed ? " s" : " reports"), "end") + "</svg>\n";
}

MANTA_DECL void html_report::curves(std::string& out, const std::vector<const trial_record*>& order) const {
  double last = 0;
  std::vector<double> values;
  const std::size_t shown = std::min(order.size(), options_.most_curves);
  for (std::size_t i = 0; i < shown; ++i) {
    for (const auto& p : order[i]->losses.points()) {
      last = std::max(last, static_cast<double>(p.at));
      values.push_back(metric(p.y));
    }
  }
  std::sort(values.begin(), values.end());
  double low = values.front(), high = values.back();
  if (context_.maximised) low = sorted_quantile(values, 0.05);
  else high = sorted_quantile(values, 0.95);
  out += "<h2>" + escaped(context_.metric) + "</h2>\n" + open_svg();
  for (std::size_t i = shown; i-- > 0;) {
    out += "<polyline stroke=\"" + colour(static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, shown - 1))) +
           "\" points=\"";
    const auto points = order[i]->losses.points();
    for (const auto& p : points) {
      out += pixel(scaled(p.at, 0, last, margin, width - margin)) + "," +
             pixel(scaled(std::clamp(metric(p.y), low, high), low, high, height - margin / 2, margin / 2)) + " ";
    }
    out += "\"><title>trial " + std::to_string(order[i]->id) + "</title></polyline>";
    if (points.size() == 1) {
      out += "<circle r=\"2\" cx=\"" + pixel(scaled(points[0].at, 0, last, margin, width - margin)) + "\" cy=\"" +
             pixel(scaled(std::clamp(metric(points[0].y), low, high), low, high, height - margin / 2, margin / 2)) + "\"/>";
    }
  }
  out += label(2, margin / 2, short_number(high)) + label(2, height - margin / 2, short_number(low)) +
         label(width - margin, height - 5, short_number(last), "end") + "</svg>\n";
}

MANTA_DECL void html_report::importance(std::string& out, const std::vector<trial_record>& all) const {
  const auto shares = parameter_importance(context_.where, all);
  if (shares.empty()) return;
  out += "<h2>What matters</h2>\n" + open_svg(20.0 * static_cast<double>(shares.size()) + 10);
  double y = 5;
  for (const auto& [name, share] : shares) {
    out += label(5, y + 12, name + " " + short_number(std::round(1000 * share) / 10) + " %");
    out += "<rect x=\"250\" y=\"" + pixel(y) + "\" height=\"14\" fill=\"steelblue\" width=\"" + pixel(600 * share) + "\"/>";
    y += 20;
  }
  out += "</svg>\n";
}

MANTA_DECL void html_report::parallel(std::string& out, const std::vector<const trial_record*>& order) const {
  std::vector<parameter> axes;
  for (const parameter& p : context_.where.parameters()) {
    if (p.where.type() == domain::kind::choice || p.where.type() == domain::kind::number) axes.push_back(p);
  }
  if (axes.empty()) return;
  out += "<h2>Parallel coordinates</h2>\n" + open_svg();
  const auto x_of = [&](std::size_t axis) {
    return scaled(static_cast<double>(axis), 0, static_cast<double>(axes.size()), margin, width - margin);
  };
  const std::size_t shown = std::min(order.size(), options_.most_curves);
  std::vector<double> losses;
  for (std::size_t i = 0; i < shown; ++i) {
    if (is_finite(order[i]->best_loss)) losses.push_back(order[i]->best_loss);
  }
  for (std::size_t i = losses.size(); i-- > 0;) {
    out += "<polyline stroke=\"" +
           colour(static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, losses.size() - 1))) + "\" points=\"";
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const value* v = order[i]->parameters.find(axes[a].name);
      if (v == nullptr) continue;
      out += pixel(x_of(a)) + "," + pixel(scaled(axes[a].where.position(*v), 0, 1, height - margin / 2, margin / 2)) + " ";
    }
    out += pixel(x_of(axes.size())) + "," +
           pixel(scaled(losses[i], losses.front(), sorted_quantile(losses, 0.95), margin / 2, height - margin / 2)) + "\"/>";
  }
  for (std::size_t a = 0; a < axes.size(); ++a) {
    out += label(x_of(a), height - 8, axes[a].name, "middle") + label(x_of(a), 12, axes[a].where.at(1).text(), "middle") +
           label(x_of(a), height - 22, axes[a].where.at(0).text(), "middle");
  }
  out += label(x_of(axes.size()), height - 8, context_.metric, "middle") +
         label(x_of(axes.size()), 12, short_number(metric(losses.front())), "middle") + "</svg>\n";
}

MANTA_DECL void html_report::schedule(std::string& out, const std::vector<trial_record>& all) const {
  std::map<int, double> row;
  double last = 0;
  for (const trial_record& t : all) {
    for (const stretch& s : t.ran) {
      row[s.rank] = 0;
      last = std::max(last, s.end);
    }
  }
  if (!(last > 0)) return;
  const double line = std::clamp(600.0 / static_cast<double>(row.size()), 2.0, 24.0), bottom = line * static_cast<double>(row.size());
  out += "<h2>Schedule</h2>\n<p>Green: complete, blue: stopped or paused, red: failed.</p>\n" + open_svg(bottom + 20);
  double y = 0;
  for (auto& [rank, top] : row) {
    top = y;
    y += line;
    if (line >= 10) out += label(2, y - line / 2 + 4, rank < 0 ? "no rank" : "rank " + std::to_string(rank));
  }
  std::size_t shown = 0;
  for (const trial_record& t : all) {
    const std::string colour = t.state == status::failed ? "#c33" : t.state == status::complete ? "#393" : "#88a";
    for (const stretch& s : t.ran) {
      if (++shown > options_.most_stretches) break;
      const double x = scaled(s.begin, 0, last, margin, width - margin);
      out += "<rect x=\"" + pixel(x) + "\" y=\"" + pixel(row[s.rank]) + "\" height=\"" + pixel(line - 1) + "\" width=\"" +
             pixel(std::max(1.0, scaled(s.end, 0, last, margin, width - margin) - x)) + "\" fill=\"" + colour +
             "\" stroke=\"white\" stroke-width=\"0.3\"><title>trial " + std::to_string(t.id) + " on rank " + std::to_string(s.rank) +
             " from " + short_number(s.begin) + " to " + short_number(s.end) + " s; " + escaped(t.why) + "</title></rect>";
    }
  }
  out += label(width - margin, bottom + 14, short_number(last) + " s", "end") + "</svg>\n";
  if (shown > options_.most_stretches) out += "<p>The first " + std::to_string(options_.most_stretches) + " stretches.</p>\n";
}

MANTA_DECL void html_report::table(std::string& out, const std::vector<const trial_record*>& order) const {
  out += "<h2>Trials</h2>\n<table><tr><th>trial</th><th>" + escaped(context_.metric) +
         "</th><th>at</th><th>state</th><th>configuration</th><th>why</th></tr>\n";
  for (std::size_t i = 0; i < std::min(order.size(), options_.most_rows); ++i) {
    const trial_record& t = *order[i];
    out += "<tr><td>" + std::to_string(t.id) + "</td><td>" +
           (is_finite(t.best_loss) ? short_number(metric(t.best_loss)) : "") + "</td><td>" + short_number(t.at) +
           "</td><td>" + name_of(t.state) + "</td><td style=\"text-align:left\">" + escaped(t.parameters.text()) +
           "</td><td style=\"text-align:left\">" + escaped(t.why) + "</td></tr>\n";
  }
  out += "</table>\n";
  if (order.size() > options_.most_rows) {
    out += "<p>and " + std::to_string(order.size() - options_.most_rows) + " more.</p>\n";
  }
}

}  // namespace manta::tune
