// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A program whose ranks are killed while it runs: random graphs
// (../support/random_graph.hpp) for some time, and beside them actors that are
// made again from their checkpoints, and tasks that end their ranks. Every future ends with the right outcome
// or with an error that names a death; rank 0 prints how many of each, and
// exits with 1 if there was anything else.
//
// With a third word, its ranks die in the program's own MPI phases too, or it is one of several jobs that share a journal.
//
//   survivor SEED SECONDS
//   survivor SEED SECONDS phases      graphs in the calls of runtime::run, and barriers between these
//   survivor NUMBER SECONDS beside    an actor whose name the other jobs have too, and whose argument is NUMBER
#define DOCTEST_CONFIG_DISABLE  // its support is used, but this is no test case
#include "../support/random_graph.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>

namespace {

using namespace manta::testing::random_graph;

struct counter {
  number value = 0;
  list ballast = list(5'000);  // checkpoints that take several messages
  number add(number x) { return value += x; }
  template <class Archive>
  void serialize(Archive& a) {
    a(value, ballast);
  }
};

/// A call that is under way fails when the rank dies, later ones do not. What it was told since its checkpoint is forgotten.
void count_on(const manta::actor<counter>& a, number most, verdict& all) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    try {
      if (manta::async<&counter::add>(a, number{1}).get() > most) all.wrong.push_back("an actor counts too much");
      return;
    } catch (const manta::actor_died& e) {
      if (attempt == 9) all.wrong.push_back(e.what());
    }
  }
}

void as_petsc_does(int) { MPI_Abort(MPI_COMM_WORLD, 59); }
/// Ends this process in one of five ways.
void end_by(int how) {
  switch (how % 5) {
    case 0: std::exit(0);
    case 1: ::_exit(3);
    case 2: ::raise(SIGKILL); break;
    case 3: std::abort();
    default: break;
  }
  ::signal(SIGSEGV, OMPI_MAJOR_VERSION < 5 ? as_petsc_does : SIG_DFL);
  ::raise(SIGSEGV);
}
/// Ends its rank at the first attempts; not rank 0, should that be the last one.
int mischief(int how, int attempts) {
  if (manta::rank() == 0 || manta::this_task::attempt() >= attempts) return 1;
  end_by(how);
  return 0;
}
/// As long as there are ranks to spare; the future ends, with its value or with the error that says what it has done.
void make_mischief(std::mt19937_64& random, verdict& all) {
  int workers = 0;
  for (const auto& c : manta::capacity()) workers += c.runs_tasks && c.node >= 0;
  if (workers < 3 || random() % 2 != 0) return;
  const int retries = static_cast<int>(random() % 2);
  try {
    if (manta::async<mischief>({.retries = retries}, static_cast<int>(random() % 5), 1).get() != 1)
      all.wrong.push_back("mischief returned");
  } catch (const manta::rank_lost&) {
  } catch (const manta::error& e) {
    all.wrong.push_back("mischief: " + std::string(e.what()));
  }
}

void started() {
  std::puts("started");
  std::fflush(stdout);
}

void run_graph(u64 seed, verdict& all) {
  const auto graph = draw_graph(seed);
  const auto expected = evaluate(graph);
  const verdict one = builder(graph, expected, seed, true).run();
  all.right += one.right;
  all.lost += one.lost;
  for (const std::string& text : one.wrong) all.wrong.push_back("graph " + std::to_string(seed) + ": " + text);
}

/// Prints the verdict; returns the status of the program.
int tell(const verdict& all) {
  for (const std::string& text : all.wrong) std::printf("%s\n", text.c_str());
  std::printf("right %zu, lost %zu, wrong %zu\n", all.right, all.lost, all.wrong.size());
  std::fflush(stdout);
  return all.wrong.empty() ? 0 : 1;
}

int graphs(u64 first, std::chrono::duration<double> length) {
  const auto end = std::chrono::steady_clock::now() + length;
  verdict all;
  std::mt19937_64 random(first);
  std::vector<manta::actor<counter>> counters;
  for (int i = 1; i < 3; ++i) counters.push_back(manta::spawn<counter>({.restarts = 100, .checkpoint_every = i}));
  for (u64 seed = first; seed == first || std::chrono::steady_clock::now() < end; ++seed) {
    run_graph(seed, all);
    make_mischief(random, all);
    for (const auto& a : counters) count_on(a, static_cast<number>(10 * (seed - first + 1)), all);
  }
  return tell(all);
}

/// A run, then the program's own MPI for a while, again and again; one rank ends by itself in such a phase. Status 5: a
/// rank has died in a run, and the run said so; 0: nobody has died.
int phases(int argc, char** argv, u64 seed, std::chrono::duration<double> length) {
  int level = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::mt19937_64 random(seed);
  const int victim = static_cast<int>(random() % static_cast<u64>(size)), how = static_cast<int>(random() % 6);
  const u64 when = seed + 1 + random() % 4;
  const auto end = std::chrono::steady_clock::now() + length;
  try {
    manta::runtime rt(MPI_COMM_WORLD);
    if (rank == 0) started();
    for (int go_on = 1; go_on != 0; ++seed) {
      const int status = rt.run([seed] {
        verdict all;
        run_graph(seed, all);
        return tell(all);
      });
      if (status != 0) return status;
      if (seed == when && rank == victim && how < 5) {
        std::printf("ends by %d\n", how);
        std::fflush(stdout);
        end_by(how);
      }
      for (int i = 0; i < 20; ++i) MPI_Barrier(MPI_COMM_WORLD), ::usleep(2'000);
      go_on = std::chrono::steady_clock::now() < end;
      MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
  } catch (const manta::rank_lost& e) {
    std::printf("rank_lost: %s\n", e.what());
    std::fflush(stdout);
    std::_Exit(5);
  }
  MPI_Finalize();
  return 0;
}

struct walker {
  walker() = default;
  explicit walker(number width) : step(width) {}
  std::vector<number> walk() { return ++steps, at += step, std::vector<number>{step, steps, at}; }
  template <class Archive>
  void serialize(Archive& a) {
    a(step, steps, at);
  }
  number step = 0, steps = 0, at = 0;
};

/// An actor that other jobs beside this one have too, made with another argument; it goes on where it was after a kill.
int beside(number width, std::chrono::duration<double> length) {
  const auto a = manta::spawn<walker>({.name = "walker", .restarts = 100, .checkpoint_every = 1}, width);
  const auto most = static_cast<number>(length.count() * 100);
  for (number steps = 0; steps < most;) {
    const std::vector<number> now = manta::async<&walker::walk>({.retries = 10}, a).get();
    if (now[0] != width || now[2] != width * now[1] || now[1] <= steps) {
      std::printf("wrong: step %lld, steps %lld after %lld, at %lld\n", static_cast<long long>(now[0]),
                  static_cast<long long>(now[1]), static_cast<long long>(steps), static_cast<long long>(now[2]));
      return 1;
    }
    steps = now[1];
    ::usleep(10'000);
  }
  std::printf("walked %lld\n", static_cast<long long>(width * most));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const u64 first = argc > 1 ? std::stoull(argv[1]) : 1;
  const std::chrono::duration<double> length(argc > 2 ? std::stod(argv[2]) : 1);
  const std::string kind = argc > 3 ? argv[3] : "";
  if (kind == "phases") return phases(argc, argv, first, length);
  return manta::run(argc, argv, [&] {
    started();
    return kind == "beside" ? beside(static_cast<number>(first), length) : graphs(first, length);
  });
}
