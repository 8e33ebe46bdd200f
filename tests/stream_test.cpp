// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Streams: the values of a coroutine that runs on some rank, in order, while it
// runs; how far it may be ahead, how it ends, and how a stream is handed on.
#include <doctest/doctest.h>

#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <memory>
#include <random>
#include <span>

#include "support/world.hpp"

using manta::testing::block;
using manta::testing::contains;
using manta::testing::count_to;
using manta::testing::fetch;
using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::poll_until;
using manta::testing::tally;
using manta::testing::thrown;

namespace {

/// Instances of coroutines that have begun and not ended, per process.
struct witness {
  static inline std::atomic<int> here{0};
  witness() { ++here; }
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  ~witness() { --here; }
};
int witnesses_here() { return witness::here.load(); }
int witnesses_anywhere() {
  int sum = static_cast<int>(manta::size()) > 1 ? witnesses_here() : 0;
  for (const int rank : manta::testing::executors()) sum += fetch(manta::async<witnesses_here>({.rank = rank}));
  return sum;
}
void wait_for_no_witness() {
  poll_until("the end of coroutines that nobody reads", [] { return witnesses_anywhere() == 0; });
}

struct cannot_be_saved {
  int value = 0;
  template <typename Archive>
  void save(Archive& archive) const {
    if (value == 2) throw std::runtime_error("two cannot be saved");
    archive(value, std::string(5000, 'x'));
  }
  template <typename Archive>
  void load(Archive& archive) {
    std::string ballast;
    archive(value, ballast);
  }
};

int same(int x) { return x; }

manta::generator<int> count(int n) {
  const witness w;
  for (int i = 0; i < n; ++i) co_yield i;
}
manta::generator<int> forever() {
  const witness w;
  for (int i = 0;; ++i) co_yield i;
}
manta::generator<int> counted(manta::actor<tally> made) {
  for (int i = 0;; ++i) {
    manta::async<&tally::arrive>(made).get();
    co_yield i;
  }
}
manta::generator<int> fail_after(int n) {
  const witness w;
  for (int i = 0; i < n; ++i) co_yield i;
  throw std::invalid_argument("no more than " + std::to_string(n));
}
manta::generator<int> wait_inside(int n) {
  for (int i = 0; i < n; ++i) {
    std::vector<manta::future<int>> parts;
    for (int k = 0; k <= i; ++k) parts.push_back(manta::async<same>(k));
    int sum = 0;
    for (const int part : manta::get(parts)) sum += part;
    co_yield sum;
  }
}
manta::generator<int> held(manta::actor<gate> first, manta::actor<gate> second) {
  manta::testing::pass(first);
  co_yield 1;
  manta::testing::pass(second);
  co_yield 2;
}
manta::generator<std::vector<double>> arrays(int n, std::size_t length) {
  for (int i = 0; i < n; ++i) co_yield std::vector<double>(length, i);
}
manta::generator<std::vector<double>> counted_arrays(manta::actor<tally> made, std::size_t length) {
  for (int i = 0;; ++i) {
    manta::async<&tally::arrive>(made).get();
    co_yield std::vector<double>(length, i);
  }
}
manta::generator<block> blocks(int n) {
  for (int i = 0; i < n; ++i) co_yield block(i);
}
manta::generator<std::unique_ptr<int>> boxes(int n) {
  for (int i = 0; i < n; ++i) co_yield std::make_unique<int>(i);
}
manta::generator<cannot_be_saved> unsaved() {
  for (int i = 0; i < 4; ++i) co_yield cannot_be_saved{i};
}
manta::generator<std::string> words(const std::string& text, std::vector<int> lengths, const double& scale,
                                    std::span<const double> view) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const auto length = static_cast<std::size_t>(lengths[i]);
    co_yield text.substr(at, length) + " " + std::to_string(static_cast<int>(scale * view[i]));
    at += length;
  }
}
manta::generator<int> doubled(manta::stream<int> source) {
  for (auto& f : source) co_yield 2 * f.get();
}
manta::generator<int> late(int n) {
  std::mt19937 random(static_cast<unsigned>(n));
  for (int i = 0; i < n; ++i) {
    manta::testing::busy(std::chrono::microseconds(random() % 300));
    co_yield i;
  }
}
manta::generator<manta::future<int>> futures(int n) {
  for (int i = 0; i < n; ++i) co_yield manta::async<same>(i);
}

