// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A helper program beside a rank, such as a Python interpreter, that answers messages. If the program crashes or hangs,
// the rank lives on and gets an error that says what the program printed last.
//
//   manta::process p({manta::python_program(), "-c", script});
//   p.send(bytes);                                  // one message
//   std::string answer = p.receive(std::chrono::seconds(10));
//
// The program reads messages from file descriptor 3 and writes them to file descriptor 4: eight bytes with the length,
// little-endian, then the message. It has to end when descriptor 3 ends. Its standard output and error appear on the
// standard error of the rank.
//
// posix_spawn starts the program. It copies no memory of this process, so programs may be started after MPI.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/config.hpp"

namespace manta {

/// A running helper program. Move-only; for one thread at a time. A default-constructed process has no program.
class process {
 public:
  process() = default;
  /// Starts the program, which is searched in PATH. Throws manta::error if it is not found. The program sees neither
  /// the environment variables by which MPI recognises its ranks nor the open files of this process.
  MANTA_DECL explicit process(std::vector<std::string> command);
  /// Takes over the program of the other process, which is empty afterwards.
  MANTA_DECL process(process&& other) noexcept;
  /// Ends this process's program, then takes over the other's.
  MANTA_DECL process& operator=(process&& other) noexcept;
  /// Closes the channel, at which the program has to end, and kills a program that still runs after a second.
  MANTA_DECL ~process();

  /// False for an empty process, and after an error. Does not ask the system.
  [[nodiscard]] bool running() const { return pid_ > 0; }
  /// The process id of the program; 0: there is no program.
  [[nodiscard]] pid_t id() const { return pid_; }

  /// Sends one message; waits until the program has room for it. Throws manta::error if the program has ended, or has
  /// not read the message within `timeout`.
  MANTA_DECL void send(std::string_view message, std::chrono::milliseconds timeout = std::chrono::minutes(1));
  /// Waits for one message. Throws manta::error if the program ends first, or sends nothing within `timeout`; the
  /// program is killed then.
  MANTA_DECL std::string receive(std::chrono::milliseconds timeout = std::chrono::minutes(1));

 private:
  void finish(bool at_once);
  [[noreturn]] void fail(const std::string& what);
  /// Sends or receives all `size` bytes.
  void transfer(char* data, std::size_t size, bool out, std::chrono::steady_clock::time_point until);
  /// Writes the program's output to standard error and keeps the last part of it for errors.
  void forward_output();

  pid_t pid_ = 0;
  int to_ = -1, from_ = -1, output_ = -1;
  std::string name_, last_words_;
};

/// The Python interpreter: $MANTA_PYTHON, or python3.
MANTA_DECL std::string python_program();
/// Advice about an error of a Python program that does not find a package, to put before the error's text; empty
/// for other errors.
MANTA_DECL std::string python_package_advice(const std::string& error_text);

/// Python's side of the channel, to put before a script that ask_python talks to. It imports json, os, struct, sys and
/// traceback, and defines `answer_messages(make)`, which calls make() for a function from a request to an answer (both
/// bytes) and answers requests until the channel ends. An exception of that function becomes an answer too.
MANTA_DECL const char* python_channel();
/// Sends a request to a script that runs answer_messages, and waits for its answer. Throws manta::error with Python's
/// traceback if the script raised an exception. Also throws where send and receive throw; p.running() is false then.
MANTA_DECL std::string ask_python(process& p, std::string_view request, std::chrono::milliseconds timeout);
/// Checks an answer received from such a script: returns its bytes, or throws manta::error with Python's traceback.
MANTA_DECL std::string checked_python_answer(std::string_view answer);

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/process.ipp"
#endif
