// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/run/: when rank 0 asks whether anything goes on, what it concludes, and
// that it never concludes too early, whatever messages are under way.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "manta/exec/rank/traffic.hpp"
#include "manta/exec/rank/waves.hpp"
#include "manta/exec/state/deadlock_report.hpp"
#include "manta/exec/state/unobserved.hpp"

using manta::exec::deadlock_report;
using manta::exec::membership;
using manta::exec::traffic;
using manta::exec::unobserved;
using manta::exec::waves;
using verdict = waves::verdict;

namespace {

waves::tally tally(std::uint32_t sent, std::uint32_t received, bool quiet = true, std::uint32_t waits = 0) {
  waves::tally t{};
  t.sent = sent;
  t.received = received;
  t.busy = !quiet;
  t.waits = waits;
  return t;
}

/// A wave over two ranks.
verdict wave(waves& w, const waves::tally& other, const waves::tally& own) {
  const std::uint64_t number = w.begin(1);
  CHECK(w.is_under_way());
  CHECK_FALSE(w.is_complete());
  w.add(number, other);
  CHECK(w.is_complete());
  const verdict found = w.conclude(own);
  CHECK_FALSE(w.is_under_way());
  return found;
}

}  // namespace

TEST_CASE("a wave is due an interval after rank 0 has become quiet, and later after each wave in vain") {
  waves w;
  constexpr std::int64_t interval = waves::first_interval_ns;
  CHECK_FALSE(w.is_due(1000));
  CHECK_FALSE(w.is_due(1000 + interval - 1));
  CHECK(w.is_due(1000 + interval));
  w.put_off();
  CHECK_FALSE(w.is_due(1000 + interval));
  CHECK(w.is_due(1000 + 2 * interval));
  CHECK(wave(w, tally(3, 2, false), tally(2, 3)) == verdict::busy);
  CHECK_FALSE(w.is_due(5000));
  CHECK_FALSE(w.is_due(5000 + 2 * interval - 1));
  CHECK(w.is_due(5000 + 2 * interval));
  for (int i = 0; i < 30; ++i) CHECK(wave(w, tally(3, 2, false), tally(2, 3)) == verdict::busy);
  CHECK_FALSE(w.is_due(1));
  CHECK(w.is_due(1 + waves::longest_interval_ns));
  w.hasten();
  CHECK(w.is_due(2));
}

TEST_CASE("two quiet waves with equal numbers of messages are stable, and the second is due at once") {
  waves w;
  CHECK(wave(w, tally(3, 2, true, 1), tally(2, 3, true, 1)) == verdict::balanced);
  CHECK(w.is_due(1));
  CHECK(wave(w, tally(3, 2, true, 1), tally(2, 3, true, 1)) == verdict::stable);
  CHECK(w.all().waits == 2);
  CHECK(wave(w, tally(3, 2), tally(2, 3)) == verdict::balanced);  // what is stable may be set going again
}

TEST_CASE("what moves between two quiet waves is seen by the number of messages") {
  waves w;
  CHECK(wave(w, tally(3, 2), tally(2, 3)) == verdict::balanced);
  CHECK(wave(w, tally(4, 3), tally(3, 4)) == verdict::balanced);
  CHECK(wave(w, tally(4, 3), tally(3, 4)) == verdict::stable);
}

TEST_CASE("a message under way, or a rank that is not quiet, is no end") {
  waves w;
  CHECK(wave(w, tally(3, 2), tally(3, 3)) == verdict::busy);
  CHECK(wave(w, tally(3, 3, false), tally(3, 3)) == verdict::busy);
  CHECK(wave(w, tally(3, 3), tally(3, 3, false)) == verdict::busy);
  CHECK(wave(w, tally(3, 3), tally(3, 3)) == verdict::balanced);
}

TEST_CASE("a rank that is alone needs one wave") {
  waves w;
  w.begin(0);
  CHECK(w.is_complete());
  CHECK(w.conclude(tally(5, 5)) == verdict::stable);
}

TEST_CASE("answers of a wave that was given up count for nothing") {
  waves w;
  CHECK(wave(w, tally(3, 2), tally(2, 3)) == verdict::balanced);
  const std::uint64_t old = w.begin(2);
  w.add(old, tally(3, 2));
  w.give_up();
  CHECK_FALSE(w.is_under_way());
  const std::uint64_t next = w.begin(1);
  w.add(old, tally(100, 0, false));
  CHECK_FALSE(w.is_complete());
  w.add(next, tally(3, 2));
  CHECK(w.conclude(tally(2, 3)) == verdict::balanced);  // not stable: the wave before the death is forgotten
}

