// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A rank dies, and the program goes on: its tasks run elsewhere, its actor comes
// back from the last checkpoint. With --kill the program kills one of its own
// ranks to show it. 15_survive.md walks through it.
//
//   scripts/run 15_survive -n 4 -- --kill        or        manta-run -n 4 ./15_survive --kill
//
// Expected output:
//   24 blocks were begun, the counter says 9
//   rank R is killed
//   24 blocks: pi is about 3.14
//   the counter still says 9
#include <manta/manta.hpp>

#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string_view>
#include <vector>

constexpr int points = 1'000'000;

/// How many random points of the unit square lie in the circle. The seed follows from the task's place in the program,
/// so the same task gives the same number wherever it runs, and however often.
int block() {
  std::mt19937_64 random(manta::this_task::seed());
  std::uniform_real_distribution<double> uniform;
  int inside = 0;
  for (int i = 0; i < points; ++i) inside += std::hypot(uniform(random), uniform(random)) < 1;
  return inside;
}

// [counter]
class counter {
 public:
  void add(int n) { sum_ += n; }
  int sum() const { return sum_; }
  int rank() const { return manta::rank(); }
  int process() const { return getpid(); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(sum_);
  }

 private:
  int sum_ = 0;
};
// [end]

// [again]
/// A call that is lost with the actor's rank is made again, and reaches the actor at its new place.
int sum_of(const manta::actor<counter>& c) { return manta::async<&counter::sum>({.retries = 3}, c).get(); }
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [argc, argv] {
    const bool kill_one = argc > 1 && std::string_view(argv[1]) == "--kill" && manta::size() > 1;
    // [start]
    auto c = manta::spawn<counter>({.restarts = 3, .checkpoint_every = 1});
    std::vector<manta::future<int>> blocks;
    for (int i = 0; i < 24; ++i) blocks.push_back(manta::async<block>({.journaled = true}));
    for (int i = 0; i < 9; ++i) manta::async<&counter::add>(c, 1).get();
    // [end]
    std::printf("%zu blocks were begun, the counter says %d\n", blocks.size(), sum_of(c));

    if (kill_one) {
      const int rank = manta::async<&counter::rank>(c).get(), process = manta::async<&counter::process>(c).get();
      std::printf("rank %d is killed\n", rank);
      std::fflush(stdout);
      if (rank != 0) kill(process, SIGKILL);
    }

    // [go_on]
    double inside = 0;
    for (const int n : manta::get(blocks)) inside += n;  // also those that the dead rank had
    const int counted = sum_of(c);
    // [end]
    const double pi = 4 * inside / (points * static_cast<double>(blocks.size()));
    std::printf("%zu blocks: pi is about %.2f\n", blocks.size(), pi);
    std::printf("the counter still says %d\n", counted);
    return std::abs(pi - 3.14159) < 0.002 && counted == 9 ? 0 : 1;
  });
}
