// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The smallest program that shows that an installed manta works.
#include <manta/manta.hpp>

int add(int x, int y) { return x + y; }

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] { return manta::async<add>(manta::async<add>(1, 2), 3).get() == 6 ? 0 : 1; });
}
