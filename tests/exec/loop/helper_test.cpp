// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/loop/helper.hpp, exec/state/watchdog.hpp: the thread answers while the
// owner is away, always alone with the lock, looks rarely where nobody needs it,
// and ends when the owner stops it; a task that hangs is found once, and only
// when it hangs.
#include <doctest/doctest.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "manta/base/clock.hpp"
#include "manta/exec/loop/helper.hpp"
#include "manta/exec/rank/thread_role.hpp"
#include "manta/exec/state/watchdog.hpp"

using manta::exec::biased_lock;
using manta::exec::helper;
using manta::exec::lock_watch;
using manta::exec::watchdog;

namespace {

/// A rank whose helper counts what it does.
struct fake_rank {
  biased_lock lock{[](void* rank) { of(rank).woken = true; }, this};  // as the owner leaves and the helper dozes
  std::atomic<int> answers{0}, sleeps{0}, watched{0}, wakes{0};
  std::atomic<bool> owner_inside{false}, both_inside{false}, woken{false}, has_role{false};
  std::atomic<std::int64_t> longest_sleep{0};
  helper thread{lock, duties()};

  helper::duties duties() {
    return {this,
            [](void* r, std::int64_t ns) {
              ++of(r).sleeps;
              if (ns > of(r).longest_sleep) of(r).longest_sleep = ns;
              for (int i = 0; i < 100 && !of(r).woken; ++i) usleep(10);
            },
            [](void* r) {
              ++of(r).wakes;
              of(r).woken = true;
            },
            [](void* r) { ++of(r).watched; },
            [](void* r, bool) {
              ++of(r).answers;
              of(r).has_role = manta::exec::thread_role::has_any() && !manta::exec::thread_role::is_owner();
              if (of(r).owner_inside) of(r).both_inside = true;
              return false;
            },
            [](void*, unsigned in_vain) { return std::int64_t{1000} * in_vain; }};
  }
  static fake_rank& of(void* rank) { return *static_cast<fake_rank*>(rank); }
};

}  // namespace

TEST_CASE("the helper answers while the owner is away, and ends when it is told to") {
  fake_rank r;
  r.thread.enable();
  r.lock.enter();
  REQUIRE(r.thread.start());
  CHECK(r.thread.is_running());
  CHECK(pthread_equal(r.thread.owner(), pthread_self()) != 0);
  CHECK(r.thread.owner_number() == static_cast<int>(::gettid()));
  while (r.watched < 3) usleep(50);
  CHECK(r.answers == 0);  // the owner has been inside all the time
  r.lock.leave();
  while (r.answers < 3 || r.longest_sleep < 2000) usleep(50);
  CHECK(r.sleeps > 0);
  r.lock.enter();
  r.thread.stop();
  CHECK_FALSE(r.thread.is_running());
  CHECK(r.lock.depth() == 1);
  r.lock.leave();
  CHECK(r.has_role);
  CHECK(r.wakes == 1);
}

TEST_CASE("owner and helper are never inside together") {
  fake_rank r;
  r.thread.enable();
  r.lock.enter();
  REQUIRE(r.thread.start());
  r.lock.leave();
  for (int i = 0; i < 200 || r.answers < 5; ++i) {
    r.lock.enter();
    r.owner_inside = true;
    const int before = r.answers;
    for (int spin = 0; spin < 100; ++spin) r.both_inside = r.both_inside || r.answers != before;
    r.owner_inside = false;
    r.lock.leave();
    if (i % 8 == 0) usleep(1000);
  }
  r.lock.enter();
  r.thread.stop();
  r.lock.leave();
  CHECK_FALSE(r.both_inside);
}

