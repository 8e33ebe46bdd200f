// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/types/memory.hpp>
#include <chrono>
#include <memory>

#include "manta/serve.hpp"
#include "support/world.hpp"

using manta::testing::in_world;
using namespace std::chrono_literals;
namespace serve = manta::serve;
using manta::testing::contains;
using manta::testing::thrown;

namespace {
constexpr int of_this_file = 10;
}
#include "support/same_models.hpp"
std::vector<int> answers_of_other_file();  // support/same_models.cpp

namespace {

int twice(int x) { return 2 * x; }
int grown(std::unique_ptr<int> x) { return *x + 1; }
std::string joined(const std::string& a, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += a;
  return all;
}
/// Answers what somebody pushes.
int waits_for(manta::queue<int> gate) { return gate.pop(); }
int throws(int x) {
  if (x % 2 == 1) throw std::runtime_error("odd: " + std::to_string(x));
  return x;
}

using numbers = std::vector<double>;

/// Sums requests.
struct adder {
  explicit adder(const numbers& w) : weights(w) {}
  std::vector<double> sums(const std::vector<numbers>& batch) {
    std::vector<double> all;
    for (const numbers& x : batch) all.push_back(std::inner_product(x.begin(), x.end(), weights.begin(), 0.0));
    return all;
  }
  numbers weights;
};

/// Refuses a batch with a number below 0, and counts its calls.
struct picky {
  int calls = 0;
  std::vector<int> run(const std::vector<int>& batch) {
    ++calls;
    for (int x : batch) {
      if (x < 0) throw std::runtime_error("below 0: " + std::to_string(x));
    }
    return std::vector<int>(batch.size(), calls);
  }
};

struct too_few {
  std::vector<int> run(const std::vector<int>&) { return {}; }
};
struct no_file {
  no_file() { throw std::runtime_error("no such model"); }
  int run(int x) { return x; }
};
struct version {
  int number;
  int get(int x) { return number * 1000 + x; }
};
struct version_in_words {
  std::string word;
  int get(int) const { return -static_cast<int>(word.size()); }
};
struct broken_version {
  explicit broken_version(int) { throw std::runtime_error("cannot load"); }
  int get(int x) { return x; }
};

bool is_positive(double x) { return x > 0; }

/// A class with settings, whose health they decide.
struct threshold {
  double least = 1;
  bool above(double x) const { return x > least; }
  void reconfigure(double to) {
    if (to < 0) throw std::runtime_error("below 0");
    least = to;
  }
  bool healthy() const { return least < 100; }
};
struct weights_kept {
  explicit weights_kept(const manta::testing::tracked& t) : copy(t) {}
  int value(int x) const { return copy.value + x; }
  manta::testing::tracked copy;
};
manta::testing::tracked make_weights(int v) { return manta::testing::tracked(v); }

/// Waits in its constructor.
struct slow_start {
  slow_start(manta::queue<int> gate, int n) : number(n) { gate.pop(); }
  int get(int x) const { return 10 * number + setting + x; }
  void reconfigure(int s) { setting = s; }
  int number, setting = 0;
};
void update_slow_start(const serve::deployment<int(int)>& d, const manta::queue<int>& gate, int number) {
  serve::update<&slow_start::get>(d, gate, number);
}
void configure_slow_start(const serve::deployment<int(int)>& d, int setting) { d.reconfigure(setting); }

/// Ends with its first request of 13.
struct fragile {
  int run(int x) {
    if (x == 13) throw manta::fatal("the replica ends");
    return x + 1;
  }
};

struct rule {
  serve::deployment<double(numbers)> inner;
  double factor;
  double apply(const numbers& x) { return factor * inner(x).get(); }
};

/// Waits until nobody wants its answer any more, and says so.
struct patient {
  manta::queue<int> seen;
  int run(int x) {
    const manta::promise<int> never;
    while (!manta::this_task::stop_requested()) (void)never.get_future().wait_for(1ms);
    seen.push(x);
    return x;
  }
};
struct asks {
  serve::deployment<int(int)> inner;
  int run(int x) { return inner.ask(x); }
};
void wait_for_running(const serve::deployment<int(int)>& d, std::uint64_t requests) {
  while (d.status().running != requests) {
  }
}

/// Asks another deployment, which asks this one again.
struct goes_round {
  std::string next;
  int run(int steps) const {
    if (steps == 0) return 0;
    const auto d = serve::find<int(int)>(next);
    return 1 + (steps % 2 == 1 ? d.ask(steps - 1) : d(steps - 1).get());
  }
};

double call_from_a_task(const serve::deployment<double(numbers)>& d, int i) {
  return d(numbers{1, static_cast<double>(i)}).get();
}

}  // namespace

