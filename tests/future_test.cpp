// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Futures as handles: how they are read, waited for, copied, stored and sent,
// and how long the value behind them lives.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cereal/types/list.hpp>
#include <cereal/types/map.hpp>
#include <cereal/types/optional.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <list>
#include <map>
#include <optional>
#include <tuple>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::gate;
using manta::testing::held;
using manta::testing::in_world;
using manta::testing::thrown;
using manta::testing::tracked;
using namespace std::chrono_literals;

namespace {

int add(int a, int b) { return a + b; }
std::vector<int> numbers(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}
int fail(const std::string& text) { throw std::runtime_error(text); }
void fail_void() { throw std::runtime_error("void failure"); }
void nothing() {}

int where() { return manta::rank(); }
bool look_for_own(int kind) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < 20ms) {  // longer than rank 0 takes a call for a short one
  }
  const auto f = manta::async<where>({.rank = manta::rank()});
  switch (kind) {
    case 0:
      while (!f.ready()) {
      }
      break;
    case 1:
      while (!f.wait_for(0s)) {
      }
      break;
    default:
      while (!f.ready()) usleep(100);
  }
  return f.get() == manta::rank();
}
struct looker {
  bool look(int kind) { return look_for_own(kind); }
};

std::pair<int, std::string> both(int x) { return {x, std::to_string(x)}; }
std::tuple<int, double, std::vector<int>> three(int x) { return {x, x / 2.0, numbers(x)}; }
std::pair<int, int> fail_pair() { throw std::runtime_error("no pair"); }
std::string repeat(int n, const std::string& s) {
  std::string r;
  for (int i = 0; i < n; ++i) r += s;
  return r;
}

/// A user's struct with futures in it, at several depths.
struct parcel {
  manta::future<int> number;
  std::vector<manta::future<std::string>> texts;
  std::map<std::string, manta::future<int>> named;
  std::optional<manta::future<int>> maybe;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(number, texts, named, maybe);
  }
};

std::string make_text(const std::string& s) { return s + s; }

parcel pack(int n) {
  parcel p;
  p.number = manta::async<add>(n, 1);
  for (int i = 0; i < n; ++i) p.texts.push_back(manta::async<make_text>(std::to_string(i)));
  p.named["two"] = manta::put(2);
  p.maybe = manta::async<add>(n, n);
  return p;
}

std::string open_parcel(const parcel& p) {
  std::string all = std::to_string(p.number.get());
  for (const auto& t : p.texts) all += " " + t.get();
  for (const auto& [name, f] : p.named) all += " " + name + "=" + std::to_string(f.get());
  if (p.maybe) all += " maybe " + std::to_string(p.maybe->get());
  return all;
}

parcel forward_parcel(parcel p) { return p; }

std::vector<manta::future<int>> fan_out(int n) {
  std::vector<manta::future<int>> result;
  for (int i = 0; i < n; ++i) result.push_back(manta::async<add>(i, i));
  return result;
}

manta::future<int> put_here(int x) { return manta::put(x); }
manta::future<manta::future<int>> two_deep(int x) { return manta::put(manta::put(x)); }

tracked make_tracked(int x) { return tracked(x); }
int read_tracked(const tracked& t) { return t.value; }

/// Keeps a handle for whoever asks later.
class stash {
 public:
  void keep(std::vector<manta::future<tracked>> fs) { kept_ = std::move(fs); }
  std::vector<manta::future<tracked>> give() const { return kept_; }
  void drop() { kept_.clear(); }

 private:
  std::vector<manta::future<tracked>> kept_;
};

int read_from_stash(manta::actor<stash> s) {
  int sum = 0;
  for (const auto& f : manta::async<&stash::give>(s).get()) sum += f.get().value;
  return sum;
}

}  // namespace

TEST_CASE("get of an lvalue gives a reference to the one stored value") {
  in_world([] {
    const auto f = manta::async<numbers>(1000);
    const std::vector<int>& first = f.get();
    CHECK(&first == &f.get());
    const auto copy = f;
    CHECK(&copy.get() == &first);
    CHECK(first == numbers(1000));
    static_assert(std::is_same_v<decltype(f.get()), const std::vector<int>&>);
  });
}

TEST_CASE("get of an rvalue gives the value itself") {
  in_world([] {
    static_assert(std::is_same_v<decltype(manta::async<numbers>(1).get()), std::vector<int>>);
    std::vector<int> taken = manta::async<numbers>(1000).get();
    CHECK(taken == numbers(1000));
    auto f = manta::async<numbers>(10);
    const auto other = f;
    CHECK(std::move(f).get() == numbers(10));
    CHECK(other.get() == numbers(10));  // taking through one handle leaves the others' value alone
    auto putted = manta::put(std::string("hello"));
    CHECK(std::move(putted).get() == "hello");
  });
}

