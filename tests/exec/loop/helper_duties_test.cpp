// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/hooks.ipp, exec/duties.hpp: what the helper does for a rank whose thread is in user code, beside others and alone.
#include <doctest/doctest.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "../../support/looping_rank.hpp"
#include "../../support/test_functions.hpp"
#include "manta/base/allocation.hpp"
#include "manta/exec/rank/thread_role.hpp"

using namespace manta::exec;
using namespace test_functions;
using manta::graph::node;

namespace {

/// Waits at most five seconds for another thread.
template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 5'000 && !condition(); ++i) ::usleep(1000);
  return condition();
}

/// The thread is in user code, and the helper works.
template <class Function>
void in_user_code(whole_rank& r, bool is_alone, Function&& function) {
  r.loops.helper.enable(is_alone);
  REQUIRE(r.loops.helper.start());
  const int depth = r.rank.lock.step_out();
  function();
  r.rank.lock.come_back(depth);
  const int before = network::wakes;
  r.loops.helper.stop();
  if (!is_alone) CHECK(network::wakes > before);  // it may have slept for long
}

}  // namespace

TEST_CASE("the helper receives and answers for a rank whose thread is in user code, and sleeps when nothing comes") {
  looping_world all(2);
  whole_rank& r = all.world[1];
  std::atomic<int> polls{0};
  std::atomic<bool> is_helper{false};
  r.rank.net.at_poll = [&] {
    is_helper = thread_role::has_any() && !thread_role::is_owner();
    return ++polls < 0;
  };
  in_user_code(r, false, [&] { CHECK(comes_true([&] { return polls > 100; })); });
  CHECK(is_helper);
  CHECK(r.rank.net.slept_ns > 0);
  r.rank.net.at_poll = nullptr;
}

TEST_CASE("a handle that dies on another thread wakes its rank, which gives the value up") {
  whole_world world(1);
  whole_rank& r = world[0];
  r.values.foreign_drops.open();
  node& n = r.submit(add, 1);
  world.run();
  const int before = network::wakes;
  std::thread([&] { foreign_drops::leave(n); }).join();
  CHECK(network::wakes == before + 1);
  world[0].duties.progress();
  CHECK(world.live_nodes() == 0);
  r.values.foreign_drops.close();
}

TEST_CASE("the helper of a rank that is alone sleeps until it is roused, and takes no time of the processor") {
  whole_world world(1);
  const auto processor_ns = [] {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
  };
  std::int64_t taken = 0;
  in_user_code(world[0], true, [&] {
    const std::int64_t before = processor_ns();
    for (int i = 0; i < 100 && taken < 20'000'000; ++i) {
      ::usleep(10'000);
      taken = processor_ns() - before;
    }
  });
  CHECK(taken < 20'000'000);
}

TEST_CASE("a signal that asks for the state is seen by the helper of a rank that is alone, which ends at once") {
  ::signal(SIGUSR2, SIG_DFL);  // a handler of the program, as that of these tests, would stay
  manta::base::state_signal::watch();
  REQUIRE(manta::base::state_signal::is_watched());
  whole_world world(1);
  std::atomic<bool> has_ended{false};
  std::thread rescuer([&] {  // else a helper that nobody rouses would sleep for ever
    comes_true([&] { return has_ended.load(); });
    manta::base::state_signal::rouse();
  });
  const std::int64_t begin = manta::base::now_ns();
  in_user_code(world[0], true, [&] {
    ::raise(SIGUSR2);
    CHECK(comes_true([] { return !manta::base::state_signal::has_come(); }));
    manta::base::state_signal::take();
  });
  const std::int64_t took = manta::base::now_ns() - begin;
  has_ended = true;
  rescuer.join();
  CHECK(took < 4'000'000'000);
}

TEST_CASE("a task that calls the library now and then is not taken for hung, however long its calls take") {
  constexpr std::int64_t limit_ns = 1'500'000'000;
  constexpr useconds_t away_us = 1'000'000;  // twice that is too long
  whole_world world(1);
  whole_rank& r = world[0];
  r.loops.watch.set_limit(limit_ns);
  running_task task(7, add);
  const current_task::scope running(r.run.running, task);
  in_user_code(r, true, [&] {
    ::usleep(away_us);
    r.rank.lock.come_back(1);
    ::usleep(300'000);
    CHECK(r.rank.lock.step_out() == 1);
    ::usleep(away_us);
  });
}
