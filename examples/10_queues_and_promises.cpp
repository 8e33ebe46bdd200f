// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A queue between tasks: readers push batches of samples, workers on any ranks
// pop them when they have time, each as many as it manages. At most eight
// batches wait at a time; who would push a ninth waits. When all readers are
// done the queue is closed, and the workers end once it is drained. Then tasks
// meet at a barrier, an actor that keeps them waiting by promises.
// 10_queues_and_promises.md walks through it.
//
//   scripts/run 10_queues_and_promises -n 4        or        manta-run -n 4 ./10_queues_and_promises
//
// Expected output (who gets how many varies):
//   worker 0: 21 batches
//   ...
//   60 batches of 1000 samples, mean 0.500
//   3 tasks met 5 times
#include <manta/manta.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

using batch = std::vector<double>;

// [push]
void load(manta::queue<batch> out, int batches) {
  std::mt19937_64 random(manta::this_task::seed());
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int b = 0; b < batches; ++b) {
    batch samples(1000);
    for (double& x : samples) x = uniform(random);
    out.push(std::move(samples));  // waits while the queue is full
  }
}
// [end]

struct tally {
  int batches = 0;
  double sum = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(batches, sum);
  }
};

// [pop]
tally work(manta::queue<batch> in) {
  tally mine;
  while (const auto samples = in.next()) {  // nothing once the queue is closed and drained
    ++mine.batches;
    for (const double x : *samples) mine.sum += x;
  }
  return mine;
}
// [end]

// [barrier]
/// An actor that keeps its callers waiting until all have come.
class barrier {
 public:
  explicit barrier(std::size_t n) : n_(n) {}

  manta::future<int> arrive() {
    auto f = waiting_.emplace_back().get_future();
    if (waiting_.size() == n_) {
      ++round_;
      for (auto& p : std::exchange(waiting_, {})) p.set_value(round_);
    }
    return f;
  }

 private:
  std::size_t n_;
  int round_ = 0;
  std::vector<manta::promise<int>> waiting_;
};
// [end]

// [meet]
int meet(manta::actor<barrier> b, int times) {
  int round = 0;
  for (int i = 0; i < times; ++i) round = manta::async<&barrier::arrive>(b).get().get();  // until all have arrived
  return round;
}
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [queue]
    manta::queue<batch> q(8);  // at most eight values; a handle, which may be copied and sent
    std::vector<manta::future<tally>> workers;
    std::vector<manta::future<void>> readers;
    for (int i = 0; i < 4; ++i) workers.push_back(manta::async<work>(q));
    for (int i = 0; i < 3; ++i) readers.push_back(manta::async<load>(q, 20));
    manta::get(readers);
    q.close();  // the workers get what is left, then next() gives nothing
    // [end]
    tally all;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const tally& t = workers[i].get();
      std::printf("worker %zu: %d batches\n", i, t.batches);
      all.batches += t.batches;
      all.sum += t.sum;
    }
    const double mean = all.sum / (1000.0 * all.batches);
    std::printf("%d batches of 1000 samples, mean %.3f\n", all.batches, mean);

    const auto b = manta::spawn<barrier>(3U);
    const std::vector<int> rounds =
        manta::get(std::vector{manta::async<meet>(b, 5), manta::async<meet>(b, 5), manta::async<meet>(b, 5)});
    std::printf("%zu tasks met %d times\n", rounds.size(), rounds[0]);
    return rounds == std::vector{5, 5, 5} && all.batches == 60 && std::abs(mean - 0.5) < 0.01 ? 0 : 1;
  });
}