TEST_CASE("functions, methods and batches are called through handles, from any rank") {
  in_world([] {
    auto d = serve::deploy<twice>({.name = "double"});
    CHECK(d(21).get() == 42);
    CHECK(d(manta::async<twice>(5)).get() == 20);
    CHECK(serve::deploy<joined>({.name = "joined"})("ab", 3).get() == "ababab");
    CHECK(serve::deploy<twice>()(4).get() == 8);
    CHECK(serve::deploy<grown>()(std::make_unique<int>(4)).get() == 5);
    CHECK(contains(thrown<std::exception>([] { serve::deploy<grown>({.name = "grown", .idempotent = true}); }),
                   "cannot be .idempotent: its requests cannot be copied"));
    CHECK(serve::deploy<[](int a, int b) { return a - b; }>({.name = "minus"})(5, 3).get() == 2);

    auto sums = serve::deploy<serve::batched<&adder::sums>>({.name = "sums", .replicas = 2, .max_batch = 8},
                                                            manta::put(numbers{1, 10}));
    CHECK(sums({2, 3}).get() == 32);
    std::vector<manta::future<double>> answers;
    for (int i = 0; i < 50; ++i) answers.push_back(manta::async<call_from_a_task>(sums, i));
    for (int i = 0; i < 50; ++i) answers.push_back(sums(numbers{1, static_cast<double>(i)}));
    for (int i = 0; i < 100; ++i) CHECK(answers[static_cast<std::size_t>(i)].get() == 1 + 10 * (i % 50));

    auto rules = serve::deploy<&rule::apply>({.name = "rules"}, sums, 2.0);
    CHECK(rules(numbers{1, 1}).get() == 22);
    CHECK(serve::find<int(int)>("double")(4).get() == 8);
    const serve::status s = sums.status();
    CHECK(s.served == 102);
    CHECK(s.replicas == 2);
    CHECK(s.queued + s.running == 0);
  });
}

TEST_CASE("classes and functions of the same name that are local to two files are two") {
  in_world([] {
    CHECK(answers_of_this_file() == std::vector<int>{101, 100, 101, 11, 101});
    CHECK(answers_of_other_file() == std::vector<int>{201, 200, 201, 21, 201});
  });
}

TEST_CASE("what is queued goes to a replica in batches, none above the largest") {
  in_world([] {
    auto sums = serve::deploy<serve::batched<&adder::sums>>({.name = "sums", .max_batch = 8, .wait = 2s}, numbers{1});
    std::vector<manta::future<double>> answers;
    for (int i = 0; i < 32; ++i) answers.push_back(sums(numbers{static_cast<double>(i)}));
    for (int i = 0; i < 32; ++i) CHECK(answers[static_cast<std::size_t>(i)].get() == i);
    CHECK(sums.status().batches >= 4);
    CHECK(sums.status().batches < 32);
  });
}

