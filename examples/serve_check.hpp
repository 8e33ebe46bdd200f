// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the examples of serve check themselves: a shell command asks the server.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

/// Serves until the shell command has ended, and gives what it has printed.
template <class Http>
std::string output_beside(Http& http, const std::string& command) {
  std::FILE* const pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  ::fcntl(::fileno(pipe), F_SETFL, O_NONBLOCK);
  std::string output;
  std::vector<char> part(1 << 16);
  for (ssize_t size = -1; size != 0;) {  // 0: the end; -1: there is nothing yet
    http.run_for(std::chrono::milliseconds(50));
    size = ::read(::fileno(pipe), part.data(), part.size());
    if (size > 0) output.append(part.data(), static_cast<std::size_t>(size));
  }
  ::pclose(pipe);
  return output;
}

inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}
