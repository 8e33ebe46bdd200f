// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What can only be seen from outside a process, one word of the command line
// each; run.sh starts it and looks at exit codes and output. Linked twice: with
// other.cpp it has one function more.
#include <mpi.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <manta/manta.hpp>
#include <stdexcept>
#include <string>

#include <unistd.h>

/// In other.cpp; null in the program that lacks it.
[[gnu::weak]] bool works_in_the_other_program();

namespace {

int add(int a, int b) { return a + b; }
int pop(manta::queue<int> q) { return q.pop(); }
int fail(int x) { throw std::runtime_error("valve " + std::to_string(x) + " is stuck"); }

manta::future<int> immortal;
manta::future<std::string> immortal_text;

int sum_to(int n) {
  std::vector<manta::future<int>> fs;
  for (int i = 1; i <= n; ++i) fs.push_back(manta::async<add>(i, 0));
  int sum = 0;
  for (const int x : manta::get(fs)) sum += x;
  return sum;
}

int answer() {
  if (works_in_the_other_program != nullptr && !works_in_the_other_program()) return 2;
  const int sum = sum_to(100);
  std::printf("sum %d on %d ranks\n", sum, manta::size());
  std::fflush(stdout);
  return sum == 5050 ? 0 : 2;
}

/// Values in shared memory and on the disk, on all ranks, when the ranks die.
int killed() {
  const auto sum = [](const std::vector<double>& v) { return v[0]; };
  std::vector<manta::future<std::vector<double>>> values;
  std::vector<manta::future<double>> sums;
  for (int i = 0; i < 4 * manta::size(); ++i) {
    const int rank = manta::size() == 1 ? 0 : 1 + i % (manta::size() - 1);
    values.push_back(manta::async([](int x) { return std::vector<double>(100'000, x); }, i));
    sums.push_back(manta::async({.rank = rank}, sum, values.back()));
  }
  manta::get(sums);
  const auto common = manta::put(std::vector<double>(50'000, 1.0));
  for (int rank = 1; rank < manta::size(); ++rank) manta::async({.rank = rank}, sum, common).get();
  std::uint64_t shared = 0, spilled = 0;
  for (const manta::rank_memory& m : manta::memory()) {
    shared += m.shared;
    spilled += m.spilled;
  }
  std::printf("%s shared, %s spilled\n", shared != 0 ? "some" : "none", spilled != 0 ? "some" : "none");
  std::fflush(stdout);
  for (int rank = 1; rank < manta::size(); ++rank) manta::async({.rank = rank}, [] { std::raise(SIGKILL); });
  return std::raise(SIGKILL);
}

int mpi_in_child() {
  int initialised = 1;
  MPI_Initialized(&initialised);
  return initialised;
}
void leave_traces() {
  std::printf("process %ld of rank %d\n", static_cast<long>(::getpid()), manta::rank());
  std::fflush(stdout);
  ::pause();
}
/// Children come from a process that is older than MPI, and take its files with them.
int isolated() {
  for (int i = 0; i < 2 * manta::size(); ++i) {
    if (manta::async<mpi_in_child>({.spread = true, .isolate = true}).get() != 0) return 2;
    try {
      manta::async({.isolate = true}, [] { std::abort(); }).get();
      return 3;
    } catch (const manta::task_failed&) {
    }
  }
  manta::async({.isolate = true}, [] { std::printf("printed once\n"); }).get();
  return sum_to(10) == 55 ? 0 : 2;
}
/// Ranks that die in the middle of isolated tasks; in a world of one, when an actor lives on.
int isolated_killed() {
  struct resident {
    void live() { std::printf("process %ld of an actor\n", static_cast<long>(::getpid())); }
  };
  const auto a = manta::spawn<resident>({.isolate = true});
  manta::async<&resident::live>(a).get();
  if (manta::size() > 1) manta::async<leave_traces>({.isolate = true}).wait_for(std::chrono::milliseconds(300));
  return std::raise(SIGKILL);
}

int throw_first(manta::team team) {
  if (team.rank() == 0) throw std::runtime_error("it diverged");
  MPI_Barrier(team.comm());
  return 0;
}
double inner(manta::team) { return 1; }
/// Waits for a gang that needs the ranks of this one; gives up when manta has said so.
int outer(manta::team team) {
  int code = 0;
  if (team.rank() == 0) {
    try {
      manta::get_for(manta::async<inner>({.ranks = team.size()}), std::chrono::seconds(13));
      code = 2;
    } catch (const manta::timeout&) {
    }
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, team.comm());
  return code;
}

int gang_of_two() { return manta::async<inner>({.ranks = 2}).get() == 1 ? 0 : 2; }

/// The caller has an MPI of its own, with this thread level.
int with_own_mpi(int argc, char** argv, int level, bool progress_thread, int (*driver)() = answer) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, level, &provided);
  if (provided != level) std::printf("skipped: asked for level %d, got %d\n", level, provided);
  manta::runtime_options options;
  options.progress_thread = progress_thread;
  const int code = manta::run(argc, argv, options, driver);
  int finalized = 1;
  MPI_Finalized(&finalized);
  if (finalized != 0) return 3;  // that is for those who initialised it
  MPI_Finalize();
  return code;
}

/// A program that calls MPI itself, and catches nothing.
int uncaught(int argc, char** argv, int level) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, level, &provided);
  {
    manta::runtime rt(MPI_COMM_WORLD);
    rt.run([] { return manta::async<fail>(4).get(); });
  }
  MPI_Finalize();
  return 0;
}

}  // namespace

/// Asks for the state as `kill -USR2` does, and waits until the file is there.
int asks_for_state() {
  std::raise(SIGUSR2);
  const std::string file = std::getenv("MANTA_STATE");
  for (int i = 0; ::access(file.c_str(), R_OK) != 0 && i < 20'000; ++i) ::usleep(1000);
  return 0;
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "answer";
  if (mode == "uncaught") return uncaught(argc, argv, MPI_THREAD_SERIALIZED);
  if (mode == "uncaught-single") return uncaught(argc, argv, MPI_THREAD_SINGLE);
  if (mode == "single") return with_own_mpi(argc, argv, MPI_THREAD_SINGLE, true);
  if (mode == "single-without-helper") return with_own_mpi(argc, argv, MPI_THREAD_SINGLE, false);
  if (mode == "funneled") return with_own_mpi(argc, argv, MPI_THREAD_FUNNELED, true);
  if (mode == "funneled-without-helper") return with_own_mpi(argc, argv, MPI_THREAD_FUNNELED, false);
  if (mode == "serialized") return with_own_mpi(argc, argv, MPI_THREAD_SERIALIZED, true);
  if (mode == "gang-serialized") return with_own_mpi(argc, argv, MPI_THREAD_SERIALIZED, true, gang_of_two);
  if (mode == "gang-multiple") return with_own_mpi(argc, argv, MPI_THREAD_MULTIPLE, true, gang_of_two);

  int provided = 0;
  const bool mine = mode == "again";
  if (mine) {  // a run that could not start does not spoil the next one
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    ::setenv("MANTA_STACK_KIB", "tall", 1);
    if (manta::run(argc, argv, [] { return 0; }) != 1) return 5;
    ::unsetenv("MANTA_STACK_KIB");
  }
  const int code = manta::run(argc, argv, [&]() -> int {
    if (mode == "seven") return 7;
    if (mode == "asks-for-state") return manta::async<asks_for_state>({.name = "the asker"}).get();
    if (mode == "throws") throw std::runtime_error("the reactor is out of coolant");
    if (mode == "throws-a-number") throw 42;
    if (mode == "task-throws") return manta::async<fail>(3).get();
    if (mode == "unobserved") {
      manta::async<fail>(1).wait();
      return sum_to(10) == 55 ? 0 : 2;
    }
    if (mode == "deadlock-unobserved") {
      manta::queue<int> empty(1);
      manta::async<pop>(empty);
      return 0;
    }
    if (mode == "observed") {
      try {
        manta::async<fail>(1).get();
      } catch (const manta::task_failed&) {
        return 0;
      }
      return 2;
    }
    if (mode == "killed") return killed();
    if (mode == "isolated") {
      std::printf("before");  // in the rank's buffer when the first child is forked
      return isolated();
    }
    if (mode == "isolated-killed") return isolated_killed();
    if (mode == "left-behind") {
      manta::async<throw_first>({.ranks = 2}).wait();
      std::printf("the driver goes on");  // in the rank's buffer at the end
      return 0;
    }
    if (mode == "gang-in-gang") return manta::async<outer>({.ranks = manta::size() - 1}).get();
    if (mode == "nested") {  // an error, not a hang
      const int inner = manta::run(argc, argv, [] { return 0; });
      std::printf("the inner run gave %d\n", inner);
      std::fflush(stdout);
      return inner == 1 && sum_to(10) == 55 ? 0 : 2;
    }
    if (mode == "immortal") {
      immortal = manta::async<add>(1, 2);
      immortal_text = manta::async([] { return std::string(100'000, 'i'); });
      return immortal.get() == 3 && immortal_text.get().size() == 100'000U ? 0 : 2;
    }
    return answer();
  });

  if (mode == "twice") return manta::run(argc, argv, [] { return 0; });
  if (mine) MPI_Finalize();
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) return 4;  // manta::run initialised it
  return code;
}
