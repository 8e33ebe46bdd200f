// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A program that a task runs to its end: an existing code, with its arguments, in a folder of its own.
//
//   manta::program_result r = manta::run_program({"simulate", "--seed", "7"}, {.folder = "run7", .timeout = 1h});
//   if (!r) throw std::runtime_error(r.text());     // "simulate ended with status 3 after 12 s; it printed last: ..."
//
// The program does not see the variables by which MPI and Slurm recognise the rank, so it may be linked with MPI, or be
// mpirun itself. posix_spawn starts it, which copies no memory of this process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/base/config.hpp"

namespace manta {

/// How a program is run.
struct program_options {
  /// Folder in which the program runs. Empty: that of this process.
  std::string folder = {};
  /// Further variables of its environment, "NAME=value"; they replace those of this process.
  std::vector<std::string> environment = {};
  /// What it reads from its standard input.
  std::string input = {};
  /// Files that get what it prints, relative to `folder`. Empty: it is in the result.
  std::string output_file = {};
  /// As output_file, for its standard error. Empty: together with the standard output.
  std::string error_file = {};
  /// Bytes of the output that the result keeps, the last ones.
  std::size_t most_output = std::size_t{16} << 20;
  /// Time after which the program, and all that it has started, are ended: by SIGTERM, and two seconds later by
  /// SIGKILL. 0: no limit.
  std::chrono::nanoseconds timeout = std::chrono::nanoseconds(0);
};

/// How a program has ended.
struct program_result {
  int status = 0;                  ///< its exit status; 128 + n if signal n has ended it
  int signal = 0;                  ///< the signal that has ended it; 0: none
  bool timed_out = false;          ///< it was ended since its time was over
  bool stopped = false;            ///< it was ended since its task was asked to stop
  double seconds = 0;              ///< how long it ran
  double cpu_seconds = 0;          ///< processor time of the program and of what it waited for
  std::uint64_t memory_bytes = 0;  ///< the most memory that one of these processes had
  std::string output = {};         ///< what it has printed, unless that went to a file
  std::string name = {};           ///< the program

  /// Whether it has ended with status 0.
  explicit operator bool() const { return status == 0; }
  /// One sentence: how it has ended, and if not well, what it printed last.
  MANTA_DECL std::string text() const;
};

/// Runs a program and waits for its end; the rank runs nothing else meanwhile, but answers other ranks. The first word
/// is searched in PATH. Where the task is asked to stop (cancelled, past its deadline), the program is ended as after a
/// timeout. What the program leaves running in its process group is killed when it has ended. Throws manta::error if it
/// cannot be started. May be called anywhere, in isolated tasks and outside of runs too.
MANTA_DECL program_result run_program(std::vector<std::string> command, const program_options& options = {});

/// The environment with which run_program starts a program, "NAME=value" each: that of this process without the
/// variables by which MPI and Slurm recognise the rank. For code that starts programs by itself.
MANTA_DECL std::vector<std::string> program_environment();

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/program.ipp"
#endif