TEST_CASE("a batch does not wait longer than until it is full; a deadline ends a request in the queue") {
  in_world([] {
    // The time is an hour: only full batches get through.
    auto sums = serve::deploy<serve::batched<&adder::sums>>({.name = "sums", .max_batch = 4, .wait = 1h}, numbers{1});
    std::vector<manta::future<double>> answers;
    for (int i = 0; i < 16; ++i) answers.push_back(sums(numbers{static_cast<double>(i)}));
    for (int i = 0; i < 16; ++i) CHECK(answers[static_cast<std::size_t>(i)].get() == i);
    CHECK(sums.status().batches == 4);

    serve::options o{.name = "slow"};
    o.max_ongoing = 1;
    auto slow = serve::deploy<waits_for>(o);
    manta::queue<int> gate(1);
    auto first = slow(gate);
    auto second = slow.with({.deadline = 5ms})(gate);
    CHECK_THROWS_AS(second.get(), manta::timeout);
    auto unwanted = slow(gate);
    while (slow.status().queued == 0) {  // it is on its way
    }
    CHECK(manta::cancel(unwanted));
    gate.push(3);
    CHECK(first.get() == 3);
    CHECK_THROWS_AS(slow.with({.deadline = -1s})(gate).get(), serve::expired);  // a moment that has passed
    auto third = slow(gate);
    gate.push(4);
    slow.drain();
    CHECK(third.get() == 4);
    CHECK(slow.status().expired == 2);
    CHECK(slow.status().cancelled == 1);
  });
}

TEST_CASE("errors arrive with their text, and others are answered") {
  in_world([] {
    auto d = serve::deploy<throws>({.name = "throws"});
    CHECK(d(2).get() == 2);
    CHECK(thrown<serve::request_failed>([&] { d(3).get(); }) == "manta: serve: the deployment 'throws' failed: odd: 3");
    CHECK(d(4).get() == 4);
    auto f = serve::deploy<serve::batched<&too_few::run>>({.name = "few"});
    CHECK(contains(thrown<std::exception>([&] { f(3).get(); }), "got 1 requests and returned 0 answers"));
    CHECK(thrown<std::exception>([] { serve::deploy<&no_file::run>({.name = "none"}); }) ==
          "manta: serve: the deployment 'none' cannot start: no such model");
    CHECK(
        contains(thrown<std::exception>([] { serve::deploy<twice>({.name = "x", .replicas = 0}); }), ".replicas is 0"));
    CHECK(contains(thrown<std::exception>([] { serve::deploy<twice>({.name = "x", .max = 2}); }),
                   "wanted is 1 <= .min <= .max"));
    serve::options negative{.name = "x"};
    negative.max_ongoing = -1;
    CHECK(contains(thrown<std::exception>([&] { serve::deploy<twice>(negative); }), ".max_ongoing is -1"));
    CHECK(contains(thrown<manta::unschedulable>([] { serve::deploy<twice>({.name = "x", .cpus = 1000}); }),
                   "manta: serve: the deployment 'x' cannot start: no rank can ever run"));
    CHECK(contains(thrown<manta::unschedulable>([] { serve::deploy<twice>({.name = "x", .router_rank = 99}); }),
                   "manta: serve: the deployment 'x' cannot start: no rank can ever run"));
    CHECK(contains(thrown<std::exception>([] { serve::deploy<twice>({.name = "x", .max_batch = 8}); }),
                   "deployed as serve::batched<f>; this one takes one request a call"));
    // names
    for (const auto& again : {+[] { (void)serve::deploy<twice>({.name = "throws"}); },
                              +[] { (void)serve::deploy<joined>({.name = "throws"}); }}) {
      CHECK(contains(thrown<std::exception>(again), "there is a deployment named 'throws' already; choose another"));
    }
    const serve::deployment<int(int)> empty;
    const auto of_empty = [&](auto use) { return contains(thrown<manta::error>(use), "of a deployment is empty"); };
    CHECK(of_empty([&] { empty(1).get(); }));
    CHECK(of_empty([&] { (void)serve::split<int(int)>({.name = "of nothing"}, {{empty, 1}}); }));
    CHECK(contains(thrown<std::exception>([] { (void)serve::find<int(int)>("nobody"); }),
                   "there is no deployment named 'nobody'"));
    CHECK(contains(thrown<std::exception>([] { (void)serve::find<double(double)>("throws"); }),
                   "the deployment 'throws' is none of double(double)"));
    CHECK(d(6).get() == 6);
  });
}

