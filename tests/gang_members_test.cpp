// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Members of gangs, and parts of actors on several ranks, that submit work of
// their own, wait for it, and then meet inside MPI. Where every rank has a member, no task may stand still on the
// rank of a member that is inside MPI while another member waits for it.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "support/world.hpp"

using manta::testing::in_world;

namespace {

using numbers = std::vector<manta::future<int>>;

int add(int a, int b) { return a + b; }
/// Long enough for others to be asked for work meanwhile.
int one() {
  manta::testing::busy(std::chrono::microseconds(300));
  return 1;
}
int one_of(const std::vector<double>& v) { return static_cast<int>(v[0]); }
int fibonacci(int n) {
  if (n < 2) return n;
  auto a = manta::async<fibonacci>(n - 1), b = manta::async<fibonacci>(n - 2);
  return a.get() + b.get();
}

int sum(const numbers& all) {
  int result = 0;
  for (const int v : manta::get(all)) result += v;
  return result;
}
int meet(const manta::team& team, int mine) {
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, team.comm());
  return all;
}

// --- what members do: each of these gives `n` a member

int tasks(manta::team team, int n) {
  numbers all;
  for (int i = 0; i < n; ++i) all.push_back(manta::async<one>());
  return meet(team, sum(all));
}
int tasks_with(const manta::task_options& options, const manta::team& team, int n) {
  numbers all;
  for (int i = 0; i < n; ++i) all.push_back(manta::async<one>(options));
  return meet(team, sum(all));
}
int with_cpus(manta::team team, int n) { return tasks_with({.cpus = 2}, team, n); }
int with_a_device(manta::team team, int n) { return tasks_with({.gpus = 1}, team, n); }
int with_priority(manta::team team, int n) { return tasks_with({.priority = 1}, team, n); }
int spread(manta::team team, int n) { return tasks_with({.spread = true}, team, n); }
int pinned_here(manta::team team, int n) { return tasks_with({.rank = manta::rank()}, team, n); }
int in_a_chain(manta::team team, int n) {
  auto last = manta::async<one>();
  for (int i = 1; i < n; ++i) last = manta::async<add>(last, 1);
  return meet(team, last.get());
}
int trees(manta::team team, int n) {  // fibonacci(6) is 8
  numbers all;
  for (int i = 0; i < n; ++i) all.push_back(manta::async<fibonacci>(6));
  return meet(team, sum(all) / 8);
}
int as_they_end(manta::team team, int n) {
  numbers all;
  for (int i = 0; i < n; ++i) all.push_back(manta::async<one>());
  int mine = 0;
  for (const auto& f : manta::as_completed(all)) mine += f.get();
  return meet(team, mine);
}
int calls(manta::team team, int n) {
  const auto count = manta::spawn<manta::testing::tally>();
  int last = 0;
  for (int i = 0; i < n; ++i) last = manta::async<&manta::testing::tally::arrive>(count).get();
  return meet(team, last);
}
class summing {
 public:
  int ones(int n) {
    numbers all;
    for (int i = 0; i < n; ++i) all.push_back(i % 2 == 0 ? manta::async<one>({.cpus = 2}) : manta::async<one>());
    return sum(all);
  }
};
/// All leave tasks behind before they meet; only the last member's are waited for, and only then.
int left_behind(manta::team team, int n) {
  numbers all;
  for (int i = 0; i < n; ++i) all.push_back(i % 2 == 0 ? manta::async<one>({.cpus = 2}) : manta::async<one>());
  MPI_Barrier(team.comm());
  const bool is_last = team.rank() == team.size() - 1;
  return meet(team, is_last ? sum(all) * team.size() : 0);
}

template <auto F>
int of_a_task(int ranks, int n) {
  return manta::async<F>({.ranks = ranks}, n).get();
}

/// check(ranks, n): for gangs of all ranks, and of all but one.
template <class Check>
void with_gangs(bool rank_0_is_one_of_all, Check check) {
  manta::runtime_options some;
  some.cpus = 4;
  some.gpus = 1;
  some.rank0_tasks = rank_0_is_one_of_all;
  in_world(some, [check] {
    for (const int ranks : {manta::size(), std::max(1, manta::size() - 1)}) check(ranks, 8);
  });
}
/// Gangs that the driver makes, and a task.
template <auto F>
void check_members(bool rank_0_is_one_of_all = false) {
  with_gangs(rank_0_is_one_of_all, [](int ranks, int n) {
    CHECK(manta::async<F>({.ranks = ranks}, n).get() == n * ranks);
    CHECK(manta::async<of_a_task<F>>(ranks, n).get() == n * ranks);
    CHECK(manta::async<F>({.cpus = 2, .ranks = ranks}, n).get() == n * ranks);
  });
}

