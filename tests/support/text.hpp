// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Texts in tests: what an exception says, what a file holds. Needs no MPI.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace manta::testing {

/// The text of the exception of that type; empty if none is thrown.
template <typename Exception, typename Function>
std::string thrown(Function&& function) {
  try {
    function();
  } catch (const Exception& e) {
    return e.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A new folder that goes with the object.
struct folder {
  std::string path;
  folder() {
    char name[] = "/tmp/manta_test_XXXXXX";
    path = ::mkdtemp(name);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { (void)!std::system(("rm -rf " + path).c_str()); }
};

/// All that the file holds.
inline std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

}  // namespace manta::testing