TEST_CASE("the queue may live on any rank") {
  in_world([] {
    const int last = manta::size() - 1;
    auto d = serve::deploy<serve::batched<&adder::sums>>(
        {.name = "there", .replicas = 2, .max_batch = 4, .router_rank = last}, numbers{1, 10});
    std::vector<manta::future<double>> answers;
    for (int i = 0; i < 20; ++i) answers.push_back(manta::async<call_from_a_task>(d, i));
    for (int i = 0; i < 20; ++i) CHECK(answers[static_cast<std::size_t>(i)].get() == 1 + 10 * i);
    d.update({.weight = 0.5}, numbers{1, 10});
    d.promote();
    CHECK(serve::find<double(numbers)>("there")({2, 3}).get() == 32);
    CHECK_THROWS_AS(serve::deploy<twice>({.name = "nowhere", .router_rank = 1000}), manta::error);
  });
}

TEST_CASE("a bad request fails alone where requests may be repeated, else with its whole batch") {
  in_world([] {
    for (const bool may_repeat : {true, false}) {
      // The time is an hour: the batch is full when it leaves.
      const auto d = serve::deploy<serve::batched<&picky::run>>(
          {.name = "picky", .max_batch = 8, .wait = 1h, .idempotent = may_repeat});
      std::vector<manta::future<int>> answers;
      for (int i = 0; i < 8; ++i) answers.push_back(d(i == 5 ? -5 : i));
      int failed = 0;
      for (int i = 0; i < 8; ++i) {
        try {
          // One call for all, then one for each, the bad one included.
          const int calls = answers[static_cast<std::size_t>(i)].get();
          CHECK(calls > 1);
        } catch (const std::exception& e) {
          ++failed;
          CHECK(contains(e.what(), "the deployment 'picky' failed: below 0: -5"));
          CHECK((i == 5 || !may_repeat));
        }
      }
      CHECK(failed == (may_repeat ? 1 : 8));
      CHECK(d.status().batches == (may_repeat ? 9 : 1));
      CHECK(d.status().served + d.status().failed == 8);
      CHECK(d.status().retried == (may_repeat ? 8 : 0));
    }
  });
}

TEST_CASE("a full queue refuses at once, with an error of its own") {
  in_world([] {
    auto d = serve::deploy<twice>({.name = "double", .max_queue = 5});
    std::vector<manta::future<int>> answers;
    for (int i = 0; i < 2000; ++i) answers.push_back(d(i));
    int good = 0, refused = 0;
    for (int i = 0; i < 2000; ++i) {
      try {
        good += answers[static_cast<std::size_t>(i)].get() == 2 * i;
      } catch (const serve::overloaded&) {
        ++refused;
      }
    }
    CHECK(good + refused == 2000);
    CHECK(d.status().refused == static_cast<std::uint64_t>(refused));
    CHECK(d.status().served == static_cast<std::uint64_t>(good));
    d.drain();
    CHECK_THROWS_AS(d(1).get(), serve::unavailable);
  });
}

TEST_CASE("a replica that dies is replaced; its requests go to another one if the deployment is idempotent") {
  in_world([] {
    auto once = serve::deploy<&fragile::run>({.name = "once"});
    CHECK_THROWS_AS(once(13).get(), manta::error);
    CHECK(once(1).get() == 2);
    auto again = serve::deploy<&fragile::run>({.name = "again", .replicas = 2, .idempotent = true});
    CHECK_THROWS_AS(again(13).get(), manta::error);  // ends each replica that gets it
    CHECK(again.status().retried == 3);
    CHECK(again(2).get() == 3);
  });
}

