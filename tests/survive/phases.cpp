// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Deaths in programs that have MPI of their own, and what follows manta::run after a death: one case a start, by name.
// Each case ends on the last rank, in one of several ways, while the other ranks wait for it in MPI.
//
//   phases CASE [FILE]
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <manta/manta.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

int square(int k) { return k * k; }
int process() { return ::getpid(); }
int die(int attempt) {
  if (manta::this_task::attempt() < attempt) std::raise(SIGSEGV);
  return 0;
}

void end_by(const std::string& how) {
  if (how == "crash") std::raise(SIGSEGV);
  if (how == "exit_3") std::exit(3);
  if (how == "exit_0") std::exit(0);
  if (how == "abort") MPI_Abort(MPI_COMM_WORLD, 9);
}

/// `when`: the phase of the program in which the last rank ends.
int own_phase(const std::string& when, const std::string& how) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto phase = [&](const char* name) {
    if (when == name && rank == size - 1) end_by(how);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  {
    manta::runtime rt(MPI_COMM_WORLD);
    phase("before");
    rt.run([] { return manta::async<square>(3).get(); });
    phase("between");
    rt.run([] { return manta::async<square>(4).get(); });
  }
  phase("after");
  MPI_Finalize();
  return 0;
}

/// A task crashes: the run is completed, and says on every rank that the program cannot go on. The status is the number
/// of ranks that heard of it.
int lost() {
  manta::runtime rt(MPI_COMM_WORLD);
  try {
    rt.run([] { return manta::async<die>({.retries = 2}, 1).get(); });
  } catch (const manta::rank_lost& e) {
    std::printf("lost: %s\n", e.what());
    std::fflush(stdout);
    std::_Exit(5);
  }
  return 0;
}

/// The program handles deaths: in a run, and between two.
int handled() {
  manta::runtime rt(MPI_COMM_WORLD, {.handles_deaths = true});
  if (rt.run([] { return manta::async<die>({.retries = 2}, 1).get(); }) != 0) return 1;
  const std::vector<int> first = rt.deaths();
  if (first.empty()) return 2;  // another rank may have killed itself already
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int second = first[0] == size - 1 ? size - 2 : size - 1;
  if (rank == second) std::raise(SIGKILL);
  while (rt.deaths().size() < 2) ::usleep(10'000);  // every rank hears of it, without a run
  if (rt.run([] { return manta::async<square>(5).get(); }) != 25) return 3;
  std::printf("handled %zu\n", rt.deaths().size());
  std::fflush(stdout);
  return 0;
}
/// After a death, a second runtime on the same ranks is refused, and one on those that are left works.
int again() {
  {
    manta::runtime rt(MPI_COMM_WORLD, {.handles_deaths = true});
    rt.run([] { return manta::async<die>({.retries = 2}, 1).get(); });
  }
  try {
    manta::runtime second(MPI_COMM_WORLD);
    return 2;
  } catch (const manta::error& e) {
    std::printf("again: %s\n", e.what());
  }
  manta::runtime alone(MPI_COMM_SELF);
  std::printf("alone: %d\n", alone.run([] { return manta::async<square>(6).get(); }));
  std::fflush(stdout);
  return 0;
}
/// MPI_Finalize would wait for the dead: it ends the process.
int finalized() {
  if (const int wrong = handled(); wrong != 0) return wrong;
  MPI_Finalize();
  return 4;
}

int kill_a_rank() {
  ::kill(manta::async<process>({.rank = manta::size() - 1}).get(), SIGKILL);
  while (manta::async<square>(7).get() != 49 || manta::capacity().back().runs_tasks) {
  }
  return 0;
}

int rest() {
  ::usleep(50'000);
  return 1;
}
/// A run of two seconds, during which all processes are stopped for a while.
int slow() {
  manta::runtime rt(MPI_COMM_WORLD);
  const int sum = rt.run([] {
    std::puts("started");
    std::fflush(stdout);
    int done = 0;
    for (int i = 0; i < 40; ++i) done += manta::async<rest>().get();
    return done;
  });
  MPI_Finalize();
  return sum == 40 ? 0 : 1;
}

std::string path;
void append(const char* line) { std::ofstream(path, std::ios::app) << line; }
struct at_exit {
  bool is_root = false;
  ~at_exit() {
    if (is_root) append("static destructor\n");
  }
} root;

/// What follows manta::run runs as without a death.
int after_run(int argc, char** argv) {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  root.is_root = rank == nullptr || rank[0] == '0';
  if (root.is_root) std::atexit([] { append("atexit\n"); });
  std::ofstream out;
  if (root.is_root) out.open(path, std::ios::app);
  const int status = manta::run(argc, argv, [&] {
    kill_a_rank();
    out << "driver\n";
    return 0;
  });
  out << "main\n";
  return status;
}

// --- deaths at the very end: SIGKILL just before a call of the C library or of MPI

std::string dies_at;     // this rank, before its next call of that name
int dies_at_rename = 0;  // another process, after this rank's next call of rename
int prepare(const std::string& call) {
  dies_at = call;
  return ::getpid();
}
void come_to(const char* call) {
  if (dies_at == call) std::raise(SIGKILL);
}

/// Rank 0 has written the run's files when the last rank dies, and then sends all ranks the driver's value.
int after_files() {
  ::setenv("MANTA_TRACE", path.c_str(), 1);
  manta::runtime rt(MPI_COMM_WORLD, {.handles_deaths = true});
  const std::vector<int> much = rt.run([] {
    dies_at_rename = manta::async<prepare>({.rank = manta::size() - 1}, std::string()).get();
    return std::vector<int>(1'000'000, 7);
  });
  return much.size() == 1'000'000 && much.back() == 7 ? 0 : 1;
}

/// The last rank dies when all have left the run.
int end_of(int argc, char** argv, const std::string& call) {
  const int status = manta::run(argc, argv, [&] {
    manta::async<prepare>({.rank = manta::size() - 1}, call).get();
    return 0;
  });
  come_to("main");
  return status;
}

}  // namespace

extern "C" int rename(const char* from, const char* to) noexcept {
  const int result = static_cast<int>(::syscall(SYS_rename, from, to));
  if (dies_at_rename != 0) {
    ::kill(dies_at_rename, SIGKILL);
    ::usleep(100'000);
  }
  return result;
}
extern "C" int MPI_Barrier(MPI_Comm comm) {
  come_to("barrier");
  return PMPI_Barrier(comm);
}
extern "C" int MPI_Finalize() {
  come_to("finalize");
  return PMPI_Finalize();
}

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (argc > 2) path = argv[2];
  const std::size_t colon = name.find(':');
  const std::string when = name.substr(0, colon), how = name.substr(colon + 1);
  if (name == "after_run") return after_run(argc, argv);
  if (when == "end") return end_of(argc, argv, how);
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  if (name == "slow") return slow();
  if (name == "lost") return lost();
  if (name == "after_files") return after_files();
  if (name == "handled") return handled();
  if (name == "again") return again();
  if (name == "finalize") return finalized();
  if (name == "own_init") return manta::run(argc, argv, [] { return kill_a_rank() + 7; }) == 7 ? 1 : 2;
  return own_phase(when, how);
}
