// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/error.hpp"
#include "manta/tune/stop_reason.hpp"

namespace manta::tune::detail {

MANTA_DECL void stop_reason::set(const std::string& why) {
  if (text_.empty()) text_ = why;
}

MANTA_DECL void stop_reason::set_mistake(const std::string& why) {
  is_mistake_ = true;
  set(why);
}

MANTA_DECL void stop_reason::throw_once() {
  if (thrown_ && !std::exchange(is_told_, true)) std::rethrow_exception(thrown_);
}

MANTA_DECL void stop_reason::note_thrown(const char* who) {
  try {
    std::rethrow_exception(thrown_);
  } catch (const std::exception& e) {
    set_mistake(std::string(who) + " threw: " + base::text_of(e));
  } catch (...) {
    set_mistake(std::string(who) + " threw something that is not a std::exception");
  }
}

}  // namespace manta::tune::detail