TEST_CASE("an update switches when all new replicas are ready; a failed one changes nothing") {
  in_world([] {
    auto d = serve::deploy<&version::get>({.name = "v", .replicas = 2}, 1);
    std::vector<manta::future<int>> answers;
    for (int i = 0; i < 100; ++i) answers.push_back(d(i));
    serve::update<&version::get>(d, 2);
    for (int i = 0; i < 100; ++i) CHECK(answers[static_cast<std::size_t>(i)].get() % 1000 == i);
    CHECK(d(7).get() == 2007);
    CHECK(contains(thrown<std::exception>([&] { serve::update<&broken_version::get>(d, 3); }),
                   "keeps its version: cannot load"));
    CHECK(d(7).get() == 2007);
    CHECK(d.status().version == 2);
    CHECK(d.status().replicas == 2);
  });
}

TEST_CASE("a canary gets its part of the requests beside the old version, and takes over or goes") {
  in_world([] {
    auto d = serve::deploy<&version::get>({.name = "v", .replicas = 2}, 1);
    const auto of_second = [&](int requests) {
      int second = 0;
      for (int i = 0; i < requests; ++i) second += d(i).get() / 1000 == 2;
      return second;
    };
    d.update({.weight = 0.1}, 2);
    int second = of_second(100);
    CHECK(second >= 8);
    CHECK(second <= 12);
    serve::status s = d.status();
    REQUIRE(s.versions.size() == 2);
    CHECK(s.version == 1);
    CHECK(s.replicas == 3);
    CHECK(s.served == 100);
    CHECK(s.versions[0].version == 1);
    CHECK(s.versions[0].weight == doctest::Approx(0.9));
    CHECK(s.versions[0].served == static_cast<std::uint64_t>(100 - second));
    CHECK(s.versions[1].version == 2);
    CHECK(s.versions[1].served == static_cast<std::uint64_t>(second));
    d.canary(0.5);
    second = of_second(100);
    CHECK(second >= 48);
    CHECK(second <= 52);
    CHECK(contains(thrown<std::exception>([&] { d.canary(1.5); }), "it has to be from 0 to 1"));
    CHECK(contains(thrown<std::exception>([&] { d.reconfigure(1); }), "has no method `reconfigure`"));
    d.rollback();
    CHECK(of_second(20) == 0);
    CHECK(d.status().served == 220);
    CHECK(d.status().versions.size() == 1);
    CHECK(contains(thrown<std::exception>([&] { d.promote(); }), "it has no canary"));

    d.update({.weight = 0.5}, 2);
    std::vector<manta::future<int>> answers;
    for (int i = 0; i < 200; ++i) answers.push_back(d(i));
    d.promote();
    for (int i = 0; i < 200; ++i) CHECK(answers[static_cast<std::size_t>(i)].get() % 1000 == i);
    CHECK(of_second(20) == 20);
    s = d.status();
    CHECK(s.version == 2);
    CHECK(s.replicas == 2);
    CHECK(s.served == 440);

    // Of another class; one that cannot start, and arguments that do not fit, change nothing.
    serve::update<&version_in_words::get>(d, {.weight = 0.25}, std::string("three"));
    CHECK(contains(thrown<std::exception>([&] { serve::update<&broken_version::get>(d, {.weight = 0.5}, 3); }),
                   "keeps its version: cannot load"));
    CHECK(contains(thrown<std::exception>([&] { d.update("three"); }), "have other types than those"));
    CHECK(contains(thrown<std::exception>([&] { d.update({.weight = -1}, 3); }), ".weight is -1"));
    int in_words = 0;
    for (int i = 0; i < 40; ++i) in_words += d(i).get() == -5;
    CHECK(in_words >= 9);
    CHECK(in_words <= 11);
    d.promote();
    d.update("seventh");
    CHECK(d(0).get() == -7);
  });
}