int sum_of(manta::stream<int> s) {
  int sum = 0;
  for (auto& f : s) sum += f.get();
  return sum;
}
int first_of(manta::stream<int> s) { return s.next().value().get(); }
manta::stream<int> skip(manta::stream<int> s, int n) {
  for (int i = 0; i < n; ++i) CHECK(s.next().has_value());
  return s;
}
manta::stream<int> opened(int n) { return manta::async<count>(n); }

struct scaled {
  int factor = 1;
  manta::generator<int> operator()(int n) const {
    for (int i = 0; i < n; ++i) co_yield i* factor;
  }
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(factor);
  }
};

struct parcel {
  std::string label;
  std::vector<double> ballast;
  manta::stream<int> content;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(label, ballast, content);
  }
};
int unpacked(parcel p) { return static_cast<int>(p.label.size() + p.ballast.size()) + sum_of(std::move(p.content)); }

std::vector<int> all(manta::stream<int>& s) {
  std::vector<int> values;
  for (auto& f : s) values.push_back(f.get());
  return values;
}

}  // namespace

TEST_CASE("values come in order, and then the end") {
  in_world([] {
    manta::stream<int> s = manta::async<count>(100);
    int expected = 0;
    for (auto& f : s) CHECK(f.get() == expected++);
    CHECK(expected == 100);
    CHECK(!s.next());
    CHECK(!s.next());
    auto slow = manta::async<late>(50);
    CHECK(all(slow) == count_to(50));
    wait_for_no_witness();
  });
}

TEST_CASE("an empty stream has no values, one that was never assigned is an error") {
  in_world([] {
    auto s = manta::async<count>(0);
    CHECK(s.valid());
    for ([[maybe_unused]] auto& f : s) FAIL("there is nothing");
    manta::stream<int> nothing;
    CHECK(!nothing.valid());
    CHECK(contains(thrown<manta::error>([&] { nothing.next(); }), "empty stream"));
    CHECK(contains(thrown<manta::error>([&] { nothing.begin(); }), "empty stream"));
  });
}

TEST_CASE("a coroutine may be a lambda or a function object, with options") {
  in_world([] {
    auto s = manta::async(
        [](int n) -> manta::generator<int> {
          for (int i = 0; i < n; ++i) co_yield i;
        },
        7);
    CHECK(all(s) == count_to(7));
    auto t = manta::async(scaled{3}, 4);
    CHECK(all(t) == std::vector<int>{0, 3, 6, 9});
    const int place = manta::testing::executor(1);
    auto u = manta::async({.name = "here", .rank = place},
                          []() -> manta::generator<int> { co_yield static_cast<int>(manta::rank()); });
    CHECK(all(u) == std::vector<int>{place});
    auto v = manta::async<count>({.rank = place}, 3);
    CHECK(all(v) == count_to(3));
    CHECK_THROWS_AS(manta::async<count>({.resources = {{"unobtainium", 1}}}, 3), manta::unschedulable);
    CHECK(contains(thrown<manta::error>([] { manta::async<count>({.retries = 1}, 3); }), "retries"));
  });
}

TEST_CASE("arguments live as long as the coroutine: references, views, futures and values") {
  in_world([] {
    const std::string text(3000, 'a');
    const std::vector<double> large(3000, 2.0);
    const std::vector<std::string> expected{"a 1", "aa 1", "aaa 1"};
    const std::vector<int> lengths{1, 2, 3};
    const auto check = [&](manta::stream<std::string> s) {
      std::size_t i = 0;
      for (auto& f : s) CHECK(f.get() == expected.at(i++));
      CHECK(i == 3);
    };
    check(manta::async<words>(text, lengths, 0.5, large));
    check(manta::async<words>("aaaaaa", lengths, 0.5, std::vector<double>{2, 2, 2}));
    check(manta::async<words>(manta::put(text), manta::put(lengths), manta::put(0.5f), manta::put(large)));
    check(manta::async<words>(manta::async([] { return std::string(2000, 'a'); }), lengths, manta::async<same>(1),
                              std::vector<double>{1, 1, 1}));
  });
}

