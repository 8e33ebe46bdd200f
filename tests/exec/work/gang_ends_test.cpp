// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/work/gang_ends.hpp: the leader's books of how members end, in any order,
// and of who has come to a meeting.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "manta/exec/work/gang_ends.hpp"

using manta::exec::gang_ends;
using manta::graph::task;
using gang_end = gang_ends::gang_end;

namespace store = manta::store;

namespace {

struct leader {
  manta::graph::task_pool records;
  gang_ends all;
  std::vector<task*> unfinished;

  leader() = default;
  leader(const leader&) = delete;
  leader& operator=(const leader&) = delete;
  ~leader() {
    for (task* const t : unfinished) records.free(t);
  }

  /// The leader's own part of a gang, which begins.
  gang_end& begin(std::uint64_t gang, const std::vector<std::uint32_t>& ranks) {
    task* const t = records.make(0, 0);
    t->gang = new manta::graph::gang;
    t->gang->id = gang;
    for (const std::uint32_t r : ranks) t->gang->ranks.push_back(r);
    gang_end& end = all.of(gang, ranks.size());
    end.leader = t;
    unfinished.push_back(t);
    return end;
  }
  void finish(gang_end& end) {
    task* const t = end.leader;
    all.finish(end);
    std::erase(unfinished, t);
    records.free(t);
  }
};

store::failure_ptr failure(const std::string& message) {
  store::failure f;
  f.message = message;
  return store::share(std::move(f));
}

}  // namespace

TEST_CASE("a gang is complete when each member has ended, whoever was first") {
  leader l;
  gang_end& end = l.all.of(5, 3);  // a member ends before the leader has begun
  CHECK_FALSE(l.all.note_ended(end, 2, 1));
  CHECK(&l.begin(5, {1, 2, 3}) == &end);
  CHECK_FALSE(l.all.note_ended(end, 1, 1));
  CHECK_FALSE(l.all.has_complete());
  CHECK_FALSE(l.all.note_ended(end, 3, 1));
  REQUIRE(l.all.has_complete());
  CHECK(&l.all.take_complete() == &end);
  CHECK_FALSE(l.all.has_complete());
  l.finish(end);
  CHECK(l.all.empty());
}

TEST_CASE("a member that dies after it has ended counts once") {
  leader l;
  gang_end& end = l.begin(5, {1, 2});
  l.all.note_ended(end, 2, 1);
  l.all.note_ended(end, 2, 1);
  CHECK(end.missing == 1);
  CHECK(end.has_ended(2));
  CHECK_FALSE(end.has_ended(1));
  l.all.note_ended(end, 1, 1);
  CHECK(end.missing == 0);
}

TEST_CASE("the home hears of the first failure once, as soon as the leader has begun") {
  leader l;
  gang_end& end = l.all.of(5, 3);
  end.why = failure("first");
  CHECK_FALSE(l.all.note_ended(end, 2, 10));  // nobody knows yet where the home is
  CHECK(end.failed_ns == 10);
  l.begin(5, {1, 2, 3});
  CHECK(l.all.note_ended(end, 1, 20));
  CHECK_FALSE(l.all.note_ended(end, 3, 30));
  CHECK(end.failed_ns == 10);
  CHECK(end.told);
  CHECK(l.all.has_complete());
}

TEST_CASE("a death concerns the gangs of that rank that are not complete") {
  leader l;
  gang_end& mine = l.begin(5, {1, 2});
  gang_end& complete = l.begin(6, {1, 2});
  l.begin(7, {1, 3});
  l.all.of(8, 2);  // its leader has not begun
  for (const std::uint32_t r : {1u, 2u}) l.all.note_ended(complete, r, 1);
  const auto found = l.all.with_member(2);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == &mine);
}

TEST_CASE("what members have sent is kept until the gang is finished") {
  leader l;
  gang_end& end = l.begin(5, {1, 2, 3});
  l.all.add_part(end, 1, manta::wire::buffer("b", 1));
  l.all.add_part(end, 2, manta::wire::buffer("c", 1));
  std::string parts;
  for (const gang_end::part* p = end.parts; p != nullptr; p = p->next) parts += std::to_string(p->member);
  CHECK(parts == "21");
  l.finish(end);
}

TEST_CASE("numbers of calls are no numbers of the scheduler's gangs") {
  gang_ends all;
  const std::uint64_t first = all.next_call();
  CHECK(all.next_call() != first);
  CHECK((first >> 63) == 1);
}

TEST_CASE("arrivals at a meeting are counted from the first, and forgotten with the meeting") {
  gang_ends all;
  CHECK(all.arrivals(5) == 0);
  all.note_arrival(5);
  all.note_arrival(5);
  all.note_arrival(6);
  CHECK(all.arrivals(5) == 2);
  all.end_meeting(5);
  CHECK(all.arrivals(5) == 0);
  CHECK(all.arrivals(6) == 1);
}

TEST_CASE("random ends and deaths in any order complete each gang once") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("gang_ends: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  for (int round = 0; round < 200; ++round) {
    leader l;
    const std::uint32_t size = 1 + static_cast<std::uint32_t>(draw() % 6);
    std::vector<std::uint32_t> ranks(size), events;
    for (std::uint32_t r = 0; r < size; ++r) ranks[r] = r;
    for (std::uint32_t r = 0; r < size; ++r) events.insert(events.end(), 1 + draw() % 2, r);  // an end, perhaps a death
    std::shuffle(events.begin(), events.end(), draw);
    int told = 0;
    for (const std::uint32_t r : events) {
      if (r == 0 && l.all.of(9, size).leader == nullptr) l.begin(9, ranks);
      gang_end& end = l.all.of(9, size);
      if (end.missing == 0) continue;  // a death after the end of all
      if (draw() % 4 == 0 && end.why == nullptr) end.why = failure("why");
      told += l.all.note_ended(end, r, 1);
    }
    gang_end& end = l.all.of(9, size);
    REQUIRE(l.all.has_complete());
    CHECK(&l.all.take_complete() == &end);
    CHECK_FALSE(l.all.has_complete());
    CHECK(told <= 1);
    CHECK(told == static_cast<int>(end.told));
  }
}
