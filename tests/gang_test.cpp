// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Gang tasks: MPI programs as nodes of the graph. The oracle is the same
// arithmetic done in one place.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "support/world.hpp"

using manta::testing::in_world;

namespace {

/// Ranks that run tasks.
int workers() { return manta::size() == 1 ? 1 : manta::size() - 1; }

int sum_of_ranks(manta::team team, int factor) {
  int mine = factor * (team.rank() + 1), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, team.comm());
  return all;
}
int expected_sum(int ranks, int factor) { return factor * ranks * (ranks + 1) / 2; }

int team_size(manta::team team) {
  int size = 0;
  MPI_Comm_size(team.comm(), &size);
  return size == team.size() ? size : -1;
}

/// How many members hold exactly one device, and how many hold the second of their rank.
std::vector<int> devices(manta::team team) {
  const std::vector<int> mine = manta::this_task::gpu_ids();
  int counts[2] = {mine.size() == 1, mine.size() == 1 && mine[0] == 1};
  MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT, MPI_SUM, team.comm());
  return {counts[0], counts[1]};
}
class device_holder {
 public:
  explicit device_holder(manta::team team) : team_(std::move(team)) {}
  std::vector<int> look() { return devices(team_); }

 private:
  manta::team team_;
};
class lodger {
 public:
  std::vector<int> gpus() { return manta::this_task::gpu_ids(); }
};

/// Passes a token around the ring with blocking sends: every member must be there.
int ring(const manta::team& team, int rounds) {
  int token = 0;
  const int next = (team.rank() + 1) % team.size(), previous = (team.rank() + team.size() - 1) % team.size();
  for (int i = 0; i < rounds; ++i) {
    if (team.rank() == 0) {
      ++token;
      MPI_Sendrecv_replace(&token, 1, MPI_INT, next, 5, previous, 5, team.comm(), MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(&token, 1, MPI_INT, previous, 5, team.comm(), MPI_STATUS_IGNORE);
      ++token;
      MPI_Send(&token, 1, MPI_INT, next, 5, team.comm());
    }
  }
  return token;
}

std::vector<double> scaled(const std::vector<double>& x, double by) {
  std::vector<double> y = x;
  for (double& v : y) v *= by;
  return y;
}
double dot(manta::team team, const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size(), p = static_cast<std::size_t>(team.size()), r = static_cast<std::size_t>(team.rank());
  double mine = 0, all = 0;
  for (std::size_t i = n * r / p; i < n * (r + 1) / p; ++i) mine += x[i] * y[i];
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, team.comm());
  return all;
}

manta::per_rank<int> ranks_in_world(manta::team) { return manta::rank(); }
manta::per_rank<std::vector<double>> slices(manta::team team, std::size_t n) {
  return std::vector<double>(n, team.rank() + 0.5);
}

int throws_on(manta::team team, int member) {
  if (team.rank() == member) throw std::runtime_error("member " + std::to_string(member) + " gives up");
  return 0;
}
int throws_first(manta::team team, int times) {
  MPI_Barrier(team.comm());
  if (manta::this_task::attempt() < times) throw std::runtime_error("not yet");
  return manta::this_task::attempt();
}

int add(int a, int b) { return a + b; }

/// A gang whose members submit tasks, and whose first starts another gang, of ranks that are free.
int nested(manta::team team, int depth) {
  int mine = manta::async<add>(team.rank(), 1).get(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, team.comm());
  if (depth > 0 && team.rank() == 0) all += manta::async<nested>({.ranks = 1}, depth - 1).get();
  MPI_Bcast(&all, 1, MPI_INT, 0, team.comm());
  return all;
}

}  // namespace

TEST_CASE("a gang of every size runs with a communicator of its own") {
  in_world([] {
    for (int ranks = 1; ranks <= workers(); ++ranks) {
      CHECK(manta::async<sum_of_ranks>({.ranks = ranks}, 3).get() == expected_sum(ranks, 3));
      CHECK(manta::async<team_size>({.ranks = ranks}).get() == ranks);
      CHECK(manta::async<ring>({.ranks = ranks}, 20).get() == 20 * ranks);
    }
  });
}

TEST_CASE("without options a gang has one rank") {
  in_world([] { CHECK(manta::async<team_size>().get() == 1); });
}

