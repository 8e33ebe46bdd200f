// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An environment of one's own: a corridor of ten steps, at whose right end the reward is. DQN finds it.
//
//   scripts/run rl_corridor -n 2
//
// Expected output:
//   the way takes 10 steps, the return is 0.1
#include <manta/rl.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <utility>

namespace rl = manta::rl;

// [corridor]
struct corridor {
  int length = 10, at = 0;

  rl::box observation_space() const { return {{0.f}, {static_cast<float>(length)}}; }
  static rl::discrete action_space() { return {2}; }
  Eigen::VectorXf reset(rl::random&) {
    at = 0;
    return Eigen::VectorXf::Zero(1);
  }
  rl::step<Eigen::VectorXf> step(int action) {
    at = std::max(0, at + (action == 1 ? 1 : -1));
    return {.observation = Eigen::VectorXf::Constant(1, static_cast<float>(at)),
            .reward = at == length ? 1 : -0.1,
            .terminated = at == length};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(length, at);
  }
};
// [end]

// [steps_back]
struct steps_back {
  double count = 0;
  void on_step(const rl::seen_step& s) { count += s.action[0] == 0; }
  std::map<std::string, double> on_episode() { return {{"steps_back", std::exchange(count, 0)}}; }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(count);
  }
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [dqn]
    rl::check<corridor>(10);  // says what is wrong with the class, if anything is
    const auto environment = rl::environment<corridor>(10).with_time_limit(200);
    rl::dqn algorithm(environment, {.workers = 2, .learning_starts = 500, .exploration_steps = 3000});
    for (int i = 0; i < 30; ++i) algorithm.train();
    const rl::report r = algorithm.evaluate(10);
    const int right = algorithm.act(Eigen::VectorXf::Zero(1));
    // [end]
    // [callbacks]
    rl::ppo observed(rl::callbacks<steps_back>(environment), {.fragment = 64});
    observed.on_episode([](const rl::episode& e) {
      if (e.length > 190) std::cout << "a long episode\n";
    });
    const double back = observed.train().figures.at("steps_back");  // of an episode, in the mean
    // [end]
    std::cout << "the way takes " << r.mean_length << " steps, the return is " << r.mean_return << '\n';
    return r.mean_length == 10 && right == 1 && back > 0 ? 0 : 1;
  });
}
