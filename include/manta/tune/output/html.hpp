// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// report.html: one file without anything else, written when the experiment ends.
// The best value over time, curves of the trials, parallel coordinates, how much
// each parameter matters, when which trial ran on which rank, and the table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manta/tune/output/output.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

class html_report {
 public:
  struct options {
    std::size_t most_curves = 200;  ///< the best so many trials are drawn
    std::size_t most_rows = 500;
    std::size_t most_stretches = 5000;  ///< of the schedule: the first so many
  };
  html_report() = default;
  explicit html_report(options o) : options_(o) {}

  MANTA_DECL void begin(const output_context& c);
  MANTA_DECL void report(const trial_record& t, const metrics& m, double);
  MANTA_DECL void finish(const std::vector<trial_record>& all);

  MANTA_DECL std::string page(const std::vector<trial_record>& all) const;

 private:
  static constexpr double width = 900, height = 320, margin = 50;

  double metric(double loss) const { return context_.maximised ? -loss : loss; }
  static std::string escaped(std::string_view text);
  static std::string short_number(double x);
  /// Blue is best, red is worst.
  static std::string colour(double rank);
  static std::string pixel(double x);
  static std::string label(double x, double y, const std::string& text, const char* anchor = "start");
  static std::string open_svg(double h = height);
  static double scaled(double x, double low, double high, double from, double to);

  /// A value that was better than all before.
  struct improvement {
    double seconds;
    std::uint64_t reports;
    double value;
  };
  /// The best value over time; where nobody has told the time, over the reports of all trials.
  void best_over_time(std::string& out) const;

  /// Each trial's metric over its clock. The scale leaves out the worst twentieth, which may be far away.
  void curves(std::string& out, const std::vector<const trial_record*>& order) const;

  void importance(std::string& out, const std::vector<trial_record>& all) const;

  void parallel(std::string& out, const std::vector<const trial_record*>& order) const;

  /// Who ran when and where: a row for each rank.
  void schedule(std::string& out, const std::vector<trial_record>& all) const;

  void table(std::string& out, const std::vector<const trial_record*>& order) const;

  options options_;
  output_context context_;
  std::vector<improvement> improvements_;
  std::uint64_t reports_ = 0;
  double last_ = 0;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/html.ipp"
#endif
