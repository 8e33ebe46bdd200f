// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string_view>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/store/failure.hpp"

namespace manta::store {

MANTA_DECL std::string host_name() {
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  return name;
}
MANTA_DECL std::string shortened(std::string text) {
  constexpr std::size_t outermost = 512, innermost = 2048;
  if (text.size() <= outermost + innermost) return text;
  const std::size_t cause = text.rfind("manta: task '");
  if (cause != std::string::npos && cause > outermost) text.replace(outermost, cause - outermost, " [...] ");
  if (text.size() > outermost + innermost) text.replace(outermost + innermost, std::string::npos, " [...]");
  return text;
}
/// The type of an exception as the program knows it: without the class that std::throw_with_nested, or a registered
/// exception on its way, derives from it.
inline std::string type_of_exception(std::string mangled) {
  for (const auto& [before, after] : {std::pair<std::string_view, std::string_view>{"St17_Nested_exceptionI", "E"},
                                      {"N5manta6detail19exception_with_textI", "EE"}}) {
    if (!mangled.starts_with(before) || !mangled.ends_with(after)) continue;
    mangled = mangled.substr(before.size(), mangled.size() - before.size() - after.size());
  }
  return mangled;
}

/// Appends what is nested in an exception by std::throw_with_nested, at most that deep.
inline void append_causes(std::string& text, const std::exception& e, int deepest) {
  if (deepest == 0) return;
  try {
    std::rethrow_if_nested(e);
  } catch (const std::exception& cause) {
    const std::string type = wire::demangle(type_of_exception(typeid(cause).name()).c_str());
    text += base::text("; caused by {}: {}", type, base::text_of(cause));
    append_causes(text, cause, deepest - 1);
  } catch (...) {
    text += "; caused by an exception that is not a std::exception";
  }
}

MANTA_DECL failure current_failure() {
  constexpr int deepest_cause = 16;
  failure f;
  if (const std::type_info* thrown = abi::__cxa_current_exception_type()) {
    const std::string type = type_of_exception(thrown->name());
    f.details.type = wire::demangle(type.c_str());
    for (const exception_entry& entry : wire::table<exception_entry>()) {
      if (type == entry.mangled && entry.capture(f.exception_bytes)) {
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
    append_causes(f.details.what, e, deepest_cause);
  } catch (const task_failed& e) {
    f.details.what = shortened(e.what());
  } catch (const std::exception& e) {
    f.details.what = base::text_of(e);
    append_causes(f.details.what, e, deepest_cause);
  } catch (const std::string& text) {
    f.details.what = text;
  } catch (const char* text) {  // also catches nullptr
    f.details.what = text != nullptr ? text : "an exception without a text";
  } catch (...) {
    f.details.what = "an exception that is not a std::exception";
  }
  return f;
}
MANTA_DECL std::string describe(const failure& f) {
  std::string text = "manta: ";
  if (f.kind == failure::kind::task || f.kind == failure::kind::serialization || f.kind == failure::kind::deadlock) {
    text += base::text("task '{}' failed on rank {} ({})", f.details.function, f.details.rank, f.details.host);
    if (f.details.attempt > 0) text += base::text(" at attempt {}", f.details.attempt);
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
[[noreturn]] MANTA_DECL void refuse_exception(const char* mangled_type, const std::string& text) {
  const std::string why = current_failure().details.what;
  throw serialization_error(base::text(
      "manta: an exception of type {} that a task threw cannot be read here, since its load() throws ({}); its text "
      "was: {}",
      wire::demangle(mangled_type), why, text));
}

[[noreturn]] MANTA_DECL void raise(const failure& f) {
  if (!f.exception_type.empty()) {
    for (const exception_entry& entry : wire::table<exception_entry>()) {
      if (f.exception_type == entry.mangled) entry.raise(f.exception_bytes, f.details.what);
    }
  }
  const std::string text = describe(f);
  switch (f.kind) {
    case failure::kind::task: throw task_failed(text, f.details);
    case failure::kind::cancelled: throw cancelled(text);
    case failure::kind::actor: throw actor_died(text);
    case failure::kind::busy: throw actor_busy(text);
    case failure::kind::serialization: throw serialization_error(text);
    case failure::kind::deadlock: throw deadlock(text);
    case failure::kind::unschedulable: throw unschedulable(text);
    case failure::kind::timeout: throw timeout(text);
    case failure::kind::full: throw store_full(text);
    case failure::kind::rank: throw rank_lost(text);
    case failure::kind::object: throw object_lost(text);
  }
  std::terminate();
}
MANTA_DECL wire::buffer encode(const failure& f) {
  wire::buffer bytes;
  f.write(bytes);
  return bytes;
}
MANTA_DECL failure_ptr decode_failure(const std::byte* data, std::size_t bytes) {
  failure f;
  wire::source in(data, bytes);
  f.read(in);
  return share(std::move(f));
}

MANTA_DECL void failure::write(wire::buffer& out) const {
  wire::put(out, kind);
  wire::put(out, fatal);
  wire::put(out, actor_may_return);
  wire::put(out, details.rank);
  wire::put(out, details.attempt);
  for (const std::string* text :
       {&message, &details.what, &details.type, &details.function, &details.host, &exception_type, &exception_bytes}) {
    wire::put(out, *text);
  }
  wire::put(out, details.chain.size());
  for (const std::string& function : details.chain) wire::put(out, function);
}
MANTA_DECL void failure::read(wire::source& in) {
  in.get(kind);
  in.get(fatal);
  in.get(actor_may_return);
  in.get(details.rank);
  in.get(details.attempt);
  for (std::string* text :
       {&message, &details.what, &details.type, &details.function, &details.host, &exception_type, &exception_bytes}) {
    in.get(*text);
  }
  for (auto count = in.get<std::size_t>(); count > 0; --count) details.chain.push_back(in.get<std::string>());
}

}  // namespace manta::store