namespace {
std::size_t length(const std::vector<int>& v) { return v.size(); }

/// Every use of it says that it is empty, and none gives an empty value.
void check_taken(const manta::future<std::vector<int>>& f) {
  CHECK(!f.valid());
  const auto says_so = [](auto&& use) {
    CHECK(contains(thrown<manta::error>(use), "std::move(f).get(), which takes the value out"));
  };
  says_so([&] { f.get(); });
  says_so([&] {
    auto copy = f;
    std::move(copy).get();
  });
  says_so([&] { manta::get(f); });
  says_so([&] { manta::get(std::vector{f}); });
  says_so([&] { f.wait(); });
  says_so([&] { f.wait_for(1ms); });
  says_so([&] { manta::wait(std::vector{f}); });
  says_so([&] { manta::async<length>(f); });
  for (const int rank : manta::testing::executors()) says_so([&] { manta::async<length>({.rank = rank}, f); });
}
}  // namespace

TEST_CASE("a future whose value has been taken is empty, wherever the value lay and however large it was") {
  in_world([] {
    for (const int n : {1, 10, 100'000}) {
      for (const int rank : manta::testing::executors()) {
        auto f = manta::async<numbers>({.rank = rank}, n);
        CHECK(std::move(f).get() == numbers(n));
        check_taken(f);
      }
      auto f = manta::put(numbers(n));
      CHECK(std::move(f).get() == numbers(n));
      check_taken(f);
      f = manta::async<numbers>(n);  // may be assigned to
      CHECK(f.get() == numbers(n));
    }
    auto plain = manta::async<add>(1, 2);
    CHECK(std::move(plain).get() == 3);
    CHECK(!plain.valid());
    auto done = manta::async<nothing>();
    std::move(done).get();
    CHECK(!done.valid());
  });
}

TEST_CASE("while another handle needs the value taking it copies, and the others go on giving it") {
  in_world([] {
    for (const int n : {10, 100'000}) {
      for (const int rank : manta::testing::executors()) {
        auto f = manta::async<numbers>({.rank = rank}, n);
        const auto other = f;
        CHECK(std::move(f).get() == numbers(n));
        check_taken(f);
        CHECK(other.get() == numbers(n));
        for (const int r : manta::testing::executors())
          CHECK(manta::async<length>({.rank = r}, other).get() == numbers(n).size());
        auto given = manta::async<numbers>({.rank = rank}, n);
        const auto seen = manta::async<length>({.rank = rank}, given);  // the task has a handle too
        CHECK(std::move(given).get() == numbers(n));
        CHECK(seen.get() == numbers(n).size());
      }
    }
  });
}

TEST_CASE("get of a range that is given away takes the values, of another range it leaves them") {
  in_world([] {
    for (const int n : {10, 100'000}) {
      std::vector<manta::future<std::vector<int>>> all;
      for (int i = 0; i < 4; ++i) all.push_back(manta::async<numbers>(n));
      const auto kept = all[2];
      CHECK(manta::get(all).size() == 4U);
      for (const auto& f : all) CHECK(f.get() == numbers(n));
      for (const auto& v : manta::get(std::move(all))) CHECK(v == numbers(n));
      for (const auto& f : all) check_taken(f);  // NOLINT(bugprone-use-after-move): what they give then is the question
      CHECK(kept.get() == numbers(n));
    }
  });
}

TEST_CASE("a future whose task failed stays as it is when its value was to be taken") {
  in_world([] {
    auto f = manta::async<fail>(std::string("no value"));
    for (int i = 0; i < 2; ++i) CHECK(contains(thrown<manta::task_failed>([&] { std::move(f).get(); }), "no value"));
    CHECK(f.valid());
  });
}

TEST_CASE("ready and the timed waits report a result only when it is there") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto late = manta::async<held<int>>(g, 3);
    CHECK_FALSE(late.ready());
    CHECK_FALSE(late.wait_for(0ms));
    const auto before = std::chrono::steady_clock::now();
    CHECK_FALSE(late.wait_for(20ms));
    CHECK(std::chrono::steady_clock::now() - before >= 20ms);
    CHECK_FALSE(late.wait_until(std::chrono::steady_clock::now() + 5ms));
    manta::async<&gate::open>(g).get();
    late.wait();
    CHECK(late.ready());
    CHECK(late.wait_for(0ms));
    CHECK(late.wait_until(std::chrono::steady_clock::now()));
    CHECK(late.get() == 3);
  });
}