TEST_CASE("the coroutine is never further ahead than the window") {
  in_world([] {
    for (const std::size_t items : {1U, 2U, 5U, 16U}) {
      auto made = manta::spawn<tally>();
      auto s = manta::async<counted>(made);
      s.set_window({.items = items});
      for (int taken = 1; taken <= 40; ++taken) {
        CHECK(s.next().value().get() == taken - 1);
        CHECK(fetch(manta::async<&tally::count>(made)) <= taken + static_cast<int>(items));
      }
      const int most = 40 + static_cast<int>(items);
      poll_until("a full window", [&] { return fetch(manta::async<&tally::count>(made)) >= most; });
      for (int i = 0; i < 20; ++i) CHECK(fetch(manta::async<&tally::count>(made)) == most);
    }
    auto s = manta::async<count>(3);
    CHECK(contains(thrown<manta::error>([&] { s.set_window({.items = 0}); }), "at least 1"));
  });
}

TEST_CASE("the coroutine does run ahead, up to the window, while the consumer does something else") {
  in_world([] {
    auto made = manta::spawn<tally>();
    auto s = manta::async<counted>(made);
    s.set_window({.items = 5});
    CHECK(s.next().value().get() == 0);
    poll_until("values ahead of the consumer", [&] { return fetch(manta::async<&tally::count>(made)) >= 6; });
    for (int i = 0; i < 20; ++i) CHECK(fetch(manta::async<&tally::count>(made)) == 6);
  });
}

