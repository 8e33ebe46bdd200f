// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A team whose values are learnt together: in a game of two steps, in which the best return needs both to dare the same,
// QMIX finds it although both act by chance all the time. Who learns alone takes what is safe.
//
//   scripts/run rl_team -n 4
//
// Expected output:
//   alone: 7; a sum of values: 7; QMIX: 8
//   at the table of the 8, "second" plays 1
#include <manta/rl/multi.hpp>
#include <manta/rl/qmix.hpp>

#include <array>
#include <iostream>
#include <utility>

namespace rl = manta::rl;

// [game]
struct
    two_step {  // the first seat chooses a table: at one both get 7; at the other one 8 where both choose 1, else less
  int state = 0;

  static rl::seats seats() {
    return {{"first", rl::discrete{3}, rl::discrete{2}}, {"second", rl::discrete{3}, rl::discrete{2}}};
  }
  void reset(rl::random&, rl::table& t) {
    state = 0;
    show(t);
  }
  void step(rl::table& t) {
    if (state == 0) {
      state = 1 + t.action(0);
      return show(t);
    }
    const int both = t.action(0) + t.action(1);
    t.reward_all(state == 1 ? 7 : both == 0 ? 0 : both == 2 ? 8 : 1);
    t.end();
  }
  void show(rl::table& t) const {
    t.see(0, state);
    t.see(1, state);
    t.state(std::array{state == 0, state == 1, state == 2});  // what the mixing network reads
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(state);
  }
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [team]
    const auto game = rl::environment<two_step>();
    const auto learn = [&](rl::mixing how) {
      rl::qmix algorithm(game, {.workers = 2,
                                .seed = 1,
                                .rate = 3e-3,
                                .steps_per_update = 4,
                                .learning_starts = 200,
                                .follow = 0.02,
                                .epsilon = 1,  // all actions of the training are drawn
                                .mixing = how,
                                .model = {.hidden = {32}}});
      while (algorithm.train().steps < 6'000) {
      }
      return std::pair(algorithm.evaluate(10).mean_return, algorithm.trained("second"));
    };
    const double alone = learn(rl::mixing::none).first, summed = learn(rl::mixing::sum).first;  // sum: as rl::vdn
    auto [mixed, policy] = learn(rl::mixing::monotone);
    // [end]
    std::cout << "alone: " << alone << "; a sum of values: " << summed << "; QMIX: " << mixed << '\n';
    // [seat]
    const int action = policy.act(2);  // what its own seat sees
    // [end]
    std::cout << "at the table of the 8, \"second\" plays " << action << '\n';
    return mixed == 8 && alone == 7 && action == 1 ? 0 : 1;
  });
}
