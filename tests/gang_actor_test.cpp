// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors on several ranks: each holds its part, a call runs on all of them.
#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <random>

#include "support/world.hpp"

using manta::testing::in_world;

namespace {

int workers() { return manta::size() == 1 ? 1 : manta::size() - 1; }

/// A vector of which each member holds a slice.
class slices {
 public:
  slices(manta::team team, int each, double start) : team_(team), mine_(static_cast<std::size_t>(each), start) {
    ++alive;
  }
  slices(const slices&) = delete;
  slices& operator=(const slices&) = delete;
  ~slices() {
    MPI_Barrier(team_.comm());  // collective: all parts end together
    --alive;
  }

  double sum() const {
    double part = std::accumulate(mine_.begin(), mine_.end(), 0.0), all = 0;
    MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, team_.comm());
    return all;
  }
  double add(double x) {
    for (double& v : mine_) v += x;
    return sum();
  }
  double add_all(const std::vector<double>& xs) { return add(std::accumulate(xs.begin(), xs.end(), 0.0)); }
  /// Gives everybody the token of the one before; order matters.
  long shift(long token) {
    trace_ = (trace_ * 31 + token) % 1'000'000'007;
    const int next = (team_.rank() + 1) % team_.size(), previous = (team_.rank() + team_.size() - 1) % team_.size();
    long got = 0;
    MPI_Sendrecv(&trace_, 1, MPI_LONG, next, 1, &got, 1, MPI_LONG, previous, 1, team_.comm(), MPI_STATUS_IGNORE);
    if (got != trace_) throw std::runtime_error("the members did not do the same calls in the same order");
    return trace_;
  }
  manta::per_rank<int> ranks() const { return manta::rank(); }
  int fail_on(int member) {
    if (team_.rank() == member) throw std::runtime_error("part " + std::to_string(member) + " fails");
    return 0;
  }
  static inline std::atomic<int> alive{0};

 private:
  manta::team team_;
  std::vector<double> mine_;
  long trace_ = 7;
};

class picky {
 public:
  picky(manta::team team, int member) {
    if (team.rank() == member) throw std::runtime_error("part " + std::to_string(member) + " cannot be made");
    ++alive;
  }
  ~picky() { --alive; }
  int answer() { return 42; }
  static inline std::atomic<int> alive{0};
};

long shift_from_task(const manta::actor<slices>& a, long token) { return manta::async<&slices::shift>(a, token).get(); }
int add(int a, int b) { return a + b; }

}  // namespace

TEST_CASE("a call runs on all ranks of the actor and gives the first one's value") {
  in_world([] {
    for (int ranks = 1; ranks <= workers(); ++ranks) {
      auto a = manta::spawn<slices>({.ranks = ranks}, 10, 1.0);
      CHECK(manta::async<&slices::sum>(a).get() == 10.0 * ranks);
      CHECK(manta::async<&slices::add>(a, 2.0).get() == 30.0 * ranks);
      CHECK(manta::async<&slices::add_all>(a, manta::put(std::vector<double>(5000, 0.001))).get() ==
            doctest::Approx(80.0 * ranks));
      CHECK(manta::async<&slices::ranks>(a).get().size() == static_cast<std::size_t>(ranks));
    }
  });
  CHECK(slices::alive == 0);
}

TEST_CASE("calls of many callers run in one order on all members") {
  in_world([] {
    auto a = manta::spawn<slices>({.ranks = workers()}, 1, 0.0);
    std::vector<manta::future<long>> results;
    for (int i = 0; i < 60; ++i) {
      results.push_back(manta::async<&slices::shift>(a, i));
      results.push_back(manta::async<shift_from_task>(a, 1000 + i));
    }
    CHECK_NOTHROW(manta::get(results));
  });
  CHECK(slices::alive == 0);
}

TEST_CASE("tasks and gangs go on beside an actor on several ranks") {
  in_world([] {
    auto a = manta::spawn<slices>({.ranks = std::max(1, workers() - 1)}, 3, 1.0);
    std::vector<manta::future<double>> sums;
    std::vector<manta::future<int>> others;
    for (int i = 0; i < 50; ++i) {
      sums.push_back(manta::async<&slices::sum>(a));
      others.push_back(manta::async<add>(i, 1));
      if (workers() > 1) others.push_back(manta::async({.ranks = 1}, [](manta::team team) { return team.size(); }));
    }
    for (auto& s : sums) CHECK(s.get() == 3.0 * std::max(1, workers() - 1));
    for (auto& o : others) CHECK(o.get() >= 1);
  });
  CHECK(slices::alive == 0);
}

TEST_CASE("an exception of one member fails the call, and the actor lives on") {
  in_world([] {
    auto a = manta::spawn<slices>({.ranks = workers()}, 2, 1.0);
    for (int member = 0; member < workers(); ++member) {
      CHECK_THROWS_WITH_AS(manta::async<&slices::fail_on>(a, member).get(),
                           doctest::Contains(("part " + std::to_string(member) + " fails").c_str()),
                           manta::task_failed);
    }
    CHECK(manta::async<&slices::sum>(a).get() == 2.0 * workers());
  });
  CHECK(slices::alive == 0);
}

TEST_CASE("if one part cannot be constructed there is no actor, and the ranks are free again") {
  in_world([] {
    for (int member = 0; member < workers(); ++member) {
      auto a = manta::spawn<picky>({.ranks = workers()}, member);
      CHECK_THROWS_WITH_AS(manta::async<&picky::answer>(a).get(), doctest::Contains("cannot be made"),
                           manta::actor_died);
    }
    auto b = manta::spawn<picky>({.ranks = workers()}, -1);
    CHECK(manta::async<&picky::answer>(b).get() == 42);
  });
  CHECK(picky::alive == 0);
}

TEST_CASE("it holds its ranks until it ends: by its last handle, or killed") {
  in_world([] {
    {
      auto a = manta::spawn<slices>({.ranks = workers()}, 1, 1.0);
      CHECK(manta::async<&slices::sum>(a).get() == workers());
    }
    auto b = manta::spawn<slices>({.ranks = workers()}, 1, 2.0);
    CHECK(manta::async<&slices::sum>(b).get() == 2 * workers());
    manta::kill(b);
    CHECK_THROWS_AS(manta::async<&slices::sum>(b).get(), manta::actor_died);
    auto c = manta::spawn<slices>({.ranks = workers()}, 1, 3.0);
    CHECK(manta::async<&slices::sum>(c).get() == 3 * workers());
  });
  CHECK(slices::alive == 0);
}

TEST_CASE("what makes no sense is refused at the call") {
  in_world([] {
    CHECK_THROWS_AS((manta::spawn<slices>({.ranks = manta::size() + 1}, 1, 1.0)), manta::unschedulable);
    CHECK_THROWS_WITH_AS((manta::spawn<slices>({.ranks = 1, .restarts = 2}, 1, 1.0)), doctest::Contains("restarted"),
                         manta::error);
    CHECK_THROWS_WITH_AS((manta::spawn<manta::testing::gate>({.ranks = 1})), doctest::Contains("manta::team"),
                         manta::error);
  });
}
