// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the tests of the public interface share: a world that checks its own
// reference counts when it ends, and tasks and actors that make "not finished
// yet" a fact instead of a guess about time. A case is collective: every rank
// runs it, rank 0 runs the driver.
//
//   TEST_CASE("a sum is right") { manta::testing::in_world([] { CHECK(manta::async<add>(1, 2).get() == 3); }); }
#pragma once

#include <doctest/doctest.h>
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <manta/manta.hpp>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "text.hpp"

namespace manta::testing {

// ---- worlds -------------------------------------------------------------------------------------

/// On every rank, when it goes out of scope after a run: no object of that run may be left.
class leak_check {
 public:
  explicit leak_check(manta::runtime& rt) : rt_(rt) {}
  leak_check(const leak_check&) = delete;
  leak_check& operator=(const leak_check&) = delete;
  ~leak_check() {
    [[maybe_unused]] const std::size_t left = rt_.live_objects();
    CHECK_MESSAGE(left == 0, left << " objects are left on this rank after the run");
  }

 private:
  manta::runtime& rt_;
};

/// Runs the driver in `rt` and checks the reference counts afterwards, also when it throws. Collective.
template <typename Driver>
auto checked_run(manta::runtime& rt, Driver&& driver) {
  const leak_check check(rt);
  return rt.run(std::forward<Driver>(driver));
}

/// A fresh runtime over all ranks, one run, and the checks. Collective over MPI_COMM_WORLD.
template <typename Driver>
auto in_world(const manta::runtime_options& options, Driver&& driver) {
  manta::runtime rt(MPI_COMM_WORLD, options);
  return checked_run(rt, std::forward<Driver>(driver));
}

template <typename Driver>
auto in_world(Driver&& driver) {
  return in_world(manta::runtime_options{}, std::forward<Driver>(driver));
}

/// This process's rank, by raw MPI, so that it can be asked outside runs.
inline int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// The sum of one number from each rank; the oracle for "how often did it happen anywhere". Collective.
inline long sum_over_ranks(long mine) {
  long sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

// ---- places -------------------------------------------------------------------------------------

/// A task that says where it ran.
inline int where() { return static_cast<int>(manta::rank()); }

/// The ranks that run tasks from the start with the default options: all but 0, or 0 alone, and but those that stand by.
inline std::vector<int> executors() {
  const char* const spares = std::getenv("MANTA_SPARES");
  const int size = static_cast<int>(manta::size()) - (spares != nullptr ? std::atoi(spares) : 0);
  if (size == 1) return {0};
  std::vector<int> ranks(static_cast<std::size_t>(size) - 1);
  std::iota(ranks.begin(), ranks.end(), 1);
  return ranks;
}

/// The i-th executor, counted round and round.
inline int executor(std::size_t i) {
  const auto ranks = executors();
  return ranks[i % ranks.size()];
}

/// While it lives, worlds take so many ranks for a node.
struct as_nodes_of {
  explicit as_nodes_of(const char* ranks) { setenv("MANTA_RANKS_PER_NODE", ranks, 1); }
  ~as_nodes_of() { unsetenv("MANTA_RANKS_PER_NODE"); }
  as_nodes_of(const as_nodes_of&) = delete;
  as_nodes_of& operator=(const as_nodes_of&) = delete;
};

// ---- time ---------------------------------------------------------------------------------------

/// How long a test polls before it calls the thing it waits for lost.
inline constexpr std::chrono::seconds patience{60};

/// Computes without calling manta for this long.
inline void busy(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// Asks `done` again and again; throws when patience ends, so that a lost event fails a test and does not hang it.
template <typename Condition>
void poll_until(const char* what, Condition done) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error(std::string("the test lost patience: ") + what);
  }
}

/// The result of a call, fetched without `get`'s licence to run the call on this very stack.
template <typename T>
T fetch(const manta::future<T>& f) {
  f.wait_for(patience);
  return f.get();
}

// ---- gates: results that are late because the test says so -------------------------------------------

class gate {
 public:
  void open() { open_ = true; }
  bool is_open() const { return open_; }

 private:
  bool open_ = false;
};

/// Returns when somebody has opened the gate.
inline void pass(const manta::actor<gate>& g) {
  poll_until("a gate that nobody opened", [&] { return fetch(manta::async<&gate::is_open>(g)); });
}

/// A task whose result appears only after the gate was opened.
template <typename T>
T held(manta::actor<gate> g, const T& value) {
  pass(g);
  return value;
}

/// A count that tasks anywhere add to.
class tally {
 public:
  int arrive() { return ++count_; }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

// ---- living values: counts instances on each rank --------------------------------------------------------

/// A value whose instances are counted per process; `tracked::here` is what a probe reports.
struct tracked {
  static inline std::atomic<int> here{0};

  int value = 0;

  tracked() { ++here; }
  explicit tracked(int v) : value(v) { ++here; }
  tracked(const tracked& other) : value(other.value) { ++here; }
  tracked& operator=(const tracked&) = default;
  ~tracked() { --here; }

  template <typename Archive>
  void serialize(Archive& archive) {
    archive(value);
  }
};

inline int tracked_here() { return tracked::here.load(); }

/// Instances on rank 0 and on all executors together. Called by the driver.
inline int tracked_anywhere() {
  int sum = static_cast<int>(manta::size()) > 1 ? tracked_here() : 0;
  for (const int rank : executors()) sum += fetch(manta::async<tracked_here>({.rank = rank}));
  return sum;
}

// ---- chance -------------------------------------------------------------------------------------

/// The seed of a randomised test: MANTA_TEST_SEED, or else the clock, the same on every rank and printed. Collective.
inline std::uint64_t seed([[maybe_unused]] const char* test) {
  std::uint64_t value = 0;
  if (const char* given = std::getenv("MANTA_TEST_SEED")) {
    value = std::strtoull(given, nullptr, 10);
  } else {
    value = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  }
  MPI_Bcast(&value, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (world_rank() == 0) MESSAGE(std::string(test) << ": MANTA_TEST_SEED=" << value);
  return value;
}

/// splitmix64: small, the same on every platform, good enough to draw graphs.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// 0, 1, ..., n - 1.
inline std::vector<int> count_to(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

/// A value whose encoding is large and which cannot be copied. Include <cereal/types/memory.hpp>.
struct block {
  std::vector<double> numbers;
  std::unique_ptr<int> mark;
  block() = default;
  explicit block(int n) : numbers(50'000, n), mark(std::make_unique<int>(n)) {}
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(numbers, mark);
  }
};

}  // namespace manta::testing
