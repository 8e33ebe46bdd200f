// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A report page for the browser: one HTML file that needs nothing else and no network, light and dark, from a telephone
// to a wide screen. A page is composed of sections:
//
//   output::page report("CartPole");
//   report.running(true);                                                    // says so, and reloads itself
//   report.facts("", {{"steps", 100000}, {"mean return", 412.5}});
//   report.curves("Return", "steps", "return", {{"mean", points}});           // points: pairs of x and y
//   report.table("Evaluations", {"step", "return"}, rows);                   // sorted by a click on a column
//   report.write("run/report.html");
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manta/output/row.hpp"
#include "manta/output/source.hpp"

namespace manta::output {

class page {
 public:
  /// A line of a picture. A y that is NaN breaks it; `end` says what happened at its last point, and may be empty.
  /// `band` has the least and the largest y of each point, between which the picture is tinted, or is empty.
  struct series {
    std::string name;
    std::vector<std::pair<double, double>> points;
    std::string end = {};
    std::vector<std::pair<double, double>> band = {};
  };

  explicit page(std::string title) : title_(std::move(title)) {}

  /// The page says that what it shows still runs and when it was written, and reloads itself every few seconds.
  void running(bool runs) { running_ = runs; }
  /// Names and values, one below the other. Beside other narrow sections, as curves are.
  MANTA_DECL void facts(std::string_view title, row values);
  MANTA_DECL void text(std::string_view title, std::string_view words);
  /// Lines over a common axis. Axes that span decades are logarithmic.
  MANTA_DECL void curves(std::string_view title, std::string_view x, std::string_view y,
                         const std::vector<series>& lines);
  MANTA_DECL void table(std::string_view title, const std::vector<std::string>& columns,
                        const std::vector<std::vector<cell>>& rows);
  /// Pictures in text, one after the other, which the reader can stop and step through.
  MANTA_DECL void frames(std::string_view title, const std::vector<std::string>& pictures);
  /// A section of a kind that the page's script knows, from its members in JSON: "\"metric\":\"loss\",..".
  MANTA_DECL void section(std::string_view kind, std::string_view title, std::string_view members);

  /// JavaScript that adds kinds of sections, by what page_script.ipp and page_kinds.ipp define.
  void script(std::string_view code) { script_ += code; }

  /// The whole file.
  MANTA_DECL std::string html() const;
  /// Replaces the file at once; a reader sees the old page or the new one. Throws manta::error with the reason.
  MANTA_DECL void write(const std::string& path) const;

 private:
  std::string title_, sections_, script_;
  bool running_ = false;
};

/// A number as JSON for the page; null if it is not finite.
MANTA_DECL void append_page_number(std::string& out, double x);

}  // namespace manta::output

#ifndef MANTA_COMPILED
#include "manta/output/page.ipp"
#endif
