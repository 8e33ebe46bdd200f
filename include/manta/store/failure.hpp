// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The reason why there is no value: a failure is stored in a node and sent between ranks. It is made from the current
// exception, and becomes an exception again where the program calls get().
#pragma once

#include <cxxabi.h>
#include <unistd.h>

#include <exception>
#include <string>

#include "manta/base/config.hpp"
#include "manta/base/error.hpp"
#include "manta/base/shared.hpp"
#include "manta/wire/bytes.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::store {

struct failure : base::counted {
  enum class kind : std::uint8_t {
    task,
    cancelled,
    actor,
    busy,
    serialization,
    deadlock,
    unschedulable,
    timeout,
    full,
    rank,
    object
  };
  failure::kind kind = kind::task;
  std::string message;  ///< the reason in one sentence, without rank and chain
  failure_details details;
  bool fatal = false;             ///< the actor whose method threw it is broken
  bool actor_may_return = false;  ///< kind actor: the actor lives on or restarts, as far as its options allow
  bool ran_there = false;         ///< kind actor: the call ran on the rank that died; not sent to others
  std::string exception_type;     ///< mangled type registered by rethrow_as, or empty
  std::string exception_bytes;    ///< the encoded exception

  /// Whether a call ended because its actor died. False if the call did not run because an argument had failed so.
  bool tells_of_lost_call() const { return kind == kind::actor && details.chain.empty(); }

  void write(wire::buffer& out) const;
  void read(wire::source& in);
};
/// Number of tasks in a message that did not run because of a failure: the first ones and the last one.
inline constexpr std::size_t most_named_dependents = 16;

inline void add_dependent(failure& f, std::string&& function) {
  if (f.details.chain.size() == most_named_dependents) f.details.chain.pop_back();
  f.details.chain.push_back(std::move(function));
}

using failure_ptr = base::shared<const failure>;
inline failure_ptr share(failure&& f) { return failure_ptr(new failure(std::move(f))); }

/// An exception type that was registered with rethrow_as.
struct exception_entry {
  const char* mangled;
  bool (*capture)(std::string& bytes);  ///< called in a catch: encodes the current exception if it has this type
  void (*raise)(const std::string& bytes,
                const std::string& text);  ///< decodes and throws the exception, which says `text`
};

MANTA_DECL std::string host_name();

/// Shortens a long text to its beginning and the innermost failure in it. A text with a hundred thousand nested
/// failures then names the outermost tasks and the cause, but not the tasks between them.
MANTA_DECL std::string shortened(std::string text);

/// Makes a failure from the exception that is being handled.
MANTA_DECL failure current_failure();

/// The whole message: the reason, the place, and the tasks that did not run because of it.
MANTA_DECL std::string describe(const failure& f);

[[noreturn]] MANTA_DECL void raise(const failure& f);
/// In a catch: the exception of that type, which said `text`, cannot be read from its bytes for the reason that is
/// being handled. Throws serialization_error.
[[noreturn]] MANTA_DECL void refuse_exception(const char* mangled_type, const std::string& text);

MANTA_DECL wire::buffer encode(const failure& f);
MANTA_DECL failure_ptr decode_failure(const std::byte* data, std::size_t bytes);

}  // namespace manta::store

#ifndef MANTA_COMPILED
#include "manta/store/failure.ipp"
#endif
