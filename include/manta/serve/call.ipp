// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/serve/call.hpp"

namespace manta::serve::detail {

MANTA_DECL void append_value(std::string& to, std::string_view json, answer_form form) {
  if (form == answer_form::events) {
    to += "data: ";
    to += json;
    to += "\n\n";
  } else {
    to += json;
    if (form == answer_form::lines) to += '\n';
  }
}

}  // namespace manta::serve::detail
