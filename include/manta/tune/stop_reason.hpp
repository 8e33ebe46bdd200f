// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Why an experiment stops before all its trials have run, and what the user's searcher, scheduler and
// rules have thrown.
#pragma once

#include <exception>
#include <string>

#include "manta/tune/source.hpp"

namespace manta::tune::detail {

class stop_reason {
 public:
  /// Empty: the experiment does not stop. The first reason that was given stays.
  const std::string& text() const { return text_; }
  bool is_set() const { return !text_.empty(); }
  /// Whether the experiment stopped for a mistake that the user must correct.
  bool is_mistake() const { return is_mistake_; }

  MANTA_DECL void set(const std::string& why);
  MANTA_DECL void set_mistake(const std::string& why);

  /// Calls the searcher, the scheduler or a rule; `who` names it in the reason. If the call throws, the experiment
  /// stops, and nothing of the user's is called any more: from then on each call gives an empty result.
  template <class Call>
  auto guarded(const char* who, Call call) -> decltype(call()) {
    using result = decltype(call());
    if (thrown_) return result();
    try {
      return call();
    } catch (...) {
      thrown_ = std::current_exception();
      note_thrown(who);
    }
    return result();
  }
  bool has_thrown() const { return thrown_ != nullptr; }
  /// Throws what such a call has thrown, if it did; only the first time.
  MANTA_DECL void throw_once();

 private:
  void note_thrown(const char* who);

  std::string text_;
  std::exception_ptr thrown_;
  bool is_mistake_ = false, is_told_ = false;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/stop_reason.ipp"
#endif
