// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Tasks that are sent ahead of inputs which their executor is making: chains
// and grids submitted by the driver. Whatever happens to an input, they end as
// if they had waited for it on rank 0.
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <fstream>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::executors;
using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::poll_until;
using manta::testing::thrown;
using manta::testing::world_size;

namespace {

int next(int x) { return x + 1; }
int add(int a, int b) { return a + b; }
int break_down(int x) { throw std::runtime_error("link " + std::to_string(x) + " broke"); }
std::string longer(std::string text) { return text + static_cast<char>('a' + text.size() % 26); }
std::vector<double> plus_one(std::vector<double> v) {
  for (double& x : v) ++x;
  return v;
}
void pass(int) {}
using futures = std::vector<manta::future<int>>;
futures one_more(futures fs) {
  fs.push_back(manta::async<next>(fs.back()));
  return fs;
}
int last_of(const futures& fs) { return fs.back().get(); }

/// Waits for a task that only its own rank may run.
int wait_for_own_rank(int x) { return manta::async<next>({.rank = manta::rank()}, x).get(); }

/// Quick, but for one that holds its rank until it is cancelled.
int hold_rank(bool hold) {
  if (hold) poll_until("a request to stop", [] { return manta::this_task::stop_requested(); });
  return 0;
}

/// Quick, but for one that holds its rank until there is such a file, and then waits.
int hold_rank_and_wait(const std::string& file, const manta::actor<gate>& g) {
  if (file.empty()) return 1;
  poll_until("a file", [&] { return manta::this_task::stop_requested() || std::ifstream(file).good(); });
  manta::testing::pass(g);
  return 1;
}

/// Takes a call that depends on a value.
class taker {
 public:
  int take(int x) { return x; }
  std::string take_text(const std::string& text) { return text; }
  std::size_t take_array(const std::vector<double>& v) { return v.size(); }
  int here() { return 1; }
};

template <auto F, class T>
manta::future<T> chain(manta::future<T> f, int links) {
  for (int i = 0; i < links; ++i) f = manta::async<F>(f);
  return f;
}

}  // namespace