int calls_that_wait(manta::team team, int n) {
  const auto sums = manta::spawn<summing>();
  return meet(team, manta::async<&summing::ones>(sums, n).get());
}
/// A gang of `n` ranks.
int a_gang(manta::team team, int n) {
  const int made = team.rank() == 0 ? of_a_task<tasks>(n, 8) : 0;
  return meet(team, made) * team.size();
}

/// Each waits for a gang of `n` ranks.
int gang_each(manta::team, int n) { return of_a_task<tasks>(n, 8); }

/// An actor on several ranks whose method and constructor do on each of them what a member of a gang does.
template <auto F>
class doing {
 public:
  explicit doing(manta::team team) : team_(std::move(team)) {
    if (F != &a_gang && F != &gang_each && F(team_, 8) != 8 * team_.size()) throw std::runtime_error("wrong");
  }
  int work(int n) { return F(team_, n); }
  int look(const std::vector<double>& v, int n) {
    const auto shared = manta::put(v);
    numbers all;
    for (int i = 0; i < n; ++i) all.push_back(manta::async<one_of>(shared));
    return meet(team_, sum(all));
  }

 private:
  manta::team team_;
};
template <auto F>
int of_a_part(const manta::actor<doing<F>>& a, int n) {
  return manta::async<&doing<F>::work>(a, n).get();
}

/// As check_members, for actors.
template <auto F>
void check_parts(bool rank_0_is_one_of_all = false) {
  with_gangs(rank_0_is_one_of_all, [](int ranks, int n) {
    const auto a = manta::spawn<doing<F>>({.ranks = ranks});
    CHECK(of_a_part<F>(a, n) == n * ranks);
    numbers all;
    for (int i = 0; i < 4; ++i) all.push_back(manta::async<&doing<F>::work>(a, n));
    CHECK(sum(all) == 4 * n * ranks);
    CHECK(manta::async<of_a_part<F>>(a, n).get() == n * ranks);
  });
}

}  // namespace

TEST_CASE("a gang of all ranks whose members wait for tasks of their own does not hang") {
  check_members<tasks>();
  check_members<in_a_chain>();
  check_members<trees>();
  check_members<as_they_end>();
  check_members<left_behind>();
}

TEST_CASE("nor if these tasks have conditions that the member's own rank can meet") {
  check_members<with_cpus>();
  check_members<with_a_device>(true);  // else rank 0 has none
  check_members<with_priority>();
  check_members<spread>();
  check_members<pinned_here>();
}

TEST_CASE("nor if members call actors that they have made") { check_members<calls>(); }

