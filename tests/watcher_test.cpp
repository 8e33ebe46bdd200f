// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include "support/world.hpp"

#include <unistd.h>

#include <chrono>
#include <set>

#include "manta/cancel.hpp"
#include "manta/promise.hpp"
#include "manta/queue.hpp"
#include "manta/this_task.hpp"
#include "manta/watcher.hpp"

namespace {
using namespace std::chrono_literals;

int square(int x) { return x * x; }
int fail(int x) { throw std::runtime_error("no " + std::to_string(x)); }
/// Says that it runs, and waits until it is asked to stop.
int looks_for_stop(manta::queue<int> running) {
  const manta::promise<int> never;
  manta::watcher events;
  events.watch_stops();
  events.add(never.get_future(), 0);
  running.push(1);
  const auto mine = manta::this_task::get_stop_token();
  while (!mine.stop_requested()) events.next();
  running.push(2);
  return 0;
}
/// Waits for ever, though it looks for stops.
void looks_in_vain() {
  const manta::promise<int> never;
  manta::watcher events;
  events.watch_stops();
  events.add(never.get_future(), 0);
  while (!events.next()) {
  }
}
int write_to(int descriptor) { return static_cast<int>(::write(descriptor, "x", 1)); }

struct pipe_ends {
  int end[2];
  pipe_ends() { REQUIRE(::pipe(end) == 0); }
  ~pipe_ends() {
    ::close(end[0]);
    ::close(end[1]);
  }
};
}  // namespace

TEST_CASE("a watcher gives each future's id once, failed ones too, and takes further ones meanwhile") {
  manta::testing::in_world([] {
    manta::watcher events;
    std::vector<manta::future<int>> all;
    std::set<std::uint64_t> seen;
    for (int i = 0; i < 20; ++i) {
      all.push_back(i % 5 == 0 ? manta::async<fail>(i) : manta::async<square>(i));
      events.add(all.back(), static_cast<std::uint64_t>(i));
    }
    for (int i = 0; i < 40; ++i) {
      const auto id = events.next();
      REQUIRE(id.has_value());
      CHECK(seen.insert(*id).second);
      CHECK(all[*id].ready());
      if (all.size() < 40) {
        const int next = static_cast<int>(all.size());
        all.push_back(manta::async<square>(next));
        events.add(all.back(), static_cast<std::uint64_t>(next));
      }
    }
    CHECK(events.size() == 0);
    CHECK(!events.next(1ms).has_value());
    for (int i = 0; i < 20; i += 5) CHECK_THROWS(all[static_cast<std::size_t>(i)].get());
  });
}

TEST_CASE("a readable descriptor ends the wait of a watcher, and so does the end of its time") {
  manta::testing::in_world([] {
    pipe_ends p;
    manta::watcher events;
    events.watch_descriptor(p.end[0]);
    CHECK(!events.next(0ms).has_value());
    CHECK(!events.next(30ms).has_value());
    REQUIRE(write_to(p.end[1]) == 1);
    CHECK(!events.next().has_value());  // no time limit: it would wait for ever
    const auto one = manta::async<square>(3);
    events.add(one, 9);
    one.wait();
    CHECK(events.next() == 9);  // futures go first
    CHECK(!events.next().has_value());
    char drain[8];
    CHECK(::read(p.end[0], drain, sizeof drain) == 1);
  });
}

TEST_CASE("a watcher that looks for stops returns when a task of its rank is cancelled, and is no end of deadlocks") {
  manta::testing::in_world([] {
    for (int round = 0; round < 20; ++round) {
      manta::queue<int> running(2);
      const int rank = round % manta::size();
      const auto f = manta::async<looks_for_stop>({.rank = rank}, running);
      CHECK(running.pop() == 1);
      CHECK(manta::cancel(f));
      CHECK(running.pop() == 2);
      CHECK_THROWS_AS(f.get(), manta::cancelled);
    }
    CHECK_THROWS_AS(manta::async<looks_in_vain>().get(), manta::deadlock);
    manta::watcher events;
    events.watch_stops();
    CHECK(!events.next(1ms).has_value());
  });
}

TEST_CASE("a sleeping rank is woken by its descriptor at once") {
  manta::testing::in_world([] {
    pipe_ends p;
    manta::watcher events;
    events.watch_descriptor(p.end[0]);
    for (int round = 0; round < 3; ++round) {
      pthread_t writer;
      REQUIRE(::pthread_create(
                  &writer, nullptr,
                  [](void* end) -> void* {
                    usleep(150'000);
                    write_to(*static_cast<int*>(end));
                    return nullptr;
                  },
                  &p.end[1]) == 0);
      CHECK(!events.next().has_value());  // a deadlock would be thrown
      char drain[8];
      CHECK(::read(p.end[0], drain, sizeof drain) == 1);
      ::pthread_join(writer, nullptr);
    }
  });
}