TEST_CASE("a failed future is ready and can be waited for without throwing") {
  in_world([] {
    const auto f = manta::async<fail>("broken");
    f.wait();
    CHECK(f.ready());
    CHECK(f.wait_for(1s));
    CHECK_THROWS_AS(f.get(), manta::task_failed);
    CHECK_THROWS_AS(f.get(), manta::task_failed);  // and again
    const auto v = manta::async<fail_void>();
    CHECK_THROWS_AS(v.get(), manta::task_failed);
  });
}

TEST_CASE("get_for gives the value in time or throws timeout") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto late = manta::async<held<int>>(g, 4);
    CHECK_THROWS_AS(manta::get_for(late, 10ms), manta::timeout);
    manta::async<&gate::open>(g).get();
    CHECK(manta::get_for(late, 60s) == 4);
    CHECK_THROWS_AS(manta::get_for(manta::async<fail>("x"), 60s), manta::task_failed);
  });
}

TEST_CASE("get of a range gives the values in order and throws the first error") {
  in_world([] {
    std::vector<manta::future<int>> fs;
    for (int i = 0; i < 100; ++i) fs.push_back(manta::async<add>(i, 1));
    const auto values = manta::get(fs);
    for (int i = 0; i < 100; ++i) CHECK(values[static_cast<std::size_t>(i)] == i + 1);
    const std::list<manta::future<int>> as_list(fs.begin(), fs.end());
    CHECK(manta::get(as_list).size() == 100U);
    CHECK(manta::get(std::vector<manta::future<int>>{}).empty());
    manta::get(std::vector<manta::future<void>>{manta::async<nothing>(), manta::async<nothing>()});
    fs[20] = manta::async<fail>("failure at twenty");
    fs[60] = manta::async<fail>("failure at sixty");
    CHECK_THROWS_WITH_AS(manta::get(fs), doctest::Contains("failure at twenty"), manta::task_failed);
    fs[60].wait();
  });
}

TEST_CASE("loops that only look, or wait for no time at all, come to an end on any number of ranks") {
  in_world([] {
    const auto a = manta::async<add>(1, 2);
    while (!a.ready()) {
    }
    const auto b = manta::async<add>(a, 2);
    while (!b.wait_for(0s)) {
    }
    const auto c = manta::async<add>(b, 2);
    while (manta::wait(std::vector{c}, {.timeout = 0s}).ready.empty()) {
    }
    const auto d = manta::async<add>(c, 2);
    for (bool there = false; !there;) {
      try {
        const int value = manta::get_for(d, 0s);
        there = true;
        CHECK(value == 9);
      } catch (const manta::timeout&) {
      }
    }
  });
}

TEST_CASE(
    "loops in tasks and methods that look for what only their own rank can run come to an end, also after computing for long") {
  in_world([] {
    for (const int kind : {0, 1, 2}) CHECK(manta::async<look_for_own>(kind).get());
    const auto a = manta::spawn<looker>();
    for (const int kind : {0, 1, 2}) CHECK(manta::async<&looker::look>(a, kind).get());
  });
}

TEST_CASE("the longest times there are can be waited for, and the shortest") {
  in_world([] {
    using std::chrono::system_clock;
    using std::chrono::steady_clock;
    CHECK(manta::async<add>(1, 2).wait_for(std::chrono::hours::max()));
    CHECK(manta::async<add>(1, 2).wait_for(std::chrono::nanoseconds::max()));
    CHECK(manta::async<add>(1, 2).wait_until(system_clock::time_point::max()));
    CHECK(manta::async<add>(1, 2).wait_until(steady_clock::time_point::max()));
    CHECK(manta::get_for(manta::async<add>(1, 2), std::chrono::duration<double>(1e300)) == 3);
    auto g = manta::spawn<manta::testing::gate>();
    const auto late = manta::async<manta::testing::held<int>>(g, 1);
    CHECK_FALSE(late.wait_for(std::chrono::hours::min()));
    CHECK_FALSE(late.wait_for(-1s));
    CHECK_FALSE(late.wait_until(system_clock::time_point::min()));
    CHECK_FALSE(late.wait_until(steady_clock::time_point::min()));
    manta::async<&manta::testing::gate::open>(g).get();
    CHECK(late.get() == 1);
  });
}

