// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Pools of actors: work goes to whoever is idle, results come in order or as
// they end.
#include <doctest/doctest.h>

#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <memory>
#include <random>
#include <set>

#include "support/world.hpp"

using manta::testing::busy;
using manta::testing::contains;
using manta::testing::count_to;
using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::poll_until;
using manta::testing::thrown;

namespace {

class worker {
 public:
  explicit worker(int base = 0, std::string name = "") : base_(base), name_(std::move(name)) {}
  int add(int x) {
    ++calls_;
    return base_ + x;
  }
  int add_late(int x) {
    busy(std::chrono::microseconds(std::mt19937(static_cast<unsigned>(x))() % 500));
    return add(x);
  }
  int add_when_open(manta::actor<gate> g, int x) {
    manta::testing::pass(g);
    return add(x);
  }
  int add_all(const std::vector<double>& values) { return add(static_cast<int>(values.size())); }
  std::unique_ptr<int> boxed(int x) { return std::make_unique<int>(add(x)); }
  int unbox(std::unique_ptr<int> x) { return add(*x); }
  void count() { ++calls_; }
  int refuse_odd(int x) {
    if (x % 2 != 0) throw std::invalid_argument("odd " + std::to_string(x));
    return x;
  }
  int calls() const { return calls_; }
  std::string name() const { return name_; }

 private:
  int base_;
  std::string name_;
  int calls_ = 0;
};

int same(int x) { return x; }

int total_calls(const manta::actor_pool<worker>& pool) {
  int sum = 0;
  for (const auto& a : pool.actors()) sum += manta::async<&worker::calls>(a).get();
  return sum;
}

}  // namespace

TEST_CASE("a pool is made from a number, from options and arguments, or from actors") {
  in_world([] {
    manta::actor_pool<worker> plain(3);
    CHECK(plain.size() == 3U);
    CHECK(plain.submit<&worker::add>(4).get() == 4);
    manta::actor_pool<worker> made(2, 10, "ten");
    for (const auto& a : made.actors()) CHECK(manta::async<&worker::name>(a).get() == "ten");
    CHECK(made.submit<&worker::add>(4).get() == 14);
    const int place = manta::testing::executor(1);
    manta::actor_pool<worker> named(2, {.name = "helper", .rank = place}, 20);
    CHECK(manta::async<&worker::add>(manta::find_actor<worker>("helper-1"), 1).get() == 21);
    manta::actor_pool<worker> borrowed(made.actors());
    CHECK(borrowed.submit<&worker::add>(manta::async<same>(5)).get() == 15);
    CHECK(contains(thrown<manta::error>([] { manta::actor_pool<worker> nobody(0); }), "at least one actor"));
  });
}

