// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/rank/membership.hpp: who lives, who takes a dead rank's place, and which tasks
// the deaths speak against.
#include <doctest/doctest.h>

#include <cstdint>

#include "manta/exec/rank/membership.hpp"

using manta::exec::membership;
using manta::net::end_by;
using verdict = membership::verdict;

namespace {

constexpr std::uint64_t task = 77, another = 78;

const auto nobody = [](std::uint32_t) { return false; };

}  // namespace

TEST_CASE("all ranks live until a death is noted, and each death is noted once") {
  membership m(4);
  for (std::uint32_t r = 0; r < 4; ++r) CHECK_FALSE(m.is_dead(r));
  CHECK(m.deaths() == 0);
  CHECK(m.note_death(2, {"rank 2 has died", 0, end_by::kill}));
  CHECK_FALSE(m.note_death(2, {"again", 0, end_by::loss}));
  CHECK(m.is_dead(2));
  CHECK_FALSE(m.is_dead(3));
  CHECK(m.deaths() == 1);
  CHECK(m.obituary_of(2).why == "rank 2 has died");
  m.note_death(1, {"rank 1 has died", 0, end_by::kill});
  CHECK(m.all_obituaries() == "rank 1 has died; rank 2 has died");
}

TEST_CASE("a near spare takes a dead rank's place, else the first; a spare has no place") {
  membership m(8);
  CHECK(m.successor_of(1, nobody) == 0);
  m.appoint_spares(3);
  CHECK(m.has_spares());
  CHECK(m.is_spare(5));
  CHECK_FALSE(m.is_spare(4));
  CHECK(m.successor_of(1, nobody) == 5);
  CHECK(m.successor_of(1, [](std::uint32_t spare) { return spare >= 6; }) == 6);
  CHECK(m.successor_of(6, nobody) == 0);
  m.enlist(5);
  CHECK_FALSE(m.is_spare(5));
  m.note_death(6, {"", 0, end_by::kill});
  CHECK(m.successor_of(1, nobody) == 7);
  m.enlist(7);
  CHECK_FALSE(m.has_spares());
}

TEST_CASE("a task that ends its rank by its own doing has caused the death") {
  membership m(8);
  CHECK_FALSE(m.has_tolls());
  m.note_death(1, {"", task, end_by::itself});
  CHECK(m.has_tolls());
  CHECK(m.toll_of(task).blamed() == 1);
  CHECK(m.toll_of(task).last == 1);
  CHECK(m.toll_of(another).blamed() == 0);
  CHECK(m.is_to_blame(1, task));
  CHECK_FALSE(m.is_to_blame(1, another));
  CHECK(m.judge(1, task) == verdict::culprit);
  CHECK(m.judge(1, another) == verdict::innocent);
}

TEST_CASE("the first rank that is killed under a task is nobody's fault; the task keeps off rank 0") {
  membership m(8);
  m.note_death(1, {"", task, end_by::kill});
  CHECK_FALSE(m.is_to_blame(1, task));
  CHECK(m.judge(1, task) == verdict::suspect);
  m.note_death(2, {"", task, end_by::kill});
  CHECK(m.is_to_blame(2, task));
  CHECK(m.judge(2, task) == verdict::culprit);
  CHECK(m.toll_of(task).blamed() == 1);
}

TEST_CASE("where nobody knows what ran, the fourth death is too many for a task that was there each time") {
  for (const end_by by : {end_by::unknown, end_by::loss, end_by::itself}) {
    membership m(8);
    for (std::uint32_t r = 1; r <= 3; ++r) {
      m.note_death(r, {"", 0, by});
      CHECK(m.judge(r, task) == (by == end_by::unknown ? verdict::suspect : verdict::innocent));
    }
    m.note_death(4, {"", 0, by});
    CHECK(m.judge(4, another) != verdict::too_often);
    CHECK(m.judge(4, task) == verdict::too_often);
    CHECK(m.toll_of(task).present == 4);
    CHECK(m.toll_of(task).last == 4);
    CHECK(m.toll_of(task).blamed() == 0);
  }
}

TEST_CASE("a rank that is killed while no task ran there speaks against none") {
  membership m(8);
  m.note_death(1, {"", 0, end_by::kill});
  CHECK(m.judge(1, task) == verdict::innocent);
  CHECK_FALSE(m.has_tolls());
}

TEST_CASE("any number may be a task's id") {
  membership m(8);
  m.note_death(1, {"", ~std::uint64_t{0}, end_by::itself});
  CHECK(m.is_to_blame(1, ~std::uint64_t{0}));
}
