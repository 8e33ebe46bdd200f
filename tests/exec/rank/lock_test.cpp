// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The lock between a rank's thread and its helper: never both inside, counted
// over a few hundred thousand entries, and what the owner may do with it.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "manta/exec/rank/lock.hpp"

using manta::exec::biased_lock;

namespace {

/// Tries from a thread of its own, because the lock belongs to threads.
bool helper_gets_it(biased_lock& lock) {
  bool got = false;
  std::thread([&] {
    got = lock.try_acquire_for_helper();
    if (got) lock.release_for_helper();
  }).join();
  return got;
}

/// What the lock protects: not atomic, so that two inside at once lose a count or see a torn pair.
struct shared_state {
  std::uint64_t count = 0, same_count = 0;
  bool somebody_inside = false;

  /// False if somebody else was inside as well.
  bool touch() {
    const bool alone = !somebody_inside && count == same_count;
    somebody_inside = true;
    ++count;
    for (int i = 0; i < 10; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
    ++same_count;
    const bool still_alone = somebody_inside && count == same_count;
    somebody_inside = false;
    return alone && still_alone;
  }
};

/// A helper that gets in as often as it can until it is told to stop.
class helper {
 public:
  helper(biased_lock& lock, shared_state& state)
      : thread_([this, &lock, &state] {
          while (!stop_.load(std::memory_order_relaxed)) {
            if (!lock.try_acquire_for_helper()) {
              std::this_thread::yield();
              continue;
            }
            alone_ = state.touch() && alone_;
            lock.release_for_helper();
            entries_.fetch_add(1, std::memory_order_relaxed);
            for (int i = 0; i < 200; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);  // the owner gets in too
          }
        }) {}
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;
  ~helper() {
    if (thread_.joinable()) join();
  }
  void join() {
    stop_ = true;
    thread_.join();
  }
  std::uint64_t entries() const { return entries_.load(std::memory_order_relaxed); }
  bool was_alone() const { return alone_; }  // after join

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> entries_{0};
  bool alone_ = true;
  std::thread thread_;
};

using clock = std::chrono::steady_clock;

}  // namespace

TEST_CASE("the helper gets in when the owner is outside and not when it is inside") {
  biased_lock lock;
  CHECK(helper_gets_it(lock));
  lock.enter();
  CHECK(lock.owner_is_inside());
  CHECK_FALSE(helper_gets_it(lock));
  lock.leave();
  CHECK_FALSE(lock.owner_is_inside());
  CHECK(helper_gets_it(lock));
}

TEST_CASE("nested entries of the owner end with the outermost") {
  biased_lock lock;
  lock.enter();
  lock.enter();
  lock.enter();
  lock.leave();
  lock.leave();
  CHECK(lock.owner_is_inside());
  CHECK_FALSE(helper_gets_it(lock));
  lock.leave();
  CHECK(helper_gets_it(lock));
}

TEST_CASE("the owner steps out of any depth and comes back to it") {
  biased_lock lock;
  lock.enter();
  lock.enter();
  const int depth = lock.step_out();
  CHECK(depth == 2);
  CHECK_FALSE(lock.owner_is_inside());
  CHECK(helper_gets_it(lock));
  lock.enter();  // user code calls the library again
  CHECK_FALSE(helper_gets_it(lock));
  lock.leave();
  CHECK(helper_gets_it(lock));
  lock.come_back(depth);
  CHECK_FALSE(helper_gets_it(lock));
  lock.leave();
  CHECK_FALSE(helper_gets_it(lock));
  lock.leave();
  CHECK(helper_gets_it(lock));
}

TEST_CASE("the owner that leaves while the helper dozes is told so, and not otherwise") {
  int told = 0;
  biased_lock lock([](void* times) { ++*static_cast<int*>(times); }, &told);
  const auto visit = [&] {
    lock.enter();
    lock.enter();
    lock.leave();
    lock.leave();
  };
  visit();
  CHECK(told == 0);
  lock.doze();
  visit();
  visit();
  CHECK(told == 2);
  lock.enter();
  lock.stay();
  const int depth = lock.step_out();
  lock.wait_while_owner_stays();  // not any more
  CHECK(told == 3);
  lock.come_back(depth);
  lock.doze_no_more();
  lock.leave();
  CHECK(told == 3);
}

TEST_CASE("entries change when the owner enters, and only then") {
  biased_lock lock;
  const std::uint64_t before = lock.entries();
  helper_gets_it(lock);
  CHECK(lock.entries() == before);
  lock.enter();
  const std::uint64_t after = lock.entries();
  CHECK(after != before);
  lock.enter();
  lock.leave();
  CHECK(lock.entries() == after);
  lock.leave();
  CHECK(lock.entries() == after);
}

TEST_CASE("the owner waits while the helper is inside") {
  biased_lock lock;
  std::atomic<bool> helper_inside{false}, owner_tries{false}, helper_left{false};
  std::thread thread([&] {
    while (!lock.try_acquire_for_helper()) {
    }
    helper_inside = true;
    while (!owner_tries) std::this_thread::yield();
    const auto end = clock::now() + std::chrono::milliseconds(20);  // long enough for an owner that does not wait
    while (clock::now() < end) std::this_thread::yield();
    helper_left = true;
    lock.release_for_helper();
  });
  while (!helper_inside) std::this_thread::yield();
  owner_tries = true;
  lock.enter();
  CHECK(helper_left);
  lock.leave();
  thread.join();
}

TEST_CASE("owner and helper are never inside together") {
  biased_lock lock;
  shared_state state;
  std::uint64_t mine = 0;
  bool alone = true;
  helper other(lock, state);
  const auto end = clock::now() + std::chrono::seconds(30);
  while ((mine < 5'000 || other.entries() < 2'000) && clock::now() < end) {
    lock.enter();
    alone = state.touch() && alone;
    lock.leave();
    ++mine;
  }
  other.join();
  CHECK(alone);
  CHECK(other.was_alone());
  CHECK(other.entries() >= 2'000);  // it was not starved
  CHECK(state.count == mine + other.entries());
  CHECK(state.same_count == state.count);
}

TEST_CASE("owner and helper are never inside together when the owner nests and steps out") {
  biased_lock lock;
  shared_state state;
  std::uint64_t mine = 0;
  bool alone = true;
  helper other(lock, state);
  const auto end = clock::now() + std::chrono::seconds(30);
  while ((mine < 5'000 || other.entries() < 2'000) && clock::now() < end) {
    lock.enter();
    lock.enter();
    alone = state.touch() && alone;
    lock.leave();
    const int depth = lock.step_out();
    if (mine % 64 == 0) std::this_thread::yield();
    lock.come_back(depth);
    alone = state.touch() && alone;
    lock.leave();
    mine += 2;
  }
  other.join();
  CHECK(alone);
  CHECK(other.was_alone());
  CHECK(other.entries() >= 2'000);
  CHECK(state.count == mine + other.entries());
}

TEST_CASE("many short-lived helpers and locks leave nothing behind") {
  for (int i = 0; i < 200; ++i) {
    biased_lock lock;
    shared_state state;
    std::uint64_t mine = 0;
    {
      helper other(lock, state);
      for (; mine < 100; ++mine) {
        lock.enter();
        state.touch();
        lock.leave();
      }
      other.join();
      mine += other.entries();
    }
    REQUIRE(state.count == mine);
  }
}
