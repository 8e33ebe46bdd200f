// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// SIGTERM comes in the middle of an epoch of trainer::fit: the program saves itself and ends with the status 85. The
// next start goes on, and ends with the bits of a training that nobody has interrupted.
//
//   interrupted CHECKPOINT first      the status is 85
//   interrupted CHECKPOINT again      the status is 0
#include <cstdio>
#include <cstring>

#include "two_clouds.hpp"

std::vector<double> trained(int signal, const std::string& checkpoint) {
  train::trainer trainer(two_clouds{signal, manta::size() - 1}, {.batch = 20, .seed = 1});
  const train::history h = trainer.fit({.epochs = 5, .checkpoint = checkpoint, .progress = false});
  if (h.epochs.size() != 5) std::printf("the history has %zu epochs\n", h.epochs.size());
  const auto net = trainer.model();
  return {net.parameters().begin(), net.parameters().end()};
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [argc, argv] {
    if (argc < 3) return 2;
    const bool is_first = std::strcmp(argv[2], "first") == 0;
    const std::vector<double> got = trained(is_first ? SIGTERM : 0, argv[1]);
    if (is_first) return 3;  // fit was to throw
    return got == trained(0, "") ? 0 : 1;
  });
}