TEST_CASE("random traffic: stable means that nothing is under way and nobody will send") {
  const char* const given = std::getenv("MANTA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  MESSAGE("waves: MANTA_TEST_SEED=" << seed);
  std::mt19937_64 draw(seed);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t size = 2 + static_cast<std::uint32_t>(draw() % 4);
    struct rank {
      std::uint32_t sent = 0, received = 0;
      std::uint64_t to_send = 0;
    };
    std::vector<rank> ranks(size);
    std::vector<std::uint32_t> under_way;  // the receivers
    ranks[draw() % size].to_send = 1 + draw() % 4;
    int hops = static_cast<int>(draw() % 60);
    const auto work_is_left = [&] {
      for (const rank& r : ranks) {
        if (r.to_send != 0) return true;
      }
      return !under_way.empty();
    };
    const auto step = [&] {  // one rank sends, or one message arrives, which may have its receiver send more
      rank& sender = ranks[draw() % size];
      if (sender.to_send != 0 && draw() % 2 != 0) {
        --sender.to_send;
        ++sender.sent;
        under_way.push_back(static_cast<std::uint32_t>(draw() % size));
      } else if (!under_way.empty()) {
        const std::size_t i = draw() % under_way.size();
        rank& receiver = ranks[under_way[i]];
        under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(i));
        ++receiver.received;
        if (hops-- > 0) receiver.to_send += draw() % 3;
      }
    };
    waves w;
    verdict found = verdict::busy;
    for (int asked = 0; found != verdict::stable; ++asked) {
      REQUIRE(asked < 10'000);
      const std::uint64_t number = w.begin(size - 1);
      for (std::uint32_t r = 0; r < size; ++r) {
        for (std::uint64_t i = draw() % 4; i > 0; --i) step();
        const waves::tally said = tally(ranks[r].sent, ranks[r].received, ranks[r].to_send == 0);
        if (r + 1 < size) {
          w.add(number, said);
        } else {
          found = w.conclude(said);
        }
      }
    }
    CHECK_FALSE(work_is_left());
  }
}

TEST_CASE("the numbers of messages wrap around") {
  waves w;
  const std::uint32_t many = ~std::uint32_t{0};
  CHECK(wave(w, tally(many, 2), tally(3, 0)) == verdict::balanced);
  CHECK(wave(w, tally(many, 2), tally(3, 0)) == verdict::stable);
  CHECK(wave(w, tally(many, 2), tally(4, 0)) == verdict::busy);
}

TEST_CASE("a wave says whether any rank keeps actors or failures") {
  waves w;
  for (const bool keeps : {true, false}) {
    waves::tally other = tally(2, 2);
    other.keeps = keeps;
    CHECK(wave(w, other, tally(1, 1)) == verdict::balanced);
    CHECK(wave(w, other, tally(1, 1)) == verdict::stable);
    CHECK((w.all().keeps != 0) == keeps);
  }
}

TEST_CASE("messages to and from the dead are not counted") {
  membership members(3);
  traffic t(3);
  for (const std::uint32_t to : {0u, 1u, 2u, 2u}) t.note_sent(to);
  t.note_received(2);
  t.note_received(1);
  CHECK(t.sent(members) == 4);
  CHECK(t.received(members) == 2);
  members.note_death(2, {});
  CHECK(t.sent(members) == 2);
  CHECK(t.received(members) == 1);
}

TEST_CASE("a report of a deadlock is complete when all ranks have added their waits") {
  deadlock_report r;
  r.begin(2, "[0] ");
  CHECK_FALSE(r.is_complete());
  r.add("");
  r.add("[2] ");
  CHECK(r.is_complete());
  CHECK(r.who_waits() == "[0] [2] ");
  r.declare("deadlock");
  CHECK(r.text() == "deadlock");
}

TEST_CASE("unobserved failures are all counted, and the first have their texts") {
  unobserved rank_1, rank_0;
  int wanted = 0;
  for (int i = 0; i < 7; ++i) {
    if (rank_1.note()) rank_1.add_text("f" + std::to_string(++wanted));
  }
  CHECK(wanted == 5);
  CHECK(rank_1.count() == 7);
  rank_0.add(rank_1.count(), rank_1.text("", "\n"));
  rank_0.add(1, "");
  CHECK(rank_0.count() == 8);
  CHECK(rank_0.text("  ", "\n") == "  f1\nf2\nf3\nf4\nf5");
  rank_0.clear();
  CHECK(rank_0.count() == 0);
  CHECK(rank_0.text("  ", "\n").empty());
}
