// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The task of a line: starts `sh -c LINE` in a process group of its own, collects what it prints, and waits for its end
// by a manta::watcher, so that the rank runs other lines meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outputs.hpp"

namespace farm {

/// What the task of a line has to know.
struct line_request {
  int number = 0, attempt = 1;
  std::string command;
  std::string folder;      ///< of the results
  std::vector<int> cores;  ///< on which it has to run; empty: those of its rank
  int cpus = 1, ranks = 0;
  double timeout = 0;  ///< seconds; 0: none
  double drain = 0;    ///< seconds that it may still run when the farm has to end; below 0: without limit
  std::uint64_t most_output = 0;
  bool has_own_file = false, shows_output = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(number, attempt, command, folder, cores, cpus, ranks, timeout, drain, most_output, has_own_file,
            shows_output);
  }
};

/// How a line has ended.
enum class outcome : std::uint8_t { ok, failed, timeout, not_started, skipped, interrupted };

/// The word for an outcome in the file of results.
const char* word_of(outcome o);

/// How a line ran.
struct line_result {
  outcome how = outcome::not_started;
  int status = 0, signal = 0;  ///< 128 + n and n if signal n has ended it
  std::string why;             ///< a sentence where it did not end well
  double begin = 0;            ///< seconds since 1970
  double seconds = 0, cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  ///< of its largest process; 0: less than the farm can measure
  int rank = 0;
  std::vector<piece> output;
  std::uint64_t cut_bytes = 0;  ///< of its output, that were not kept
  template <class Archive>
  void serialize(Archive& archive) {
    archive(how, status, signal, why, begin, seconds, cpu_seconds, memory_bytes, rank, output, cut_bytes);
  }
};

/// Runs a line to its end. Throws nothing that the line is to blame for: the result says it.
line_result run_line(const line_request& request);

/// The cores on which this process may run.
std::vector<int> own_cores();

}  // namespace farm
