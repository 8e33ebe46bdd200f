// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A program that this process has started, in a process group of its own, with a pipe for what it prints.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace farm {

/// How a program has ended.
struct ending {
  int status = 0, signal = 0;  ///< 128 + n and n if signal n has ended it
  double cpu_seconds = 0;
  std::uint64_t memory_bytes = 0;  ///< 0: not more than this process had when it started the program
};

class process {
 public:
  /// Starts a program; its first word is searched in PATH. `variables` stand before those of this process, and `cores`
  /// are those on which it may run; empty: those of this process. Throws mistake if it cannot be started.
  process(std::vector<std::string> command, const std::vector<std::string>& variables, const std::vector<int>& cores);
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  /// Kills what still runs.
  ~process();

  /// Readable when the program has printed something or has ended.
  int descriptor() const { return events_; }
  /// False: the system cannot say by a descriptor that a program has ended, so somebody has to look now and then.
  bool end_is_seen() const { return watch_ >= 0; }
  /// Reads what it has printed, without waiting; 0: nothing is there.
  std::size_t read(char* into, std::size_t most);
  /// Whether the program has ended. What it has left running in its group is killed then.
  bool has_ended(ending& how);
  /// Sends a signal to the program and to all of its group.
  void signal(int number);

 private:
  void watch();

  pid_t pid_ = 0;
  int output_ = -1, input_ = -1;  // the ends of the pipe: as this process has both, it sees no end of what is printed
  int watch_ = -1, events_ = -1;
  std::uint64_t memory_before_ = 0;
};

}  // namespace farm
