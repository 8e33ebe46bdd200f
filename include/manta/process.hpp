// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A helper program beside a rank, such as a Python interpreter, that answers messages. A crash or a hang of the program
// is an error that says what it printed last, and never takes the rank with it.
//
//   manta::process p({manta::python_program(), "-c", script});
//   p.send(bytes);                                  // one message
//   std::string answer = p.receive(std::chrono::seconds(10));
//
// The program reads messages from file descriptor 3 and writes them to file descriptor 4: eight bytes with the length,
// little-endian, then the message. It has to end when descriptor 3 does. What it prints to its standard output and
// error appears on the standard error of the rank.
//
// The program is started by posix_spawn, which copies no memory of this process, so that it may be started after MPI.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"

namespace manta {

/// A helper program at work. Move-only; for one thread at a time. A default-made one has no program.
class process {
 public:
  process() = default;
  /// Starts the program, which is looked for in PATH. Throws manta::error if there is none. The program does not see
  /// the variables by which MPI knows its ranks, nor open files of this process.
  MANTA_DECL explicit process(std::vector<std::string> command);
  /// Leaves an empty one behind.
  MANTA_DECL process(process&& other) noexcept;
  /// Ends the program that this one had.
  MANTA_DECL process& operator=(process&& other) noexcept;
  /// Closes the channel, which ends a program that keeps to the rules, and kills one that runs on after a second.
  MANTA_DECL ~process();

  /// False for an empty one, and after an error. Does not ask the system.
  [[nodiscard]] bool running() const { return pid_ > 0; }
  /// The process id of the program; 0: there is none.
  [[nodiscard]] pid_t id() const { return pid_; }

  /// Sends one message; waits until the program has room for it. Throws manta::error if the program has ended, or reads
  /// nothing for so long.
  MANTA_DECL void send(std::string_view message, std::chrono::milliseconds timeout = std::chrono::minutes(1));
  /// Waits for one message. Throws manta::error if the program ends first, or says nothing for so long; it is killed
  /// then.
  MANTA_DECL std::string receive(std::chrono::milliseconds timeout = std::chrono::minutes(1));

 private:
  void finish(bool at_once);
  [[noreturn]] void fail(const std::string& what);
  /// Moves bytes in one direction until all are through.
  void transfer(char* data, std::size_t size, bool out, std::chrono::steady_clock::time_point until);
  /// Hands what the program has printed on to standard error; keeps its end.
  void forward_output();

  pid_t pid_ = 0;
  int to_ = -1, from_ = -1, output_ = -1;
  std::string name_, last_words_;
};

/// The Python interpreter: $MANTA_PYTHON, or python3.
MANTA_DECL std::string python_program();
/// What to do about an error of a Python program that does not find a package, to stand before the error's text; empty
/// for other errors.
MANTA_DECL std::string python_package_advice(const std::string& error_text);

/// Python's side of the channel, to stand before a script: imports json, os, struct, sys and traceback, and defines
/// `answer_messages(make)`. That calls make(), whose result is a function from a request to an answer (both bytes), and
/// answers requests until the channel ends, exceptions included. For ask_python.
MANTA_DECL const char* python_channel();
/// Sends a request to a script that runs answer_messages, and waits for its answer. Throws manta::error with Python's
/// traceback if the script raised an exception, and as send and receive do: then, p.running() is false.
MANTA_DECL std::string ask_python(process& p, std::string_view request, std::chrono::milliseconds timeout);
/// An answer that was received from such a script, likewise.
MANTA_DECL std::string checked_python_answer(std::string_view answer);

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/process.ipp"
#endif
