// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How far a run is: the tasks of all ranks, each counted where it was submitted. It goes to the status file
// (MANTA_STATUS_FILE), to a line on standard error (MANTA_STATUS), to the comment of the job in Slurm, and is a part of
// the state on request.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"

namespace manta::report {

/// How many tasks ended in a second: in the last minute, and before.
class task_rate {
 public:
  /// At this time, in seconds from the begin of the run, `ended` tasks had ended. To be called about once in a second.
  MANTA_DECL void note(double seconds, std::uint64_t ended);
  /// Tasks in a second in the last minute, or since the begin of a run that is shorter.
  MANTA_DECL double last_minute() const;
  /// Tasks in a second before the last minute; below 0: there was no time before.
  MANTA_DECL double before() const;

 private:
  base::vector<std::pair<double, std::uint64_t>> notes_ = {{0., 0U}};  // of a minute; one more before it
};

/// A task that runs.
struct running_task {
  std::string function = {};
  std::string name = {};  ///< its name option; empty: none
  int rank = -1;
  std::string host = {};
  double seconds = 0;             ///< since it began
  double longest_of_others = 0;   ///< seconds of the longest task of the same function that has ended
  std::uint64_t other_count = 0;  ///< tasks of the same function that have ended
  /// The functions in which it is, the innermost first; ".." stands for some that are left out. Empty: not known.
  std::vector<std::string> stack = {};
};

/// The tasks that one rank has submitted.
struct task_numbers {
  std::uint64_t done = 0, failed = 0, from_journal = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t waiting_for_inputs = 0;  ///< tasks of the unfinished ones
  std::uint64_t ready = 0;               ///< tasks of any rank that wait here for room
};

struct run_status {
  double seconds = 0;  ///< since the begin of the run
  double began = 0;    ///< seconds since 1970
  bool is_over = false;
  std::string why_ended = {};  ///< why it had to end early; empty: it had not
  std::string program = {};
  std::string job = {};
  int start = 1;  ///< how often the job was started, this time included
  int ranks = 1;
  std::uint64_t done = 0;                   ///< tasks that have ended well, those from the journal included
  std::uint64_t failed = 0;                 ///< tasks whose last attempt has thrown
  std::uint64_t from_journal = 0;           ///< tasks whose results the journal had
  std::uint64_t running = 0;                ///< tasks
  std::uint64_t waiting_for_room = 0;       ///< tasks
  std::uint64_t waiting_for_inputs = 0;     ///< tasks
  double rate = 0;                          ///< tasks that ended in a second, in the last minute
  double rate_before = -1;                  ///< the same, before the last minute; below 0: not known
  double allocation_left = -1;              ///< seconds to the end of the allocation; below 0: there is none
  double end_margin = 0;                    ///< seconds before that end after which nothing more begins
  base::vector<running_task> longest = {};  ///< running tasks, the longest first; at most 8

  /// All tasks that were submitted so far.
  std::uint64_t tasks() const { return done + failed + unfinished(); }
  std::uint64_t unfinished() const { return running + waiting_for_room + waiting_for_inputs; }
  /// Seconds that what is submitted takes at the present rate; below 0: not known.
  MANTA_DECL double seconds_left() const;
  /// What is submitted will not end before the allocation does.
  bool is_too_long() const { return allocation_left >= 0 && seconds_left() > allocation_left - end_margin; }
};

/// "54 of 120 tasks (34 from the journal), 6 run, 1 failed; 44 s left at this rate": for one line.
MANTA_DECL std::string status_text(const run_status& s);
/// One JSON object with a line break at its end.
MANTA_DECL std::string status_json(const run_status& s);

}  // namespace manta::report

#ifndef MANTA_COMPILED
#include "manta/report/status.ipp"
#endif