TEST_CASE("members' tasks with a place in a reservation, or near a value, end") {
  in_world({.cpus = 2}, [] {
    const auto ranks = static_cast<int>(manta::testing::executors().size());
    const std::vector<manta::bundle> bundles(static_cast<std::size_t>(ranks), {.cpus = 2});
    const auto r = manta::reserve({.bundles = bundles});
    const auto in_bundles = [](manta::team team, int n, manta::reservation its) {
      return tasks_with({.in = its}, team, n);
    };
    CHECK(manta::async({.ranks = ranks, .in = r}, in_bundles, 8, r).get() == 8 * ranks);
  });
  in_world([] {
    const int all = manta::size();
    const auto value = manta::async({.rank = all - 1}, [] { return std::vector<double>(100'000, 1.0); });
    const auto near = [](manta::team team, int n, manta::future<std::vector<double>> v) {
      return tasks_with({.near = v}, team, n);
    };
    CHECK(manta::async({.ranks = all}, near, 8, manta::future<std::vector<double>>(value)).get() == 8 * all);
    const auto with_input = [](manta::team team, int n, manta::future<std::vector<double>> v) {
      numbers ones;
      for (int i = 0; i < n; ++i) ones.push_back(manta::async<one_of>(v));
      return meet(team, sum(ones));
    };
    CHECK(manta::async({.ranks = all}, with_input, 8, manta::future<std::vector<double>>(value)).get() == 8 * all);
  });
}

TEST_CASE("members' tasks end although the only rank without a member takes none") {
  in_world({.cpus = 2}, [] {
    const int others = static_cast<int>(manta::testing::executors().size()) - 1;
    if (others < 1) return;
    const auto r = manta::reserve({.bundles = {{.cpus = 2}}});  // closed to what is outside of it
    r.ready().get();
    CHECK(manta::async<tasks>({.ranks = others}, 8).get() == 8 * others);
    CHECK(manta::async<with_cpus>({.ranks = others}, 8).get() == 8 * others);
  });
  in_world([] {  // kept for a gang that is old
    const int workers = static_cast<int>(manta::testing::executors().size());
    if (workers < 2) return;
    auto first = manta::async<tasks>({.ranks = workers - 1}, 100);
    auto large = manta::async<tasks>({.ranks = workers}, 8);
    auto last = manta::async<tasks>({.ranks = workers - 1}, 100);
    for (int i = 0; i < 50; ++i) CHECK(manta::async<one>().get() == 1);
    CHECK(first.get() + large.get() + last.get() == 200 * (workers - 1) + 8 * workers);
  });
}

TEST_CASE("gangs of all ranks one after the other, beside tasks of the driver") {
  in_world([] {
    const int all = manta::size();
    numbers gangs;
    for (int i = 0; i < 4; ++i) gangs.push_back(manta::async<tasks>({.ranks = all}, 8));
    auto tree = manta::async<fibonacci>(10);
    numbers ones;
    for (int i = 0; i < 200; ++i) ones.push_back(manta::async<one>());
    CHECK(sum(gangs) == 4 * 8 * all);
    CHECK(sum(ones) == 200);
    CHECK(tree.get() == 55);
  });
}

TEST_CASE("what the driver submits while all ranks have a member runs on all of them afterwards") {
  in_world([] {
    if (manta::size() == 1) return;
    const auto gate = manta::spawn<manta::testing::gate>({.rank = manta::testing::executor(0)});
    const auto hold = [](manta::team team, manta::actor<manta::testing::gate> g) {
      if (team.rank() == 0) manta::testing::pass(g);
      MPI_Barrier(team.comm());
    };
    const auto gang = manta::async({.ranks = manta::size()}, hold, gate);
    std::vector<manta::future<int>> places;
    const auto slow_place = [] {
      manta::testing::busy(std::chrono::milliseconds(2));
      return manta::rank();
    };
    for (int i = 0; i < 40 * manta::size(); ++i) places.push_back(manta::async(slow_place));
    manta::async<&manta::testing::gate::open>(gate).get();
    const std::vector<int> ran = manta::get(places);
    CHECK(static_cast<int>(std::set<int>(ran.begin(), ran.end()).size()) == manta::size());
    gang.get();
  });
}

TEST_CASE("an actor on all ranks whose methods and constructor wait for tasks of their own does not hang") {
  check_parts<tasks>();
  check_parts<in_a_chain>();
  check_parts<trees>();
  check_parts<as_they_end>();
  check_parts<left_behind>();
}

TEST_CASE("nor if these tasks have conditions that the part's own rank can meet") {
  check_parts<with_cpus>();
  check_parts<with_a_device>(true);
  check_parts<with_priority>();
  check_parts<spread>();
  check_parts<pinned_here>();
}

TEST_CASE("nor if parts call actors that they have made, which wait for tasks") {
  check_parts<calls>();
  check_parts<calls_that_wait>();
}

TEST_CASE("parts have tasks look at a large argument of the call") {
  in_world([] {
    const int all = manta::size();
    const auto a = manta::spawn<doing<tasks>>({.ranks = all});
    const auto value = manta::put(std::vector<double>(200'000, 1.0));
    CHECK(manta::async<&doing<tasks>::look>(a, value, 8).get() == 8 * all);
    const auto made = manta::async({.rank = all - 1}, [] { return std::vector<double>(200'000, 1.0); });
    CHECK(manta::async<&doing<tasks>::look>(a, made, 8).get() == 8 * all);
  });
}

TEST_CASE("a part waits for a gang on the ranks without a part, and its members for tasks of their own") {
  in_world([] {
    const int workers = static_cast<int>(manta::testing::executors().size());
    if (workers < 2) return;
    const int parts = workers / 2;
    const auto a = manta::spawn<doing<a_gang>>({.ranks = parts});
    for (int i = 0; i < 3; ++i) CHECK(of_a_part<a_gang>(a, workers - parts) == 8 * (workers - parts) * parts);
  });
}

TEST_CASE("a gang that no rank is left for is a deadlock, and no silence, if all parts wait for one") {
  in_world([] {
    const auto a = manta::spawn<doing<gang_each>>({.ranks = manta::size()});
    const std::string text = manta::testing::thrown<manta::deadlock>([&] { of_a_part<gang_each>(a, 1); });
    CAPTURE(text);
    CHECK(manta::testing::contains(text, "wait for resources"));
  });
}

TEST_CASE("the driver's tasks run on all ranks beside an actor on all ranks") {
  in_world([] {
    const auto a = manta::spawn<doing<tasks>>({.ranks = manta::size()});
    CHECK(of_a_part<tasks>(a, 8) == 8 * manta::size());
    std::vector<manta::future<int>> places;
    const auto slow_place = [] {
      manta::testing::busy(std::chrono::milliseconds(2));
      return manta::rank();
    };
    for (int i = 0; i < 40 * manta::size(); ++i) places.push_back(manta::async(slow_place));
    const std::vector<int> ran = manta::get(places);
    CHECK(static_cast<int>(std::set<int>(ran.begin(), ran.end()).size()) == manta::size());
  });
}