TEST_CASE("a chain gives what its links give one after the other, for values of any size") {
  in_world([] {
    CHECK(chain<next>(manta::async<next>(0), 20'000).get() == 20'001);
    const std::string text =
        chain<longer>(manta::async<longer>(std::string()), 3'000).get();  // beyond what messages carry
    REQUIRE(text.size() == 3'001);
    CHECK(text.substr(25, 3) == "zab");
    const auto array = chain<plus_one>(manta::async<plus_one>(std::vector<double>(50'000, 1.0)), 30).get();
    CHECK(array == std::vector<double>(50'000, 32.0));
    CHECK(chain<one_more>(manta::async<one_more>(futures{manta::put(1)}), 50).get().back().get() == 52);
    CHECK(manta::async<last_of>(chain<one_more>(manta::async<one_more>(futures{manta::put(1)}), 50)).get() == 52);
  });
}

TEST_CASE("a task is sent where its inputs are being made, and explain says so") {
  in_world([] {
    const auto other = manta::put(10);
    for (int i = 0; i < 500; ++i) {  // known to be quick: behind tasks that may be long none is sent
      const auto first = manta::async<next>(manta::async<hold_rank>(false));
      manta::async<add>(manta::async<add>(first, first), other).get();
    }
    if (world_size() == 2) {
      const auto input = manta::async<hold_rank>(true);
      const auto first = manta::async<next>(input);
      const auto twice = manta::async<add>(first, first);
      const auto both = manta::async<add>(twice, other);
      for (const auto& f : {first, twice, both}) {
        INFO(manta::explain(f));
        CHECK(
            contains(manta::explain(f), "on rank 1: its inputs were being made there, and it was sent ahead of them"));
      }
      CHECK(manta::cancel(input));
      CHECK_THROWS_AS(both.get(), manta::cancelled);
    }
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    const auto first = manta::async<next>(input);
    const auto both = manta::async<add>(manta::async<add>(first, first), other);
    CHECK_FALSE(both.ready());
    manta::async<&gate::open>(g).get();
    CHECK(both.get() == 18);
    CHECK(first.get() == 4);
  });
}

TEST_CASE("grids whose tasks have several inputs are right") {
  in_world([] {
    constexpr std::size_t width = 16;
    constexpr int steps = 300;
    std::vector<manta::future<int>> row;
    std::vector<unsigned> expected(width);
    for (std::size_t i = 0; i < width; ++i) {
      row.push_back(manta::async<next>(static_cast<int>(i)));
      expected[i] = static_cast<unsigned>(i) + 1;
    }
    for (int s = 0; s < steps; ++s) {
      std::vector<manta::future<int>> below;
      std::vector<unsigned> sums(width);
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t right = (i + 1) % width;
        below.push_back(manta::async(
            [](int a, int b) {
              return static_cast<int>((static_cast<unsigned>(a) + static_cast<unsigned>(b)) % 1'000'003U);
            },
            row[i], row[right]));
        sums[i] = (expected[i] + expected[right]) % 1'000'003U;
      }
      row = std::move(below);
      expected = std::move(sums);
    }
    for (std::size_t i = 0; i < width; ++i) CHECK(row[i].get() == static_cast<int>(expected[i]));
  });
}

TEST_CASE("a link that throws fails all that follow, each by its name") {
  in_world([] {
    for (int round = 0; round < 50; ++round) {  // with and without links that come before it has thrown
      const auto broken = manta::async<break_down>(manta::async<next>(round));
      if (round % 3 == 1) broken.wait();
      const auto end = chain<next>(manta::async<next>(broken), 5);
      if (round % 3 == 2) manta::async<next>(0).get();
      const std::string text = thrown<manta::task_failed>([&] { end.get(); });
      CHECK(contains(text, "link " + std::to_string(round + 1) + " broke"));
      CHECK(contains(text, "not run because of it"));
    }
  });
}

TEST_CASE(
    "a chain of a hundred thousand links fails with its first: named are the first that did not run and the last") {
  in_world([] {
    for (const bool cancelled : {false, true}) {
      auto g = manta::spawn<gate>();
      const auto input = manta::async<manta::testing::held<int>>(g, 3);
      const auto end = manta::async<add>(chain<next>(cancelled ? input : manta::async<break_down>(input), 100'000), 1);
      if (cancelled) CHECK(manta::cancel(input));
      manta::async<&gate::open>(g).get();
      const std::string text = thrown<manta::error>([&] { end.get(); });
      CHECK(contains(text, cancelled ? "was cancelled" : "link 3 broke"));
      CHECK(contains(text, "next', ..., '"));
      CHECK(contains(text, "add'"));
    }
  });
}

TEST_CASE("an input that is cancelled takes along what was sent ahead of it") {
  in_world([] {
    auto g = manta::spawn<gate>();
    const auto input = manta::async<manta::testing::held<int>>(g, 3);
    const auto first = manta::async<next>(input);
    const auto second = manta::async<next>(first);
    const auto third = manta::async<next>(second);
    CHECK(manta::cancel(second));
    CHECK(contains(thrown<manta::cancelled>([&] { third.get(); }), "not run because of it"));
    CHECK_FALSE(first.ready());
    CHECK(manta::cancel(input));
    CHECK(contains(thrown<manta::cancelled>([&] { first.get(); }), "was cancelled"));
    CHECK_FALSE(manta::cancel(first));
    manta::async<&gate::open>(g).get();
    CHECK(manta::async<next>(1).get() == 2);
  });
}

TEST_CASE("many are sent ahead of an input that waits for what only its own rank may run") {
  in_world([] {
    for (int round = 0; round < 20; ++round) {
      const auto input = manta::async<wait_for_own_rank>(round);
      std::vector<manta::future<int>> all;
      for (int i = 0; i < 500; ++i) all.push_back(manta::async<add>(i == 0 ? input : all.back(), input));
      CHECK(all.back().get() == (round + 1) * 501);
    }
  });
}

TEST_CASE("handles that are dropped before the result comes, and results that are nothing") {
  in_world([] {
    auto g = manta::spawn<gate>();
    auto input = manta::async<manta::testing::held<int>>(g, 3);
    {
      const auto dropped = manta::async<next>(manta::async<next>(input));
      manta::async<pass>(dropped);
    }
    auto done = manta::async<pass>(input);
    input = {};
    manta::async<&gate::open>(g).get();
    done.get();
  });
}

TEST_CASE("a rank that is busy for longer than was thought gives back what was sent ahead") {
  in_world([] {
    if (executors().size() < 2) return;
    for (int i = 0; i < 2'000; ++i) manta::async<hold_rank>(false).get();  // known to be quick
    const auto holds = manta::async<hold_rank>(true);
    std::vector<manta::future<int>> ends;
    for (int i = 0; i < 20; ++i) ends.push_back(chain<next>(manta::async<next>(i), 10));
    for (int i = 0; i < 20; ++i)
      CHECK(manta::get_for(ends[static_cast<std::size_t>(i)], std::chrono::seconds(60)) == i + 11);
    CHECK(manta::cancel(holds));
  });
}

TEST_CASE("tasks that were sent ahead and given back end once when their input fails") {
  in_world([] {
    if (executors().size() < 2) return;
    const auto both = [](const manta::future<int>& input) {
      return manta::async<add>(input, manta::async<next>(input));
    };
    manta::future<int> input;
    std::vector<manta::future<int>> behind;
    poll_until("some are sent ahead", [&] {  // unless somebody idled already, or a busy machine made quick ones long
      if (!behind.empty()) manta::cancel(input);
      for (int i = 0; i < 500; ++i) both(manta::async<hold_rank>(false)).get();  // known to be quick
      input = manta::async<hold_rank>(true);
      behind.clear();
      for (int i = 0; i < 20; ++i) behind.push_back(both(input));
      return std::any_of(behind.begin(), behind.end(),
                         [](const auto& f) { return contains(manta::explain(f), "it was sent ahead"); });
    });
    for (int i = 0; i < 20; ++i) CHECK(manta::async<next>(i).get() == i + 1);  // somebody idles and asks for more
    poll_until("they are given back", [&] {
      for (const auto& f : behind) {
        if (!f.ready() && contains(manta::explain(f), "it was sent ahead")) return false;
      }
      return true;
    });
    CHECK(manta::cancel(input));
    for (const auto& f : behind) CHECK(contains(thrown<manta::cancelled>([&] { f.get(); }), "not run because of it"));
  });
}

TEST_CASE("what waits for the same input as a task that was sent ahead and given back gets it") {
  in_world([] {
    if (executors().size() < 2) return;
    const manta::testing::folder folder;
    auto g = manta::spawn<gate>({.rank = executors().back()});
    const auto t = manta::spawn<taker>({.rank = executors().front()});
    manta::async<&gate::open>(g).get();
    for (int i = 0; i < 500; ++i)
      manta::async<next>(manta::async<hold_rank_and_wait>("", g)).get();  // known to be quick
    std::vector<manta::future<int>> holds;
    for (const int rank : executors()) {
      if (rank != executors().front()) holds.push_back(manta::async<hold_rank>({.rank = rank}, true));
    }
    const std::string file = folder.path + "/go_on";
    const auto input = manta::async<hold_rank_and_wait>(file, g);  // the first executor alone has room
    const auto behind = manta::async<next>(input);
    poll_until("it is sent ahead", [&] { return contains(manta::explain(behind), "it was sent ahead"); });
    const auto call = manta::async<&taker::take>(t, input);
    const auto hold = manta::async<hold_rank>({.rank = executors().front()}, true);
    std::ofstream(file).put('\n');  // the input waits, the call comes, the rank is held again
    for (const auto& f : holds) CHECK(manta::cancel(f));
    poll_until("it is given back, for others idle", [&] {
      manta::async<next>(0).get();
      return behind.ready() || !contains(manta::explain(behind), "it was sent ahead");
    });
    CHECK(manta::cancel(hold));
    CHECK(call.get() == 1);
    CHECK(behind.get() == 2);
  });
}

TEST_CASE("tasks and calls that wait on one rank for what a task there will make all get it, whatever its size") {
  in_world([] {
    const int rank = executors().back();
    if (rank == 0) return;
    auto g = manta::spawn<gate>();
    manta::async<&gate::open>(g).get();
    const auto text_of = [](int n) { return std::string(static_cast<std::size_t>(n) * 700, 'x'); };
    const auto array_of = [](int n) { return std::vector<double>(static_cast<std::size_t>(n) * 3'000, 1.0); };
    for (int i = 0; i < 300; ++i) {  // known to be quick
      const auto input = manta::async<hold_rank_and_wait>("", g);
      const auto text = manta::async(text_of, input);
      const auto array = manta::async(array_of, input);
      const auto number = manta::async<next>(input);
      for (const auto& f : {manta::async<next>(number), manta::async<next>(number)}) CHECK(f.get() == 3);
      manta::async<longer>(text).wait();
      manta::async<plus_one>(array).wait();
    }
    for (int round = 0; round < 5; ++round) {
      g = manta::spawn<gate>();
      const auto t = manta::spawn<taker>({.rank = rank});
      const auto present = manta::spawn<taker>({.rank = rank});
      std::vector<manta::future<int>> holds;
      for (const int other : executors()) {
        if (other != rank) holds.push_back(manta::async<hold_rank>({.rank = other}, true));
      }
      const manta::testing::folder folder;
      const std::string file = folder.path + "/go_on";
      const auto input = manta::async<hold_rank_and_wait>(file, g);
      const auto number = manta::async<next>(input);
      const auto text = manta::async(text_of, input);
      const auto array = manta::async(array_of, input);
      const auto sum = manta::async<add>(number, number);
      const auto more_text = manta::async<longer>(text);
      const auto more = manta::async<plus_one>(array);
      const auto number_call = manta::async<&taker::take>(t, number);
      const auto text_call = manta::async<&taker::take_text>(t, text);
      const auto array_call = manta::async<&taker::take_array>(t, array);
      std::ofstream(file).put('\n');  // the input waits, the calls come
      CHECK(manta::async<&taker::here>(present).get() == 1);
      for (const auto& f : holds) CHECK(manta::cancel(f));
      manta::async<&gate::open>(g).get();
      CHECK(number_call.get() == 2);
      CHECK(text_call.get() == text_of(1));
      CHECK(array_call.get() == 3'000);
      CHECK(sum.get() == 4);
      CHECK(more_text.get().size() == 701);
      CHECK(more.get() == std::vector<double>(3'000, 2.0));
    }
  });
}

TEST_CASE("a driver that throws leaves nothing behind of what it had sent ahead") {
  for (int round = 0; round < 5; ++round) {
    CHECK_THROWS(in_world([round]() {
      auto f = manta::async<next>(0);
      for (int i = 0; i < 1'000 * round + 10; ++i) f = manta::async<next>(f);
      throw std::runtime_error("the driver has had enough");
    }));
  }
}
