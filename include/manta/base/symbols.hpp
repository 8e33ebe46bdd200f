// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Names of functions by addresses of code, for people who look at a stack. The names in the program are read from its
// own file, so that it need not be linked with -rdynamic; those in shared libraries are the exported ones.
#pragma once

#include <span>
#include <string>

#include "manta/base/config.hpp"
#include "manta/base/vector.hpp"

namespace manta::base {

/// A function of a stack.
struct code_place {
  std::string function = {};  ///< as people write it, without its return type; else the file and the offset in it
  std::string file = {};      ///< the program or the shared library
  bool is_program = false;    ///< whether it is in the program itself, not in a shared library
};

/// The functions in which these addresses lie. Reads the program's file.
MANTA_DECL vector<code_place> code_places(std::span<void* const> addresses);

/// The name of a function without what the compiler adds: "double f<int>(int)" is "f<int>(int)".
MANTA_DECL std::string without_return_type(std::string name);

}  // namespace manta::base

#ifndef MANTA_COMPILED
#include "manta/base/symbols.ipp"
#endif