TEST_CASE("a helper that nobody needs looks rarely") {
  fake_rank r;
  r.thread.enable();
  r.lock.enter();
  const std::int64_t begin = manta::base::now_ns();
  REQUIRE(r.thread.start());
  while (r.watched < 40) usleep(1000);
  CHECK(manta::base::now_ns() - begin > 38 * 800'000);
  r.thread.stop();
  r.lock.leave();
}

TEST_CASE("a helper that is not enabled starts no thread") {
  fake_rank r;
  r.lock.enter();
  CHECK(r.thread.start());
  CHECK_FALSE(r.thread.is_running());
  r.thread.stop();
  r.lock.leave();
  CHECK(r.answers == 0);
  CHECK(r.wakes == 0);
}

TEST_CASE("a task hangs when it has had the thread for longer than the limit, and that is said once") {
  constexpr std::int64_t second = 1'000'000'000, step = watchdog::most_between_looks_ns;
  watchdog w;
  CHECK_FALSE(w.look(5 * second, false, true));  // no limit
  w.set_limit(second);
  CHECK(w.is_on());
  std::int64_t now = 5 * second;
  CHECK_FALSE(w.look(now, true, true));
  for (int i = 0; i < 10; ++i) CHECK_FALSE(w.look(now += step, false, true));
  CHECK_FALSE(w.look(now += step, true, true));  // it was here: the count begins again
  for (int i = 0; i < 10; ++i) CHECK_FALSE(w.look(now += step, false, true));
  CHECK_FALSE(w.look(now += step, false, false));  // the driver
  CHECK(w.look(now += step, false, true));
  CHECK_FALSE(w.is_on());
  CHECK_FALSE(w.look(now += step, false, true));
}

TEST_CASE("while the process is stopped no time counts for the watchdog") {
  constexpr std::int64_t second = 1'000'000'000;
  watchdog w;
  w.set_limit(second);
  CHECK_FALSE(w.look(second, true, true));
  CHECK_FALSE(w.look(1000 * second, false, true));
  CHECK_FALSE(w.look(2000 * second, false, true));
}

TEST_CASE("a thread that neither comes nor computes for five seconds may stand in a lock") {
  constexpr std::int64_t patience = lock_watch::patience_ns, start = 1000;
  std::int64_t computed = 0;
  const auto cpu = [&] { return computed; };
  lock_watch w;
  CHECK_FALSE(w.look(start, true, true, cpu));
  CHECK_FALSE(w.look(start + patience - 1, false, true, cpu));
  CHECK_FALSE(w.look(start + patience, false, false, cpu));  // nobody else waits
  CHECK(w.look(start + patience, false, true, cpu));
  CHECK_FALSE(w.look(start + 9 * patience, false, true, cpu));  // it has been said
  CHECK_FALSE(w.look(start + 10 * patience, true, true, cpu));
  computed = patience;
  CHECK_FALSE(w.look(start + 11 * patience, false, true, cpu));  // it computes
  CHECK_FALSE(w.look(start + 12 * patience, false, true, cpu));  // the count has begun again
  CHECK(w.look(start + 13 * patience, false, true, cpu));
}

TEST_CASE("the helper of a rank that is alone sleeps until it is roused, and looks only while the owner is away") {
  fake_rank r;
  helper::duties duties = r.duties();
  duties.sleep = [](void* rank, std::int64_t ns) {
    fake_rank& of = fake_rank::of(rank);
    CHECK(ns == -1);
    ++of.sleeps;
    while (!of.woken.exchange(false)) usleep(10);
  };
  duties.pause_ns = [](void*) { return std::int64_t{-1}; };
  helper thread(r.lock, duties);
  thread.enable(true);
  r.lock.enter();
  REQUIRE(thread.start());
  while (r.sleeps < 1) usleep(50);
  r.woken = true;
  while (r.watched < 1) usleep(50);
  CHECK(r.answers == 0);  // the owner is inside
  r.lock.leave();
  CHECK(r.wakes == 0);  // and wakes nobody when it leaves
  r.woken = true;
  while (r.answers < 1) usleep(50);
  CHECK(r.sleeps <= 3);
  r.lock.enter();
  thread.stop();
  r.lock.leave();
  CHECK_FALSE(thread.is_running());
}
