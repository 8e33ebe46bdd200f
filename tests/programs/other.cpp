// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// One function more for program.cpp, so that ranks that run the two programs do not know the same tasks.
#include <manta/manta.hpp>

namespace {
int only_in_the_other_program(int x) { return x; }
}  // namespace

bool works_in_the_other_program();
bool works_in_the_other_program() { return manta::async<only_in_the_other_program>(1).get() == 1; }
