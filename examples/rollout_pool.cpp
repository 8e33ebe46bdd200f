// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A pool of actors: four simulators play episodes of very different lengths.
// Each gets its next policy when it has finished the one before, so none waits
// for the slowest; the driver learns from each result as it ends.
//
//   scripts/run rollout_pool -n 4        or        manta-run -n 4 ./rollout_pool
//
// Expected output:
//   best of 40 policies: 0.0100 with 4000 steps
#include <manta/manta.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

/// A pole on a cart, pushed against its fall with a force in proportion to its angle.
class simulator {
 public:
  explicit simulator(int limit) : limit_(limit) {}

  struct episode {
    double gain = 0;
    int steps = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(gain, steps);
    }
  };
  episode play(double gain) {
    double angle = 0.1, speed = 0;
    int steps = 0;
    for (; steps < limit_ && std::abs(angle) < 0.5; ++steps) {
      speed += 0.01 * angle - gain * angle - 0.02 * speed;
      angle += speed;
    }
    return {gain, steps};
  }

 private:
  int limit_;
};

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [pool]
    manta::actor_pool<simulator> pool(4, 4000);  // four simulators, each made with limit 4000
    // [end]
    std::vector<double> gains;
    for (int i = 0; i < 40; ++i) gains.push_back(0.0005 * i);

    simulator::episode best;
    int played = 0;
    // [map]
    for (auto& f : pool.map_unordered<&simulator::play>(gains)) {  // each as it ends
      const simulator::episode& e = f.get();
      ++played;
      if (e.steps > best.steps || (e.steps == best.steps && e.gain < best.gain)) best = e;
    }
    // [end]
    std::printf("best of %d policies: %.4f with %d steps\n", played, best.gain, best.steps);

    int ended = 0;
    const auto learn = [&ended](const simulator::episode& e) { ended += e.steps == 4000; };
    // [more]
    auto all = pool.map<&simulator::play>(gains);         // a vector of futures, in the order of the elements
    auto one = pool.submit<&simulator::play>(best.gain);  // to the actor with the fewest calls under way
    auto calls = pool.calls<&simulator::play>();          // work that comes bit by bit
    for (int i = 0; i < 3; ++i) calls.submit(best.gain);
    while (calls.has_next()) learn(calls.next().get());  // the one that ended first
    // [end]

    const auto serial = simulator(4000).play(best.gain);  // the same, right here
    const bool right = all.size() == 40 && all[20].get().steps == best.steps && one.get().steps == 4000 && ended == 3;
    return right && played == 40 && best.steps == 4000 && serial.steps == 4000 ? 0 : 1;
  });
}
