// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Files and progress of a training:
//
//   rl::log log("run");
//   for (rl::report r; (r = algorithm.train()).mean_return < 475;) log(r);
//   log.evaluation(algorithm.evaluate(100));
//   log.episode(algorithm.frames());
//
//   run/progress.csv, run/result.jsonl    a row for each report
//   run/events.out.tfevents.*             tensorboard --logdir run
//   run/report.html                       learning curves and an episode, rewritten every few seconds
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manta/output/csv.hpp"
#include "manta/output/json_lines.hpp"
#include "manta/output/tensorboard.hpp"
#include "manta/progress.hpp"
#include "manta/rl/base/report.hpp"

namespace manta::output {
class page;
}

namespace manta::rl {

struct multi_report;

struct log_options {
  std::string title = "training";  ///< title of the progress and of the page
  std::uint64_t steps = 0;         ///< that the training will take at most; 0: unknown
  bool progress = true;            ///< on standard error, see progress.hpp
  bool append = false;             ///< rows follow those of an earlier start, whose curves stay on the page
};

/// For one thread: the one that made it. Names of columns are the members of rl::report, and those of its figures.
class log {
 public:
  /// Makes the folder; empty: progress alone. Throws manta::error where a file cannot be written, as the calls do.
  MANTA_DECL explicit log(const std::string& folder, const log_options& o = {});
  log(const log&) = delete;
  log& operator=(const log&) = delete;
  /// Writes what is left, and the page a last time.
  MANTA_DECL ~log();

  MANTA_DECL void operator()(const report& r);
  /// Takes the report of several policies (multi.hpp). Columns of a policy have its name before them, such as
  /// "walker/mean_return". The page has the curves of all policies together.
  MANTA_DECL void operator()(const multi_report& r);
  /// What evaluate gave: columns evaluation_return, .., at the steps of the last report.
  MANTA_DECL void evaluation(const report& r);
  /// What rl::play gave, under a name of the caller's: columns "match/NAME/score", "match/NAME/won", ..
  template <class Match>
  void match(const std::string& name, const Match& m) {
    write_match(name, m.score(), m.won, m.drawn, m.lost);
  }
  /// Pictures of an episode, one for each state, for the page (algorithm::frames). Replaces those of before.
  MANTA_DECL void episode(std::vector<std::string> frames);

 private:
  /// A curve of at most some thousand points: of more, every second one is left out, then every fourth..
  struct curve {
    std::vector<std::pair<double, double>> points;
    std::uint64_t every = 1, seen = 0;
    void add(double x, double y);
  };
  using row = std::vector<std::pair<std::string, output::cell>>;

  MANTA_DECL void write_match(const std::string& name, double score, int won, int drawn, int lost);
  /// What the progress and the facts of the page say.
  void note(const report& r);
  void write(const row& values);
  /// Draws the curves of policies and matches, and takes them out of `curves`.
  static void add_groups(output::page& p, std::map<std::string, curve>& curves);
  void read_earlier_rows();
  void write_files(bool running);

  std::string folder_;
  log_options options_;
  std::optional<output::csv> csv_;
  std::optional<output::json_lines> lines_;
  std::optional<output::tensorboard> events_;
  std::optional<progress<>> bar_;
  std::map<std::string, curve> curves_;
  std::vector<std::string> frames_;
  report last_;
  std::chrono::steady_clock::time_point next_write_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/algorithms/log.ipp"
#endif
