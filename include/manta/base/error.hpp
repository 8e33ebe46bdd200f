// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Every exception that manta throws. All derive from manta::error, so that one
// catch clause is enough; the derived types say which situation it is. Each
// message says what happened, where, and what to do next.
#pragma once

#include "manta/base/config.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace manta {

namespace base {
/// What an exception of the user's says; its what() may have nothing to say.
inline const char* text_of(const std::exception& e) noexcept {
  const char* const text = e.what();
  return text != nullptr ? text : "an exception without a text";
}
}  // namespace base

/// The base of all of manta's exceptions; thrown itself for misuse of the interface.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where and why a task failed, as it travels from the rank that ran it to everyone who asks.
struct failure_details {
  std::string what;                 ///< text of the user's exception
  std::string type;                 ///< demangled type of the user's exception
  std::string function;             ///< the task's name or the function it ran
  std::string host;                 ///< the machine on which it ran
  int rank = -1;                    ///< the rank on which it ran
  int attempt = 0;                  ///< 0 for the first run, 1 for the first retry, ...
  /// Tasks that did not run because of it, nearest to the failure first; of many the first ones and the last.
  std::vector<std::string> chain;
};

/// A task threw, or depends on one that did. `details()` has the parts of the message.
class task_failed : public error {
 public:
  /// With the whole message, and its parts.
  explicit task_failed(const std::string& message, failure_details details = {})
      : error(message), details_(std::move(details)) {}
  const failure_details& details() const noexcept { return details_; }

 private:
  failure_details details_;
};

/// Somebody cancelled the task, or one that it depends on, or the driver's end dropped it before it ran.
class cancelled : public error {
 public:
  using error::error;
};

/// From `get_for`: the time was over before the value was there; the task goes on. From `get`: the task had not started
/// when its deadline was over, and never will.
class timeout : public error {
 public:
  using error::error;
};

/// No rank of this run can ever satisfy the request. Thrown at the call.
class unschedulable : public error {
 public:
  using error::error;
};

/// A rank has died, and what was asked of it cannot be done elsewhere: most often because the task has caused the death, and has
/// no retries left. It has if its rank's process ended by its own doing while it ran (exit, _exit, a signal, MPI_Abort), if the
/// kernel killed that for want of memory, or if it is the second rank that is killed under this task. The message names the
/// task and says how the process ended.
class rank_lost : public error {
 public:
  using error::error;
};

/// The value is lost with the rank that had it, and cannot be made again: it was put there, its task had been submitted
/// there, or what it was made from is gone.
class object_lost : public error {
 public:
  using error::error;
};

/// The actor is gone: killed, ended with its last handle, lost with its rank, or its constructor threw.
class actor_died : public error {
 public:
  using error::error;
};

/// The actor has as many calls waiting as its options allow; this one was not taken. Try again later.
class actor_busy : public error {
 public:
  using error::error;
};

/// Thrown by a method of an actor: its state is broken, and the call cannot be done. The actor is built anew if its
/// options allow restarts, else it ends. Derive from it, or throw it.
class fatal : public error {
 public:
  using error::error;
};

/// A rank holds more values than its share of the memory, and they cannot be moved to a disk. The message lists the
/// largest ones.
class store_full : public error {
 public:
  using error::error;
};

/// A value cannot be encoded or decoded; the type or the bytes are at fault.
class serialization_error : public error {
 public:
  using error::error;
};

/// Nothing runs, nothing can run and somebody waits. Exact, not a timeout; the message lists who waits for what.
class deadlock : public error {
 public:
  using error::error;
};

/// Thrown on every rank but 0 when the driver threw; `what()` carries its text.
class driver_failed : public error {
 public:
  using error::error;
};

/// A promise was destroyed before it was completed.
class broken_promise : public error {
 public:
  using error::error;
};

/// From push_for of a queue: it stayed full for the whole time.
class queue_full : public error {
 public:
  using error::error;
};

/// From pop_for of a queue: it stayed empty for the whole time.
class queue_empty : public error {
 public:
  using error::error;
};

/// A queue was closed: it takes nothing any more, or has nothing left to give.
class queue_closed : public error {
 public:
  using error::error;
};

/// An MPI call returned an error code.
class mpi_error : public error {
 public:
  /// With the whole message, and the code.
  mpi_error(const std::string& message, int code) : error(message), code_(code) {}
  /// The code that the MPI call returned.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

}  // namespace manta
