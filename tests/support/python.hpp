// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What tests with Python processes share.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace manta::testing {

/// Is there an interpreter with NumPy? The system's has it where scripts/setup was run. Sets $MANTA_PYTHON.
inline bool has_python() {
  static const bool found = [] {
    for (const char* python : {"python3", "/usr/bin/python3"}) {
      setenv("MANTA_PYTHON", python, 1);
      if (std::system((std::string(python) + " -c 'import numpy' 2>/dev/null").c_str()) == 0) return true;
    }
    MESSAGE("not tested: there is no Python with NumPy");
    return false;
  }();
  return found;
}

/// A folder or file beside the source `file`, which the compiler saw from the build folder. That has tests/ with this
/// program.
inline std::string folder_beside(const char* file, const char* name) {
  const std::filesystem::path build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return std::filesystem::canonical((build / file).parent_path() / name);
}

}  // namespace manta::testing
