// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What one sees while an experiment runs, on stderr. On a terminal a small table
// of the best trials and those that run, redrawn every half second; in a batch log
// one line when something has changed, at growing intervals of up to ten minutes,
// so that a long job's log stays short.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <map>

#include "manta/tune/source.hpp"
#include "manta/tune/study.hpp"

namespace manta::tune {

class status_table {
 public:
  MANTA_DECL explicit status_table(const study& s, std::FILE* out = stderr);

  /// `now`: seconds of the experiment. Returns at once unless it is time.
  MANTA_DECL void update(double now);
  /// Prints a line that stays above the table. A quiet experiment prints it only if it `matters`: the experiment is not
  /// what was meant.
  MANTA_DECL void line(const std::string& text, bool matters = false);
  /// Prints that a trial failed. Of many that fail alike the first ones are named, and the others counted at the end.
  MANTA_DECL void failed(trial_number t, const std::string& why);
  /// Prints how the experiment ended.
  MANTA_DECL void finish();

  MANTA_DECL std::string one_line(double now) const;
  /// The best trials, then those that run, `rows` in all, with a column for each parameter in which they differ.
  MANTA_DECL std::string table(double now, std::size_t rows = 12) const;

 private:
  static std::string seconds_text(double s);
  /// The trials of the table.
  std::vector<const trial_record*> chosen(std::size_t rows) const;
  /// The text with its lines cut off where the terminal ends: lines that wrap could not be erased.
  std::string fitted(const std::string& text) const;
  void redraw(double now);
  void erase();
  void print(const std::string& text) const;

  const study& study_;
  std::FILE* out_;
  bool shown_, terminal_;
  double next_ = 0, pause_ = 10;
  std::size_t reported_ = 0;
  int drawn_ = 0;
  std::map<std::string, std::size_t> failures_;  ///< trials that failed, by their reason
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/table.ipp"
#endif
