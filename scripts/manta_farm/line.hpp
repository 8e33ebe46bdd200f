// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A line: a command, and what it asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text.hpp"

namespace farm {

/// What a line asks for: `#manta cpus=4 retries=2` in the file, `--cpus 4 --retries 2` for all lines.
struct line_options {
  int cpus = 1;                 ///< cores; of each rank if `ranks` is given
  int ranks = 0;                ///< the command is an MPI program that mpirun starts on that many ranks; 0: it is none
  double gpus = 0;              ///< devices of its rank
  std::uint64_t memory = 0;     ///< bytes of the node's memory that are counted as taken
  int retries = 0;              ///< times that it runs again after a failure
  double timeout = 0;           ///< seconds after which it is ended; 0: never
  std::vector<int> after = {};  ///< numbers of earlier lines that must have ended well before

  /// Number of cores of its node that it takes.
  int cores() const { return cpus * (ranks > 0 ? ranks : 1); }
};

/// Sets one option. Throws mistake if there is none of that name, or if the value is wrong.
void set_option(line_options& options, std::string_view name, std::string_view value);

/// Sets the options of a text `cpus=4 retries=2`.
void set_options(line_options& options, std::string_view text);

/// The names of the options, for messages and for the command line.
const std::vector<std::string_view>& option_names();

/// A command, and where it stands.
struct line {
  int number = 0;       ///< in the file, from 1, comments and empty lines counted
  std::string command;  ///< for `sh -c`, without the comment `#manta`
  line_options options;
  line_key key;
};

/// Makes lines of texts: knows the options that hold for all lines from here on, and the texts that were there before.
class line_maker {
 public:
  explicit line_maker(line_options for_all) : for_all_(std::move(for_all)) {}
  /// Makes the line of a text; false if the text is no command: empty, a comment, or options for the lines below it.
  /// Throws mistake, whose sentence names the line.
  bool make(std::string_view text, int number, line& into);

 private:
  line_options for_all_;
  std::unordered_map<line_key, std::uint32_t, key_hash> seen_;  // number of lines with each text
};

}  // namespace farm
