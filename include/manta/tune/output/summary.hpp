// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// summary.json: how a search stands, in one line of JSON that is replaced every few seconds. tune::index reads it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "manta/tune/output/output.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// How a search stands.
struct search_summary {
  std::string folder;  ///< path from the folder that was looked through; "." if it is that one
  std::string name, metric;
  bool maximised = false;
  std::size_t wanted = 0;                                                      ///< trials; 0: until something stops it
  std::size_t running = 0, paused = 0, complete = 0, stopped = 0, failed = 0;  ///< trials; those that wait are paused
  std::optional<trial_number> best = {};  ///< the trial with the best value of the (first) metric
  double best_value = 0;
  config parameters = {};   ///< parameters of the best trial
  double seconds = 0;       ///< that the search has taken
  double written = 0;       ///< time of writing, in seconds since 1970
  std::string why = {};     ///< it has ended; empty: it has not
  bool is_running = false;  ///< a process has it open
  bool has_page = false;    ///< there is a report.html

  std::size_t trials() const { return running + paused + complete + stopped + failed; }
  /// running, ended, or interrupted: its process has gone, and started again it goes on.
  MANTA_DECL std::string state() const;
};

namespace detail {

/// The summary of these trials.
MANTA_DECL search_summary summary_of(const output_context& c, const std::vector<trial_record>& all);

/// Writes the file, whatever .outputs are chosen.
class summary_file {
 public:
  MANTA_DECL void begin(const output_context& c);
  MANTA_DECL void refresh(const std::vector<trial_record>& all);
  MANTA_DECL void finish(const std::vector<trial_record>& all, const std::string& why);
  /// Reads the file of a search; nothing if there is none, or another program has written it.
  MANTA_DECL static std::optional<search_summary> read(const std::string& folder);

 private:
  using clock = std::chrono::steady_clock;

  void write(search_summary s) const;

  output_context context_;
  clock::time_point next_ = clock::time_point::min();
};

}  // namespace detail

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/output/summary.ipp"
#endif
