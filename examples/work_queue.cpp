// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A queue between tasks: readers push batches of samples, workers on any ranks
// pop them when they have time, each as many as it manages. At most eight
// batches wait at a time; who would push a ninth waits. When all readers are
// done the queue is closed, and the workers end once it is drained.
//
//   scripts/run work_queue -n 4        or        mpirun -n 4 ./work_queue
//
// Expected output (who gets how many varies):
//   worker 0: 21 batches
//   ...
//   60 batches of 1000 samples, mean 0.500
#include <manta/manta.hpp>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

using batch = std::vector<double>;

void load(manta::queue<batch> out, int batches) {
  std::mt19937_64 random(manta::this_task::seed());
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int b = 0; b < batches; ++b) {
    batch samples(1000);
    for (double& x : samples) x = uniform(random);
    out.push(std::move(samples));
  }
}

struct tally {
  int batches = 0;
  double sum = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(batches, sum);
  }
};

tally work(manta::queue<batch> in) {
  tally mine;
  while (const auto samples = in.next()) {  // nothing once the queue is closed and drained
    ++mine.batches;
    for (const double x : *samples) mine.sum += x;
  }
  return mine;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    manta::queue<batch> q(8);
    std::vector<manta::future<tally>> workers;
    std::vector<manta::future<void>> readers;
    for (int i = 0; i < 4; ++i) workers.push_back(manta::async<work>(q));
    for (int i = 0; i < 3; ++i) readers.push_back(manta::async<load>(q, 20));
    manta::get(readers);
    q.close();
    tally all;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const tally& t = workers[i].get();
      std::printf("worker %zu: %d batches\n", i, t.batches);
      all.batches += t.batches;
      all.sum += t.sum;
    }
    const double mean = all.sum / (1000.0 * all.batches);
    std::printf("%d batches of 1000 samples, mean %.3f\n", all.batches, mean);
    return all.batches == 60 && std::abs(mean - 0.5) < 0.01 ? 0 : 1;
  });
}