TEST_CASE("put makes a future of a value, on any rank") {
  in_world([] {
    const auto f = manta::put(std::vector<int>{1, 2, 3});
    CHECK(f.ready());
    CHECK(f.get() == std::vector<int>{1, 2, 3});
    CHECK(manta::put("text").get() == std::string("text"));
    CHECK(manta::async<add>(manta::put(1), manta::put(2)).get() == 3);
    CHECK(manta::async<put_here>(17).get().get() == 17);
    CHECK(manta::async<two_deep>(18).get().get().get() == 18);
    const auto big = manta::put(numbers(200'000));
    std::vector<manta::future<std::size_t>> sizes;
    for (int i = 0; i < 8; ++i) sizes.push_back(manta::async([](const std::vector<int>& v) { return v.size(); }, big));
    for (const std::size_t n : manta::get(sizes)) CHECK(n == 200'000U);
  });
}

TEST_CASE("futures are copied, stored in containers and replaced like any value") {
  in_world([] {
    std::map<std::string, manta::future<int>> table;
    for (int i = 0; i < 20; ++i) table[std::to_string(i)] = manta::async<add>(i, i);
    const auto copy = table;
    table.clear();
    for (const auto& [name, f] : copy) CHECK(f.get() == 2 * std::stoi(name));
    manta::future<int> f;  // no value, no task: a place for a handle
    f = manta::async<add>(1, 1);
    auto g = f;
    f = manta::async<add>(g, 1);
    CHECK(g.get() == 2);
    CHECK(f.get() == 3);
    std::swap(f, g);
    CHECK(f.get() == 2);
    CHECK_THROWS_AS(manta::future<int>{}.get(), manta::error);
  });
}

TEST_CASE("futures travel inside structs, through tasks that do not touch them") {
  in_world([] {
    const std::string expected = "5 00 11 22 33 two=2 maybe 8";
    CHECK(open_parcel(pack(4)) == expected);                      // made here, read here
    CHECK(manta::async<open_parcel>(pack(4)).get() == expected);  // made here, read there
    const auto made = manta::async<pack>(4);
    CHECK(open_parcel(made.get()) == expected);                // made there, read here
    CHECK(manta::async<open_parcel>(made).get() == expected);  // made there, read anywhere
    auto p = manta::async<forward_parcel>(made);
    for (int i = 0; i < 10; ++i) p = manta::async<forward_parcel>(p);
    CHECK(manta::async<open_parcel>(p).get() == expected);
  });
}

TEST_CASE("a task may return futures of tasks it started and end before them") {
  in_world([] {
    const std::vector<manta::future<int>> inner = manta::async<fan_out>(50).get();
    for (int i = 0; i < 50; ++i) CHECK(inner[static_cast<std::size_t>(i)].get() == 2 * i);
    std::vector<manta::future<std::vector<manta::future<int>>>> many;
    for (int i = 0; i < 20; ++i) many.push_back(manta::async<fan_out>(i));
    int sum = 0;
    for (const auto& f : many) {
      for (const int x : manta::get(f.get())) sum += x;
    }
    int expected = 0;
    for (int i = 0; i < 20; ++i) expected += i * (i - 1);
    CHECK(sum == expected);
  });
}

TEST_CASE("a value lives as long as a handle on it lives anywhere") {
  in_world([] {
    auto s = manta::spawn<stash>();
    {
      std::vector<manta::future<tracked>> fs;
      for (int i = 0; i < 10; ++i) fs.push_back(manta::async<make_tracked>(i));
      fs.push_back(manta::put(tracked(100)));
      manta::async<&stash::keep>(s, fs).get();
    }
    CHECK(manta::async<read_from_stash>(s).get() == 145);
    for (const auto& f : manta::async<&stash::give>(s).get())
      CHECK(manta::async<read_tracked>(f).get() == f.get().value);
    manta::async<&stash::drop>(s).get();
    manta::testing::poll_until("values that outlive their handles",
                               [] { return manta::testing::tracked_anywhere() == 0; });
  });
  CHECK(manta::testing::tracked_here() == 0);
}

TEST_CASE("a value that nobody holds any more is freed while the run goes on") {
  in_world([] {
    for (int i = 0; i < 200; ++i) manta::async<read_tracked>(manta::async<make_tracked>(i));
    manta::testing::poll_until("values of dropped futures", [] { return manta::testing::tracked_anywhere() == 0; });
    CHECK(manta::async<make_tracked>(3).get().value == 3);
  });
  CHECK(manta::testing::tracked_here() == 0);
}

TEST_CASE("unpack gives one future for each member of a pair or tuple") {
  in_world([] {
    auto [number, text] = manta::unpack(manta::async<both>(3));
    static_assert(std::is_same_v<decltype(number), manta::future<int>>);
    CHECK(manta::async<repeat>(number, text).get() == "333");
    auto [i, d, v] = manta::unpack(manta::async<three>(5));
    CHECK(i.get() == 5);
    CHECK(d.get() == 2.5);
    CHECK(v.get() == numbers(5));
    auto [a, b] = manta::unpack(manta::async<fail_pair>());
    CHECK_THROWS_AS(a.get(), manta::task_failed);
    CHECK_THROWS_AS(b.get(), manta::task_failed);
  });
}
