// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Resources: tasks ask for cores, devices and named amounts, and for a place. A
// learner that holds a device, and simulators that hold cores, are reserved
// together, so that neither waits for the other. Cores and devices are made up
// here (`.cpus = 4, .gpus = 2` on each rank); without that line manta counts those
// that are visible. 11_resources.md walks through it.
//
//   scripts/run 11_resources -n 4        or        manta-run -n 4 ./11_resources
//
// Expected output, with ranks and devices as they come:
//   rank 3 offers 4 cores and 2 devices
//   half a share of device 0
//   near: it has ended: it ran on rank 1: ...
//   the learner has device 0 on rank 1
//   12 episodes, mean reward 5.50
//   everything is free again
#include <manta/manta.hpp>

#include <cereal/types/vector.hpp>

#include <cstdio>
#include <numeric>
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

// [devices]
int device_of_half_a_share() { return manta::this_task::gpu_ids().at(0); }
// [end]

std::vector<double> grid(int points) { return std::vector<double>(static_cast<std::size_t>(points), 1.0); }
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// [free]
double free_gpus() {
  double sum = 0;
  for (const manta::rank_resources& r : manta::available()) sum += r.gpus;
  return sum;
}
// [end]

int main(int argc, char** argv) {
  // [run]
  return manta::run(argc, argv, {.resources = {{"licence", 1}}, .cpus = 4, .gpus = 2}, [] {
    // [end]
    const manta::rank_resources last = manta::capacity().back();
    std::printf("rank %d offers %d cores and %g devices\n", last.rank, last.cpus, last.gpus);

    // [ask]
    auto trained = manta::async<grid>({.cpus = 4, .gpus = 1}, 100'000);           // one device is held, threads are set
    auto half = manta::async<device_of_half_a_share>({.gpus = 0.5});              // two such tasks share a device
    auto scored = manta::async<mean>({.near = trained, .priority = 5}, trained);  // where the value lies
    auto licensed = manta::async<simulate>({.resources = {{"licence", 1}}}, 7);   // one at a time on each rank
    // [end]
    std::printf("half a share of device %d\n", half.get());
    bool right = scored.get() == 1 && licensed.get() == 7;
    // [explain]
    std::printf("near: %s\n", manta::explain(scored).c_str());
    // [end]

    const double before = free_gpus();
    {
      // [reserve]
      const auto r = manta::reserve({.bundles = {{.gpus = 1}, {.cpus = 2}}, .strategy = manta::pack});
      const auto l = manta::spawn<learner>({.gpus = 1, .in = r, .bundle = 0});  // starts when all bundles are held
      // [end]
      std::printf("the learner has device %d on rank %d\n", manta::async<&learner::device>(l).get(),
                  manta::async<&learner::rank>(l).get());

      std::vector<manta::future<void>> learned;
      for (int episode = 0; episode < 12; ++episode) {
        // [simulate]
        const auto reward = manta::async<simulate>({.cpus = 2, .in = r, .bundle = 1}, episode);
        learned.push_back(manta::async<&learner::learn>(l, reward));
        // [end]
      }
      manta::get(learned);
      const double mean = manta::async<&learner::mean>(l).get();
      std::printf("12 episodes, mean reward %.2f\n", mean);
      right = right && mean == 5.5 && free_gpus() == before - 1;
    }  // the last handles of the actor and of the reservation
    while (free_gpus() != before) {
    }
    std::printf("everything is free again\n");
    return right ? 0 : 1;
  });
}
