// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// manta inside a program that has an MPI of its own: enter, leave, go on,
// enter again, on the world and on parts of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cereal/types/array.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <memory>

#include "support/world.hpp"

using manta::testing::checked_run;
using manta::testing::world_rank;
using manta::testing::world_size;

namespace {

int add(int a, int b) { return a + b; }

struct summary {
  std::string text;
  std::vector<double> numbers;
  bool operator==(const summary&) const = default;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(text, numbers);
  }
};

long sum_to(int n) {
  std::vector<manta::future<int>> fs;
  for (int i = 0; i < n; ++i) fs.push_back(manta::async<add>(i, 1));
  long sum = 0;
  for (const int x : manta::get(fs)) sum += x;
  return sum;
}

int world_rank_task() { return manta::testing::world_rank(); }

/// A communicator that frees itself.
struct part {
  MPI_Comm comm = MPI_COMM_NULL;
  part(int color, int key) { MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm); }
  part(const part&) = delete;
  part& operator=(const part&) = delete;
  ~part() {
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
};

}  // namespace

TEST_CASE("the driver's result is returned on every rank") {
  manta::runtime rt(MPI_COMM_WORLD);
  checked_run(rt, [] { manta::async<add>(1, 1).get(); });
  CHECK(checked_run(rt, [] { return manta::async<add>(1, 2).get(); }) == 3);
  CHECK(checked_run(rt, [] { return std::string(100'000, 's'); }) == std::string(100'000, 's'));
  CHECK(checked_run(rt, [] { return summary{"done", {1, 2.5}}; }) == summary{"done", {1, 2.5}});
  CHECK(checked_run(rt, [] { return std::vector<int>(300'000, 7); }) == std::vector<int>(300'000, 7));
  CHECK(checked_run(rt, [] { return true; }));
}

TEST_CASE("only rank 0 runs the driver, which may capture what is around it") {
  manta::runtime rt(MPI_COMM_WORLD);
  int runs = 0;
  const std::string greeting = "hello";
  const auto answer = checked_run(rt, [&] {
    ++runs;
    return greeting + std::to_string(manta::rank()) + "/" + std::to_string(manta::size());
  });
  CHECK(runs == (world_rank() == 0 ? 1 : 0));
  CHECK(answer == "hello0/" + std::to_string(world_size()));
}

TEST_CASE("a hundred runs on one runtime give what each was asked for") {
  manta::runtime rt(MPI_COMM_WORLD);
  for (int i = 0; i < 100; ++i) CHECK(checked_run(rt, [i] { return sum_to(i); }) == i * (i + 1L) / 2);
  for (int i = 0; i < 100; ++i) checked_run(rt, [] {});
}

TEST_CASE("ten runtimes one after another leave nothing behind") {
  for (int i = 0; i < 10; ++i) {
    manta::runtime rt(MPI_COMM_WORLD);
    CHECK(checked_run(rt, [] { return sum_to(100); }) == 5050);
  }
  const manta::runtime never_used(MPI_COMM_WORLD);
}

TEST_CASE("between runs the ranks are free for the program's own MPI") {
  manta::runtime rt(MPI_COMM_WORLD);
  const int rank = world_rank();
  const int size = world_size();
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  for (int round = 0; round < 20; ++round) {
    const long sum = checked_run(rt, [] { return sum_to(50); });
    CHECK(manta::testing::sum_over_ranks(sum) == sum * size);
    std::vector<int> out(1000 * static_cast<std::size_t>(round) + 1, rank);
    std::vector<int> in(out.size(), -1);
    MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_INT, next, round, in.data(), static_cast<int>(in.size()),
                 MPI_INT, previous, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in == std::vector<int>(out.size(), previous));
  }
}

TEST_CASE("a message of the program's own in flight during a run is left alone") {
  manta::runtime rt(MPI_COMM_WORLD);
  const int rank = world_rank();
  const int size = world_size();
  int received = -1;
  const int sent = 1000 + rank;
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(&received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests.data());
  checked_run(rt, [] { return sum_to(500); });
  MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
  checked_run(rt, [] { return sum_to(500); });
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  CHECK(received == 1000 + (rank + size - 1) % size);
}

TEST_CASE("both halves of the world run at once, each with ranks of its own") {
  const int color = world_rank() % 2;
  const part half(color, world_rank());
  manta::runtime rt(half.comm);
  int half_rank = -1;
  int half_size = -1;
  MPI_Comm_rank(half.comm, &half_rank);
  MPI_Comm_size(half.comm, &half_size);
  for (int round = 0; round < 5; ++round) {
    const auto [size, sum, strangers] = checked_run(rt, [color] {
      std::vector<manta::future<int>> places;
      for (int i = 0; i < 50; ++i) places.push_back(manta::async<world_rank_task>());
      long foreign = 0;
      for (const int place : manta::get(places)) foreign += place % 2 == color ? 0 : 1;
      return std::array<long, 3>{static_cast<long>(manta::size()), sum_to(100 + color), foreign};
    });
    CHECK(size == half_size);
    CHECK(sum == (color == 0 ? 5050 : 5151));
    CHECK(strangers == 0);
  }
}

TEST_CASE("rank 0 of the communicator given is the driver's, whoever that is in the world") {
  const part reversed(0, -world_rank());
  manta::runtime rt(reversed.comm);
  const int driver = checked_run(rt, [] { return manta::testing::world_rank(); });
  CHECK(driver == world_size() - 1);
}

TEST_CASE("a runtime on one rank alone works while the others do something else") {
  const part alone(world_rank(), 0);
  manta::runtime rt(alone.comm);
  CHECK(checked_run(rt, [] { return sum_to(100 + manta::testing::world_rank()); }) ==
        (100L + world_rank()) * (101 + world_rank()) / 2);
}

TEST_CASE("two runtimes exist at the same time and are used in turn") {
  manta::runtime first(MPI_COMM_WORLD);
  manta::runtime second(MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    CHECK(checked_run(first, [] { return sum_to(10); }) == 55);
    CHECK(checked_run(second, [] { return sum_to(20); }) == 210);
  }
}

TEST_CASE("the communicator given may be freed while the runtime lives") {
  auto half = std::make_unique<part>(world_rank() % 2, world_rank());
  manta::runtime rt(half->comm);
  half.reset();
  CHECK(checked_run(rt, [] { return sum_to(10); }) == 55);
}

TEST_CASE("ranks stand by where one may die, as long as others are left to run tasks") {
  const auto working = [](const manta::runtime_options& o) {
    manta::runtime all(MPI_COMM_WORLD, o);
    return all.run([] {
      int count = 0;
      for (const manta::rank_resources& r : manta::capacity()) count += r.runs_tasks;
      return count;
    });
  };
  const int size = world_size();
  CHECK(working({.spares = 1}) == std::max(1, size - 1));  // nobody survives a death here
  CHECK_THROWS_WITH_AS(working({.spares = -1}), doctest::Contains("spares is negative"), manta::error);
  setenv("MANTA_RECOVERY", "1", 1);
  if (size == 1) CHECK(working({.spares = 1}) == 1);
  if (size > 2) CHECK(working({.spares = 1}) == size - 2);
  if (size > 1)
    CHECK_THROWS_WITH_AS(working({.spares = size - 1}), doctest::Contains("none is left to run tasks"), manta::error);
  unsetenv("MANTA_RECOVERY");
}
