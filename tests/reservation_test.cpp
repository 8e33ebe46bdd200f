// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Reservations: taken in one step, held by handles and tasks, given back.
#include <doctest/doctest.h>

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <set>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::executor;
using manta::testing::executors;
using manta::testing::gate;
using manta::testing::in_world;
using manta::testing::where;

namespace {

const manta::runtime_options offers{.resources = {{"slot", 2}}, .cpus = 4, .gpus = 2};

class place {
 public:
  int rank() const { return where(); }
  std::vector<int> gpus() const { return manta::this_task::gpu_ids(); }
};

/// Everything is free again: what reservations held has come back.
void require_all_free() {
  manta::testing::poll_until("everything to be free", [] {
    const auto all = manta::capacity(), now = manta::available();
    bool same = true;
    for (std::size_t r = 0; r < all.size(); ++r) {
      same = same && all[r].cpus == now[r].cpus && all[r].gpus == now[r].gpus && all[r].resources == now[r].resources;
    }
    return same;
  });
}

}  // namespace

TEST_CASE("a reservation takes all its bundles and its last handle gives them back") {
  in_world(offers, [] {
    {
      const manta::reservation r = manta::reserve({.bundles = {{.cpus = 2}, {.gpus = 1, .resources = {{"slot", 1}}}}});
      CHECK(r.size() == 2);
      r.ready().get();
      double gpus = 0, slots = 0;
      int cpus = 0;
      const auto all = manta::capacity(), now = manta::available();
      for (std::size_t i = 0; i < all.size(); ++i) {
        gpus += all[i].gpus - now[i].gpus;
        slots += all[i].resources.amount("slot") - now[i].resources.amount("slot");
        cpus += all[i].cpus - now[i].cpus;
      }
      CHECK(gpus == 1);
      CHECK(slots == 1);
      CHECK(cpus == 3);
      const manta::reservation copy = r;
      CHECK(copy.valid());
    }
    require_all_free();
  });
}

TEST_CASE("tasks and actors run in their bundle") {
  in_world(offers, [] {
    {
      const auto r = manta::reserve({.bundles = {{.gpus = 1}, {.gpus = 1}, {.cpus = 2}}, .strategy = manta::spread});
      std::vector<manta::future<int>> first, second;
      for (int i = 0; i < 20; ++i) {
        first.push_back(manta::async<where>({.gpus = 0.5, .in = r, .bundle = 0}));
        second.push_back(manta::async<where>({.in = r, .bundle = 1}));
      }
      const auto a = manta::spawn<place>({.gpus = 1, .in = r, .bundle = 1});
      const int rank0 = first[0].get(), rank1 = second[0].get();
      if (executors().size() > 1) CHECK(rank0 != rank1);
      for (const int x : manta::get(first)) CHECK(x == rank0);
      for (const int x : manta::get(second)) CHECK(x == rank1);
      CHECK(manta::async<&place::rank>(a).get() == rank1);
      CHECK(manta::async<&place::gpus>(a).get().size() == 1);
      CHECK(manta::async<where>({.cpus = 2, .in = r}).get() >= 0);
      CHECK(manta::async([](manta::reservation in) { return manta::async<where>({.in = in, .bundle = 0}).get(); }, r)
                .get() == rank0);
    }
    require_all_free();
  });
}

TEST_CASE("a task keeps its reservation when no handle is left") {
  in_world(offers, [] {
    const auto g = manta::spawn<gate>({.rank = executor(0)});
    std::vector<manta::future<int>> fs;
    {
      const auto r = manta::reserve({.bundles = {{.gpus = 2}}});
      for (int i = 0; i < 3; ++i) {
        fs.push_back(manta::async(
            {.gpus = 2, .in = r},
            [](manta::actor<gate> open) {
              manta::testing::pass(open);
              return static_cast<int>(manta::this_task::gpu_ids().size());
            },
            g));
      }
    }
    manta::async<&gate::open>(g).get();
    for (const int x : manta::get(fs)) CHECK(x == 2);
    fs.clear();
    require_all_free();
  });
}

TEST_CASE("a reservation that was made in a task and returned from it lives on") {
  in_world(offers, [] {
    {
      const auto made = manta::async([] { return manta::reserve({.bundles = {{.gpus = 1}}}); });
      const manta::reservation r = made.get();
      r.ready().get();
      CHECK(manta::async<where>({.gpus = 1, .in = r}).get() >= 0);
      CHECK(r.size() == 1);
    }
    require_all_free();
  });
}

