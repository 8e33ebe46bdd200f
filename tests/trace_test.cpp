// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The trace of a run, read back by Python: it has every task once, on any number of ranks.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "manta/report/trace_perfetto.hpp"
#include "manta/statistics.hpp"
#include "support/python.hpp"
#include "support/world.hpp"

using manta::testing::as_nodes_of;
using manta::testing::busy;
using manta::testing::folder;
using manta::testing::in_world;
using manta::testing::text_of;
using manta::testing::thrown;
using manta::testing::world_rank;
using manta::testing::world_size;
using namespace std::chrono_literals;

namespace {

int leaf(int n) {
  busy(20us);
  return n;
}
int add(int a, int b) {
  busy(20us);
  return a + b;
}
int next(int n) { return n + 1; }
int fib(int n) {
  if (n < 2) return n;
  const auto a = manta::async<&fib>(n - 1), b = manta::async<&fib>(n - 2);
  return a.get() + b.get();
}
int fails_once(int n) {
  if (manta::this_task::attempt() == 0) throw std::runtime_error("the first attempt");
  return n;
}
class counter {
 public:
  int add(int n) { return sum_ += n; }

 private:
  int sum_ = 0;
};

double meets(manta::team team, double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, team.comm());
  busy(50us);
  return sum;
}
/// A task of the rank on which this one runs.
manta::future<int> leaf_of(int n) { return manta::async<&leaf>(n); }

/// What is wrong with a trace, by support/trace.py. Nothing on other ranks than 0.
std::string wrong_in(const std::string& file, const std::string& wanted) {
  if (world_rank() != 0) return "";
  const folder f;
  const std::string script = manta::testing::folder_beside(__FILE__, "support/trace.py");
  const std::string call = "/usr/bin/python3 " + script + " " + file + " " + wanted + " > " + f.path + "/said 2>&1";
  const int status = std::system(call.c_str());
  return text_of(f.path + "/said") + (status == 0 ? "" : " (it has failed)");
}

manta::runtime_options traced(const folder& f, const std::string& file = "/trace.json") {
  manta::runtime_options options;
  options.trace = f.path + file;
  return options;
}

/// 200 leaves, of two each the sum: 300 tasks and 200 arrows.
void sums_of_leaves() {
  std::vector<manta::future<int>> sums;
  for (int i = 0; i < 100; ++i) {
    sums.push_back(manta::async<&add>({.name = "sum"}, manta::async<&leaf>(i), manta::async<&leaf>(i)));
  }
  for (int i = 0; i < 100; ++i) CHECK(sums[static_cast<std::size_t>(i)].get() == 2 * i);
}

}  // namespace

TEST_CASE("a trace has every task once, and an arrow for each result that is an input") {
  const folder f;
  in_world(traced(f), [] { sums_of_leaves(); });
  CHECK(wrong_in(f.path + "/trace.json", "tasks=300 tasks:leaf=200 tasks:add=100 arrows=200 nodes=1 ranks=" +
                                             std::to_string(world_size())) == "");
}

TEST_CASE("tasks that wait, and tasks that are too short to be shown each, are counted too") {
  const folder f;
  in_world(traced(f), [] {
    CHECK(manta::async<&fib>(16).get() == 987);
    for (int round = 0; round < 10; ++round) {
      std::vector<manta::future<int>> all;
      for (int i = 0; i < 1000; ++i) all.push_back(manta::async<&next>(i));
      for (auto& each : all) each.wait();
    }
  });
  CHECK(wrong_in(f.path + "/trace.json", "tasks=13193") == "");
}

TEST_CASE("calls of actors and further attempts are runs of their own") {
  const folder f;
  in_world(traced(f), [] {
    CHECK(manta::async<&fails_once>({.retries = 2}, 7).get() == 7);
    auto c = manta::spawn<counter>();
    for (int i = 0; i < 10; ++i) manta::async<&counter::add>(c, 1);
    CHECK(manta::async<&counter::add>(c, 1).get() == 11);
  });
  CHECK(wrong_in(f.path + "/trace.json", "tasks=14 tasks:fails_once=2 failures=1") == "");
}

