// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors that last: restarts, checkpoints, bounded mailboxes, const methods
// beside waiting calls. The oracle of a restart is an actor that never failed.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cereal/types/vector.hpp>
#include <chrono>
#include <random>
#include <thread>

#include "support/world.hpp"

using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::tally;

namespace {

/// Counts, and breaks when told to; what it does can be told from what it did before.
class ledger {
 public:
  ledger() { ++alive; }
  explicit ledger(long start) : sum_(start) { ++alive; }
  ledger(const ledger&) = delete;
  ledger& operator=(const ledger&) = delete;
  ~ledger() { --alive; }

  long add(long x) {
    sum_ = sum_ * 3 + x;
    ++calls_;
    return sum_;
  }
  long add_and_throw(long x) {
    add(x);
    throw std::runtime_error("an ordinary error");
  }
  long break_down(long x) {
    sum_ += 1'000'000 + x;  // a half-done change that nobody may see
    throw manta::fatal("disc on fire");
  }
  long break_once(long x) {
    if (manta::this_task::attempt() == 0) break_down(x);
    return add(x);
  }
  long sum() const { return sum_; }
  long calls() const { return calls_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum_, calls_);
  }
  static inline std::atomic<int> alive{0};

 private:
  long sum_ = 0;
  long calls_ = 0;
};

/// Its state has a handle of another actor.
class teller {
 public:
  teller() = default;
  explicit teller(manta::actor<tally> of) : of_(std::move(of)) {}
  int arrive() { return manta::async<&tally::arrive>(of_).get(); }
  void fail() { throw manta::fatal("no more"); }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of_);
  }

 private:
  manta::actor<tally> of_;
};

class plain_actor {  // cannot be saved
 public:
  explicit plain_actor(std::vector<int> v) : v_(std::move(v)) {}
  int size() const { return static_cast<int>(v_.size()); }
  int grow() {
    v_.push_back(0);
    return size();
  }
  void fail() { throw manta::fatal("no more"); }

 private:
  std::vector<int> v_;
};

class fragile {
 public:
  fragile() {
    if (++made > 1) throw std::runtime_error("cannot be made twice");
  }
  int answer() const { return 42; }
  int fail() { throw manta::fatal("broken for good"); }
  static inline std::atomic<int> made{0};
};
void forget_fragile() { fragile::made = 0; }

class slow {
 public:
  int wait_for(manta::actor<gate> g) {
    manta::testing::pass(g);
    return ++done_;
  }
  int done() const { return done_; }
  int change() { return done_ += 10; }
  int compute() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return 1;
  }

 private:
  int done_ = 0;
};

/// Knows how many of its calls were under way at once.
class crowded {
 public:
  int stay(const manta::actor<tally>& arrivals, const manta::actor<gate>& g) {
    most_ = std::max(most_, ++inside_);
    manta::async<&tally::arrive>(arrivals).get();
    manta::testing::pass(g);
    --inside_;
    return most_;
  }

 private:
  int inside_ = 0, most_ = 0;
};

/// Keeps what comes later.
class deposits {
 public:
  int add(const manta::future<int>& amount) { return sum_ += amount.get(); }
  int break_down() { throw manta::fatal("lost its books"); }
  int sum() { return sum_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum_);
  }

 private:
  int sum_ = 0;
};

int same(int x) { return x; }
int look(const manta::actor<slow>& a) { return manta::async<&slow::done>(a).get(); }

/// What the calls give on an actor that never breaks.
struct model {
  long sum, calls = 0;
  long add(long x) {
    sum = sum * 3 + x;
    ++calls;
    return sum;
  }
};

}  // namespace

TEST_CASE("without restarts a fatal error ends the actor, and says so") {
  in_world([] {
    auto a = manta::spawn<ledger>(1);
    CHECK(manta::async<&ledger::add>(a, 2).get() == 5);
    CHECK_THROWS_WITH_AS(manta::async<&ledger::break_down>(a, 0).get(), doctest::Contains("disc on fire"),
                         manta::task_failed);
    CHECK_THROWS_WITH_AS(manta::async<&ledger::add>(a, 1).get(), doctest::Contains("disc on fire"), manta::actor_died);
  });
}

TEST_CASE("a state with a handle is restarted from one checkpoint many times, and holds nothing after its actor") {
  in_world([] {
    manta::actor<teller> a;
    {
      const auto sums = manta::spawn<tally>();
      a = manta::spawn<teller>({.restarts = 30, .checkpoint_every = 2}, sums);
    }
    for (int k = 1; k <= 20; ++k) {
      CHECK(manta::async<&teller::arrive>(a).get() >= k);  // a restart repeats the calls since the checkpoint
      if (k % 5 == 0) continue;
      CHECK_THROWS(manta::async<&teller::fail>(a).get());
    }
  });
}