TEST_CASE("released early, running tasks end normally and queued ones fail") {
  in_world(offers, [] {
    const auto g = manta::spawn<gate>({.rank = executor(1)});
    {
      const auto r = manta::reserve({.bundles = {{.gpus = 2}}});
      const auto hold = [](manta::actor<gate> open) {
        manta::testing::pass(open);
        return static_cast<int>(manta::this_task::gpu_ids().size());
      };
      const auto running = manta::async({.gpus = 2, .in = r}, hold, g);
      const auto queued = manta::async({.gpus = 2, .retries = 2, .in = r}, hold, g);
      manta::testing::poll_until("the first to be placed",
                                 [&] { return contains(manta::explain(running), "lies there"); });
      const std::string why = manta::explain(queued);
      CHECK_MESSAGE(contains(why, "bundle 0"), why);
      CHECK_MESSAGE(contains(why, "waits"), why);
      r.release();
      r.release();
      CHECK_THROWS_WITH_AS(queued.get(), doctest::Contains("released before the task started"), manta::unschedulable);
      CHECK_THROWS_AS((manta::async<where>({.in = r}).get()), manta::unschedulable);
      manta::async<&gate::open>(g).get();
      CHECK(running.get() == 2);
    }
    require_all_free();
  });
}

TEST_CASE("a reservation waits until everything it asks for is free at once, and may be given up before") {
  in_world(offers, [] {
    const std::size_t n = executors().size();
    std::vector<manta::actor<place>> holders;
    for (const int rank : executors()) holders.push_back(manta::spawn<place>({.gpus = 2, .rank = rank}));
    for (const auto& h : holders) manta::async<&place::rank>(h).get();
    const auto r = manta::reserve({.bundles = std::vector<manta::bundle>(n, manta::bundle{.gpus = 2})});
    manta::future<void> given_up;
    {
      const auto other = manta::reserve({.bundles = {{.gpus = 1}}});
      given_up = other.ready();
    }
    CHECK_THROWS_WITH_AS(given_up.get(), doctest::Contains("given up before it was met"), manta::cancelled);
    CHECK(contains(manta::explain(r.ready()), "waits"));
    while (!holders.empty()) {
      CHECK_FALSE(r.ready().ready());
      manta::kill(holders.back());
      holders.pop_back();
    }
    r.ready().get();
    std::set<int> ranks;
    for (std::size_t i = 0; i < n; ++i)
      ranks.insert(manta::async<where>({.gpus = 2, .in = r, .bundle = static_cast<int>(i)}).get());
    CHECK(ranks.size() == n);
  });
}

TEST_CASE("what can never be met is refused at the call, with what is nearest") {
  in_world(offers, [] {
    CHECK_THROWS_WITH_AS((manta::reserve({.bundles = {{.gpus = 3}}})), doctest::Contains("lacks gpus = 1"),
                         manta::unschedulable);
    const std::size_t n = executors().size();
    CHECK_THROWS_WITH_AS((manta::reserve({.bundles = std::vector<manta::bundle>(n + 1, manta::bundle{.gpus = 2})})),
                         doctest::Contains("not all of them at once"), manta::unschedulable);
    CHECK_THROWS_AS((manta::reserve({.bundles = {}})), manta::error);
    CHECK_THROWS_AS((manta::reserve({.bundles = {{.cpus = -1}}})), manta::error);
    const auto r = manta::reserve({.bundles = {{.gpus = 1}, {.cpus = 2}}});
    CHECK_THROWS_WITH_AS((manta::async<where>({.gpus = 2, .in = r})),
                         doctest::Contains("[bundle 0: cpus = 1, gpus = 1]"), manta::unschedulable);
    CHECK_THROWS_AS((manta::async<where>({.gpus = 1, .in = r, .bundle = 1})), manta::unschedulable);
    CHECK_THROWS_AS((manta::async<where>({.in = r, .bundle = 2})), manta::unschedulable);
    CHECK_THROWS_AS((manta::async<where>({.rank = executor(0), .in = r})), manta::error);
    CHECK_THROWS_AS((manta::async<where>({.bundle = 0})), manta::error);
    CHECK(manta::async<where>({.cpus = 2, .in = r}).get() >= 0);
    CHECK_THROWS_AS(manta::reservation().release(), manta::error);
  });
}

TEST_CASE("a wait for a reservation that nobody can meet is a deadlock that says so") {
  in_world(offers, [] {
    const auto first = manta::reserve({.bundles = {{.gpus = 2}}});
    std::vector<manta::reservation> rest;
    for (std::size_t i = 1; i < executors().size(); ++i) rest.push_back(manta::reserve({.bundles = {{.gpus = 2}}}));
    const auto second = manta::reserve({.bundles = {{.gpus = 1}}});
    CHECK_THROWS_WITH_AS(second.ready().get(),
                         doctest::Contains("a reservation of rank 0 is not met: [cpus = 1, gpus = 1]"),
                         manta::deadlock);
    first.release();
    second.ready().get();
  });
}