TEST_CASE("an arrow goes from a task of one home to a task of another") {
  const folder f;
  in_world(traced(f), [] {
    for (int i = 0; i < 20; ++i) CHECK(manta::async<&add>(manta::async<&leaf_of>(i).get(), i).get() == 2 * i);
  });
  CHECK(wrong_in(f.path + "/trace.json", "tasks=60 tasks:leaf=20 arrows=20") == "");
}

TEST_CASE("an actor with a name has a row with its calls, and gangs have one with a slice each") {
  const folder f;
  const int members = std::min(2, world_size());
  in_world(traced(f), [&] {
    auto named = manta::spawn<counter>({.name = "boss"});
    auto nameless = manta::spawn<counter>();
    for (int i = 0; i < 7; ++i) {
      manta::async<&counter::add>(named, 1).wait();
      manta::async<&counter::add>(nameless, 1).wait();
    }
    for (int i = 0; i < 3; ++i) CHECK(manta::async<&meets>({.ranks = members}, 0.5).get() == 0.5 * members);
  });
  const std::string tasks = std::to_string(2 + 14 + 3 * members);
  CHECK(wrong_in(f.path + "/trace.json",
                 "tasks=" + tasks + " calls:boss=7 gangs=3 tasks:meets=" + std::to_string(3 * members)) == "");
}

TEST_CASE("ranks of several nodes have aligned clocks: no arrow goes back in time") {
  const folder f;
  const as_nodes_of one_rank("1");
  in_world(traced(f), [] { sums_of_leaves(); });
  const std::string size = std::to_string(world_size());
  CHECK(wrong_in(f.path + "/trace.json", "tasks=300 arrows=200 ranks=" + size + " nodes=" + size) == "");
}

TEST_CASE("a trace keeps its limit, and every task is counted in it") {
  const folder f;
  manta::runtime_options options = traced(f);
  options.trace_bytes = 1 << 20;
  in_world(options, [] {
    for (int round = 0; round < 20; ++round) {
      std::vector<manta::future<int>> all;
      for (int i = 0; i < 1000; ++i) all.push_back(manta::async<&leaf>(i));
      for (auto& each : all) each.wait();
    }
  });
  CHECK(wrong_in(f.path + "/trace.json", "tasks=20000 tasks:leaf=20000 most_bytes=1048576") == "");
}

TEST_CASE("Perfetto's own format has the same in it, and more of single tasks within the same limit") {
  const folder f;
  if (manta::report::perfetto_format() == nullptr) {
    const std::string said = thrown<manta::error>([&] { in_world(traced(f, "/t.pftrace"), [] {}); });
    CHECK(said.find("without protozero") != std::string::npos);
    return;
  }
  if (std::system("/usr/bin/python3 -c 'import google.protobuf' 2> /dev/null") != 0) {
    MESSAGE("skipped: there is no python3-protobuf to read the trace back");
    return;
  }
  in_world(traced(f, "/t.pftrace"), [] {
    const manta::phase all("all");
    sums_of_leaves();
    CHECK_THROWS(manta::async<&fails_once>(7).get());
  });
  CHECK(wrong_in(f.path + "/t.pftrace", "tasks=301 tasks:leaf=200 tasks:add=100 arrows=200 failures=1 nodes=1 ranks=" +
                                            std::to_string(world_size())) == "");
  manta::runtime_options options = traced(f, "/small.pftrace");
  options.trace_bytes = 1 << 20;
  in_world(options, [] {
    for (int i = 0; i < 100; ++i) sums_of_leaves();
  });
  CHECK(wrong_in(f.path + "/small.pftrace", "tasks=30000 most_bytes=1048576") == "");
}

TEST_CASE("a run whose driver throws has a trace, and the next run replaces it") {
  const folder f;
  manta::runtime rt(MPI_COMM_WORLD, traced(f));
  const auto fails = [] {
    manta::async<&leaf>(1).get();
    throw std::runtime_error("on purpose");
  };
  CHECK_THROWS(rt.run(fails));
  CHECK(wrong_in(f.path + "/trace.json", "tasks=1") == "");
  rt.run([] { sums_of_leaves(); });
  CHECK(wrong_in(f.path + "/trace.json", "tasks=300") == "");
}

TEST_CASE("a trace that cannot be written is an error on every rank") {
  manta::runtime_options options;
  options.trace = "/proc/trace.json";
  const std::string said = thrown<manta::error>([&] { in_world(options, [] {}); });
  CHECK(said.find("/proc/trace.json") != std::string::npos);
}
