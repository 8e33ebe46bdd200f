// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The command line of manta-farm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "source.hpp"

namespace farm {

/// What the program is asked to do.
enum class verb { run, output, results, help, version };

struct options {
  verb what = verb::run;
  source_options lines;
  std::string folder;           ///< of the results
  std::vector<int> numbers;     ///< of the lines whose output is to be shown
  int jobs = 0;                 ///< cores of each node that lines may use; 0: all
  bool resumes = false;         ///< lines with a result do not run again
  bool resumes_failed = false;  ///< but those that have failed do
  bool is_fresh = false;        ///< earlier results are removed
  bool is_dry = false;          ///< nothing runs, the lines are shown
  bool has_own_files = false;   ///< a file of output for each line
  bool shows_output = false;    ///< what lines print appears at once
  bool prints_json = false;     ///< results as JSON lines
  std::uint64_t most_output = std::uint64_t{1} << 30U;
  double drain = -1;  ///< seconds that lines may run on when the farm has to end; below 0: no limit
};

/// Reads the command line. Throws mistake.
options read_command_line(int argc, char** argv);

/// What --help prints.
const char* help_text();

}  // namespace farm
