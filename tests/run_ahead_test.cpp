// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A submitter that runs ahead of those who run its tasks is held back: the
// memory of every rank stays flat, and nobody waits for what only he can do.
//
// MANTA_RUN_AHEAD_TASKS sets how many tasks are submitted in one loop (a
// million by default) and has every rank print its memory.
#include <doctest/doctest.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdio>

#include "support/memory_growth.hpp"
#include "support/world.hpp"

using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::sum_over_ranks;

namespace {

std::atomic<long> ran{0};
void nothing(int) { ++ran; }
void something(int, double, double, double) { ++ran; }  // too long for the short form of a task
int same(int x) { return x; }
class counter {
 public:
  void add(int) { ++ran; }
};

long tasks() {
  const char* const given = std::getenv("MANTA_RUN_AHEAD_TASKS");
  return given != nullptr ? std::atol(given) : 1'000'000;
}

/// By how many MiB the greatest memory of this rank grew while `body` ran. Collective.
template <class Body>
double growth(const char* what, Body&& body) {
  constexpr double mib = 1 << 20;
  const manta::testing::memory_growth m = manta::testing::measure_memory(body);
  if (std::getenv("MANTA_RUN_AHEAD_TASKS") != nullptr) {
    std::printf("%s: rank %d of %d: %.1f MiB before, %.1f MiB at most, %.1f MiB afterwards\n", what,
                manta::testing::world_rank(), manta::testing::world_size(), m.before / mib, m.most / mib,
                m.after / mib);
    std::fflush(stdout);
  }
  return m.grown() / mib;
}

#if defined(MANTA_STACK_ASAN) || defined(MANTA_STACK_TSAN)
constexpr double flat_mib = 1e6;  // a sanitizer keeps memory of its own
#else
constexpr double flat_mib = 24;  // a million nodes alone are 61
#endif
const manta::runtime_options few{.max_queued = 20'000};

/// With the default bound where the size was given: that is what is to be measured then.
manta::runtime_options options() {
  return std::getenv("MANTA_RUN_AHEAD_TASKS") != nullptr ? manta::runtime_options{} : few;
}
bool measures_only() { return std::getenv("MANTA_RUN_AHEAD_TASKS") != nullptr; }

void submit_all(long count) {
  for (long i = 0; i < count; ++i) manta::async<nothing>(static_cast<int>(i));
}

}  // namespace

TEST_CASE("a driver that submits in a loop keeps every rank's memory flat") {
  ran = 0;
  const double grown = growth("driver", [] { in_world(options(), [] { submit_all(tasks()); }); });
  CHECK((measures_only() || grown < flat_mib));
  CHECK(sum_over_ranks(ran) == tasks());
}

TEST_CASE("a task on a worker that submits in a loop keeps every rank's memory flat") {
  ran = 0;
  const double grown = growth("worker", [] {
    in_world(options(), [] { manta::async([](long count) { submit_all(count); }, tasks()).get(); });
  });
  CHECK((measures_only() || grown < flat_mib));
  CHECK(sum_over_ranks(ran) == tasks());
}

TEST_CASE("so do tasks with longer arguments") {
  if (measures_only()) return;
  ran = 0;
  const double grown = growth("records", [] {
    in_world(few, [] {
      for (int i = 0; i < 400'000; ++i) manta::async<something>(i, 1.0, 2.0, 3.0);
    });
  });
  CHECK(grown < flat_mib);
  CHECK(sum_over_ranks(ran) == 400'000);
}

TEST_CASE("so do tasks that rank 0 places for others") {
  if (measures_only()) return;
  ran = 0;
  const double grown = growth("placed", [] {
    in_world(few, [] {
      manta::async(
          [](int count) {
            for (int i = 0; i < count; ++i) manta::async<nothing>({.rank = manta::testing::executor(0)}, i);
          },
          60'000)
          .get();
    });
  });
  CHECK(grown < flat_mib);
  CHECK(sum_over_ranks(ran) == 60'000);
}

TEST_CASE("so do the calls of an actor") {
  if (measures_only()) return;
  ran = 0;
  const double grown = growth("calls", [] {
    in_world(few, [] {
      auto c = manta::spawn<counter>();
      for (int i = 0; i < 500'000; ++i) manta::async<&counter::add>(c, i);
    });
  });
  CHECK(grown < flat_mib);
  CHECK(sum_over_ranks(ran) == 500'000);
}

TEST_CASE("results that are kept are the user's: all are right") {
  in_world({.max_queued = 1000}, [] {
    std::vector<manta::future<int>> kept;
    for (int i = 0; i < 100'000; ++i) kept.push_back(manta::async<same>(i));
    long wrong = 0;
    for (int i = 0; i < 100'000; ++i) wrong += kept[static_cast<std::size_t>(i)].get() != i;
    CHECK(wrong == 0);
  });
}

TEST_CASE("many tasks of one rank may run ahead at the same time") {
  ran = 0;
  in_world({.max_queued = 500}, [] {
    std::vector<manta::future<void>> submitters;
    for (int i = 0; i < 200; ++i) submitters.push_back(manta::async<submit_all>(2000L));
    manta::get(submitters);
  });
  CHECK(sum_over_ranks(ran) == 400'000);
}

TEST_CASE("a submitter never waits for ever: not for inputs, for gates that it opens later, nor for tasks that wait") {
  in_world({.resources = {{"seat", 1}}, .max_queued = 1000}, [] {
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    std::vector<manta::future<int>> behind;
    for (int i = 0; i < 20'000; ++i)
      behind.push_back(manta::async([](int a, int b) { return a + b; }, i, input));  // nobody is held
    struct sitter {
      int sit() const { return 1; }
    };
    std::vector<manta::actor<sitter>> seats;  // all seats are taken
    for (std::size_t i = 0; i < manta::testing::executors().size(); ++i) {
      seats.push_back(manta::spawn<sitter>({.resources = {{"seat", 1}}}));
      manta::async<&sitter::sit>(seats.back()).get();
    }
    std::vector<manta::future<int>> standing;
    for (int i = 0; i < 3000; ++i) standing.push_back(manta::async<same>({.resources = {{"seat", 1}}}, i));
    for (const auto& a : seats) manta::kill(a);
    CHECK(standing.back().get() == 2999);
    manta::async<&gate::open>(g).get();
    CHECK(behind.back().get() == 19'999 + 3);
  });
}