TEST_CASE("what nobody wants any more ends: in a replica, in a deployment that it asks, and in a canary") {
  in_world([] {
    manta::queue<int> seen(4);
    const auto inner = serve::deploy<&patient::run>({.name = "inner"}, seen);
    const auto outer = serve::deploy<&asks::run>({.name = "outer"}, inner);
    auto unwanted = outer(5);
    wait_for_running(inner, 1);
    CHECK(manta::cancel(unwanted));
    CHECK(seen.pop() == 5);
    wait_for_running(inner, 0);
    wait_for_running(outer, 0);
    CHECK(inner.status().cancelled == 1);
    CHECK(outer.status().cancelled == 1);
    CHECK(outer.status().served + outer.status().failed == 0);

    const auto d = serve::deploy<twice>({.name = "d"});
    serve::update<&patient::run>(d, {.weight = 0.5}, seen);
    d.canary(1);
    auto of_canary = d(6);
    wait_for_running(d, 1);
    CHECK(manta::cancel(of_canary));
    CHECK(seen.pop() == 6);
    wait_for_running(d, 0);
    CHECK(d.status().cancelled == 1);
    d.rollback();
    CHECK(d(7).get() == 14);
  });
}

TEST_CASE("a circle of deployments without room for its requests is a deadlock that names them, and ends") {
  in_world([] {
    serve::options o{.name = "a"};
    o.max_ongoing = 1;
    const auto a = serve::deploy<&goes_round::run>(o, "b");
    o.name = "b";
    const auto b = serve::deploy<&goes_round::run>(o, "a");
    for (int round = 0; round < 3; ++round) {
      CHECK(a(1).get() == 1);
      const auto begin = std::chrono::steady_clock::now();
      const std::string why = thrown<manta::deadlock>([&] { (round == 1 ? b : a)(5).get(); });
      CHECK(contains(why, "of the actor 'serve/a'"));
      CHECK(contains(why, "of the actor 'serve/b'"));
      CHECK(std::chrono::steady_clock::now() - begin < 1min);
    }
    CHECK(b(1).get() == 1);
    CHECK(a.status().failed >= 1);
  });
}

TEST_CASE("new settings reach a canary too, and what is made of it") {
  in_world([] {
    const auto d = serve::deploy<&threshold::above>({.name = "above", .replicas = 2});
    d.update({.weight = 0.5});
    d.reconfigure(5.);
    for (const double weight : {0., 1.}) {
      d.canary(weight);
      for (int i = 0; i < 4; ++i) CHECK(!d(4.).get());
      CHECK(d(6.).get());
    }
    d.promote();
    for (int i = 0; i < 8; ++i) CHECK(!d(4.).get());
    serve::update<is_positive>(d, {.weight = 0.5});
    const std::string why = thrown<std::exception>([&] { d.reconfigure(7.); });
    CHECK(contains(why, "its canary refuses them, and the present version has them"));
    CHECK(contains(why, "has no method `reconfigure`"));
    d.rollback();
    for (int i = 0; i < 8; ++i) CHECK(!d(6.).get());
  });
}

TEST_CASE("a split gives each part its share") {
  in_world([] {
    auto a = serve::deploy<&version::get>({.name = "a"}, 1), b = serve::deploy<&version::get>({.name = "b"}, 2);
    auto both = serve::split<int(int)>({.name = "both"}, {{a, 9}, {b, 1}});
    int first = 0;
    for (int i = 0; i < 100; ++i) first += both(i).get() < 2000;
    CHECK(first >= 88);
    CHECK(first <= 92);
    both.reconfigure(std::vector<double>{0, 1});  // the canary is well: all go there
    for (int i = 0; i < 20; ++i) CHECK(both(i).get() == 2000 + i);
    CHECK(contains(thrown<std::exception>([&] { both.reconfigure(std::vector<double>{0, 0}); }), "a weight above 0"));
    CHECK(contains(thrown<std::exception>([&] { both.reconfigure(std::vector<double>{1}); }), "1 weights for 2 parts"));
    CHECK(both(3).get() == 2003);
  });
}

