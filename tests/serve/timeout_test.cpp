// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Calls that never return, and replicas in processes of their own.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "manta/serve.hpp"
#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::in_world;
using manta::testing::thrown;
using namespace std::chrono_literals;
namespace serve = manta::serve;

namespace {

const pid_t of_this_rank = ::getpid();

/// Answers, computes for ever, crashes or throws. In a rank's own process for ever is two seconds: a run waits for its
/// ranks.
struct model {
  int scale = 1;
  int predict(int x) {
    if (x == 13 && ::getpid() == of_this_rank) ::usleep(2'000'000);
    for (volatile bool ends = x != 13 || ::getpid() == of_this_rank; !ends;) {
    }
    if (x == 14) std::abort();
    if (x == 15) throw std::runtime_error("no 15");
    return scale * x;
  }
  std::vector<int> predict_all(const std::vector<int>& batch) {
    std::vector<int> all;
    for (const int x : batch) all.push_back(predict(x));
    return all;
  }
};
int pid_of_replica(int) { return static_cast<int>(::getpid()); }
manta::generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}
struct asks_another {
  serve::deployment<int(int)> other;
  int ask(int x) { return other.ask(x); }
};

/// The rank whose queue shares it with the replicas, if the world is so small; else one of several.
int last_rank() { return manta::size() - 1; }
bool has_one_rank_for_replicas() { return manta::testing::executors().size() == 1; }

}  // namespace

TEST_CASE("a call that never returns fails with timed_out wherever its replica lives, and others are answered") {
  in_world([] {
    auto d = serve::deploy<&model::predict>({.name = "hangs", .router_rank = last_rank(), .timeout = 200ms}, 3);
    CHECK(d(2).get() == 6);
    CHECK(contains(thrown<serve::timed_out>([&] { (void)d(13).get(); }), "a call has run for 200 ms"));
    CHECK(d(4).get() == 12);
    CHECK(contains(thrown<serve::request_failed>([&] { (void)d(15).get(); }), "no 15"));
    const serve::status s = d.status();
    CHECK(s.overdue == 1);
    CHECK(s.replicas == 1);
  });
}

TEST_CASE("a batch that never returns fails with all its requests, and the next one does not") {
  in_world([] {
    auto d = serve::deploy<serve::batched<&model::predict_all>>(
        {.name = "batches", .max_batch = 4, .router_rank = last_rank(), .timeout = 200ms}, 3);
    CHECK(d(2).get() == 6);
    CHECK_THROWS_AS(d(13).get(), serve::timed_out);
    std::vector<manta::future<int>> answers;
    for (int i = 0; i < 10; ++i) answers.push_back(d(i));
    for (int i = 0; i < 10; ++i) CHECK(answers[static_cast<std::size_t>(i)].get() == 3 * i);
  });
}

TEST_CASE("the time of a call leaves out constructors, and calls before it") {
  in_world([] {
    struct slow {
      explicit slow(int ms) { ::usleep(static_cast<useconds_t>(1000 * ms)); }
      int get(int ms) {
        ::usleep(static_cast<useconds_t>(1000 * ms));
        return ms;
      }
    };
    auto d =
        serve::deploy<&slow::get>({.name = "slow", .replicas = 2, .router_rank = last_rank(), .timeout = 900ms}, 1200);
    std::vector<manta::future<int>> answers;
    for (int i = 0; i < 12; ++i) answers.push_back(d(100));
    for (auto& each : answers) CHECK(each.get() == 100);
    CHECK(d.status().overdue == 0);
  });
}

TEST_CASE("an isolated replica has a process of its own, whose end costs its request and nothing else") {
  in_world([] {
    auto mine = serve::deploy<pid_of_replica>({.name = "pids", .replicas = 2, .isolate = true});
    CHECK(mine(0).get() != static_cast<int>(::getpid()));
    auto d = serve::deploy<&model::predict>({.name = "crashes", .isolate = true}, 2);
    CHECK(d(4).get() == 8);
    CHECK_THROWS_AS(d(14).get(), manta::error);
    CHECK(d(5).get() == 10);
    d.update(5);
    CHECK(d(5).get() == 25);
    d.update({.weight = 0.5}, 7);
    d.promote();
    CHECK(d(5).get() == 35);
  });
}

TEST_CASE("what can have no process of its own is refused beside its queue, and where it is asked to") {
  in_world([] {
    CHECK(contains(thrown<manta::error>([] { serve::deploy<count>({.name = "c", .isolate = true}); }),
                   "leave .isolate out"));
    if (!has_one_rank_for_replicas()) return;
    const serve::options beside{.name = "beside", .router_rank = last_rank(), .timeout = 200ms};
    CHECK(contains(thrown<manta::error>([&] { serve::deploy<count>(beside); }), "would share rank"));
    auto other = serve::deploy<pid_of_replica>({.name = "other"});
    CHECK(contains(thrown<manta::error>([&] { serve::deploy<&asks_another::ask>(beside, other); }),
                   "beside its queue, .timeout gives a replica a process of its own"));
  });
}