TEST_CASE("a restart without checkpoints runs the constructor again, with its arguments") {
  in_world([] {
    std::vector<int> large(10'000, 1);
    auto a = manta::spawn<plain_actor>({.restarts = 2}, manta::put(large));
    CHECK(manta::async<&plain_actor::grow>(a).get() == 10'001);
    for (int i = 0; i < 2; ++i) {
      CHECK_THROWS_AS(manta::async<&plain_actor::fail>(a).get(), manta::task_failed);
      CHECK(manta::async<&plain_actor::size>(a).get() == 10'000);
    }
    CHECK_THROWS_AS(manta::async<&plain_actor::fail>(a).get(), manta::task_failed);
    CHECK_THROWS_WITH_AS(manta::async<&plain_actor::size>(a).get(), doctest::Contains("2 times"), manta::actor_died);
  });
}

TEST_CASE("a restart gives the state of an actor that never broke") {
  const std::uint64_t seed = manta::testing::seed("restart states");
  in_world([seed] {
    std::mt19937_64 draw(seed);
    for (const int every : {1, 2, 3, 7, 100}) {
      auto a = manta::spawn<ledger>({.restarts = 1000, .checkpoint_every = every}, 5);
      model m{5};
      for (int i = 0; i < 30; ++i) {
        const long x = static_cast<long>(draw() % 10);
        switch (draw() % 4) {
          case 0: CHECK_THROWS_AS(manta::async<&ledger::break_down>(a, x).get(), manta::task_failed); break;
          case 1:
            m.add(x);
            CHECK_THROWS_AS(manta::async<&ledger::add_and_throw>(a, x).get(), manta::task_failed);
            break;
          default: CHECK(manta::async<&ledger::add>(a, manta::async<same>(static_cast<int>(x))).get() == m.add(x));
        }
        CHECK(manta::async<&ledger::sum>(a).get() == m.sum);
        CHECK(manta::async<&ledger::calls>(a).get() == m.calls);
      }
    }
  });
}

TEST_CASE("at_least_once does the call again that found it broken, in its place") {
  in_world([] {
    auto a = manta::spawn<ledger>({.restarts = 5, .checkpoint_every = 2, .at_least_once = true}, 1);
    model m{1};
    auto first = manta::async<&ledger::add>(a, 2);
    auto second = manta::async<&ledger::break_once>(a, 3);
    auto third = manta::async<&ledger::add>(a, 4);
    CHECK(first.get() == m.add(2));
    CHECK(second.get() == m.add(3));
    CHECK(third.get() == m.add(4));
  });
}

TEST_CASE("an actor that cannot be built anew ends, and its waiting calls with it") {
  in_world([] {
    for (const int rank : manta::testing::executors()) manta::async<forget_fragile>({.rank = rank}).get();
    auto a = manta::spawn<fragile>({.restarts = 3});
    CHECK(manta::async<&fragile::answer>(a).get() == 42);
    auto broken = manta::async<&fragile::fail>(a);
    auto after = manta::async<&fragile::answer>(a);
    CHECK_THROWS_AS(broken.get(), manta::task_failed);
    CHECK_THROWS_WITH_AS(after.get(), doctest::Contains("made twice"), manta::actor_died);
    CHECK_THROWS_AS(manta::async<&fragile::answer>(a).get(), manta::actor_died);
  });
}

TEST_CASE("restarts leave no object behind") {
  in_world([] {
    {
      auto a = manta::spawn<ledger>({.restarts = 10, .checkpoint_every = 3}, 0);
      for (int i = 0; i < 10; ++i) {
        manta::async<&ledger::add>(a, i).get();
        CHECK_THROWS_AS(manta::async<&ledger::break_down>(a, i).get(), manta::task_failed);
      }
    }
  });
  CHECK(ledger::alive == 0);
}

TEST_CASE("options of restarts that make no sense are refused at the call") {
  in_world([] {
    CHECK_THROWS_WITH_AS((manta::spawn<plain_actor>({.restarts = 1, .checkpoint_every = 5}, std::vector<int>())),
                         doctest::Contains("serialize()"), manta::error);
    CHECK_THROWS_AS((manta::spawn<ledger>({.checkpoint_every = 5}, 1)), manta::error);
    CHECK_THROWS_AS((manta::spawn<ledger>({.restarts = -1}, 1)), manta::error);
    CHECK_THROWS_AS((manta::spawn<ledger>({.max_pending = -1}, 1)), manta::error);
  });
}

TEST_CASE("calls beyond max_pending are not taken while the actor computes") {
  in_world([] {
    auto a = manta::spawn<slow>({.max_pending = 2});
    CHECK(manta::async<&slow::change>(a).get() > 0);
    std::vector<manta::future<int>> calls;
    for (int i = 0; i < 10; ++i) calls.push_back(manta::async<&slow::compute>(a));
    int taken = 0;
    for (auto& f : calls) {
      try {
        taken += f.get();
      } catch (const manta::actor_busy&) {
        continue;
      }
    }
    CHECK(taken >= 2);
    CHECK(taken < 10);
    CHECK(manta::async<&slow::compute>(a).get() == 1);
  });
}

TEST_CASE("calls that were cancelled while the actor computed make room for others") {
  in_world([] {
    auto a = manta::spawn<slow>({.max_pending = 2});
    CHECK(manta::async<&slow::change>(a).get() > 0);
    for (int round = 0; round < 5; ++round) {
      auto running = manta::async<&slow::compute>(a);
      std::vector<manta::future<int>> waiting;
      for (int i = 0; i < 2; ++i) waiting.push_back(manta::async<&slow::compute>(a));
      for (auto& f : waiting) manta::cancel(f);
      CHECK(running.get() == 1);
      for (auto& f : waiting) f.wait();
    }
    auto first = manta::async<&slow::compute>(a), second = manta::async<&slow::compute>(a);
    CHECK(first.get() == 1);
    CHECK(second.get() == 1);
  });
}

TEST_CASE("calls beyond max_pending are not taken, and say so") {
  in_world([] {
    auto g = manta::spawn<gate>();
    auto a = manta::spawn<slow>({.max_pending = 3});
    auto running = manta::async<&slow::wait_for>(a, g);
    std::vector<manta::future<int>> waiting;
    for (int i = 0; i < 10; ++i) waiting.push_back(manta::async<&slow::change>(a));
    int refused = 0;
    manta::testing::poll_until("calls that are refused", [&] {
      refused = 0;
      for (auto& f : waiting) refused += f.ready();
      return refused >= 6;
    });
    manta::async<&gate::open>(g).get();
    int taken = 0, busy = 0;
    for (auto& f : waiting) {
      try {
        f.get();
        ++taken;
      } catch (const manta::actor_busy& e) {
        CHECK(std::string(e.what()).find("max_pending") != std::string::npos);
        ++busy;
      }
    }
    CHECK(taken + busy == 10);
    CHECK(taken >= 3);
    CHECK(busy >= 6);
    CHECK(running.get() >= 1);
    CHECK(manta::async<&slow::change>(a).get() > 0);
  });
}

TEST_CASE("as many calls are under way at once as concurrency says, while they wait") {
  for (const int most : {1, 3}) {
    in_world([most] {
      auto g = manta::spawn<gate>();
      auto arrivals = manta::spawn<tally>();
      auto a = manta::spawn<crowded>({.concurrency = most});
      std::vector<manta::future<int>> calls;
      for (int i = 0; i < 6; ++i) calls.push_back(manta::async<&crowded::stay>(a, arrivals, g));
      manta::testing::poll_until("calls that are under way",
                                 [&] { return manta::testing::fetch(manta::async<&tally::count>(arrivals)) == most; });
      manta::async<&gate::open>(g).get();
      CHECK(calls[5].get() == most);
      manta::get(calls);
      CHECK(manta::async<&tally::count>(arrivals).get() == 6);
    });
  }
}

TEST_CASE("const methods run while another call waits if they are declared to") {
  in_world([] {
    auto g = manta::spawn<gate>();
    auto a = manta::spawn<slow>({.overlap_const = true});
    auto waiting = manta::async<&slow::wait_for>(a, g);
    CHECK(manta::async<look>(a).get() == 0);
    manta::async<&gate::open>(g).get();
    CHECK(waiting.get() == 1);
  });
}

TEST_CASE("what a call that waited has done to an object that another call found broken is lost, and it says so") {
  in_world([] {
    for (const bool again : {false, true}) {
      for (const int every : {0, 1}) {
        auto a = manta::spawn<deposits>(
            {.restarts = 1, .checkpoint_every = every, .at_least_once = again, .concurrency = 2});
        manta::promise<int> amount;
        auto deposit = manta::async<&deposits::add>(a, amount.get_future());
        auto breaks = manta::async<&deposits::break_down>(a);
        if (!again) CHECK_THROWS_AS(breaks.get(), manta::task_failed);
        manta::async<same>(1).get();
        amount.set_value(100);
        if (again) {  // both are done again, and the second finds the new object broken as well: the actor ends
          CHECK_THROWS(breaks.get());
        } else {
          CHECK_THROWS_WITH_AS(deposit.get(), doctest::Contains("found the actor broken while this one waited"),
                               manta::actor_died);
          CHECK(manta::async<&deposits::sum>(a).get() == 0);
        }
      }
    }
  });
}
