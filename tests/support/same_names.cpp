// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Of actor_test: a class in an unnamed namespace like one there.
#include <manta/manta.hpp>

#include <vector>

namespace {

class anonymous {
 public:
  int file() { return 2; }
  int file_const() const { return 2; }
};

}  // namespace

std::vector<int> ask_in_other_file() {
  const auto other = manta::spawn<anonymous>();
  return {manta::async<&anonymous::file>(other).get(), manta::async<&anonymous::file_const>(other).get()};
}