TEST_CASE("a lambda can be a gang task") {
  in_world([] {
    auto size = manta::async(
        {.ranks = workers()}, [](manta::team team, int more) { return team.size() + more; }, 5);
    CHECK(size.get() == workers() + 5);
  });
}

TEST_CASE("futures go in, large ones too, and the result is an ordinary future") {
  in_world([] {
    const std::vector<double> x(50'000, 2.0);
    auto y = manta::async<scaled>(x, 0.5);
    auto product = manta::async<dot>({.ranks = workers()}, x, y);
    auto sum = manta::async<add>(manta::async<sum_of_ranks>({.ranks = workers()}, 1), 7);
    CHECK(product.get() == doctest::Approx(100'000));
    CHECK(sum.get() == expected_sum(workers(), 1) + 7);
  });
}

TEST_CASE("per_rank gathers one value of each member, by rank in the team") {
  in_world([] {
    const auto ranks = manta::async<ranks_in_world>({.ranks = workers()}).get();
    REQUIRE(ranks.size() == static_cast<std::size_t>(workers()));
    CHECK(std::set<int>(ranks.begin(), ranks.end()).size() == ranks.size());
    for (const std::size_t n : {std::size_t{1}, std::size_t{20'000}}) {
      const auto parts = manta::async<slices>({.ranks = workers()}, n).get();
      REQUIRE(parts.size() == static_cast<std::size_t>(workers()));
      for (std::size_t r = 0; r < parts.size(); ++r) {
        CHECK(parts[r].size() == n);
        CHECK(parts[r][n - 1] == static_cast<double>(r) + 0.5);
      }
    }
  });
}

TEST_CASE("a gang of all ranks has rank 0 too, which runs no other tasks for that") {
  in_world([] {
    const int all = manta::size();
    CHECK(manta::async<sum_of_ranks>({.ranks = all}, 1).get() == expected_sum(all, 1));
    std::vector<manta::future<int>> gangs, tasks;
    for (int i = 0; i < 20; ++i) {
      gangs.push_back(manta::async<sum_of_ranks>({.ranks = 1 + i % all}, i));
      tasks.push_back(manta::async<add>(i, 1));
    }
    for (int i = 0; i < 20; ++i) {
      CHECK(gangs[static_cast<std::size_t>(i)].get() == expected_sum(1 + i % all, i));
      CHECK(tasks[static_cast<std::size_t>(i)].get() == i + 1);
    }
    CHECK(manta::async<add>({.rank = 0}, 3, 4).get() == 7);
    if (all == 1) return;
    const auto ran_on_rank_0 = [] {
      std::vector<manta::future<int>> places;
      for (int i = 0; i < 40; ++i) places.push_back(manta::async([] { return static_cast<int>(manta::rank()); }));
      const std::vector<int> ranks = manta::get(places);
      return std::count(ranks.begin(), ranks.end(), 0);
    };
    CHECK(ran_on_rank_0() == 0);
    manta::let_rank_0_run_tasks();
    CHECK(manta::async([] { return static_cast<int>(manta::rank()); }).get() >= 0);
  });
  in_world([] {  // asked for by another rank
    const auto ask = [](int all) { return manta::async<sum_of_ranks>({.ranks = all}, 2).get(); };
    CHECK(manta::async(ask, manta::size()).get() == expected_sum(manta::size(), 2));
  });
}

TEST_CASE("a gang finds the error handler of its communicator as new, whatever the one before has set") {
  in_world([] {
    const auto handler_is_new = [](manta::team team, bool changes) {
      MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
      MPI_Comm_get_errhandler(team.comm(), &handler);
      const bool is_new = handler != MPI_ERRORS_RETURN;
      MPI_Errhandler_free(&handler);
      if (changes) MPI_Comm_set_errhandler(team.comm(), MPI_ERRORS_RETURN);
      return is_new;
    };
    for (int i = 0; i < 3; ++i)
      CHECK(manta::async(manta::task_options{.ranks = workers()}, handler_is_new, true).get());
  });
}

TEST_CASE("an attribute stays at the communicator for the next gang of the same ranks, and goes with a duplicate") {
  in_world([] {
    const auto attributes_found = [](manta::team team, bool on_duplicate) {
      static const int key = [] {
        int made = 0;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
        return made;
      }();
      MPI_Comm comm = team.comm();
      if (on_duplicate) MPI_Comm_dup(team.comm(), &comm);
      void* value = nullptr;
      int found = 0;
      MPI_Comm_get_attr(comm, key, &value, &found);
      MPI_Comm_set_attr(comm, key, nullptr);
      if (on_duplicate) MPI_Comm_free(&comm);
      return found;
    };
    const manta::task_options on_all{.ranks = workers()};
    for (int i = 0; i < 2; ++i) CHECK(manta::async(on_all, attributes_found, true).get() == 0);
    for (int i = 0; i < 2; ++i) CHECK(manta::async(on_all, attributes_found, false).get() == i);
  });
}

TEST_CASE("more ranks than there are is unschedulable, at the call") {
  in_world([] {
    CHECK_THROWS_WITH_AS((manta::async<team_size>({.ranks = manta::size() + 1})), doctest::Contains("ranks"),
                         manta::unschedulable);
    CHECK_THROWS_AS((manta::async<team_size>({.ranks = 1, .nodes = 2})), manta::error);
    CHECK_THROWS_WITH_AS((manta::async<add>({.ranks = 2}, 1, 2)), doctest::Contains("manta::team"), manta::error);
    CHECK_THROWS_AS((manta::async<team_size>({.ranks = -1})), manta::error);
  });
}

TEST_CASE("an exception on any member fails the task once, and names the member") {
  in_world([] {
    for (int member = 0; member < workers(); ++member) {
      auto f = manta::async<throws_on>({.ranks = workers()}, member);
      try {
        f.get();
        FAIL("it did not throw");
      } catch (const manta::task_failed& e) {
        const std::string text = e.what();
        CHECK(text.find("member " + std::to_string(member) + " gives up") != std::string::npos);
        if (workers() > 1) CHECK(text.find("member " + std::to_string(member) + " of") != std::string::npos);
      }
      auto dependent = manta::async<add>(f, 1);
      CHECK_THROWS_AS(dependent.get(), manta::task_failed);
    }
    CHECK(manta::async<sum_of_ranks>({.ranks = workers()}, 1).get() == expected_sum(workers(), 1));
  });
}

TEST_CASE("a gang is retried as a whole") {
  in_world([] {
    CHECK(manta::async<throws_first>({.ranks = workers(), .retries = 3}, 2).get() == 2);
    CHECK_THROWS_AS((manta::async<throws_first>({.ranks = workers(), .retries = 1}, 2).get()), manta::task_failed);
  });
}

TEST_CASE("members submit tasks and gangs on ranks that are free") {
  in_world([] {
    const int ranks = std::max(1, workers() - 1);
    const int depth = workers() > 1 ? 1 : 0;
    const int inner = 1;
    CHECK(manta::async<nested>({.ranks = ranks}, depth).get() == expected_sum(ranks, 1) + depth * inner);
  });
}

namespace {
int fibonacci(int n) {
  if (n < 2) return n;
  auto a = manta::async<fibonacci>(n - 1), b = manta::async<fibonacci>(n - 2);
  return a.get() + b.get();
}
/// Members meet inside MPI when each has waited for a tree of tasks of its own.
int meet_after_tasks(manta::team team, int n) {
  int mine = manta::async<fibonacci>(n - team.rank() % 3).get(), all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, team.comm());
  return all;
}
}  // namespace

TEST_CASE("no member waits for a task that stands still beside another one in MPI") {
  in_world([] {
    const int sums[] = {0, 89, 89 + 55, 89 + 55 + 34};
    for (int round = 0; round < 20; ++round) {
      for (const int ranks : {workers(), std::max(1, workers() - 1)}) {
        auto others = manta::async<fibonacci>(9);  // of the driver
        CHECK(manta::async<meet_after_tasks>({.ranks = ranks}, 11).get() == ranks / 3 * sums[3] + sums[ranks % 3]);
        CHECK(others.get() == 34);
      }
    }
  });
}

TEST_CASE("gangs that overlap, among tasks, all end with the right value") {
  const std::uint64_t seed = manta::testing::seed("gangs");
  in_world([seed] {
    std::mt19937_64 draw(seed);
    std::vector<std::pair<manta::future<int>, int>> results;
    for (int i = 0; i < 150; ++i) {
      const int ranks = static_cast<int>(draw() % static_cast<std::uint64_t>(workers())) + 1;
      const int factor = static_cast<int>(draw() % 100);
      switch (draw() % 4) {
        case 0:
          results.emplace_back(manta::async<sum_of_ranks>({.ranks = ranks}, factor), expected_sum(ranks, factor));
          break;
        case 1: results.emplace_back(manta::async<ring>({.ranks = ranks}, 3), 3 * ranks); break;
        case 2:
          if (!results.empty()) {
            const auto& [f, value] = results[draw() % results.size()];
            results.emplace_back(manta::async<sum_of_ranks>({.ranks = ranks}, f), expected_sum(ranks, value));
            break;
          }
          [[fallthrough]];
        default: results.emplace_back(manta::async<add>(factor, i), factor + i);
      }
    }
    for (const auto& [f, value] : results) CHECK(f.get() == value);
  });
}

TEST_CASE("a gang of all ranks is not starved by a stream of small tasks") {
  in_world([] {
    std::vector<manta::future<int>> window;
    for (int i = 0; i < 200; ++i) window.push_back(manta::async<add>(i, 0));
    auto gang = manta::async<team_size>({.ranks = workers()});
    int submitted = 0;
    while (!gang.ready() && submitted < 5'000'000) {
      for (int i = 0; i < 50; ++i, ++submitted) window.push_back(manta::async<add>(i, 0));
      if (window.size() > 1000) window.erase(window.begin(), window.begin() + 500);
    }
    CHECK(gang.ready());
    CHECK(gang.get() == workers());
  });
}

TEST_CASE("a driver that throws leaves no gang half started") {
  manta::runtime rt(MPI_COMM_WORLD);
  for (int round = 0; round < 5; ++round) {
    try {
      manta::testing::checked_run(rt, [] {
        for (int i = 0; i < 20; ++i) (void)manta::async<sum_of_ranks>({.ranks = workers()}, i);
        throw std::runtime_error("the driver gives up");
      });
      FAIL("it did not throw");
    } catch (const std::exception& e) {
      CHECK(std::string(e.what()).find("gives up") != std::string::npos);
    }
  }
  CHECK(manta::testing::checked_run(rt, [] { return manta::async<sum_of_ranks>({.ranks = workers()}, 1).get(); }) > 0);
}

namespace {
/// Runs until it is told to stop, on all members.
int until_stopped(manta::team team) {
  for (int all = 0; all < team.size();) {
    int mine = manta::this_task::stop_requested() ? 1 : 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, team.comm());
  }
  return team.size();
}
}  // namespace

TEST_CASE("all members of a cancelled gang are told, and its ranks come free") {
  in_world([] {
    for (const bool gives_time : {false, true}) {
      if (manta::size() == 1 && gives_time) continue;  // it would never give the driver its rank back
      auto running = manta::async<until_stopped>({.ranks = workers()});
      auto queued = manta::async<team_size>({.ranks = workers()});
      auto behind = manta::async<add>(queued, 1);
      if (gives_time) CHECK_FALSE(running.wait_for(std::chrono::milliseconds(20)));
      CHECK(manta::cancel(queued));
      CHECK_THROWS_AS(queued.get(), manta::cancelled);
      CHECK_THROWS_AS(behind.get(), manta::cancelled);
      CHECK(manta::cancel(running));
      CHECK_THROWS_AS(running.get(), manta::cancelled);
      CHECK(manta::async<team_size>({.ranks = workers()}).get() == workers());
      CHECK_FALSE(manta::cancel(running));
    }
  });
}

namespace {
/// Has its rank's thread until it is told to stop. Rank 0 does not know of a call, and sends the rank a part of a gang.
class occupant {
 public:
  int stay() {
    while (!manta::this_task::stop_requested()) {
    }
    return 0;
  }
};
class stoppable {
 public:
  explicit stoppable(manta::team team) : team_(std::move(team)) {}
  int run() { return until_stopped(team_); }

 private:
  manta::team team_;
};
}  // namespace

TEST_CASE("a gang or a call of its actor that is cancelled before all parts have started stops when they start") {
  in_world([] {
    if (workers() < 2) return;
    const auto soon = std::chrono::milliseconds(20);
    const std::size_t executors = manta::testing::executors().size();
    std::vector<manta::actor<occupant>> occupants;
    for (std::size_t i = 0; i < executors; ++i) {
      occupants.push_back(manta::spawn<occupant>({.cpus = 0, .rank = manta::testing::executor(i)}));
    }
    for (std::size_t behind = 0; behind <= executors; ++behind) {  // one part, or at the end all
      std::vector<manta::future<int>> others;
      for (std::size_t i = 0; i < executors; ++i) {
        if (i == behind || behind == executors) others.push_back(manta::async<&occupant::stay>(occupants[i]));
      }
      auto members = manta::async<until_stopped>({.ranks = workers()});
      CHECK_FALSE(members.wait_for(soon));
      CHECK(manta::cancel(members));
      for (const auto& other : others) manta::cancel(other);
      CHECK(manta::async<team_size>({.ranks = workers()}).get() == workers());
    }
    auto actor = manta::spawn<stoppable>({.ranks = workers()});
    auto other = manta::async<&occupant::stay>(occupants.back());
    CHECK_FALSE(other.wait_for(soon));
    auto call = manta::async<&stoppable::run>(actor);
    CHECK_FALSE(call.wait_for(soon));
    CHECK(manta::cancel(call));
    manta::cancel(other);
    auto again = manta::async<&stoppable::run>(actor);
    CHECK_FALSE(again.wait_for(soon));
    CHECK(manta::cancel(again));
  });
}

TEST_CASE("each member sees the devices that it holds on its own rank") {
  manta::runtime_options two_each;
  two_each.gpus = 2;
  in_world(two_each, [] {
    for (int i = 0; i < 5; ++i) CHECK(manta::async<devices>({.gpus = 1, .ranks = workers()}).get()[0] == workers());
    {
      auto other = manta::spawn<lodger>({.gpus = 1, .rank = manta::testing::executor(0)});
      const std::vector<int> lodgers = manta::async<&lodger::gpus>(other).get();
      REQUIRE(lodgers.size() == 1);
      const int seconds = lodgers[0] == 0 ? 1 : workers() - 1;  // on the lodger's rank the device that it left
      std::vector<manta::future<std::vector<int>>> all;
      const int waiting = 4;
      for (int i = 0; i < waiting; ++i) all.push_back(manta::async<devices>({.gpus = 1, .ranks = workers()}));
      for (const std::vector<int>& counts : manta::get(all)) {
        CHECK(counts[0] == workers());
        if (lodgers[0] == 0) CHECK(counts[1] == seconds);
      }
      auto a = manta::spawn<device_holder>({.gpus = 1, .ranks = workers()});
      CHECK(manta::async<&device_holder::look>(a).get()[0] == workers());
    }
    manta::testing::poll_until("all devices to be free", [] {
      bool free = true;
      for (const manta::rank_resources& r : manta::available()) free = free && r.gpus == (r.runs_tasks ? 2 : 0);
      return free;
    });
  });
}

// ---- near, spread, in ------------------------------------------------------------------------------------------

namespace {

manta::per_rank<int> nodes_of_members(manta::team) { return manta::node(); }
class parts {
 public:
  explicit parts(manta::team) {}
  manta::per_rank<int> nodes() const { return manta::node(); }
  manta::per_rank<int> ranks() const { return manta::rank(); }
};
std::string large_text() { return std::string(100'000, 'x'); }
/// The members, and how many devices they have in all.
manta::per_rank<std::vector<int>> rank_and_gpus(manta::team) {
  return std::vector<int>{manta::rank(), static_cast<int>(manta::this_task::gpu_ids().size())};
}

template <class Range>
std::map<int, int> count(const Range& nodes) {
  std::map<int, int> by_node;
  for (const int n : nodes) ++by_node[n];
  return by_node;
}
/// Ranks that run tasks, by node.
std::map<int, int> workers_by_node() {
  std::vector<int> nodes;
  for (const manta::rank_resources& r : manta::capacity()) {
    if (r.runs_tasks) nodes.push_back(r.node);
  }
  return count(nodes);
}

}  // namespace

TEST_CASE("a gang near a value has as many members on its node as can be") {
  for (const char* each : {"1", "2", "4"}) {
    const manta::testing::as_nodes_of nodes(each);
    in_world([] {
      for (const int rank : manta::testing::executors()) {
        const auto value = manta::async<large_text>({.rank = rank});
        const int there = manta::async({.rank = rank}, [] { return manta::node(); }).get();
        const int on_node = workers_by_node().at(there);
        for (int ranks = 1; ranks <= workers(); ++ranks) {
          const auto members = manta::async<nodes_of_members>({.ranks = ranks, .near = value}).get();
          CHECK(count(members)[there] == std::min(ranks, on_node));
        }
        if (on_node > 1) {
          const auto members = manta::async<nodes_of_members>({.ranks = 2, .nodes = 1, .near = value}).get();
          CHECK(count(members)[there] == 2);
        }
        CHECK(count(manta::async<&parts::nodes>(manta::spawn<parts>({.ranks = on_node, .near = value})).get())[there] ==
              on_node);
        manta::testing::poll_until("the actor to be gone", [] {
          const auto now = manta::available();
          return std::all_of(now.begin(), now.end(), [](const manta::rank_resources& r) { return r.actors == 0; });
        });
      }
    });
  }
}

TEST_CASE("a gang on so many nodes has equally many members on each") {
  for (const char* each : {"1", "2", "4"}) {
    const manta::testing::as_nodes_of nodes(each);
    in_world([] {
      const std::map<int, int> there = workers_by_node();
      for (int on_each = 1; on_each <= workers(); ++on_each) {
        const auto possible =
            std::count_if(there.begin(), there.end(), [&](const auto& n) { return n.second >= on_each; });
        for (int n = 1; n <= possible; ++n) {
          const auto members = count(manta::async<nodes_of_members>({.ranks = n * on_each, .nodes = n}).get());
          CHECK(std::ssize(members) == n);
          for (const auto& [node, ranks] : members) CHECK(ranks == on_each);
        }
      }
    });
  }
}

TEST_CASE("a gang that is spread is on as many nodes as can be") {
  for (const char* each : {"1", "2", "4"}) {
    const manta::testing::as_nodes_of nodes(each);
    in_world([] {
      const std::map<int, int> there = workers_by_node();
      std::vector<std::pair<manta::future<manta::per_rank<int>>, std::size_t>> gangs;
      for (int round = 0; round < 3; ++round) {
        for (int ranks = 1; ranks <= workers(); ++ranks) {
          gangs.emplace_back(manta::async<nodes_of_members>({.ranks = ranks, .spread = true}),
                             std::min(there.size(), static_cast<std::size_t>(ranks)));
        }
      }
      for (const auto& [members, most] : gangs) CHECK(count(members.get()).size() == most);
      const auto a = manta::spawn<parts>({.ranks = workers(), .spread = true});
      CHECK(count(manta::async<&parts::nodes>(a).get()) == there);
    });
  }
}

TEST_CASE("the members of a gang in a reservation are on the ranks of its bundles and have their devices from there") {
  const manta::testing::as_nodes_of nodes("2");
  in_world({.cpus = 2, .gpus = 2}, [] {
    for (int size = 1; size <= workers(); ++size) {
      const auto r = manta::reserve(
          {.bundles = std::vector<manta::bundle>(static_cast<std::size_t>(size), {.cpus = 2, .gpus = 1})});
      std::set<int> reserved;
      for (int b = 0; b < size; ++b) reserved.insert(manta::async<manta::testing::where>({.in = r, .bundle = b}).get());
      REQUIRE(reserved.size() == static_cast<std::size_t>(size));
      std::vector<manta::future<manta::per_rank<std::vector<int>>>> gangs;
      for (int ranks = 1; ranks <= size; ++ranks) {
        gangs.push_back(manta::async<rank_and_gpus>({.gpus = 1, .ranks = ranks, .in = r}));
        gangs.push_back(manta::async<rank_and_gpus>({.ranks = ranks, .retries = 1, .in = r}));
      }
      for (std::size_t i = 0; i < gangs.size(); ++i) {
        std::set<int> members;
        for (const std::vector<int>& m : gangs[i].get()) {
          CHECK(reserved.count(m[0]) == 1);
          CHECK(m[1] == (i % 2 == 0 ? 1 : 0));
          members.insert(m[0]);
        }
        CHECK(members.size() == i / 2 + 1);
      }
      CHECK(manta::async<rank_and_gpus>({.ranks = 1, .in = r, .bundle = 0}).get()[0][0] ==
            manta::async<manta::testing::where>({.in = r, .bundle = 0}).get());
      CHECK_THROWS_AS((manta::async<rank_and_gpus>({.ranks = size + 1, .in = r})), manta::unschedulable);
      {
        const auto a = manta::spawn<parts>({.gpus = 1, .ranks = size, .in = r});
        const auto ranks = manta::async<&parts::ranks>(a).get();
        CHECK(std::set<int>(ranks.begin(), ranks.end()) == reserved);
        const auto blocked = manta::async<rank_and_gpus>({.gpus = 1, .ranks = 1, .in = r});
        const std::string why = manta::explain(blocked);
        CHECK_MESSAGE(manta::testing::contains(why, "in a gang"), why);
        CHECK(manta::cancel(blocked));
      }
      CHECK(manta::async<rank_and_gpus>({.gpus = 1, .ranks = size, .in = r}).get().size() ==
            static_cast<std::size_t>(size));
    }
  });
}

TEST_CASE("a gang fails as soon as it is known that its reservation's bundles lie on too few ranks") {
  const manta::testing::as_nodes_of nodes("2");
  in_world({.cpus = 2}, [] {
    // packed on one node if it has room: two bundles on each of its ranks
    const auto bundles = static_cast<std::size_t>(2 * workers_by_node().rbegin()->second);
    const auto r = manta::reserve({.bundles = std::vector<manta::bundle>(bundles)});
    if (bundles > static_cast<std::size_t>(workers())) {
      CHECK_THROWS_AS((manta::async<team_size>({.ranks = static_cast<int>(bundles), .in = r})), manta::unschedulable);
      return;
    }
    auto before = manta::async<team_size>({.ranks = static_cast<int>(bundles), .in = r});
    CHECK_THROWS_WITH_AS(before.get(), doctest::Contains("lie on fewer"), manta::unschedulable);
    r.ready().get();
    auto after = manta::async<team_size>({.ranks = static_cast<int>(bundles), .in = r});
    CHECK_THROWS_WITH_AS(after.get(), doctest::Contains("lie on fewer"), manta::unschedulable);
    const int fit = static_cast<int>(bundles) / 2;
    CHECK(manta::async<team_size>({.ranks = fit, .in = r}).get() == fit);
  });
}

TEST_CASE("why a gang is where it is, or what it waits for, is told") {
  in_world([] {
    const auto gate = manta::spawn<manta::testing::gate>({.rank = manta::testing::executor(0)});
    const auto wait_for = [](manta::team team, manta::actor<manta::testing::gate> g) {
      if (team.rank() == 0) manta::testing::pass(g);
      MPI_Barrier(team.comm());
      return team.size();
    };
    const auto told = [&](const manta::future<int>& f, const char* text) {
      manta::testing::poll_until(text, [&] { return manta::testing::contains(manta::explain(f), text); });
    };
    {
      const auto value = manta::async<large_text>();
      const auto near = manta::async({.ranks = workers(), .near = value}, wait_for, gate);
      told(near, "on the node where the value lies");
      const auto spread = manta::async({.ranks = workers(), .spread = true}, wait_for, gate);
      told(spread, "spread over as many nodes as can be");
      manta::async<&manta::testing::gate::open>(gate).get();
      CHECK(near.get() == workers());
      CHECK(spread.get() == workers());
    }
  });
}

TEST_CASE("more devices than a member's rank has, and places that a gang cannot have, are refused at the call") {
  in_world([] {
    CHECK_THROWS_AS((manta::async<devices>({.gpus = 64, .ranks = 1})), manta::unschedulable);
    const manta::reservation r = manta::reserve({.bundles = {{.cpus = 1}}});
    CHECK_THROWS_WITH_AS((manta::async<team_size>({.ranks = 2, .in = r})),
                         doctest::Contains("1 fits: [bundle 0: cpus = 1]"), manta::unschedulable);
    CHECK_THROWS_AS((manta::async<team_size>({.ranks = 1, .in = r, .bundle = 1})), manta::unschedulable);
    CHECK_THROWS_AS((manta::async<team_size>({.rank = manta::testing::executor(0), .in = r})), manta::error);
    CHECK_THROWS_AS((manta::async<team_size>({.bundle = 0})), manta::error);
    CHECK_THROWS_WITH_AS((manta::async<team_size>({.ranks = 1, .nodes = 1, .spread = true})),
                         doctest::Contains("leave one of the two out"), manta::error);
    CHECK_THROWS_WITH_AS((manta::async<team_size>({.near = manta::put(1), .spread = true})),
                         doctest::Contains("leave one of the two out"), manta::error);
    CHECK_THROWS_AS((manta::spawn<device_holder>({.gpus = 64, .in = r})), manta::unschedulable);
  });
}
