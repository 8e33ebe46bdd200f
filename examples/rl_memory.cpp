// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A policy that has to remember: which way to turn at the end is said at the beginning. An LSTM learns it; a network
// without a memory guesses.
//
//   scripts/run rl_memory -n 2
//
// Expected output:
//   right turns: 1 with an LSTM, 0.5 or so without
#include <manta/rl.hpp>

#include <array>
#include <iostream>

namespace rl = manta::rl;

// [signpost]
struct signpost {
  int length = 6, way = 0, at = 0;

  static rl::box observation_space() {
    return {{-1.f, 0.f}, {1.f, 1.f}};
  }  // the signpost, and whether this is the fork
  static rl::discrete action_space() { return {2}; }
  std::array<float, 2> reset(rl::random& random) {
    way = random.index(2);
    at = 0;
    return {way == 0 ? -1.f : 1.f, 0};
  }
  rl::step<std::array<float, 2>> step(int action) {
    if (at == length) return {{0, 0}, action == way ? 1.0 : 0.0, true};
    ++at;
    return {{0, at == length ? 1.f : 0.f}};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(length, way, at);
  }
};
// [end]

/// The part of right turns after some training.
double right_turns(const rl::model_options& model) {
  rl::ppo algorithm(rl::environment<signpost>(),
                    {.workers = 2, .seed = 1, .fragment = 64, .rate = 3e-3, .model = model});
  for (int i = 0; i < 30; ++i) algorithm.train();
  return algorithm.evaluate(200).mean_return;
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [memory]
    const double with = right_turns({.hidden = {16}, .lstm = {16}}), without = right_turns({.hidden = {16}});
    // [end]
    std::cout << "right turns: " << with << " with an LSTM, " << without << " without\n";
    return with > 0.95 && without < 0.7 ? 0 : 1;
  });
}
