// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A game of one's own: two seats take one, two or three stones in turn, and who takes the last one wins. AlphaZero
// learns to leave a multiple of four.
//
//   scripts/run rl_games -n 2
//
// Expected output:
//   200 games: 200 won, 0 drawn, 0 lost; score 1 (0.981 to 1)
//   of 9 heaps that can be won, 9 are played right by the network alone
#include <manta/rl/alpha_zero.hpp>

#include <algorithm>
#include <array>
#include <iostream>

namespace rl = manta::rl;

// [stones]
struct stones {
  int heap = 12, turn = 0;

  static rl::seats seats() { return {2, rl::discrete{13}, rl::discrete{3, 1}}; }  // actions 1, 2 and 3
  void reset(rl::random&, rl::table& t) {
    heap = 12;
    turn = 0;
    show(t);
  }
  void step(rl::table& t) {
    heap -= t.action(turn);
    if (heap == 0) {
      t.reward(turn, 1);
      t.reward(1 - turn, -1);
      return t.end();
    }
    turn = 1 - turn;
    show(t);
  }
  void show(rl::table& t) const {
    t.see(turn, heap);  // who sees something acts next
    t.allow(turn, std::array{true, heap >= 2, heap >= 3});
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(heap, turn);
  }
};
// [end]

// [greedy]
struct greedy : rl::seat_player {  // takes as many as it can
  void act(const rl::live_game& now, int seat, rl::random&, std::span<float> action) override {
    action[0] = static_cast<float>(std::ranges::count(now.mask(seat), 1));
  }
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [train]
    rl::check<stones>();  // says what is wrong with the class, if anything is
    const auto game = rl::environment<stones>();
    rl::alpha_zero algorithm(game,
                             {.workers = 2, .seed = 1, .games = 64, .simulations = 16, .model = {.hidden = {32}}});
    for (int i = 0; i < 30; ++i) algorithm.train();

    const rl::match m = rl::play(game, algorithm.trained(16), rl::own<greedy>(), 200);  // each begins half of the games
    rl::trained_policy network = algorithm.trained();                                   // without a search
    // [end]
    int right = 0;
    for (int heap = 1; heap <= 12; ++heap) {
      const int action = network.act(heap, std::array{true, heap >= 2, heap >= 3});
      right += heap % 4 != 0 && action == heap % 4;
    }
    std::cout << m << "\nof 9 heaps that can be won, " << right << " are played right by the network alone\n";
    return m.score() > 0.7 && right >= 8 ? 0 : 1;
  });
}
