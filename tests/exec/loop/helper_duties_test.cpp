// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// exec/hooks.ipp, exec/duties.hpp: what the helper does for a rank whose thread is in user code, beside others and alone.
#include <doctest/doctest.h>

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "../../support/looping_rank.hpp"
#include "../../support/test_functions.hpp"
#include "manta/exec/rank/thread_role.hpp"

using namespace manta::exec;
using namespace test_functions;
using manta::graph::node;

namespace {

/// Waits at most ten seconds for another thread.
template <class Condition>
bool comes_true(Condition&& condition) {
  for (int i = 0; i < 10'000 && !condition(); ++i) ::usleep(1000);
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
    ::usleep(200'000);
    taken = processor_ns() - before;
  });
  CHECK(taken < 20'000'000);
}
