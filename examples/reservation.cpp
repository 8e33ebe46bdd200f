// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Resources: a learner that holds a device, and simulators that hold cores, are
// reserved together, so that never one of them waits for the other. Devices are
// made up here (`gpus = 2` on each rank); without that line manta counts those
// that are visible.
//
//   scripts/run reservation -n 4        or        mpirun -n 4 ./reservation
//
// Expected output, with the rank and the device as they come:
//   the learner has device 0 on rank 1
//   12 episodes, mean reward 5.50
//   everything is free again
#include <manta/manta.hpp>

#include <cereal/types/vector.hpp>

#include <cstdio>
#include <vector>

class learner {
 public:
  void learn(double reward) {
    sum_ += reward;
    ++count_;
  }
  double mean() const { return sum_ / count_; }
  int device() const { return manta::this_task::gpu_ids().at(0); }
  int rank() const { return manta::rank(); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

double simulate(int episode) { return episode; }

double free_gpus() {
  double sum = 0;
  for (const manta::rank_resources& r : manta::available()) sum += r.gpus;
  return sum;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, {.cpus = 4, .gpus = 2}, [] {
    const double before = free_gpus();
    bool right = false;
    {
      const auto r = manta::reserve({.bundles = {{.gpus = 1}, {.cpus = 2}}, .strategy = manta::pack});
      const auto l = manta::spawn<learner>({.gpus = 1, .in = r, .bundle = 0});
      std::printf("the learner has device %d on rank %d\n", manta::async<&learner::device>(l).get(),
                  manta::async<&learner::rank>(l).get());

      std::vector<manta::future<void>> learned;
      for (int episode = 0; episode < 12; ++episode) {
        const auto reward = manta::async<simulate>({.cpus = 2, .in = r, .bundle = 1}, episode);
        learned.push_back(manta::async<&learner::learn>(l, reward));
      }
      manta::get(learned);
      const double mean = manta::async<&learner::mean>(l).get();
      std::printf("12 episodes, mean reward %.2f\n", mean);
      right = mean == 5.5 && free_gpus() == before - 1;
    }  // the last handles of the actor and of the reservation
    while (free_gpus() != before) {
    }
    std::printf("everything is free again\n");
    return right ? 0 : 1;
  });
}
