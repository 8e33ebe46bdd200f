// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of output.hpp.
#pragma once

#include <cxxabi.h>

#include <cstdlib>

#include "manta/tune/output/output.hpp"

namespace manta::tune {

namespace detail {
/// As people write it, where the compiler's library can say so.
MANTA_DECL std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : mangled;
}

MANTA_DECL std::string class_name(const std::type_info& type) {
  std::string name = demangled(type.name());
  constexpr std::string_view ours = "manta::tune::";
  if (name.starts_with(ours)) name.erase(0, ours.size());
  return name;
}
}  // namespace detail

MANTA_DECL std::string trial_folder(const output_context& context, trial_number trial) {
  std::string number = std::to_string(trial);
  if (number.size() < 5) number.insert(0, 5 - number.size(), '0');
  return context.folder + "/trials/" + number;
}

MANTA_DECL any_output any_output::clone() const {
  any_output a = *this;
  a.held_.reset(held_->clone());
  return a;
}

}  // namespace manta::tune
