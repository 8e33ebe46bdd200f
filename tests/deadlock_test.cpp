// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// When nothing runs, nothing can run and somebody waits, the wait throws
// manta::deadlock and says who waits for what. No clock is involved.
#include <doctest/doctest.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::gate;
using manta::testing::in_world;

namespace {

int same(int x) { return x; }

/// Asks its friend, who asks back; the call back finds this one still busy.
class partner {
 public:
  int ask_friend(manta::actor<partner> other, manta::actor<partner> me) {
    return manta::async<&partner::ask_back>(other, me).get();
  }
  int ask_back(manta::actor<partner> caller) { return manta::async<&partner::answer>(caller).get(); }
  int answer() { return 1; }
  int ask_itself(manta::actor<partner> me) { return manta::async<&partner::answer>(me).get(); }
  bool ask_itself_for(manta::actor<partner> me, int milliseconds) {
    return manta::async<&partner::answer>(me).wait_for(std::chrono::milliseconds(milliseconds));
  }
  std::string get_of_itself_for(manta::actor<partner> me, int milliseconds) {
    const auto f = manta::async<&partner::answer>(me);
    return manta::testing::thrown<manta::timeout>([&] { manta::get_for(f, std::chrono::milliseconds(milliseconds)); });
  }
};

/// A place where a task can find a future that did not exist when it was submitted.
class box {
 public:
  void put(std::vector<manta::future<int>> fs) { kept_ = std::move(fs); }
  std::vector<manta::future<int>> look() const { return kept_; }
  void clear() { kept_.clear(); }

 private:
  std::vector<manta::future<int>> kept_;
};

int wait_for_what_is_in(manta::actor<box> b) {
  std::vector<manta::future<int>> found;
  manta::testing::poll_until("a future in the box",
                             [&] { return !(found = manta::testing::fetch(manta::async<&box::look>(b))).empty(); });
  return found.front().get();
}

/// The text of the deadlock that a get throws; empty when it throws none.
std::string deadlock_text(const manta::future<int>& f) {
  return manta::testing::thrown<manta::deadlock>([&] { f.get(); });
}

/// Two actors that wait for each other.
manta::future<int> embrace(const manta::actor<partner>& a, const manta::actor<partner>& b) {
  return manta::async<&partner::ask_friend>(a, b, a);
}

}  // namespace

TEST_CASE("two actors that wait for each other are a deadlock whose report names both calls") {
  in_world([] {
    auto a = manta::spawn<partner>();
    auto b = manta::spawn<partner>();
    const std::string text = deadlock_text(embrace(a, b));
    CAPTURE(text);
    CHECK(!text.empty());
    CHECK(contains(text, "wait"));
    CHECK(contains(text, "ask_friend"));
    CHECK(contains(text, "ask_back"));
  });
}

TEST_CASE("an actor that waits for a call of itself is a deadlock whose report names both calls") {
  in_world([] {
    auto a = manta::spawn<partner>();
    const std::string text = deadlock_text(manta::async<&partner::ask_itself>(a, a));
    CAPTURE(text);
    CHECK(contains(text, "ask_itself' waits for"));
    CHECK(contains(text, "answer"));
    CHECK(manta::async<&partner::answer>(a).get() == 1);
  });
}

TEST_CASE("a wait of an actor for a call of itself ends when its time is up, and then the call runs") {
  in_world([] {
    auto a = manta::spawn<partner>();
    CHECK_FALSE(manta::async<&partner::ask_itself_for>(a, a, 30).get());
    const std::string text = manta::async<&partner::get_of_itself_for>(a, a, 30).get();
    CAPTURE(text);
    CHECK(contains(text, "partner::answer' after 0.03"));
    CHECK(manta::async<&partner::answer>(a).get() == 1);
    auto overlapping = manta::spawn<partner>({.concurrency = 2});
    CHECK(manta::async<&partner::ask_itself>(overlapping, overlapping).get() == 1);
  });
}

TEST_CASE("a task that waits for itself is a deadlock that names it") {
  in_world([] {
    auto b = manta::spawn<box>();
    const auto f = manta::async<wait_for_what_is_in>({.name = "ouroboros"}, b);
    manta::async<&box::put>(b, std::vector<manta::future<int>>{f}).get();
    const std::string text = deadlock_text(f);
    CAPTURE(text);
    CHECK(contains(text, "ouroboros"));
    manta::async<&box::clear>(b).get();
  });
}

TEST_CASE("two tasks that wait for each other are a deadlock") {
  in_world([] {
    auto first_box = manta::spawn<box>();
    auto second_box = manta::spawn<box>();
    const auto first = manta::async<wait_for_what_is_in>({.name = "first"}, first_box);
    const auto second = manta::async<wait_for_what_is_in>({.name = "second"}, second_box);
    manta::async<&box::put>(first_box, std::vector<manta::future<int>>{second}).get();
    manta::async<&box::put>(second_box, std::vector<manta::future<int>>{first}).get();
    const std::string text = deadlock_text(first);
    CAPTURE(text);
    CHECK(contains(text, "first"));
    CHECK(contains(text, "second"));
    manta::async<&box::clear>(first_box).get();
    manta::async<&box::clear>(second_box).get();
  });
}

TEST_CASE("the run goes on after a deadlock was caught") {
  in_world([] {
    auto a = manta::spawn<partner>();
    auto b = manta::spawn<partner>();
    CHECK(!deadlock_text(embrace(a, b)).empty());
    CHECK(manta::async<same>(5).get() == 5);
    auto c = manta::spawn<partner>();
    CHECK(manta::async<&partner::answer>(c).get() == 1);
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 100; ++i) fs.push_back(manta::async<same>(i));
    CHECK(manta::get(fs).size() == 100U);
  });
}

TEST_CASE("a deadlock that the driver does not catch ends the run on every rank") {
  manta::runtime rt(MPI_COMM_WORLD);
  const auto run = [&rt] {
    manta::testing::checked_run(rt, [] {
      auto a = manta::spawn<partner>();
      auto b = manta::spawn<partner>();
      return embrace(a, b).get();
    });
  };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run(), manta::deadlock);
  } else {
    CHECK_THROWS_AS(run(), manta::driver_failed);
  }
  CHECK(manta::testing::checked_run(rt, [] { return manta::async<same>(6).get(); }) == 6);
}

TEST_CASE("a deadlock among tasks that nobody waits for does not keep the run from ending") {
  in_world([] {
    auto a = manta::spawn<partner>();
    auto b = manta::spawn<partner>();
    embrace(a, b);
    CHECK(manta::async<same>(7).get() == 7);
  });
}

TEST_CASE("slow work and waits with a time limit are not deadlocks") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto late = manta::async<manta::testing::held<int>>(g, 3);
    CHECK_FALSE(late.wait_for(std::chrono::milliseconds(30)));
    const auto busy = manta::async(
        [](int milliseconds) {
          manta::testing::busy(std::chrono::milliseconds(milliseconds));
          return milliseconds;
        },
        30);
    CHECK(busy.get() == 30);
    manta::async<&gate::open>(g).get();
    CHECK(late.get() == 3);
  });
}