TEST_CASE("tasks that took what a patient reservation wants, and need more of it to end, are not stopped for ever") {
  in_world(offers, [] {
    const std::size_t n = executors().size();
    // each holds half of a rank's slots and asks for the other half once a reservation of everything waits
    const auto outer = [](manta::actor<gate> open, int rank) {
      manta::testing::pass(open);
      int sum = 0;
      for (int i = 0; i < 100; ++i)
        sum += manta::async({.resources = {{"slot", 1}}, .rank = rank}, [] { return 1; }).get();
      return sum;
    };
    const auto g = manta::spawn<gate>({.rank = executor(0)});
    std::vector<manta::future<int>> fs;
    for (const int rank : executors())
      fs.push_back(manta::async({.resources = {{"slot", 1}}, .rank = rank}, outer, g, rank));
    for (const auto& f : fs) {
      manta::testing::poll_until("the task to be placed",
                                 [&] { return contains(manta::explain(f), "asked for that rank"); });
    }
    const auto all =
        manta::reserve({.bundles = std::vector<manta::bundle>(n, manta::bundle{.resources = {{"slot", 2}}})});
    manta::async<&gate::open>(g).get();
    for (const int x : manta::get(fs)) CHECK(x == 100);
    all.ready().get();
  });
}

TEST_CASE("reservations of a run that ends with an exception are gone in the next") {
  manta::runtime rt(MPI_COMM_WORLD, offers);
  for (int time = 0; time < 3; ++time) {
    bool failed = false;
    try {
      manta::testing::checked_run(rt, [] {
        std::vector<manta::reservation> all;
        for (std::size_t i = 0; i < 2 * executors().size(); ++i)
          all.push_back(manta::reserve({.bundles = {{.gpus = 2}}}));
        const auto f = manta::async<where>({.gpus = 2, .in = all.back()});
        throw std::runtime_error("the driver had enough");
      });
    } catch (const std::exception&) {
      failed = true;
    }
    CHECK(failed);
  }
  manta::testing::checked_run(rt, [] {
    require_all_free();
    const auto r = manta::reserve({.bundles = {{.gpus = 2}}});
    r.ready().get();
  });
}

TEST_CASE("tasks that wait for their reservation can be cancelled and have deadlines; the reservation itself cannot") {
  in_world(offers, [] {
    {
      std::vector<manta::actor<place>> holders;
      for (const int rank : executors()) holders.push_back(manta::spawn<place>({.gpus = 2, .rank = rank}));
      for (const auto& h : holders) manta::async<&place::rank>(h).get();
      const auto r = manta::reserve({.bundles = {{.gpus = 1}}});
      const auto stays = manta::async<where>({.gpus = 1, .in = r});
      const auto first = manta::async<where>({.gpus = 1, .retries = 1, .in = r});
      const auto second = manta::async<where>({.in = r});
      const auto late = manta::async<where>({.deadline = std::chrono::milliseconds(5), .in = r});
      CHECK_FALSE(manta::cancel(r.ready()));
      CHECK(manta::cancel(first));
      CHECK(manta::cancel(second));
      CHECK_THROWS_AS(first.get(), manta::cancelled);
      CHECK_THROWS_AS(second.get(), manta::cancelled);
      CHECK_THROWS_AS(late.get(), manta::timeout);
      const auto elsewhere = [](const manta::reservation& in) {  // rank 0 places it for another rank
        const auto f = manta::async<where>({.gpus = 1, .in = in});
        (void)manta::available();
        if (!manta::cancel(f)) return false;
        try {
          f.get();
        } catch (const manta::cancelled&) {
          return true;
        }
        return false;
      };
      for (const int rank : executors()) CHECK(manta::async({.rank = rank}, elsewhere, r).get());
      holders.clear();
      CHECK(stays.get() >= 0);
    }
    require_all_free();
  });
}

TEST_CASE("cancelling tasks while their reservation is released ends each of them once") {
  in_world(offers, [] {
    for (int round = 0; round < 10; ++round) {
      const auto r = manta::reserve({.bundles = {{.gpus = 2}}});
      const auto both = [](const manta::reservation& in) {
        std::vector<manta::future<int>> fs;
        for (int i = 0; i < 6; ++i) fs.push_back(manta::async<where>({.gpus = 2, .in = in}));
        in.release();
        for (const auto& f : fs) manta::cancel(f);
        int ended = 0;
        for (const auto& f : fs) {
          try {
            ended += f.get() >= 0;
          } catch (const manta::cancelled&) {
            ++ended;
          } catch (const manta::unschedulable&) {
            ++ended;
          }
        }
        return ended;
      };
      CHECK(manta::async({.rank = executor(static_cast<std::size_t>(round))}, both, r).get() == 6);
    }
    require_all_free();
  });
}
