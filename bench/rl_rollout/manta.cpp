// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Steps of CartPole on one core: a vector of environments beside a loop written by hand, in turn, with the same random
// numbers; both have to collect the same rewards. First with random actions, then with those of a network of 64 and 64.
//
//   bench_rl_rollout_manta [repetitions]
//
//   rl_steps           millions a second, random actions, 64 environments
//   rl_steps_ratio     to the loop's by hand, the median of pairs
//   rl_policy_64       millions a second with a policy, 64 environments
//   rl_policy_64_ratio
//   rl_policy_1, rl_policy_1_ratio
#include <manta/rl.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../common/measure.hpp"

namespace nn = manta::nn;
namespace rl = manta::rl;

namespace {

constexpr std::uint64_t seed = 7;

/// Chooses an action for each column, by the network's outputs, or by chance where there is no network.
struct chooser {
  nn::network<float>* net;
  rl::random numbers{seed};
  void operator()(const nn::matrix<float>& observations, nn::matrix<float>& actions) {
    if (net == nullptr) {
      for (Eigen::Index i = 0; i < actions.cols(); ++i) actions(0, i) = static_cast<float>(numbers.index(2));
      return;
    }
    const nn::matrix<float>& y = net->forward(observations);
    for (Eigen::Index i = 0; i < actions.cols(); ++i) {
      const float right = 1 / (1 + std::exp(y(0, i) - y(1, i)));
      actions(0, i) = static_cast<float>(numbers.uniform()) < right ? 1.F : 0.F;
    }
  }
};

struct run {
  double seconds = 0, rewards = 0;
};

run by_manta(int n, int steps, nn::network<float>* net) {
  rl::vector_environment v("CartPole-v1", seed, 0, n);
  v.reset();
  chooser choose{net};
  nn::matrix<float> actions(1, n);
  run r;
  const bench::stopwatch w;
  for (int t = 0; t < steps; ++t) {
    choose(v.observations(), actions);
    v.step(actions);
    for (double x : v.rewards()) r.rewards += x;
  }
  for (const rl::episode& e : v.take_episodes()) r.rewards += static_cast<double>(e.length);
  r.seconds = w.seconds();
  return r;
}

run by_hand(int n, int steps, nn::network<float>* net) {
  std::vector<rl::cart_pole> all(static_cast<std::size_t>(n));
  std::vector<std::uint64_t> episodes(all.size()), lengths(all.size());
  nn::matrix<float> observations(4, n), actions(1, n);
  const auto begin = [&](std::size_t i) {
    rl::random numbers(seed, i, episodes[i]++);
    const auto o = all[i].reset(numbers);
    std::copy(o.begin(), o.end(), observations.col(static_cast<Eigen::Index>(i)).data());
    lengths[i] = 0;
  };
  for (std::size_t i = 0; i < all.size(); ++i) begin(i);
  chooser choose{net};
  run r;
  const bench::stopwatch w;
  for (int t = 0; t < steps; ++t) {
    choose(observations, actions);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto column = static_cast<Eigen::Index>(i);
      const auto s = all[i].step(static_cast<int>(actions(0, column)));
      r.rewards += s.reward;
      if (s.terminated || ++lengths[i] == 500) {
        r.rewards += static_cast<double>(lengths[i] + (s.terminated ? 1 : 0));
        begin(i);
      } else {
        std::copy(s.observation.begin(), s.observation.end(), observations.col(column).data());
      }
    }
  }
  r.seconds = w.seconds();
  return r;
}

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2));
  return v[v.size() / 2];
}

bool compare(const std::string& figure, int n, int steps, nn::network<float>* net, int repetitions) {
  std::vector<double> speeds, ratios;
  for (int i = -1; i < repetitions; ++i) {
    const run a = by_manta(n, steps, net), b = by_hand(n, steps, net);
    if (a.rewards != b.rewards) return false;
    if (i < 0) continue;
    speeds.push_back(bench::million_per_second(n * steps, a.seconds));
    ratios.push_back(b.seconds / a.seconds);
  }
  bench::report(figure.c_str(), "manta", median(speeds), "M/s");
  bench::report((figure + "_ratio").c_str(), "manta", median(ratios), "x");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = bench::repetitions(argc, argv);
  nn::network<float> net(nn::shape{4}, nn::linear(64), nn::tanh(), nn::linear(64), nn::tanh(), nn::linear(2));
  net.initialise(1);
  if (!compare("rl_steps", 64, 20000, nullptr, repetitions) || !compare("rl_policy_64", 64, 4000, &net, repetitions) ||
      !compare("rl_policy_1", 1, 50000, &net, repetitions))
    return bench::failed("rl_rollout", "the loop by hand got other rewards");
}
