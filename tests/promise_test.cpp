// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Promises: futures that the program completes by hand, also for waiters on
// other ranks, and what happens when nobody does.
#include <doctest/doctest.h>

#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <memory>
#include <thread>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::fetch;
using manta::testing::in_world;
using manta::testing::thrown;

namespace {

struct bad_luck : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Keeps callers waiting until somebody opens it.
class door {
 public:
  manta::future<int> enter() { return waiting_.emplace_back().get_future(); }
  int waiting() const { return static_cast<int>(waiting_.size()); }
  void open(int first) {
    for (auto& p : waiting_) p.set_value(first++);
    waiting_.clear();
  }
  void jam() {
    for (auto& p : waiting_) p.set_exception(std::make_exception_ptr(bad_luck("it is stuck")));
    waiting_.clear();
  }
  void forget() { waiting_.clear(); }

 private:
  std::vector<manta::promise<int>> waiting_;
};

int same(int x) { return x; }
int pass_through(manta::actor<door> d) { return manta::async<&door::enter>(d).get().get(); }
void wait_for_visitors(const manta::actor<door>& d, int count) {
  manta::testing::poll_until("visitors at the door", [&] { return fetch(manta::async<&door::waiting>(d)) == count; });
}

}  // namespace

TEST_CASE("a promise's futures have the value that was set, before and after") {
  in_world([] {
    manta::promise<int> p;
    const auto before = p.get_future();
    CHECK(!before.ready());
    p.set_value(7);
    const auto after = p.get_future();
    CHECK(before == after);
    CHECK(before.get() == 7);
    manta::promise<std::string> text;
    text.set_value("hello");
    CHECK(text.get_future().get() == "hello");
    manta::promise<void> signal;
    const auto done = signal.get_future();
    CHECK(!done.wait_for(std::chrono::milliseconds(1)));
    signal.set_value();
    done.get();
    manta::promise<std::unique_ptr<int>> box;
    auto boxed = box.get_future();
    box.set_value(std::make_unique<int>(3));
    box = {};
    CHECK(*std::move(boxed).get() == 3);
    manta::promise<std::vector<double>> large;
    const auto sum = manta::async([](const std::vector<double>& v) { return v.size(); }, large.get_future());
    large.set_value(std::vector<double>(100'000, 1.0));
    CHECK(sum.get() == 100'000U);
  });
}

TEST_CASE("tasks that depend on a promise start when it is set") {
  in_world([] {
    manta::promise<int> p;
    std::vector<manta::future<int>> dependent;
    for (int i = 0; i < 20; ++i) dependent.push_back(manta::async<same>(p.get_future()));
    for (const auto& f : dependent) CHECK(!f.ready());
    p.set_value(5);
    for (const int x : manta::get(dependent)) CHECK(x == 5);
  });
}

TEST_CASE("an actor keeps callers of all ranks waiting until it sets their promises") {
  in_world([] {
    auto d = manta::spawn<door>();
    std::vector<manta::future<int>> visitors;
    for (int i = 0; i < 30; ++i) visitors.push_back(manta::async<pass_through>(d));
    wait_for_visitors(d, 30);
    for (const auto& v : visitors) CHECK(!v.ready());
    manta::async<&door::open>(d, 100).get();
    auto rooms = manta::get(visitors);
    std::sort(rooms.begin(), rooms.end());
    for (std::size_t i = 0; i < rooms.size(); ++i) CHECK(rooms[i] == 100 + static_cast<int>(i));
  });
}

TEST_CASE("an exception that was set is thrown on every rank, as itself if its type is registered") {
  manta::rethrow_as<bad_luck>();
  in_world([] {
    auto d = manta::spawn<door>();
    std::vector<manta::future<int>> visitors;
    for (int i = 0; i < 10; ++i) visitors.push_back(manta::async<pass_through>(d));
    wait_for_visitors(d, 10);
    manta::async<&door::jam>(d).get();
    for (const auto& v : visitors) CHECK(thrown<bad_luck>([&] { v.get(); }) == "it is stuck");
    manta::promise<int> p;
    p.set_exception(std::make_exception_ptr(std::out_of_range("unregistered")));
    CHECK(contains(thrown<manta::task_failed>([&] { p.get_future().get(); }), "unregistered"));
  });
}

TEST_CASE("a promise that is destroyed without a value breaks, for all who wait") {
  in_world([] {
    auto d = manta::spawn<door>();
    std::vector<manta::future<int>> visitors;
    for (int i = 0; i < 10; ++i) visitors.push_back(manta::async<pass_through>(d));
    wait_for_visitors(d, 10);
    manta::async<&door::forget>(d).get();
    for (const auto& v : visitors) CHECK_THROWS_AS(v.get(), manta::broken_promise);
    auto e = manta::spawn<door>();
    const auto visitor = manta::async<pass_through>(e);
    wait_for_visitors(e, 1);
    manta::kill(e);
    CHECK_THROWS_AS(visitor.get(), manta::broken_promise);
    { manta::promise<int> nobody_asked; }
    manta::future<int> f;
    {
      manta::promise<int> first;
      f = first.get_future();
      first = manta::promise<int>();
      CHECK_THROWS_AS(f.get(), manta::broken_promise);
      f = first.get_future();
      manta::promise<int> moved = std::move(first);
      CHECK(!first.valid());
      CHECK(!f.ready());
      moved.set_value(1);
    }
    CHECK(f.get() == 1);
  });
}

TEST_CASE("completing a promise twice, or an empty one, is an error") {
  in_world([] {
    manta::promise<int> p;
    p.set_value(1);
    CHECK(contains(thrown<manta::error>([&] { p.set_value(2); }), "completed already"));
    CHECK(contains(thrown<manta::error>([&] { p.set_exception(std::make_exception_ptr(1)); }), "completed already"));
    CHECK(p.get_future().get() == 1);
    manta::promise<int> q;
    CHECK(contains(thrown<manta::error>([&] { q.set_exception(nullptr); }), "empty"));
    q.set_value(2);
    const manta::promise<int> moved = std::move(q);
    CHECK(contains(thrown<manta::error>([&] { q.set_value(3); }), "empty handle"));
    std::string text;
    std::thread([&] { text = thrown<manta::error>([] { manta::promise<int> elsewhere; }); }).join();
    CHECK(contains(text, "thread of your own"));
  });
}

TEST_CASE("a wait for a promise that nobody will set is a deadlock, and the run goes on") {
  in_world([] {
    manta::promise<int> p;
    const auto waiter = manta::async(
        [](manta::future<int> f) {
          try {
            f.get();
          } catch (const manta::deadlock&) {
            return 1;
          }
          return 0;
        },
        p.get_future());
    CHECK(contains(thrown<manta::deadlock>([&] { p.get_future().get(); }), "wait"));
    CHECK(waiter.get() == 1);
    p.set_value(3);
    CHECK(p.get_future().get() == 3);
  });
}

TEST_CASE("a promise that outlives what waits for it is no obstacle to the end of the run") {
  in_world([] {
    auto d = manta::spawn<door>();
    manta::async<&door::enter>(d).get();  // its future is dropped at once
    const auto f = manta::async<&door::enter>(d).get();
    manta::async<same>(f);  // never starts: the promise breaks when the actor ends
  });
}
