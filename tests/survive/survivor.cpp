// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A program whose ranks are killed while it runs: random graphs
// (../support/random_graph.hpp) for some time, and beside them actors that are
// made again from their checkpoints, and tasks that end their ranks. Every future ends with the right outcome
// or with an error that names a death; rank 0 prints how many of each, and
// exits with 1 if there was anything else.
//
//   survivor SEED SECONDS
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
/// Ends its rank at the first attempts, in one of the ways that there are; not rank 0, should that be the last one.
int mischief(int how, int attempts) {
  if (manta::rank() == 0 || manta::this_task::attempt() >= attempts) return 1;
  switch (how % 5) {
    case 0: std::exit(0);
    case 1: ::_exit(3);
    case 2: ::raise(SIGKILL); break;
    case 3: std::abort();
    default: break;
  }
  ::signal(SIGSEGV, OMPI_MAJOR_VERSION < 5 ? as_petsc_does : SIG_DFL);
  ::raise(SIGSEGV);
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

}  // namespace

int main(int argc, char** argv) {
  const u64 first = argc > 1 ? std::stoull(argv[1]) : 1;
  const std::chrono::duration<double> length(argc > 2 ? std::stod(argv[2]) : 1);
  return manta::run(argc, argv, [=] {
    std::puts("started");
    std::fflush(stdout);
    const auto end = std::chrono::steady_clock::now() + length;
    verdict all;
    std::mt19937_64 random(first);
    std::vector<manta::actor<counter>> counters;
    for (int i = 1; i < 3; ++i) counters.push_back(manta::spawn<counter>({.restarts = 100, .checkpoint_every = i}));
    for (u64 seed = first; seed == first || std::chrono::steady_clock::now() < end; ++seed) {
      const auto graph = draw_graph(seed);
      const auto expected = evaluate(graph);
      const verdict one = builder(graph, expected, seed, true).run();
      all.right += one.right;
      all.lost += one.lost;
      for (const std::string& text : one.wrong) all.wrong.push_back("graph " + std::to_string(seed) + ": " + text);
      make_mischief(random, all);
      for (const auto& a : counters) count_on(a, static_cast<number>(10 * (seed - first + 1)), all);
    }
    for (const std::string& text : all.wrong) std::printf("%s\n", text.c_str());
    std::printf("right %zu, lost %zu, wrong %zu\n", all.right, all.lost, all.wrong.size());
    return all.wrong.empty() ? 0 : 1;
  });
}
