// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the examples of serve check themselves: a shell command asks the server, on a thread beside it.
#pragma once

#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

/// Serves until the shell command has ended, and gives what it has printed.
template <class Http>
std::string output_beside(Http& http, std::string command) {
  struct shell {
    std::string command, output;
    static void* run(void* self) {
      auto& mine = *static_cast<shell*>(self);
      char part[256];
      std::FILE* const pipe = ::popen(mine.command.c_str(), "r");
      while (pipe != nullptr && std::fgets(part, sizeof part, pipe) != nullptr) mine.output += part;
      if (pipe != nullptr) ::pclose(pipe);
      return nullptr;
    }
  } asked{std::move(command), ""};
  pthread_t thread;
  if (::pthread_create(&thread, nullptr, &shell::run, &asked) != 0) throw std::runtime_error("no thread");
  do {
    http.run_for(std::chrono::milliseconds(50));
  } while (::pthread_tryjoin_np(thread, nullptr) != 0);
  return asked.output;
}

inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}