TEST_CASE("reconfigure reaches all replicas, and those that are made later; refused settings change nothing") {
  in_world([] {
    auto d = serve::deploy<&threshold::above>({.name = "t", .replicas = 3}, 1.0);
    const auto all_above = [&](double x) {
      int above = 0;
      std::vector<manta::future<bool>> answers;
      for (int i = 0; i < 30; ++i) answers.push_back(d(x));
      for (auto& a : answers) above += a.get();
      return above;
    };
    CHECK(all_above(2) == 30);
    d.reconfigure(3.0);
    CHECK(all_above(2) == 0);
    CHECK(contains(thrown<std::exception>([&] { d.reconfigure(-1.0); }), "keeps its settings: below 0"));
    CHECK(all_above(4) == 30);
    CHECK(contains(thrown<std::exception>([&] { d.reconfigure(3); }), "takes double, and was given int"));
    d.reconfigure(200.0);  // not healthy: replaced by new ones, which get the settings
    d.check();
    const serve::status s = d.status();
    CHECK(s.replicas + s.starting == 3);
    CHECK(all_above(150) == 0);
    serve::update<&threshold::above>(d, 1.0);
    CHECK(all_above(2) == 30);
    auto plain = serve::deploy<twice>({.name = "plain"});
    CHECK(contains(thrown<std::exception>([&] { plain.reconfigure(1); }), "has no method `reconfigure`"));
  });
}

TEST_CASE("settings reach replicas that are just starting, and come after an update that is under way") {
  in_world([] {
    auto d = serve::deploy<&threshold::above>({.name = "t", .replicas = 3}, 1.0);
    d.reconfigure(200.0);  // not healthy
    for (int round = 0; round < 5; ++round) {
      d.check();  // all are replaced, by replicas that are starting now
      d.reconfigure(round % 2 == 0 ? 300.0 : 200.0);
      std::vector<manta::future<bool>> answers;
      for (int i = 0; i < 12; ++i) answers.push_back(d(250));
      for (auto& a : answers) CHECK(a.get() == (round % 2 == 1));
    }
    manta::queue<int> gate(2);
    gate.push(0);
    auto slow = serve::deploy<&slow_start::get>({.name = "slow"}, gate, 1);
    const auto updated = manta::async<update_slow_start>(slow, gate, 2);
    manta::testing::poll_until("a replica that starts", [&] { return slow.status().starting == 1; });
    const auto configured = manta::async<configure_slow_start>(slow, 5);
    CHECK(slow(0).get() == 10);  // the old version serves meanwhile
    gate.push(0);
    updated.get();
    configured.get();
    CHECK(slow(0).get() == 25);
  });
}

TEST_CASE("replicas that are not well are replaced without a request, and what nobody needs ends without one") {
  in_world([] {
    serve::options o{.name = "health"};
    o.health_every = 20ms;
    auto d = serve::deploy<&threshold::above>(o, 200.0);  // ill from the beginning, and each new one is
    manta::testing::poll_until("a replica that is replaced", [&] { return d.status().starting == 1; });

    serve::options range{.name = "range", .replicas = 3, .min = 1, .max = 3};
    range.down_after = 40ms;
    auto r = serve::deploy<twice>(range);
    CHECK(r(1).get() == 2);
    manta::testing::poll_until("one replica is left", [&] { return r.status().replicas == 1; });
    CHECK(r(2).get() == 4);
  });
}

TEST_CASE("a constructor's argument may be a future; all replicas are made from its value") {
  in_world([] {
    auto d = serve::deploy<&weights_kept::value>({.name = "w", .replicas = 3}, manta::async<make_weights>(40));
    for (int i = 0; i < 12; ++i) CHECK(d(i).get() == 40 + i);
  });
  CHECK(manta::testing::tracked_here() == 0);
}

