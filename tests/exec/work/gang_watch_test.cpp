// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/work/gang_watch.hpp: what is said of gangs that may never end, and when.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "manta/exec/work/gang_watch.hpp"

using manta::exec::gang_watch;
using manta::exec::stall_watch;

namespace {
constexpr std::int64_t patience = gang_watch::patience_ns, start = 1000;
}

TEST_CASE("a stall is said once, after the patience, and again after a task has ended") {
  stall_watch w;
  CHECK_FALSE(w.look(false, 3, start));
  CHECK_FALSE(w.look(true, 3, start));
  CHECK_FALSE(w.look(true, 3, start + patience - 1));
  CHECK(w.look(true, 3, start + patience));
  CHECK_FALSE(w.look(true, 3, start + 3 * patience));
  CHECK_FALSE(w.look(true, 4, start + 3 * patience));
  CHECK(w.look(true, 4, start + 4 * patience));
  CHECK_FALSE(w.look(false, 4, start + 5 * patience));
  CHECK_FALSE(w.look(true, 4, start + 5 * patience));
  CHECK_FALSE(w.look(true, 4, start + 6 * patience - 1));
}

TEST_CASE("looks are due ten times a second") {
  stall_watch w;
  CHECK(w.is_due(patience));
  CHECK_FALSE(w.is_due(patience));
  CHECK_FALSE(w.is_due(patience + stall_watch::between_looks_ns - 1));
  CHECK(w.is_due(patience + stall_watch::between_looks_ns));
}

TEST_CASE("a broken gang ends when its time is over, and is forgotten when it has no members") {
  gang_watch w;
  CHECK_FALSE(w.has_broken());
  w.note_broken(5, start);
  w.note_broken(6, start);
  w.note_broken(7, start);
  std::vector<std::uint64_t> ended;
  const auto end = [&](std::uint64_t gang) { ended.push_back(gang); };
  w.give_time(6, start + 100);
  w.end_broken(
      start - 1, [](std::uint64_t gang) { return gang != 7; }, end);
  CHECK(ended.empty());
  const auto all_live = [](std::uint64_t) { return true; };
  w.end_broken(start, all_live, end);
  CHECK(ended == std::vector<std::uint64_t>{5});
  w.end_broken(start + 99, all_live, end);
  CHECK(w.has_broken());
  w.end_broken(start + 100, all_live, end);
  CHECK(ended == std::vector<std::uint64_t>{5, 6});
  CHECK_FALSE(w.has_broken());
}

TEST_CASE("a rank says at most once in ten seconds that it is stuck") {
  gang_watch w;
  CHECK(w.may_say_stuck(patience));
  CHECK_FALSE(w.may_say_stuck(2 * patience - 1));
  CHECK(w.may_say_stuck(2 * patience));
}

TEST_CASE("a rank is alone for too long only while it is alone") {
  gang_watch w;
  CHECK_FALSE(w.is_alone_too_long(patience));
  w.begin_alone(start);
  CHECK_FALSE(w.is_alone_too_long(start + patience - 1));
  CHECK(w.is_alone_too_long(start + patience));
  w.end_alone();
  CHECK_FALSE(w.is_alone_too_long(start + patience));
}
