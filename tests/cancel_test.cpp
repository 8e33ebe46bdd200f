// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// cancel: what has not started never does, what runs is told, nothing hangs and
// nothing is left. A task that spins until it is told to stop makes "it was
// told" a fact: if it is not, the run never ends.
//
// MANTA_CANCEL_GRAPHS sets the number of random graphs.
#include <doctest/doctest.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <random>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::mix;
using manta::testing::sum_over_ranks;

namespace {

std::atomic<long> ran{0};

/// Holds its rank.
void spin_until_stopped() {
  manta::testing::poll_until("a request to stop", [] { return manta::this_task::stop_requested(); });
}
/// Lets others run on its rank.
void until_stopped() {
  manta::testing::poll_until("a request to stop", [] {
    manta::async([] {}).wait();
    return manta::this_task::stop_requested();
  });
}

/// Short tasks and one that stays, of one function: the scheduler takes it for short and sends others behind it.
int work(int stays) {
  if (stays != 0) {
    spin_until_stopped();
    return 1;
  }
  ++ran;
  return 0;
}
int count_run(int x) { return ++ran, x; }
int add(int a, int b) { return a + b; }
int stay_and_throw(int) {
  ++ran;
  until_stopped();
  throw std::runtime_error("nobody sees this");
}
bool cancel_it(manta::future<int> f) { return manta::cancel(f); }

/// Ends when everything below it has been told to stop.
int tree(int depth) {
  if (depth == 0) return until_stopped(), 1;
  std::vector<manta::future<int>> children{manta::async<tree>(depth - 1), manta::async<tree>(depth - 1)};
  if (depth % 2 == 0) return until_stopped(), 1;  // does not wait for them
  return children[0].get() + children[1].get();
}
int submit_after_stop(int x) {
  until_stopped();
  auto late = manta::async<count_run>(x);
  return late.get();
}

struct slow_reply {
  std::string text;
  std::vector<manta::future<int>> inside;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(text, inside);
  }
};
std::vector<double> large_result() { return until_stopped(), std::vector<double>(50'000, 1.0); }
slow_reply small_result_with_futures() {
  slow_reply r{"x", {manta::async<add>(1, 2), manta::async<add>(3, 4)}};
  return until_stopped(), r;
}
slow_reply large_result_with_futures() {
  slow_reply r{std::string(40'000, 'x'), {manta::async<add>(1, 2)}};
  return until_stopped(), r;
}

class account {
 public:
  explicit account(int start) : sum_(start) {}
  int add(int x) { return sum_ += x; }
  int stay(int x) {
    until_stopped();
    return sum_ += x;
  }

 private:
  int sum_;
};
class keeper {
 public:
  void put(manta::actor<account> a) { kept_ = std::move(a); }
  manta::actor<account> look() const { return kept_; }
  void clear() { kept_ = {}; }

 private:
  manta::actor<account> kept_;
};
int spawn_and_stay(manta::actor<keeper> k, manta::future<int> start) {
  auto a = manta::spawn<account>(start);
  manta::async<&keeper::put>(k, a).get();
  a = {};
  return until_stopped(), 1;
}
manta::actor<account> stay_and_make() {
  until_stopped();
  return manta::spawn<account>(1);
}

template <class T>
std::string cancelled_text(const manta::future<T>& f) {
  return manta::testing::thrown<manta::cancelled>([&] { (void)f.get(); });
}

template <class T>
void wait_a_little(const manta::future<T>& f, std::uint64_t& random) {
  random = mix(random);
  f.wait_for(std::chrono::microseconds(random % 4 == 0 ? 0 : random % 3000));
}

}  // namespace

TEST_CASE("a task that waits for its inputs is cancelled, never runs, and what depends on it fails because of it") {
  ran = 0;
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    const auto first = manta::async<count_run>({.name = "first"}, input);
    const auto second = manta::async<count_run>({.name = "second"}, first);
    const auto third = manta::async<add>({.name = "third"}, 1, second);
    CHECK(manta::cancel(first));
    CHECK(first.ready());
    CHECK_FALSE(manta::cancel(first));
    CHECK(contains(cancelled_text(first), "'first' was cancelled by 'the driver' on rank 0"));
    const std::string text = cancelled_text(third);
    CHECK(contains(text, "'first' was cancelled"));
    CHECK(contains(text, "not run because of it: 'second', 'third'"));
    CHECK(contains(cancelled_text(manta::async<add>({.name = "late"}, 1, third)), "'late'"));
    manta::async<&gate::open>(g).get();
    CHECK(input.get() == 3);
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("what has ended is not cancelled") {
  in_world([] {
    const auto f = manta::async<add>(1, 2);
    CHECK(f.get() == 3);
    CHECK_FALSE(manta::cancel(f));
    CHECK(f.get() == 3);
    CHECK_FALSE(manta::cancel(manta::put(4)));
    const auto failed = manta::async([](int x) -> int { throw std::runtime_error(std::to_string(x)); }, 7);
    CHECK_THROWS_AS(failed.get(), manta::task_failed);
    CHECK_FALSE(manta::cancel(failed));
    CHECK_THROWS_AS(manta::cancel(manta::future<int>()), manta::error);
  });
}

TEST_CASE("tasks that are queued anywhere never start, and one that runs is told") {
  ran = 0;
  in_world([] {
    std::vector<manta::future<int>> warm;
    for (int i = 0; i < 200; ++i) warm.push_back(manta::async<work>(0));
    manta::get(warm);  // the function is known to be short: tasks are sent ahead
    const int before = 200;
    std::vector<manta::future<int>> stay, queued;
    for (const int rank : manta::testing::executors()) stay.push_back(manta::async<work>({.rank = rank}, 1));
    if (manta::size() > 1) stay[0].wait_for(std::chrono::milliseconds(1));
    for (int i = 0; i < 300; ++i) {
      queued.push_back(i % 3 == 0
                           ? manta::async<work>({.rank = manta::testing::executor(static_cast<std::size_t>(i))}, 0)
                       : i % 3 == 1 ? manta::async<work>({.retries = 2}, 0)
                                    : manta::async<work>(0));
    }
    if (manta::size() > 1) stay[0].wait_for(std::chrono::milliseconds(1));
    for (const auto& f : queued) CHECK(manta::cancel(f));
    for (const auto& f : stay) CHECK(manta::cancel(f));
    for (const auto& f : stay) CHECK(contains(cancelled_text(f), "work"));
    for (const auto& f : queued) CHECK(!cancelled_text(f).empty());
    CHECK(manta::async<work>(0).get() == 0);
    ran -= before + 1;
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("whatever a cancelled task returns or throws, its future is cancelled and nothing is left") {
  std::uint64_t random = manta::testing::seed("results of cancelled tasks");
  for (int round = 0; round < 5; ++round) {
    in_world([&] {
      const auto a = manta::async<large_result>();
      const auto b = manta::async<small_result_with_futures>();
      const auto c = manta::async<large_result_with_futures>();
      const auto d = manta::async<stay_and_make>();
      const auto e = manta::async<stay_and_throw>({.retries = 100}, 1);
      const auto size_of = manta::async([](const std::vector<double>& v) { return v.size(); }, a);
      wait_a_little(a, random);
      CHECK(manta::cancel(a));
      CHECK(manta::cancel(b));
      CHECK(manta::cancel(c));
      CHECK(manta::cancel(d));
      CHECK(manta::cancel(e));
      CHECK(!cancelled_text(a).empty());
      CHECK(!cancelled_text(b).empty());
      CHECK(!cancelled_text(c).empty());
      CHECK(!cancelled_text(d).empty());
      CHECK(!cancelled_text(e).empty());
      CHECK(!cancelled_text(size_of).empty());
    });
  }
}

TEST_CASE("a cancelled task is not run again") {
  ran = 0;
  in_world([] {
    const auto f = manta::async<stay_and_throw>({.rank = manta::testing::executor(0), .retries = 5}, 1);
    f.wait_for(std::chrono::milliseconds(5));
    CHECK(manta::cancel(f));
    CHECK(!cancelled_text(f).empty());
  });
  CHECK(sum_over_ranks(ran) <= 1);
}

TEST_CASE("any rank that holds a future can cancel its task") {
  ran = 0;
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    for (const int rank : manta::testing::executors()) {
      const auto f = manta::async<count_run>({.name = "cancelled from afar"}, input);
      const auto second = manta::async<add>(1, f);
      CHECK(manta::async<cancel_it>({.name = "the canceller", .rank = rank}, f).get());
      CHECK_FALSE(manta::async<cancel_it>({.rank = rank}, f).get());
      CHECK(contains(cancelled_text(f), "cancelled by 'the canceller' on rank " + std::to_string(rank)));
      CHECK(!cancelled_text(second).empty());
    }
    manta::async<&gate::open>(g).get();
    CHECK(input.get() == 3);
    CHECK_FALSE(manta::async<cancel_it>(input).get());
  });
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("a task on a worker cancels its own tasks, which are queued, placed by rank 0 or run elsewhere") {
  std::uint64_t random = manta::testing::seed("cancel on a worker");
  for (int round = 0; round < 5; ++round) {
    in_world([&] {
      random = mix(random);
      std::vector<manta::future<int>> tasks;
      for (const int rank : manta::testing::executors()) {
        tasks.push_back(manta::async(
            [](int seed) {
              auto r = static_cast<std::uint64_t>(seed);
              std::vector<manta::future<int>> mine;
              for (std::size_t i = 0; i < 40; ++i) {
                mine.push_back(i % 2 == 0 ? manta::async<tree>(1)
                                          : manta::async<tree>({.rank = manta::testing::executor(i)}, 1));
              }
              int count = 0;
              mine[1].wait_for(std::chrono::microseconds(mix(r) % 2000));
              for (const auto& f : mine) {
                count += manta::cancel(f, {.children = true});
                if (mix(++r) % 8 == 0) f.wait_for(std::chrono::microseconds(mix(r) % 300));
              }
              for (const auto& f : mine) count += !cancelled_text(f).empty();
              return count;
            },
            static_cast<int>(random % 1000)));
        (void)rank;
      }
      for (const auto& f : tasks) CHECK(f.get() == 80);
    });
  }
}

TEST_CASE("with children everything that a task has submitted ends, and what it submits afterwards") {
  std::uint64_t random = manta::testing::seed("cancel with children");
  ran = 0;
  for (int round = 0; round < 20; ++round) {
    in_world([&] {
      const auto f = manta::async<tree>(1 + static_cast<int>(random % 5));
      const auto late = manta::async<submit_after_stop>(1);
      f.wait_for(std::chrono::microseconds((random = mix(random)) % 4000));
      CHECK(manta::cancel(f, {.children = true}));
      CHECK(manta::cancel(late, {.children = true}));
      CHECK(!cancelled_text(f).empty());
      CHECK(!cancelled_text(late).empty());
    });
  }
  CHECK(sum_over_ranks(ran) == 0);
}

TEST_CASE("a task that waits for a cancelled one and lets that through is cancelled as well") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    const auto inner = manta::async<count_run>({.name = "inner"}, input);
    const auto outer = manta::async([](manta::future<int> f) { return f.get(); }, inner);
    outer.wait_for(std::chrono::milliseconds(1));
    CHECK(manta::cancel(inner));
    CHECK(contains(cancelled_text(outer), "'inner' was cancelled"));
    manta::async<&gate::open>(g).get();
    CHECK(input.get() == 3);
  });
}

TEST_CASE("an actor whose constructor is cancelled with the task that spawned it fails its calls with actor_died") {
  in_world([] {
    auto g = manta::spawn<gate>();
    auto k = manta::spawn<keeper>();
    const auto start = manta::async<manta::testing::held<int>>(g, 3);
    const auto f = manta::async<spawn_and_stay>(k, start);
    manta::actor<account> a;
    manta::testing::poll_until("an actor", [&] {
      f.wait_for(std::chrono::microseconds(100));
      a = manta::testing::fetch(manta::async<&keeper::look>(k));
      return a.valid();
    });
    const auto early = manta::async<&account::add>(a, 1);
    CHECK(manta::cancel(f, {.children = true}));
    CHECK_THROWS_WITH_AS(early.get(), doctest::Contains("was cancelled"), manta::actor_died);
    CHECK_THROWS_WITH_AS(manta::async<&account::add>(a, 1).get(), doctest::Contains("was cancelled"),
                         manta::actor_died);
    manta::async<&keeper::clear>(k).get();
    manta::async<&gate::open>(g).get();
  });
}

TEST_CASE("calls of an actor: one that waits never starts and lets later ones pass, one that runs is told") {
  std::uint64_t random = manta::testing::seed("cancelled calls");
  for (int round = 0; round < 5; ++round) {
    in_world([&] {
      auto g = manta::spawn<gate>();
      auto a = manta::spawn<account>(100);
      const auto input = manta::async<manta::testing::held<int>>(g, 3);
      const auto unborn = manta::async<&account::add>(a, 1000);  // perhaps before the place of the actor is known
      CHECK(manta::cancel(unborn));
      const auto waits = manta::async<&account::add>(a, input);
      const auto behind = manta::async<&account::add>(a, 1);
      wait_a_little(waits, random);
      CHECK(manta::cancel(waits));
      CHECK(behind.get() % 1000 == 101);
      const auto stays = manta::async<&account::stay>(a, 0);
      const auto queued = manta::async<&account::add>(a, 5000);
      stays.wait_for(std::chrono::microseconds(mix(random) % 3000));
      CHECK(manta::cancel(queued));
      CHECK(manta::cancel(stays));
      CHECK(!cancelled_text(stays).empty());
      CHECK(!cancelled_text(queued).empty());
      CHECK(manta::async<&account::add>(a, 1).get() % 1000 == 102);
      manta::async<&gate::open>(g).get();
      CHECK(input.get() == 3);
    });
  }
}

TEST_CASE("a driver that fails after it has cancelled leaves nothing") {
  const auto run = [] {
    in_world([] {
      const auto f = manta::async<tree>(3);
      std::vector<manta::future<int>> more;
      for (int i = 0; i < 1000; ++i) more.push_back(manta::async<work>(0));
      f.wait_for(std::chrono::milliseconds(1));
      for (std::size_t i = 0; i < 1000; i += 2) manta::cancel(more[i]);
      manta::cancel(f);
      throw std::runtime_error("part of the test");
    });
  };
  if (manta::testing::world_rank() == 0) {
    CHECK_THROWS_AS(run(), std::runtime_error);
  } else {
    CHECK_THROWS_AS(run(), manta::driver_failed);
  }
}

// ---- random graphs: every future has its right value or is cancelled -------------------------------------------

namespace {

using number = std::int64_t;

number value_of(std::uint64_t salt, number a, number b) {
  return static_cast<number>(mix(salt ^ mix(static_cast<std::uint64_t>(a)) ^ static_cast<std::uint64_t>(b)) >> 1U);
}
number combine(std::uint64_t salt, number a, number b) {
  if (salt % 7 == 0) manta::testing::busy(std::chrono::microseconds(salt % 200));
  return value_of(salt, a, b);
}
/// The same through tasks of its own; may be told to stop early, and then nobody looks at what it returns.
number nested(std::uint64_t salt, number a, number b) {
  std::vector<manta::future<number>> parts;
  for (std::uint64_t i = 0; i < salt % 6; ++i) parts.push_back(manta::async<combine>(salt + i, a, b));
  if (manta::this_task::stop_requested()) return -1;
  for (const auto& p : parts) (void)p.get();
  return value_of(salt, a, b);
}
number with_list(std::uint64_t salt, number a, const std::vector<number>& v) {
  return value_of(salt, a, v.empty() ? 0 : v.back());
}
std::vector<number> list_of(std::uint64_t salt, number a, number b) {
  return std::vector<number>(salt % 3 == 0 ? 5'000 : 5, value_of(salt, a, b));
}
number wait_for_it(std::uint64_t salt, number a, manta::future<number> f) {
  try {
    return value_of(salt, a, f.get());
  } catch (const manta::cancelled&) {
    return -7;
  }
}
class mixer {
 public:
  number call(std::uint64_t salt, number a, number b) { return value_of(salt, a, b); }
};
bool cancel_number(manta::future<number> f, bool children) { return manta::cancel(f, {.children = children}); }

struct made {
  manta::future<number> future;
  manta::future<std::vector<number>> list;
  number right = 0;
  bool alternative = false;  ///< may be -7: it waits for one that may be cancelled
};

void random_graph(std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  const auto below = [&rng](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  std::vector<made> all;
  std::vector<manta::actor<mixer>> mixers;
  for (int i = 0; i < 3; ++i) mixers.push_back(manta::spawn<mixer>());
  std::vector<manta::future<bool>> cancels;
  const std::size_t size = 100 + below(400);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t salt = rng() >> 8U;
    made m;
    if (i < 3) {
      m.right = value_of(salt, 1, 2);
      m.future = manta::async<combine>(salt, 1, 2);
    } else {
      const made& a = all[all.size() - 1 - below(std::min<std::size_t>(all.size(), 30))];
      const made& b = all[all.size() - 1 - below(std::min<std::size_t>(all.size(), 30))];
      if (a.alternative || b.alternative) continue;
      m.right = value_of(salt, a.right, b.right);
      const int rank = manta::testing::executor(below(8));
      switch (below(8)) {
        case 0: m.future = manta::async<nested>(salt, a.future, b.future); break;
        case 1: m.future = manta::async<nested>({.rank = rank, .retries = 2}, salt, a.future, b.future); break;
        case 2: m.future = manta::async<&mixer::call>(mixers[below(3)], salt, a.future, b.future); break;
        case 3: m.future = manta::async<&mixer::call>(mixers[below(3)], salt, a.right, b.future); break;
        case 4:
          m.list = manta::async<list_of>(salt, a.future, b.future);
          m.right = value_of(salt, a.right, m.right);
          m.future = manta::async<with_list>(salt, a.future, m.list);
          break;
        case 5:
          m.alternative = true;
          m.future = manta::async<wait_for_it>(salt, a.future, b.future);
          break;
        case 6: m.future = manta::async<combine>({.rank = rank}, salt, a.future, b.future); break;
        default: m.future = manta::async<combine>(salt, a.future, b.future); break;
      }
    }
    all.push_back(m);
    if (below(8) == 0) {
      const made& victim = all[all.size() - 1 - below(std::min<std::size_t>(all.size(), 60))];
      switch (below(4)) {
        case 0: manta::cancel(victim.future, {.children = true}); break;
        case 1: cancels.push_back(manta::async<cancel_number>(victim.future, below(2) == 0)); break;
        case 2:
          if (victim.list.valid()) manta::cancel(victim.list);
          break;
        default: manta::cancel(victim.future); break;
      }
    }
    if (below(50) == 0) all[below(all.size())].future.wait_for(std::chrono::microseconds(below(500)));
    if (below(30) == 0) all[below(all.size())].list = {};
  }
  int wrong = 0;
  for (const made& m : all) {
    try {
      const number got = m.future.get();
      wrong += got != m.right && !(m.alternative && got == -7);
    } catch (const manta::cancelled&) {
      CHECK_FALSE(manta::cancel(m.future));
    }
  }
  CHECK_MESSAGE(wrong == 0, wrong << " wrong values; MANTA_TEST_SEED=" << seed << " MANTA_CANCEL_GRAPHS=1");
  manta::get(cancels);
}

}  // namespace

TEST_CASE("in random graphs with random cancels each future has its right value or is cancelled") {
  const std::uint64_t seed = manta::testing::seed("random cancels");
  const char* const given = std::getenv("MANTA_CANCEL_GRAPHS");
  const std::uint64_t graphs = given != nullptr ? std::strtoull(given, nullptr, 10) : 20;
  for (std::uint64_t i = 0; i < graphs; ++i) {
    in_world([&] { random_graph(seed + i); });
  }
}
