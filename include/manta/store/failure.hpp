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
  std::string exception_type;     ///< mangled type registered by rethrow_as, or empty
  std::string exception_bytes;    ///< the encoded exception

  /// Whether a call ended because its actor died. False if the call did not run because an argument had failed so.
  bool tells_of_lost_call() const { return kind == kind::actor && details.chain.empty(); }

  void write(wire::buffer& out) const {
    wire::put(out, kind);
    wire::put(out, fatal);
    wire::put(out, actor_may_return);
    wire::put(out, details.rank);
    wire::put(out, details.attempt);
    for (const std::string* text : {&message, &details.what, &details.type, &details.function, &details.host,
                                    &exception_type, &exception_bytes}) {
      wire::put(out, *text);
    }
    wire::put(out, details.chain.size());
    for (const std::string& function : details.chain) wire::put(out, function);
  }
  void read(wire::source& in) {
    in.get(kind);
    in.get(fatal);
    in.get(actor_may_return);
    in.get(details.rank);
    in.get(details.attempt);
    for (std::string* text : {&message, &details.what, &details.type, &details.function, &details.host, &exception_type,
                              &exception_bytes}) {
      in.get(*text);
    }
    for (auto count = in.get<std::size_t>(); count > 0; --count) details.chain.push_back(in.get<std::string>());
  }
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
  bool (*capture)(std::string& bytes);      ///< called in a catch: encodes the current exception if it has this type
  void (*raise)(const std::string& bytes);  ///< decodes and throws the exception
};

inline std::string host_name() {
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  return name;
}

/// Shortens a long text to its beginning and the innermost failure in it. A text with a hundred thousand nested
/// failures then names the outermost tasks and the cause, but not the tasks between them.
inline std::string shortened(std::string text) {
  constexpr std::size_t outermost = 512, innermost = 2048;
  if (text.size() <= outermost + innermost) return text;
  const std::size_t cause = text.rfind("manta: task '");
  if (cause != std::string::npos && cause > outermost) text.replace(outermost, cause - outermost, " [...] ");
  if (text.size() > outermost + innermost) text.replace(outermost + innermost, std::string::npos, " [...]");
  return text;
}

/// Makes a failure from the exception that is being handled.
inline failure current_failure() {
  failure f;
  if (const std::type_info* type = abi::__cxa_current_exception_type()) {
    f.details.type = wire::demangle(type->name());
    for (const exception_entry& entry : wire::table<exception_entry>()) {
      if (std::strcmp(entry.mangled, type->name()) == 0 && entry.capture(f.exception_bytes)) {
        f.exception_type = entry.mangled;
        break;
      }
    }
  }
  try {
    throw;
  } catch (const serialization_error& e) {
    f.kind = failure::kind::serialization;
    f.details.what = e.what();
  } catch (const cancelled& e) {  // thrown by a get() in the task
    f.kind = failure::kind::cancelled;
    f.details.what = e.what();
    f.message = std::string(f.details.what).substr(f.details.what.starts_with("manta: ") ? 7 : 0);
  } catch (const deadlock& e) {
    f.kind = failure::kind::deadlock;
    f.details.what = e.what();
  } catch (const manta::fatal& e) {
    f.fatal = true;
    f.details.what = base::text_of(e);
  } catch (const task_failed& e) {
    f.details.what = shortened(e.what());
  } catch (const std::exception& e) {
    f.details.what = base::text_of(e);
  } catch (const std::string& text) {
    f.details.what = text;
  } catch (const char* text) {  // also catches nullptr
    f.details.what = text != nullptr ? text : "an exception without a text";
  } catch (...) {
    f.details.what = "an exception that is not a std::exception";
  }
  return f;
}

/// The whole message: the reason, the place, and the tasks that did not run because of it.
inline std::string describe(const failure& f) {
  std::string text = "manta: ";
  if (f.kind == failure::kind::task || f.kind == failure::kind::serialization || f.kind == failure::kind::deadlock) {
    text += "task '" + f.details.function + "' failed on rank " + std::to_string(f.details.rank) + " (" +
            f.details.host + ")";
    if (f.details.attempt > 0) text += " at attempt " + std::to_string(f.details.attempt);
    text += " with " + f.details.type + ": " + f.details.what;
  } else {
    text += f.message;
  }
  for (std::size_t i = 0; i < f.details.chain.size(); ++i) {
    text += i == 0 ? "; not run because of it: '" : i + 1 == most_named_dependents ? "', ..., '" : "', '";
    text += f.details.chain[i];
  }
  if (!f.details.chain.empty()) text += "'";
  return text;
}

[[noreturn]] inline void raise(const failure& f) {
  if (!f.exception_type.empty()) {
    for (const exception_entry& entry : wire::table<exception_entry>()) {
      if (f.exception_type == entry.mangled) entry.raise(f.exception_bytes);
    }
  }
  const std::string text = describe(f);
  switch (f.kind) {
    case failure::kind::task:
      throw task_failed(text, f.details);
    case failure::kind::cancelled:
      throw cancelled(text);
    case failure::kind::actor:
      throw actor_died(text);
    case failure::kind::busy:
      throw actor_busy(text);
    case failure::kind::serialization:
      throw serialization_error(text);
    case failure::kind::deadlock:
      throw deadlock(text);
    case failure::kind::unschedulable:
      throw unschedulable(text);
    case failure::kind::timeout:
      throw timeout(text);
    case failure::kind::full:
      throw store_full(text);
    case failure::kind::rank:
      throw rank_lost(text);
    case failure::kind::object:
      throw object_lost(text);
  }
  std::terminate();
}

inline wire::buffer encode(const failure& f) {
  wire::buffer bytes;
  f.write(bytes);
  return bytes;
}
inline failure_ptr decode_failure(const std::byte* data, std::size_t bytes) {
  failure f;
  wire::source in(data, bytes);
  f.read(in);
  return share(std::move(f));
}

}  // namespace manta::store
