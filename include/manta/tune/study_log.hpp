// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a study writes into its journal: a line for each thing that happens. continuation.hpp reads these lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "manta/tune/journal.hpp"
#include "manta/tune/proposals.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune::detail {

/// The lines of a study in the journal. Before `open`, and for an experiment without a folder, it writes nothing.
class study_log {
 public:
  /// Reads the lines that are there, and goes on behind them.
  MANTA_DECL void open(const std::string& path, const std::function<void(const journal::event&)>& replay);
  bool is_open() const { return journal_.is_open(); }
  MANTA_DECL void flush();

  /// The first line: what the experiment is. `members` are members of JSON, each with a comma before it.
  MANTA_DECL void begin(const std::string& members, double wall);
  /// A program continues the experiment at `now`. `wall` is the time then, in seconds since 1970.
  MANTA_DECL void start(double now, double wall);
  MANTA_DECL void limit(double now, std::size_t trials);

  MANTA_DECL void next(trial_number t, const config& parameters, const origin& from, double now);
  /// Nothing was started. Of several such lines in a row only the first is written, and none if the experiment stops.
  MANTA_DECL void none(double now, bool stops);
  MANTA_DECL void report(trial_number t, const metrics& m, std::uint64_t iteration, double seconds, double now);
  MANTA_DECL void fail(trial_number t, cause c, const std::string& why, double now);
  /// `kind` is "save" or "from": the trial goes on from that file from now on.
  MANTA_DECL void file(std::string_view kind, trial_number t, std::uint64_t iteration, const std::string& file,
                       double now);
  /// `kind` is "end", "revive" or "unkept".
  MANTA_DECL void trial(std::string_view kind, trial_number t, double now);
  /// The trial runs on that rank.
  MANTA_DECL void place(trial_number t, int rank, double now);
  /// Trials may run on that rank, of this machine; or no longer.
  MANTA_DECL void open_rank(int rank, const std::string& host, double now);
  MANTA_DECL void close_rank(int rank, double now);
  /// A trial has said this about itself, or has named a file of its folder: `kind` is "note" or "attach".
  MANTA_DECL void note(std::string_view kind, trial_number t, const std::string& name, const std::string& text,
                       double now);
  /// A rule that looks at the clock has stopped the experiment.
  MANTA_DECL void tick(double now);
  /// `why` is empty unless something stopped the experiment.
  MANTA_DECL void finish(double now, const std::string& why);

 private:
  /// Begins the members of a line about a trial.
  void begin_line(trial_number t);
  void number(std::string_view name, std::int64_t x);
  void number(std::string_view name, double x);

  journal journal_;
  std::string line_;      ///< members of the line that is being made
  bool is_none_ = false;  ///< the last line about a trial says that nothing was started
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/study_log.ipp"
#endif
