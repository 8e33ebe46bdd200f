// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Options that say where and when a task runs: gpus, near, spread, priority;
// thread numbers; what is asked about placement.
#include <doctest/doctest.h>

#include <algorithm>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <set>

#include "support/world.hpp"

using manta::testing::contains;
using manta::testing::executor;
using manta::testing::executors;
using manta::testing::gate;
using manta::testing::held;
using manta::testing::in_world;
using manta::testing::where;

// Stand-ins for OpenMP's runtime and for BLAS libraries: what a program has in which any library uses them. An OpenBLAS that
// was built with OpenMP sets that one's number, too.
namespace {
int openmp_threads = 7;
int openblas_threads = 5;
std::int64_t blis_threads = 6;
int mkl_threads = 8;
std::vector<int> blas_threads() { return {openblas_threads, static_cast<int>(blis_threads), mkl_threads}; }
}  // namespace
extern "C" void omp_set_num_threads(int n) { openmp_threads = n; }
extern "C" int omp_get_max_threads() { return openmp_threads; }
extern "C" void openblas_set_num_threads(int n) { openmp_threads = openblas_threads = n; }
extern "C" int openblas_get_num_threads() { return openblas_threads; }
extern "C" void bli_thread_set_num_threads(std::int64_t n) { blis_threads = n; }
extern "C" std::int64_t bli_thread_get_num_threads() { return blis_threads; }
extern "C" void MKL_Set_Num_Threads(int n) { mkl_threads = n; }
extern "C" int MKL_Get_Max_Threads() { return mkl_threads; }

namespace {

std::vector<int> my_gpus() { return manta::this_task::gpu_ids(); }
std::string text_of(int bytes) { return std::string(static_cast<std::size_t>(bytes), 'x'); }
int threads_now(int) { return openmp_threads; }

/// Its devices seen from its methods, too.
class holder {
 public:
  holder() : at_start_(my_gpus()) {}
  std::vector<int> gpus() const { return my_gpus() == at_start_ ? at_start_ : std::vector<int>{-1}; }
  int rank() const { return where(); }
  int threads() const { return openmp_threads; }

 private:
  std::vector<int> at_start_;
};

class diary {
 public:
  void note(int entry) { entries_.push_back(entry); }
  std::vector<int> entries() const { return entries_; }

 private:
  std::vector<int> entries_;
};
void note(manta::actor<diary> d, int entry) { manta::async<&diary::note>(d, entry).get(); }

manta::runtime_options gpus_each(double gpus, int cpus = 0) {
  manta::runtime_options o;
  o.gpus = gpus;
  o.cpus = cpus;
  return o;
}

}  // namespace

TEST_CASE("a task is told which devices it holds, a task without gpus none") {
  in_world(gpus_each(4), [] {
    CHECK(my_gpus().empty());
    CHECK(manta::async<my_gpus>().get().empty());
    CHECK(manta::async<my_gpus>({.gpus = 4}).get() == std::vector<int>{0, 1, 2, 3});
    CHECK(manta::async<my_gpus>({.gpus = 2}).get().size() == 2);
    CHECK(manta::async<my_gpus>({.gpus = 0.5}).get().size() == 1);
    std::vector<manta::future<std::vector<int>>> all;
    for (int i = 0; i < 100; ++i) all.push_back(manta::async<my_gpus>({.gpus = i % 3 == 0 ? 0.25 : i % 3}));
    for (int i = 0; i < 100; ++i) {
      CHECK(all[static_cast<std::size_t>(i)].get().size() == static_cast<std::size_t>(i % 3 == 0 ? 1 : i % 3));
    }
    for (const manta::rank_resources& r : manta::available()) CHECK(r.gpus == (r.runs_tasks ? 4 : 0));
  });
}

TEST_CASE("a task that another task made is told its devices as well, and gives them back") {
  in_world(gpus_each(2), [] {
    for (int i = 0; i < 20; ++i) {
      const auto outer = manta::async([] {
        const auto one = manta::async<my_gpus>({.gpus = 1});
        const auto two = manta::async<my_gpus>({.gpus = 2, .retries = 1});
        return one.get().size() + two.get().size();
      });
      CHECK(outer.get() == 3);
    }
    for (const manta::rank_resources& r : manta::available()) CHECK(r.gpus == (r.runs_tasks ? 2 : 0));
  });
}