TEST_CASE("large values are counted in bytes: the window holds as many as fit") {
  in_world([] {
    auto made = manta::spawn<tally>();
    auto s = manta::async<counted_arrays>(made, std::size_t{10'000});
    s.set_window({.items = 100, .bytes = 250'000});  // three arrays of 80 kB
    for (int taken = 1; taken <= 10; ++taken) {
      CHECK(s.next().value().get().back() == taken - 1);
      CHECK(fetch(manta::async<&tally::count>(made)) <= taken + 3);
    }
    poll_until("values ahead of the consumer", [&] { return fetch(manta::async<&tally::count>(made)) >= 13; });
    for (int i = 0; i < 20; ++i) CHECK(fetch(manta::async<&tally::count>(made)) == 13);
  });
}

TEST_CASE("one value larger than the window comes anyway") {
  in_world([] {
    auto s = manta::async<arrays>(4, std::size_t{100'000});
    s.set_window({.items = 4, .bytes = 1000});
    int i = 0;
    for (auto& f : s) CHECK(f.get() == std::vector<double>(100'000, i++));
    CHECK(i == 4);
  });
}

TEST_CASE("a value is there before the coroutine has ended") {
  in_world([] {
    auto first = manta::spawn<gate>();
    auto second = manta::spawn<gate>();
    auto s = manta::async<held>(first, second);
    manta::async<&gate::open>(first).get();
    CHECK(s.next().value().get() == 1);
    manta::async<&gate::open>(second).get();
    CHECK(s.next().value().get() == 2);
    CHECK(!s.next());
  });
}

TEST_CASE("an exception is thrown where it happened in the sequence, and is the end") {
  in_world([] {
    for (const int n : {0, 1, 10, 40}) {
      auto s = manta::async<fail_after>(n);
      int good = 0;
      std::string text;
      for (auto& f : s) {
        const std::string failure = thrown<manta::task_failed>([&] { good += f.get() == good; });
        CHECK(text.empty());
        text = failure;
      }
      CHECK(good == n);
      CAPTURE(text);
      CHECK(contains(text, "no more than " + std::to_string(n)));
      CHECK(contains(text, "fail_after"));
      CHECK(!s.next());
    }
    wait_for_no_witness();
  });
}

TEST_CASE("a coroutine whose argument failed gives that failure and the end") {
  in_world([] {
    auto s = manta::async<count>(manta::async([]() -> int { throw std::logic_error("no number"); }));
    const std::string text = thrown<manta::task_failed>([&] { s.next().value().get(); });
    CAPTURE(text);
    CHECK(contains(text, "no number"));
    CHECK(!s.next());
  });
}

TEST_CASE("a value that cannot be encoded fails alone") {
  in_world([] {
    auto s = manta::async<unsaved>();
    int good = 0;
    int bad = 0;
    for (auto& f : s) {
      try {
        f.get();
        ++good;
      } catch (const manta::serialization_error&) {
        ++bad;
      }
    }
    CHECK(good + bad == 4);
    CHECK(bad == (manta::size() > 1 ? 1 : 0));
  });
}

TEST_CASE("a stream that is left early ends its coroutine, whose locals are destroyed") {
  in_world([] {
    {
      auto s = manta::async<forever>();
      for (auto& f : s) {
        if (f.get() == 20) break;
      }
      CHECK(s.next().value().get() == 21);  // goes on behind the loop
    }
    wait_for_no_witness();
    { auto unread = manta::async<forever>(); }
    wait_for_no_witness();
    auto replaced = manta::async<forever>();
    CHECK(replaced.next().value().get() == 0);
    replaced = manta::async<count>(2);
    CHECK(all(replaced) == count_to(2));
    wait_for_no_witness();
    auto kept = manta::async<forever>();  // ends with the run
    CHECK(kept.next().has_value());
  });
  CHECK(witnesses_here() == 0);
}

TEST_CASE("an early end does not wait for what the window still asks for") {
  in_world([] {
    auto made = manta::spawn<tally>();
    {
      auto s = manta::async<counted>(made);
      CHECK(s.next().value().get() == 0);
    }
    CHECK(manta::async<same>(1).get() == 1);
    CHECK(fetch(manta::async<&tally::count>(made)) <= 17);
  });
}

TEST_CASE("a coroutine waits for tasks of its own") {
  in_world([] {
    auto s = manta::async<wait_inside>(20);
    int i = 0;
    for (auto& f : s) {
      CHECK(f.get() == i * (i + 1) / 2);
      ++i;
    }
    CHECK(i == 20);
  });
}

TEST_CASE("large and move-only values arrive and can be moved out") {
  in_world([] {
    auto s = manta::async<arrays>(10, std::size_t{100'000});
    int i = 0;
    for (auto& f : s) CHECK(std::move(f).get() == std::vector<double>(100'000, i++));
    auto t = manta::async<boxes>(10);
    i = 0;
    for (auto& f : t) {
      const std::unique_ptr<int> value = std::move(f).get();
      CHECK(*value == i++);
    }
    auto u = manta::async<blocks>(10);
    i = 0;
    for (auto& f : u) {
      const block value = std::move(f).get();
      CHECK(*value.mark == i);
      CHECK(value.numbers == std::vector<double>(50'000, i++));
    }
    CHECK(i == 10);
  });
}

TEST_CASE("futures of a stream outlive it and are arguments like others") {
  in_world([] {
    std::vector<manta::future<int>> kept;
    {
      auto s = manta::async<count>(10);
      for (auto& f : s) kept.push_back(manta::async<same>(f));
    }
    CHECK(manta::get(kept) == count_to(10));
    auto s = manta::async<futures>(5);
    int i = 0;
    for (auto& f : s) CHECK(f.get().get() == i++);
    CHECK(i == 5);
  });
}

TEST_CASE("two streams are read side by side") {
  in_world([] {
    auto a = manta::async<count>(30);
    auto b = manta::async<late>(20);
    int pairs = 0;
    for (;;) {
      const auto x = a.next();
      const auto y = b.next();
      if (!x || !y) break;
      CHECK(x->get() == y->get());
      ++pairs;
    }
    CHECK(pairs == 20);
  });
}

TEST_CASE("a stream is an argument of another coroutine, in a chain") {
  in_world([] {
    auto s = manta::async<doubled>(manta::async<doubled>(manta::async<count>(40)));
    int i = 0;
    for (auto& f : s) CHECK(f.get() == 4 * i++);
    CHECK(i == 40);
    auto endless = manta::async<doubled>(manta::async<doubled>(manta::async<forever>()));
    CHECK(endless.next().value().get() == 0);
    CHECK(endless.next().value().get() == 4);
    endless = {};
    wait_for_no_witness();
  });
}

TEST_CASE("a stream goes on where it stands when it is sent: as argument, as result, inside a value") {
  in_world([] {
    auto s = manta::async<count>(50);
    for (int i = 0; i < 10; ++i) CHECK(s.next().value().get() == i);
    CHECK(manta::async<sum_of>(std::move(s)).get() == 1225 - 45);
    auto t = manta::async<skip>(manta::async<opened>(20), 5).get();
    CHECK(all(t) == std::vector<int>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    for (const int rank : manta::testing::executors()) {
      auto u = manta::async<count>(30);
      for (int hop = 0; hop < 5; ++hop) u = manta::async<skip>({.rank = rank}, std::move(u), 3).get();
      CHECK(u.next().value().get() == 15);
    }
    for (const std::size_t ballast : {0U, 100U, 1000U, 50'000U}) {
      parcel p{"label", std::vector<double>(ballast, 1.0), manta::async<count>(10)};
      CHECK(manta::async<unpacked>(std::move(p)).get() == 5 + static_cast<int>(ballast) + 45);
    }
    CHECK(manta::async<first_of>(manta::async<forever>()).get() == 0);  // ended early, elsewhere
    auto ended = manta::async<count>(1);
    CHECK(ended.next());
    CHECK(!ended.next());
    CHECK(manta::async<sum_of>(std::move(ended)).get() == 0);
    wait_for_no_witness();
  });
}

TEST_CASE("using a stream in two places is an error, not a loss") {
  in_world([] {
    auto s = manta::async<count>(5);
    CHECK(s.begin() != s.end());
    CHECK(contains(thrown<manta::error>([&] { s.begin(); }), "looped over once"));
    manta::stream<int> moved = std::move(s);
    CHECK(contains(thrown<manta::error>([&] { s.next(); }), "empty stream"));
    CHECK(moved.next().value().get() == 1);
    CHECK(moved.next().value().get() == 2);
    if (manta::size() < 3) return;
    // one object, read on two ranks: each has a stream of its own, and only one can go on
    const auto shared = manta::put(manta::async<forever>());
    auto first = manta::async<skip>({.rank = 1}, shared, 30).get();
    CHECK(first.next().value().get() == 30);
    const std::string text = thrown<manta::task_failed>([&] {
      manta::async(
          {.rank = 2},
          [](manta::stream<int> source) {
            for (auto& f : source) f.get();
          },
          shared)
          .get();
    });
    CAPTURE(text);
    CHECK(contains(text, "one consumer"));
    CHECK(contains(thrown<manta::actor_died>([&] {
                     for (auto& f : first) f.get();
                   }),
                   "ended by its consumer"));
  });
}

TEST_CASE("a coroutine that waits for its own consumer is a deadlock") {
  in_world([] {
    auto g = manta::spawn<manta::testing::tally>();
    manta::promise<int> never;
    auto s = manta::async([](manta::future<int> f) -> manta::generator<int> { co_yield f.get(); }, never.get_future());
    CHECK_THROWS_AS(s.next(), manta::deadlock);
    never.set_value(4);
    CHECK(manta::async<same>(5).get() == 5);
  });
}

TEST_CASE("a generator also runs where it is called") {
  int expected = 0;
  for (const int i : count(5)) CHECK(i == expected++);
  CHECK(expected == 5);
  auto g = fail_after(1);
  CHECK(g.next() == 0);
  CHECK_THROWS_AS(g.next(), std::invalid_argument);
  CHECK(!g.next());
  CHECK(witnesses_here() == 0);
}

TEST_CASE("many streams at once, in random order") {
  const auto seed = manta::testing::seed("streams");
  in_world([seed] {
    std::vector<manta::stream<int>> open;
    std::vector<int> at;
    for (int i = 0; i < 20; ++i) {
      open.push_back(manta::async<late>(5 + i));
      at.push_back(0);
    }
    std::uint64_t random = seed;
    while (!open.empty()) {
      random = manta::testing::mix(random);
      const std::size_t i = random % open.size();
      const auto f = open[i].next();
      if (f) {
        CHECK(f->get() == at[i]++);
      } else {
        CHECK(at[i] >= 5);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        at.erase(at.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  });
}
