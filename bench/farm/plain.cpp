// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The limit of manta-farm: a loop that keeps a number of `sh -c LINE` running by posix_spawn, and keeps nothing of them.
//
//   plain FILE [NUMBER]
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: plain FILE [NUMBER]\n", stderr);
    return 2;
  }
  std::ifstream file(argv[1]);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  const long most = argc > 2 ? std::atol(argv[2]) : 2;
  std::size_t next = 0;
  long running = 0;
  bool all_well = true;
  while (next < lines.size() || running > 0) {
    for (; running < most && next < lines.size(); ++running) {
      char sh[] = "/bin/sh", option[] = "-c";
      char* const words[] = {sh, option, lines[next++].data(), nullptr};
      pid_t pid = 0;
      if (::posix_spawn(&pid, sh, nullptr, nullptr, words, environ) != 0) return 1;
    }
    int status = 0;
    ::wait(&status);
    all_well = all_well && status == 0;
    --running;
  }
  return all_well ? 0 : 1;
}
