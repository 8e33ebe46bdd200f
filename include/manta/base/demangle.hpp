// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Names of types as people write them.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace manta::base {

/// Translates a compiler's name into the name in the program; other text stays as it is.
inline std::string demangle(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : mangled;
  std::free(text);
  // The library's own name of its string says nothing to those who write std::string.
  constexpr std::string_view long_name =
      "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";
  for (std::size_t at = 0; (at = name.find(long_name, at)) != std::string::npos;)
    name.replace(at, long_name.size(), "std::string");
  return name;
}

}  // namespace manta::base
