// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Names of types as people write them.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <string>

namespace manta::base {

/// Translates a compiler's name into the name in the program; other text stays as it is.
inline std::string demangle(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  return name;
}

}  // namespace manta::base
