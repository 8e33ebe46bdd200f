// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Evolution strategies with tasks and an actor alone: a pole on a cart is kept upright by four weights. Tasks try
// random changes of the weights and send back a seed and two returns, from which the learner makes the changes again.
//
//   scripts/run es_tasks -n 4
//
// Expected output, on any number of ranks:
//   iteration 0: 27.0 steps
//   ...
//   the pole stands for 500 steps after 23 iterations
#include <manta/manta.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

// [simulation]
using weights = std::array<double, 4>;

/// Steps until the pole falls, at most 500. The equations of Barto, Sutton and Anderson, 1983.
double balance(const weights& w, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::array<double, 4> s;  // the cart's place and velocity, the pole's angle and its velocity
  for (double& x : s) x = static_cast<double>(random() >> 11U) * 0x1p-53 * 0.1 - 0.05;
  for (int step = 0; step < 500; ++step) {
    double push = 0;
    for (std::size_t i = 0; i < 4; ++i) push += w[i] * s[i];
    const double force = push > 0 ? 10 : -10, sine = std::sin(s[2]), cosine = std::cos(s[2]);
    const double part = (force + 0.05 * s[3] * s[3] * sine) / 1.1;
    const double turn = (9.8 * sine - cosine * part) / (0.5 * (4.0 / 3 - 0.1 * cosine * cosine / 1.1));
    const std::array<double, 4> change = {s[1], part - 0.05 * turn * cosine / 1.1, s[3], turn};
    for (std::size_t i = 0; i < 4; ++i) s[i] += 0.02 * change[i];
    if (std::abs(s[0]) > 2.4 || std::abs(s[2]) > 0.2095) return step + 1;
  }
  return 500;
}
// [end]

// [es]
weights moved(weights w, std::uint64_t seed, double by) {
  std::mt19937_64 random(seed);
  for (double& x : w) x += by * (static_cast<double>(random() >> 11U) * 0x1p-53 - 0.5);
  return w;
}
/// A task: a change of this seed, forwards and backwards.
std::array<double, 2> attempt(const weights& w, std::uint64_t seed) {
  return {balance(moved(w, seed, 1), seed), balance(moved(w, seed, -1), seed)};
}
/// An actor: has the weights, and moves them along the changes that did better.
class learner {
 public:
  weights get() const { return w_; }
  void learn(std::uint64_t first_seed, const std::vector<std::array<double, 2>>& returns) {
    for (const auto& [forwards, backwards] : returns) w_ = moved(w_, first_seed++, (forwards - backwards) / 20000);
  }

 private:
  weights w_{};
};

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    constexpr std::uint64_t pairs = 32;
    const auto policy = manta::spawn<learner>();
    double steps = 0;  // of an episode of the iteration, in the mean
    int iteration = 0;
    for (; steps < 450 && iteration < 100; ++iteration) {
      const auto now = manta::async<&learner::get>(policy);
      const std::uint64_t first = pairs * static_cast<std::uint64_t>(iteration);
      std::vector<manta::future<std::array<double, 2>>> returns;
      for (std::uint64_t i = 0; i < pairs; ++i) returns.push_back(manta::async<attempt>(now, first + i));
      manta::async<&learner::learn>(policy, first, returns);
      steps = 0;
      for (const auto& [forwards, backwards] : manta::get(returns)) steps += (forwards + backwards) / (2 * pairs);
      if (iteration % 5 == 0) std::printf("iteration %d: %.1f steps\n", iteration, steps);
    }
    const double result = manta::async<balance>(manta::async<&learner::get>(policy), 12345).get();
    std::printf("the pole stands for %.0f steps after %d iterations\n", result, iteration);
    return result == 500 ? 0 : 1;
  });
}
// [end]
