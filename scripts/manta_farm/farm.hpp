// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The driver: reads lines, starts each as a task where there is room for it, and writes down how it has ended. It holds a
// window of lines, not all of them.
#pragma once

#include <manta/manta.hpp>
#include <manta/progress.hpp>
#include <manta/watcher.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "options.hpp"
#include "placement.hpp"
#include "results.hpp"
#include "run_line.hpp"
#include "source.hpp"

namespace farm {

/// What became of the lines.
struct counts {
  std::uint64_t lines = 0;           ///< in all, as far as they were read
  std::uint64_t well = 0;            ///< that have ended well in this run
  std::uint64_t failed = 0;          ///< that have failed in this run, or were skipped since others had failed
  std::uint64_t earlier = 0;         ///< that had ended in an earlier run, well or not
  std::uint64_t earlier_failed = 0;  ///< among them, those that had not ended well
  std::uint64_t refused = 0;         ///< that were wrong
};

class farm {
 public:
  explicit farm(const options& chosen);
  /// Runs all lines; returns the exit status of the program.
  int run();

 private:
  /// A line that runs.
  struct running {
    line what;
    int attempt = 1;
    place where;
    manta::future<line_result> result;
  };
  /// How far a line is, for those that wait for it.
  enum class state : std::uint8_t { no_line, waits, well, failed };

  void check_lines();            ///< Reads all lines once, and refuses wrong ones before the first line starts.
  void check(const line& each);  ///< Throws mistake if no node can run it, or if it waits for what is no line.
  void print_plan();             ///< What --dry-run prints.

  bool is_done(const line& each) const;  ///< Whether an earlier run has its result.
  bool has_room() const;                 ///< Whether the window takes more lines.
  void read_lines();
  void accept(line&& each);
  void start_lines();
  void start(line&& what, int attempt, const place& where);
  void collect(std::uint64_t id);
  void note(running it, const line_result& result);
  /// Appends a record; false if no more can be written, which ends the farm.
  bool write(const line& what, int attempt, bool runs_again, const line_result& result);
  void count(int number, bool is_well);
  void skip(int number);                  ///< A line that this one waits for has not ended well.
  void settle(int number, bool is_well);  ///< The line has ended for good: lines that wait for it start or are skipped.
  void wait();
  int finish();
  std::string summary(bool is_unfinished) const;
  bool is_over() const { return has_ended_ && ready_.empty() && blocked_.empty() && running_.empty(); }
  state& state_of(int number);

  const options& options_;
  results_folder folder_;
  placement places_;
  std::unique_ptr<source> source_;
  std::unordered_map<line_key, outcome, key_hash> earlier_;
  std::unique_ptr<manta::progress<>> progress_;
  manta::watcher events_;

  std::map<int, line> ready_;                            // lines that may start, by number
  std::map<int, int> attempts_;                          // of lines in ready_ that are retried
  std::map<int, line> blocked_;                          // lines that wait for others
  std::unordered_map<int, std::vector<int>> followers_;  // of a line: the lines that wait for it
  std::unordered_map<std::uint64_t, running> running_;
  std::vector<state> states_;     // by number
  std::set<int> failed_;          // numbers, for the last message
  std::size_t window_bytes_ = 0;  // of commands in ready_ and blocked_
  std::uint64_t next_id_ = 0;
  std::vector<int> to_skip_;  // lines that wait for one that has failed
  int watched_ = -1;          // descriptor of the source that events_ looks at
  int overtaken_ = 0;         // number of lines that the first one in ready_ has let pass
  bool has_ended_ = false;    // the source has no more lines
  bool is_leaving_ = false;   // no further line starts
  bool is_skipping_ = false;
  std::string stopped_by_;  // why no further line starts, if it is an error
  counts counts_;
};

}  // namespace farm
