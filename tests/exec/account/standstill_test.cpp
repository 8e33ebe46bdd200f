// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/account/standstill.hpp: when rank 0 asks how many tasks of the others have ended, and when it says that none has.
#include <doctest/doctest.h>

#include <cstdint>

#include "manta/exec/account/standstill.hpp"

using manta::exec::standstill;
using wish = standstill::wish;

namespace {
constexpr std::int64_t start = 1000, minute = standstill::pause_ns, stall = standstill::stall_ns;
}

TEST_CASE("a run in which no task of any rank ends is told of once, after the others were asked each minute") {
  standstill s;
  CHECK(s.look(7, true, start) == wish::nothing);
  int counted = 0, told = 0;
  for (std::int64_t now = start; now <= start + 2 * stall; now += standstill::second_ns) {
    const wish w = s.look(7, true, now);
    counted += w == wish::count ? 1 : 0;
    told += w == wish::tell ? 1 : 0;
    CHECK((w == wish::tell) == (now == start + stall));
  }
  CHECK(told == 1);
  CHECK(counted == 4);
}

TEST_CASE("an end on any rank begins the time anew, and the next standstill is told of too") {
  standstill s;
  s.look(7, true, start);
  CHECK(s.look(7, true, start + minute) == wish::count);
  CHECK(s.look(8, true, start + minute + 1) == wish::nothing);  // so many, says another rank
  CHECK(s.look(8, true, start + stall) == wish::count);
  CHECK(s.look(8, true, start + minute + 1 + stall) == wish::tell);
  CHECK(s.look(9, true, start + 2 * stall) == wish::nothing);
  CHECK(s.look(9, true, start + 3 * stall) == wish::tell);
}

TEST_CASE("a run without unfinished tasks does not stand still, and looks are due once a second") {
  standstill s;
  CHECK(s.is_due(start));
  for (std::int64_t now = start; now < start + 2 * stall; now += minute) CHECK(s.look(7, false, now) == wish::nothing);
  s.begin_run();
  s.look(0, true, start);
  CHECK_FALSE(s.is_due(start + standstill::second_ns - 1));
  CHECK(s.is_due(start + standstill::second_ns));
}