TEST_CASE("the dispatcher: priorities, deadlines, least work, and numbers of replicas") {
  serve::options o{.name = "d", .max_batch = 2, .min = 1, .max = 3};
  o.max_ongoing = 1;
  serve::dispatcher d(o);
  std::vector<serve::queued_request> requests(6);
  requests[4].options.priority = 5;
  requests[5].options.deadline = 1us;
  requests[5].arrived -= 1s;
  const std::size_t one = d.replicas().add_starting(1);
  for (auto& r : requests) d.admit(r);
  CHECK(d.next().requests.empty());  // nobody is ready
  d.drop_all_unwanted();
  CHECK(d.take_unwanted() == std::vector<serve::queued_request*>{&requests[5]});
  d.replicas().ready(one);
  const auto first = d.next();
  CHECK(first.requests == std::vector<serve::queued_request*>{&requests[4], &requests[0]});
  CHECK(d.next().requests.empty());
  const std::size_t two = d.replicas().add_starting(1);
  d.replicas().ready(two);
  const auto second = d.next();
  CHECK(second.replica == two);
  d.finished(first);
  for (serve::queued_request* r : first.requests) d.answered(*r, true);
  CHECK(d.report().served == 2);
  CHECK(d.report().queued == 1);
  CHECK(d.report().running == 2);
  d.replicas().remove(two);
  d.finished(second);
  d.again(*second.requests[0]);
  CHECK(d.next().requests.front() == second.requests[0]);
  CHECK(d.wanted() == 1);
}

TEST_CASE("the dispatcher: a busy replica gets a second batch early only if that is no smaller than the first") {
  serve::dispatcher d({.name = "d", .max_batch = 4});
  std::vector<serve::queued_request> requests(12);
  auto next = requests.begin();
  const auto admit = [&](int n) {
    for (int i = 0; i < n; ++i) d.admit(*next++);
  };
  d.replicas().ready(d.replicas().add_starting(1));
  admit(1);
  const auto first = d.next();  // it is idle, and takes what there is
  CHECK(first.requests.size() == 1);
  admit(2);
  const auto second = d.next();
  CHECK(second.requests.size() == 2);
  admit(1);
  CHECK(d.next().requests.empty());  // two are under way
  d.finished(first);
  CHECK(d.next().requests.empty());  // one is smaller than two
  admit(1);
  const auto third = d.next();
  CHECK(third.requests.size() == 2);
  d.finished(second);
  admit(6);
  const auto fourth = d.next();
  CHECK(fourth.requests.size() == 4);
  d.finished(third);
  admit(1);
  CHECK(d.next().requests.empty());
  d.finished(fourth);
  CHECK(d.next().requests.size() == 3);
}

TEST_CASE("the dispatcher looks through the whole queue seldom: unwanted requests leave at their turn, and make room") {
  serve::options o{.name = "d", .max_queue = 30'000};
  o.max_ongoing = 1;
  serve::dispatcher d(o);
  const std::size_t one = d.replicas().add_starting(1);
  bool is_cancelled = false;
  std::vector<serve::queued_request> requests(30'000);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (i % 3 == 0) requests[i].caller = manta::this_task::stop_token(&is_cancelled);
    requests[i].options.priority = static_cast<int>(i % 2);
    d.admit(requests[i]);
  }
  CHECK(d.is_full());
  for (int i = 0; i < 30'000; ++i) d.make_room();  // looked at each time, these were a thousand million requests
  CHECK(d.is_full());
  requests[4].arrived -= 1s;
  requests[4].options.deadline = 1us;
  d.drop_if_unwanted(requests[4]);
  d.drop_if_unwanted(requests[5]);
  CHECK(d.take_unwanted() == std::vector<serve::queued_request*>{&requests[4]});
  is_cancelled = true;
  serve::queued_request more;
  d.admit(more);
  for (int i = 0; i < 30'000; ++i) d.make_room();
  CHECK(d.take_unwanted().size() == 10'000);
  CHECK_FALSE(d.is_full());
  is_cancelled = false;
  d.replicas().ready(one);
  requests[1].arrived -= 1s;
  requests[1].options.deadline = 1us;
  CHECK(d.next().requests ==
        std::vector<serve::queued_request*>{&requests[5]});  // 1 is over, 3 was cancelled, 0 is less urgent
  CHECK(d.take_unwanted() == std::vector<serve::queued_request*>{&requests[1]});
  CHECK(d.report().cancelled == 10'000);
  CHECK(d.report().expired == 2);
  CHECK(d.report().queued == 19'998);
}