TEST_CASE("map gives results in the order of the elements") {
  in_world([] {
    manta::actor_pool<worker> pool(3, 100);
    const auto results = manta::get(pool.map<&worker::add_late>(count_to(60)));
    for (int i = 0; i < 60; ++i) CHECK(results[static_cast<std::size_t>(i)] == 100 + i);
    CHECK(total_calls(pool) == 60);
    CHECK(pool.map<&worker::add>(std::vector<int>()).empty());
    std::vector<manta::future<int>> futures;
    for (int i = 0; i < 20; ++i) futures.push_back(manta::async<same>(i));
    const auto more = manta::get(pool.map<&worker::add>(futures));
    for (int i = 0; i < 20; ++i) CHECK(more[static_cast<std::size_t>(i)] == 100 + i);
    auto boxes = pool.map<&worker::boxed>(count_to(10));
    for (int i = 0; i < 10; ++i) CHECK(*std::move(boxes[static_cast<std::size_t>(i)]).get() == 100 + i);
    const std::vector<std::vector<double>> arrays(5, std::vector<double>(20'000, 1.0));
    for (const int n : manta::get(pool.map<&worker::add_all>(arrays))) CHECK(n == 20'100);
  });
}

TEST_CASE("map_unordered gives each result once, as they end") {
  in_world([] {
    manta::actor_pool<worker> pool(3);
    std::set<int> seen;
    for (auto& f : pool.map_unordered<&worker::add_late>(count_to(60))) CHECK(seen.insert(f.get()).second);
    CHECK(seen.size() == 60U);
    for ([[maybe_unused]] auto& f : pool.map_unordered<&worker::add>(std::vector<int>())) FAIL("there is nothing");
    int done = 0;
    for (auto& f : pool.map_unordered<&worker::boxed>(count_to(10))) done += *std::move(f).get() >= 0;
    CHECK(done == 10);
    done = 0;
    for (auto& f : pool.map_unordered<&worker::add>(count_to(100))) {
      f.get();
      if (++done == 5) break;  // what was not begun is not done
    }
    CHECK(total_calls(pool) < 60 + 10 + 50);
  });
}

TEST_CASE("work that is held up on one actor is done by the others") {
  in_world([] {
    auto g = manta::spawn<gate>();
    manta::actor_pool<worker> pool(2);
    const auto stuck = pool.submit<&worker::add_when_open>(g, 1);
    std::set<int> seen;
    for (auto& f : pool.map_unordered<&worker::add>(count_to(30))) seen.insert(f.get());
    CHECK(seen.size() == 30U);
    CHECK(manta::get(pool.map<&worker::add>(count_to(30))) == count_to(30));
    CHECK(!stuck.ready());
    CHECK(manta::async<&worker::calls>(pool.actors()[1]).get() == 60);  // the first of equals came first
    manta::async<&gate::open>(g).get();
    CHECK(stuck.get() == 1);
    auto h = manta::spawn<gate>();  // all of them busy: map waits for whoever is first
    const auto first = pool.submit<&worker::add_when_open>(h, 1);
    const auto second = pool.submit<&worker::add_when_open>(h, 2);
    manta::async<&gate::open>(h);
    seen.clear();
    for (auto& f : pool.map_unordered<&worker::add>(count_to(5))) seen.insert(f.get());
    CHECK(seen.size() == 5U);
    CHECK(first.get() + second.get() == 3);
  });
}

TEST_CASE("submit spreads calls evenly, and to those who have fewest under way") {
  in_world([] {
    auto g = manta::spawn<gate>();
    manta::actor_pool<worker> pool(4);
    std::vector<manta::future<int>> held;
    for (int i = 0; i < 8; ++i) held.push_back(pool.submit<&worker::add_when_open>(g, i));
    manta::async<&gate::open>(g).get();
    CHECK(manta::get(held) == count_to(8));
    for (const auto& a : pool.actors()) CHECK(manta::async<&worker::calls>(a).get() == 2);
  });
}

TEST_CASE("results of calls are taken as they end") {
  in_world([] {
    manta::actor_pool<worker> pool(3);
    auto calls = pool.calls<&worker::add_late>();
    CHECK(!calls.has_next());
    CHECK(contains(thrown<manta::error>([&] { calls.next(); }), "have been taken"));
    std::set<int> seen;
    for (int i = 0; i < 10; ++i) calls.submit(i);
    for (int i = 10; i < 40; ++i) {
      CHECK(seen.insert(calls.next().get()).second);
      calls.submit(i);
    }
    while (calls.has_next()) CHECK(seen.insert(calls.next().get()).second);
    CHECK(seen.size() == 40U);
    auto g = manta::spawn<gate>();
    auto mixed = pool.calls<&worker::add_when_open>();
    auto open = manta::spawn<gate>();
    manta::async<&gate::open>(open).get();
    mixed.submit(g, 1);
    mixed.submit(open, 2);
    CHECK(mixed.next().get() == 2);
    manta::async<&gate::open>(g).get();
    CHECK(mixed.next().get() == 1);
    auto unread = pool.calls<&worker::count>();
    for (int i = 0; i < 10; ++i) unread.submit();
  });
}

TEST_CASE("a call that fails fails alone, in its place") {
  in_world([] {
    manta::actor_pool<worker> pool(2);
    const auto results = pool.map<&worker::refuse_odd>(count_to(10));
    for (int i = 0; i < 10; ++i) {
      const auto& f = results[static_cast<std::size_t>(i)];
      if (i % 2 == 0) {
        CHECK(f.get() == i);
      } else {
        CHECK(contains(thrown<manta::task_failed>([&] { f.get(); }), "odd " + std::to_string(i)));
      }
    }
  });
}

namespace {
/// Ends an actor and returns when its calls fail.
void end(const manta::actor<worker>& a) {
  manta::kill(a);
  CHECK_THROWS_AS(manta::async<&worker::calls>(a).get(), manta::actor_died);
}
struct outcome {
  int done = 0, died = 0;
  template <class R>
  void note(const manta::future<R>& f) {
    try {
      f.get();
      ++done;
    } catch (const manta::actor_died&) {
      ++died;
    }
  }
};
}  // namespace

TEST_CASE("an actor that has died gets one call at most, and the others do the rest") {
  in_world([] {
    outcome mapped, unordered, submitted, called;
    manta::actor_pool<worker> a(3);
    end(a.actors()[1]);
    for (const auto& f : a.map<&worker::add_late>(count_to(30))) mapped.note(f);
    CHECK(mapped.done == 29);
    CHECK(a.living() == 2U);
    for (const auto& f : a.map<&worker::add>(count_to(30))) mapped.note(f);
    CHECK(mapped.done == 59);  // it is known by now
    manta::actor_pool<worker> b(3);
    end(b.actors()[0]);
    for (const auto& f : b.map_unordered<&worker::add_late>(count_to(30))) unordered.note(f);
    CHECK(unordered.done == 29);
    manta::actor_pool<worker> c(3);
    end(c.actors()[2]);
    for (int i = 0; i < 30; ++i) submitted.note(c.submit<&worker::add>(i));
    CHECK(submitted.done == 29);
    manta::actor_pool<worker> d(3);
    end(d.actors()[1]);
    auto calls = d.calls<&worker::add>();
    for (int i = 0; i < 3; ++i) calls.submit(i);
    for (int i = 3; i < 30; ++i) {
      called.note(calls.next());
      calls.submit(i);
    }
    while (calls.has_next()) called.note(calls.next());
    CHECK(called.done >= 28);  // it may have been given a second one before the first had failed
    CHECK(called.done + called.died == 30);
  });
}

TEST_CASE("an actor that dies while it has calls gets no further ones") {
  in_world([] {
    auto g = manta::spawn<gate>();
    manta::actor_pool<worker> pool(2);
    const auto held = pool.submit<&worker::add_when_open>(g, 1);  // on the first
    const auto behind = manta::async<&worker::add>(pool.actors()[0], 2);
    manta::kill(pool.actors()[0]);
    CHECK_THROWS_AS(behind.get(), manta::actor_died);
    manta::async<&gate::open>(g).get();
    manta::wait(std::vector{held});  // what ran goes on to its end
    outcome o;
    for (const auto& f : pool.map<&worker::add>(count_to(20))) o.note(f);
    CHECK(o.done >= 19);
    CHECK(pool.living() == 1U);
  });
}

TEST_CASE("what a dead actor had been given is done by the others if that is asked for") {
  in_world([] {
    manta::actor_pool<worker> a(3, 100);
    end(a.actors()[1]);
    const auto results = a.map<&worker::add_late>(count_to(30), {.redo = true});
    for (int i = 0; i < 30; ++i) CHECK(results[static_cast<std::size_t>(i)].get() == 100 + i);
    manta::actor_pool<worker> b(3);
    end(b.actors()[0]);
    std::set<int> seen;
    for (auto& f : b.map_unordered<&worker::add_late>(count_to(30), {.redo = true})) CHECK(seen.insert(f.get()).second);
    CHECK(seen.size() == 30U);
    manta::actor_pool<worker> c(3);
    end(c.actors()[2]);
    end(c.actors()[0]);
    seen.clear();
    auto calls = c.calls<&worker::add_all>({.redo = true});
    for (int i = 0; i < 30; ++i) {
      calls.submit(std::vector<double>(static_cast<std::size_t>(i)));
      if (i >= 3) CHECK(seen.insert(calls.next().get()).second);
    }
    while (calls.has_next()) CHECK(seen.insert(calls.next().get()).second);
    CHECK(seen.size() == 30U);
    CHECK(c.living() == 1U);
    manta::actor_pool<worker> d(2);  // other failures are results, and no call is made twice because of them
    outcome o;
    int failed = 0;
    for (const auto& f : d.map<&worker::refuse_odd>(count_to(10), {.redo = true})) {
      try {
        f.get();
      } catch (const manta::task_failed&) {
        ++failed;
      }
    }
    CHECK(failed == 5);
  });
}

TEST_CASE("when no actor is left the futures say so, and what was done is not lost") {
  in_world([] {
    for (const bool redo : {false, true}) {
      manta::actor_pool<worker> pool(2);
      const auto before = pool.map<&worker::add>(count_to(4), {.redo = redo});
      manta::wait(before, {.count = 4});
      for (const auto& a : pool.actors()) end(a);
      const auto says_so = [](const auto& f) {
        return contains(thrown<manta::actor_died>([&] { f.get(); }), "none of the pool's 2 actors is left");
      };
      const auto after = pool.map<&worker::add>(count_to(4), {.redo = redo});
      CHECK(says_so(after[2]));
      CHECK(says_so(after[3]));
      CHECK(pool.living() == 0U);
      CHECK(says_so(pool.submit<&worker::add>(1)));
      pool.submit<&worker::count>().wait();
      int told = 0;
      for (auto& f : pool.map_unordered<&worker::add>(count_to(4), {.redo = redo})) told += says_so(f);
      CHECK(told == 4);
      auto calls = pool.calls<&worker::add>({.redo = redo});
      calls.submit(1);
      CHECK(says_so(calls.next()));
      CHECK(!calls.has_next());
      CHECK(manta::get(before) == count_to(4));
    }
  });
}

TEST_CASE("an actor whose constructor failed, or one of whose calls had a dead actor's result as an argument") {
  in_world([] {
    const auto gone = manta::spawn<worker>();
    end(gone);
    manta::actor_pool<worker> pool(2);
    for (int i = 0; i < 4; ++i)
      CHECK_THROWS_AS(pool.submit<&worker::add>(manta::async<&worker::add>(gone, 1)).get(), manta::actor_died);
    CHECK(pool.living() == 2U);  // they have not died
    manta::actor_pool<worker> mixed(
        {manta::spawn<worker>(manta::async<&worker::add>(gone, 1)), manta::spawn<worker>()});
    outcome o;
    for (const auto& f : mixed.map<&worker::add>(count_to(10))) o.note(f);
    CHECK(o.done >= 9);
    CHECK(mixed.living() == 1U);
  });
}

TEST_CASE("arguments that can only be moved cannot be kept for another actor") {
  in_world([] {
    manta::actor_pool<worker> pool(1);
    auto calls = pool.calls<&worker::unbox>({.redo = true});
    CHECK(contains(thrown<manta::error>([&] { calls.submit(std::make_unique<int>(3)); }), "can only be moved"));
    auto others = pool.calls<&worker::unbox>();
    others.submit(std::make_unique<int>(3));
    CHECK(others.next().get() == 3);
  });
}

TEST_CASE("a pool that waits for work that can never end is a deadlock") {
  in_world([] {
    manta::actor_pool<worker> pool(1);
    manta::promise<int> never;
    const auto stuck = pool.submit<&worker::add>(never.get_future());
    CHECK_THROWS_AS(pool.map<&worker::add>(count_to(2)), manta::deadlock);
    never.set_value(1);
    CHECK(stuck.get() == 1);
    CHECK(manta::get(pool.map<&worker::add>(count_to(2))) == count_to(2));
  });
}