TEST_CASE("actors hold their devices until they end, and different actors different ones") {
  in_world(gpus_each(2), [] {
    const int rank = executor(0);
    {
      std::vector<manta::actor<holder>> actors;
      for (int i = 0; i < 2; ++i) actors.push_back(manta::spawn<holder>({.gpus = 1, .rank = rank}));
      std::set<int> used;
      for (const auto& a : actors) {
        const std::vector<int> gpus = manta::async<&holder::gpus>(a).get();
        REQUIRE(gpus.size() == 1);
        used.insert(gpus[0]);
      }
      CHECK(used == std::set<int>{0, 1});
      CHECK(manta::available()[static_cast<std::size_t>(rank)].gpus == 0);
      CHECK(manta::available()[static_cast<std::size_t>(rank)].actors == 2);
      const auto third = manta::async<my_gpus>({.gpus = 0.5, .rank = rank});
      const std::string why = manta::explain(third);
      CHECK_MESSAGE(contains(why, "gpus = 0.5"), why);
      CHECK_MESSAGE(contains(why, "2 actors"), why);
      actors.pop_back();
      CHECK(third.get().size() == 1);
    }
    manta::testing::poll_until("devices of actors that have ended",
                               [&] { return manta::available()[static_cast<std::size_t>(rank)].gpus == 2; });
  });
}

TEST_CASE("more devices than any rank has, and numbers that are none, are refused at the call") {
  in_world(gpus_each(2), [] {
    CHECK_THROWS_WITH_AS((manta::async<my_gpus>({.gpus = 3})), doctest::Contains("lacks gpus = 1"),
                         manta::unschedulable);
    CHECK_THROWS_AS((manta::spawn<holder>({.gpus = 3})), manta::unschedulable);
    CHECK_THROWS_WITH_AS((manta::async<my_gpus>({.gpus = 1.5})), doctest::Contains("task_options::gpus"), manta::error);
    CHECK_THROWS_AS((manta::async<my_gpus>({.gpus = -1})), manta::error);
  });
  in_world(gpus_each(0.5), [] {
    CHECK(manta::async<my_gpus>({.gpus = 0.5}).get() == std::vector<int>{0});
    CHECK_THROWS_AS((manta::async<my_gpus>({.gpus = 1})), manta::unschedulable);
  });
  CHECK_THROWS_WITH_AS(in_world(gpus_each(65), [] {}), doctest::Contains("MANTA_GPUS"), manta::error);
}

