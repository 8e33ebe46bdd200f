// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of settings.hpp.
#pragma once

#include <cxxabi.h>

#include <cstdlib>

#include "manta/serve/settings.hpp"

namespace manta::serve::detail {

inline std::string readable(const std::string& type) {
  char* const text = abi::__cxa_demangle(type.c_str(), nullptr, nullptr, nullptr);
  const std::string name = text != nullptr ? text : type;
  std::free(text);
  return name;
}

MANTA_DECL void refuse_settings(const std::string& taken, const std::string& given) {
  if (taken.empty()) throw error("manta: serve: the deployed class has no method `reconfigure`");
  throw error("manta: serve: `reconfigure` of the deployed class takes " + readable(taken) + ", and was given " +
              readable(given));
}

}  // namespace manta::serve::detail
