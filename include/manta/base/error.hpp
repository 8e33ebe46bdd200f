// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Every exception that manta throws. All derive from manta::error, so that one catch clause is enough; the derived
// types say which situation it is. Each message says what happened, where, and what to do next.
#pragma once

#include "manta/base/config.hpp"

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace manta {

namespace base {
/// The text of a user's exception, whose what() may be null or empty.
inline const char* text_of(const std::exception& e) noexcept {
  const char* const text = e.what();
  return text != nullptr ? text : "an exception without a text";
}
}  // namespace base

/// The base class of all of manta's exceptions. manta throws it for misuse of the interface.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where and why a task failed. The details travel from the rank that ran the task to each rank that calls get().
struct failure_details {
  std::string what;      ///< text of the user's exception
  std::string type;      ///< demangled type of the user's exception
  std::string function;  ///< the task's name or the function it ran
  std::string host;      ///< the machine on which it ran
  int rank = -1;         ///< the rank on which it ran
  int attempt = 0;       ///< 0 for the first run, 1 for the first retry, ...
  /// The tasks that did not run because of the failure, nearest to it first; of many, the first ones and the last one.
  std::vector<std::string> chain;
};

/// The task threw an exception, or depends on a task that did. `details()` has the parts of the message.
class task_failed : public error {
 public:
  /// Makes an error from the whole message and its parts.
  explicit task_failed(const std::string& message, failure_details details = {})
      : error(message), details_(std::move(details)) {}
  const failure_details& details() const noexcept { return details_; }

 private:
  failure_details details_;
};

/// The task, or one that it depends on, was cancelled, or was dropped before it ran when the run ended.
class cancelled : public error {
 public:
  using error::error;
};

/// From `get_for`: the time was over before the value existed; the task goes on. From `get`: the task had not started
/// when its deadline was over, and never will.
class timeout : public error {
 public:
  using error::error;
};

/// No rank of this run can ever meet the request. The call itself throws it.
class unschedulable : public error {
 public:
  using error::error;
};

/// A rank has died, and no other rank can do what was asked of it. The usual reason is a task that has caused the death
/// and has no retries left. A task counts as the cause in three cases: the process of its rank ended by itself while
/// the task ran (exit, _exit, a signal, MPI_Abort), the kernel killed the process because memory ran out, or a second
/// rank was killed while it ran this task. The message names the task and says how the process ended.
class rank_lost : public error {
 public:
  using error::error;
};

/// The value is lost with the rank that held it, and cannot be computed again: `put` had stored it there, its task had
/// been submitted there, or the task's own inputs are gone.
class object_lost : public error {
 public:
  using error::error;
};

/// The actor is gone: killed, ended with its last handle, lost with its rank, or its constructor threw.
class actor_died : public error {
 public:
  using error::error;
};

/// The actor has as many waiting calls as its options allow, and refused this one. Try again later.
class actor_busy : public error {
 public:
  using error::error;
};

/// There is no actor of a name, or there is one already, or it is of another class.
class name_error : public error {
 public:
  /// No actor has the name, one has it already, or that one is of another class.
  enum class reason { unknown, taken, other_class };
  /// Makes an error from the whole message and its reason.
  name_error(const std::string& message, reason why) : error(message), why_(why) {}
  /// What is wrong with the name, for a program that goes on.
  reason why() const noexcept { return why_; }

 private:
  reason why_;
};

/// A method of an actor throws it, or a class derived from it, to say that the actor's state is broken. The actor
/// restarts if its options allow that, else it ends.
class fatal : public error {
 public:
  using error::error;
};

/// A rank holds more values than its share of the memory, and cannot move them to a disk. The message lists
/// the largest values.
class store_full : public error {
 public:
  using error::error;
};

/// A value cannot be encoded or decoded; the type or the bytes are at fault.
class serialization_error : public error {
 public:
  using error::error;
};

/// Nothing runs, nothing can run, and some task waits. manta finds this exactly, not by a time limit. The message lists
/// which task waits for what.
class deadlock : public error {
 public:
  using error::error;
};

/// Thrown on every rank except 0 when the driver threw an exception; `what()` has its text.
class driver_failed : public error {
 public:
  using error::error;
};

/// A promise was destroyed before it was completed.
class broken_promise : public error {
 public:
  using error::error;
};

/// Thrown by push_for of a queue that stayed full for the whole time.
class queue_full : public error {
 public:
  using error::error;
};

/// Thrown by pop_for of a queue that stayed empty for the whole time.
class queue_empty : public error {
 public:
  using error::error;
};

/// The queue was closed: it takes no values any more, or has none left.
class queue_closed : public error {
 public:
  using error::error;
};

/// An MPI call returned an error code.
class mpi_error : public error {
 public:
  /// Makes an error from the whole message and the code.
  mpi_error(const std::string& message, int code) : error(message), code_(code) {}
  /// The code that the MPI call returned.
  int code() const noexcept { return code_; }

 private:
  int code_;
};

}  // namespace manta