TEST_CASE("near runs a task or actor where a value lies") {
  in_world([] {
    for (const int rank : executors()) {
      const auto far = manta::async<text_of>({.rank = rank}, 100'000);
      CHECK(manta::async<where>({.near = far}).get() == rank);
      CHECK(manta::explain(manta::async<where>({.near = far})).size() > 5);
      const auto a = manta::spawn<holder>({.near = far});
      CHECK(manta::async<&holder::rank>(a).get() == rank);
      CHECK(manta::async<where>({.near = a}).get() == rank);  // where an actor lives
      const auto from_a_task =
          manta::async([](manta::future<std::string> f) { return manta::async<where>({.near = f}).get(); }, far);
      CHECK(from_a_task.get() == rank);
    }
  });
}

TEST_CASE("near waits for the value and keeps it; near a value that has failed is anywhere") {
  in_world([] {
    const auto g = manta::spawn<gate>();
    manta::future<int> near;
    {
      const auto late = manta::async(
          {.rank = executor(3)},
          [](manta::actor<gate> open, int bytes) {
            manta::testing::pass(open);
            return text_of(bytes);
          },
          g, 50'000);
      near = manta::async<where>({.near = late, .retries = 1});
    }
    CHECK_FALSE(near.ready());
    CHECK(contains(manta::explain(near), "waits for 1 of its inputs"));
    manta::async<&gate::open>(g).get();
    CHECK(near.get() == executor(3));
    const auto broken = manta::async([]() -> int { throw std::runtime_error("no place"); });
    CHECK(manta::async<where>({.near = broken}).get() >= 0);
    const auto gone = manta::spawn<gate>();
    const auto beside = manta::async<where>({.near = gone});
    CHECK(beside.get() >= 0);
    manta::kill(gone);
    CHECK(manta::async<where>({.near = gone}).get() >= 0);
  });
}

TEST_CASE("near a value on a rank that runs no tasks is on its node") {
  in_world([] {
    const auto here = manta::put(text_of(100'000));
    CHECK(manta::async<where>({.near = here}).get() >= (manta::size() > 1 ? 1 : 0));
  });
}

TEST_CASE("spread puts equal tasks on all ranks") {
  in_world([] {
    const auto g = manta::spawn<gate>({.rank = executor(0)});
    manta::async<&gate::is_open>(g).get();  // its constructor counts no more
    const std::size_t n = executors().size();
    std::vector<manta::future<int>> fs;
    for (std::size_t i = 0; i < n; ++i) {
      fs.push_back(manta::async(
          {.spread = true},
          [](manta::actor<gate> open) {
            manta::testing::pass(open);
            return where();
          },
          g));
    }
    manta::async<&gate::open>(g).get();
    std::set<int> used;
    for (const int r : manta::get(fs)) used.insert(r);
    CHECK(used.size() == n);
    std::vector<manta::actor<holder>> actors;
    for (std::size_t i = 0; i < 2 * n; ++i) actors.push_back(manta::spawn<holder>({.spread = true}));
    std::map<int, int> count{{executor(0), 1}};  // the gate
    for (const auto& a : actors) ++count[manta::async<&holder::rank>(a).get()];
    for (const auto& [rank, c] : count) CHECK((c == 2 || c == 3));  // 2n + 1 on n ranks
  });
}

TEST_CASE("of the tasks that wait at rank 0 those of higher priority run first") {
  manta::runtime_options one_slot;
  one_slot.resources = {{"slot", 1}};
  in_world(one_slot, [] {
    const int rank = executor(0);
    auto busy = manta::spawn<holder>({.resources = {{"slot", 1}}, .rank = rank});
    manta::async<&holder::rank>(busy).get();
    const auto d = manta::spawn<diary>({.rank = executor(1)});
    std::vector<manta::future<void>> fs;
    for (const int p : {0, 2, -1, 2, 0, 9, -1}) {
      fs.push_back(manta::async<note>({.resources = {{"slot", 1}}, .rank = rank, .priority = p}, d, p));
    }
    CHECK(contains(manta::explain(fs[0]), "slot = 0"));
    manta::kill(busy);
    manta::get(fs);
    CHECK(manta::async<&diary::entries>(d).get() == std::vector<int>{9, 2, 2, 0, 0, -1, -1});
  });
}

TEST_CASE("tasks of any priority run, from anywhere") {
  in_world([] {
    const auto made = manta::async([] {
      std::vector<manta::future<int>> fs;
      for (int i = 0; i < 50; ++i) fs.push_back(manta::async<where>({.priority = i % 5 - 2}));
      return manta::get(fs).size();
    });
    CHECK(made.get() == 50);
  });
}

TEST_CASE("a task with several cpus has as many threads, while it waits others have theirs") {
  in_world(gpus_each(0, 4), [] {
    const int before = manta::async<threads_now>(0).get();
    CHECK(before == 7);
    CHECK(manta::async<threads_now>({.cpus = 4}, 0).get() == 4);
    CHECK(manta::async<threads_now>({.cpus = 1}, 0).get() == 7);
    const auto nested = manta::async({.cpus = 3}, [] {
      std::vector<int> seen{openmp_threads};
      const auto plain = manta::async<threads_now>(1);
      const auto two = manta::async<threads_now>({.cpus = 2}, 1);
      seen.push_back(plain.get());
      seen.push_back(openmp_threads);
      seen.push_back(two.get());
      seen.push_back(openmp_threads);
      return seen;
    });
    CHECK(nested.get() == std::vector<int>{3, 7, 3, 2, 3});
    const auto a = manta::spawn<holder>({.cpus = 2});
    CHECK(manta::async<&holder::threads>(a).get() == 2);
    CHECK_THROWS(manta::async({.cpus = 2}, [] { throw std::runtime_error("inside"); }).get());
    for (const int rank : executors()) CHECK(manta::async<threads_now>({.rank = rank}, 0).get() == 7);
    CHECK(openmp_threads == 7);
  });
}

TEST_CASE("so have the BLAS libraries of the program") {
  in_world(gpus_each(0, 4), [] {
    CHECK(manta::async({.cpus = 3}, [] { return blas_threads(); }).get() == std::vector<int>{3, 3, 3});
    for (const int rank : executors()) {
      CHECK(manta::async({.rank = rank}, [] { return blas_threads(); }).get() == std::vector<int>{5, 6, 8});
      CHECK(manta::async<threads_now>({.rank = rank}, 0).get() == 7);
    }
  });
}

TEST_CASE("capacity says what every rank has, available what of it is free") {
  manta::runtime_options o = gpus_each(2, 3);
  o.resources = {{"slot", 4}};
  in_world(o, [] {
    const auto all = manta::capacity();
    REQUIRE(all.size() == static_cast<std::size_t>(manta::size()));
    for (std::size_t r = 0; r < all.size(); ++r) {
      CHECK(all[r].rank == static_cast<int>(r));
      CHECK(all[r].cpus == 3);
      CHECK(all[r].resources.amount("slot") == 4);
      CHECK(all[r].resources.amount("memory") > 0);
      CHECK(all[r].runs_tasks == (r > 0 || all.size() == 1));
    }
    const auto a = manta::spawn<holder>({.gpus = 0.25, .resources = {{"slot", 1}, {"memory", 1000}}});
    const auto rank = static_cast<std::size_t>(manta::async<&holder::rank>(a).get());
    const auto now = manta::available();
    CHECK(now[rank].gpus == 1.75);
    CHECK(now[rank].resources.amount("slot") == 3);
    CHECK(now[rank].resources.amount("memory") == all[rank].resources.amount("memory") - 1000);
    CHECK(now[rank].actors == 1);
    const auto nodes = manta::by_node(all);
    double gpus = 0;
    for (const auto& n : nodes) gpus += n.gpus;
    CHECK(gpus == 2 * static_cast<double>(executors().size()));
    const bool same =
        manta::async(
            [](double expected, int at) { return manta::available()[static_cast<std::size_t>(at)].gpus == expected; },
            1.75, static_cast<int>(rank))
            .get();
    CHECK(same);
  });
}

TEST_CASE("explain says where a task is and why") {
  in_world([] {
    const int rank = executor(1);
    const auto big = manta::async<text_of>({.rank = rank}, 3'000'000);
    big.wait();
    const std::string ended = manta::explain(big),
                      by_task = manta::async(
                                    [](int at) {
                                      const auto f = manta::async<text_of>({.rank = at}, 3'000'000);
                                      f.wait();
                                      return manta::explain(f);
                                    },
                                    rank)
                                    .get();
    const std::string why = manta::testing::world_size() > 1 ? ": it asked for that rank" : "";
    CHECK_MESSAGE(contains(ended, "it ran on rank " + std::to_string(rank) + why), ended);
    CHECK(contains(ended, "its value lies on rank " + std::to_string(rank)));
    CHECK_MESSAGE(contains(by_task, "it ran on rank " + std::to_string(rank)), by_task);
    const auto called = manta::async([](int x) { return x; }, 1);
    called.wait();
    CHECK(contains(manta::explain(called), "it has ended: it ran on rank "));
    const auto g = manta::spawn<gate>({.rank = executor(0)});
    manta::async<&gate::is_open>(g).get();
    const auto pinned = manta::async<held<int>>({.rank = rank}, g, 1);
    manta::testing::poll_until("a pinned task that was placed",
                               [&] { return contains(manta::explain(pinned), "it asked for that rank"); });
    const auto after = manta::async([](int x) { return x; }, pinned);
    const std::string waits = manta::explain(after);
    CHECK_MESSAGE(contains(waits, "waits for 1 of its inputs: 'manta::testing::held"), waits);
    const auto plain = manta::async<held<int>>(g, 2);
    manta::testing::poll_until("a task that was placed", [&] {
      const std::string text = manta::explain(plain);
      return contains(text, "rank");
    });
    const std::string seen_elsewhere =
        manta::async([](manta::future<int> f) { return manta::explain(f); }, pinned).get();
    CHECK_MESSAGE(contains(seen_elsewhere, "it asked for that rank"), seen_elsewhere);
    const std::string made_elsewhere = manta::async(
                                           [](manta::actor<gate> open, int at) {
                                             const auto f = manta::async<held<int>>({.rank = at}, open, 1);
                                             std::string text;
                                             manta::testing::poll_until("a task that was placed", [&] {
                                               text = manta::explain(f);
                                               return contains(text, "it asked for that rank");
                                             });
                                             manta::async<&gate::open>(open).get();
                                             return text;
                                           },
                                           g, rank)
                                           .get();
    CHECK_MESSAGE(contains(made_elsewhere, "on rank " + std::to_string(rank)), made_elsewhere);
    const auto failed = manta::async([]() -> int { throw std::runtime_error("oops"); });
    failed.wait();
    CHECK(contains(manta::explain(failed), "oops"));
    CHECK_THROWS(failed.get());
    CHECK(contains(manta::explain(g), "the actor lives on rank " + std::to_string(executor(0))));
    CHECK_THROWS_AS(manta::explain(manta::future<int>()), manta::error);
  });
}

TEST_CASE("a task that went to its inputs says how many bytes lie there") {
  if (manta::testing::world_size() < 3) return;
  in_world([] {
    const auto g = manta::spawn<gate>({.rank = executor(0)});
    const auto big = manta::async([](int n) { return std::vector<double>(static_cast<std::size_t>(n), 1.0); }, 600'000);
    big.wait();
    manta::async<&gate::is_open>(g).get();  // its constructor takes no room any more
    const auto reader = manta::async(
        [](const std::vector<double>& v, manta::actor<gate> open) {
          manta::testing::pass(open);
          return v.size();
        },
        big, g);
    std::string text;
    manta::testing::poll_until("a task that was placed", [&] {
      text = manta::explain(reader);
      return contains(text, "on rank");
    });
    CHECK_MESSAGE(contains(text, "5 MB of its inputs lie there"), text);
    manta::async<&gate::open>(g).get();
    CHECK(reader.get() == 600'000);
  });
}
