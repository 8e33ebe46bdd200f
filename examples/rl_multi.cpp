// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Many agents: a pursuer learns to catch somebody who runs away, and who learns too. A copy of the runner as it was in
// the beginning shows how much both have learnt.
//
//   scripts/run rl_multi -n 4
//
// Expected output, where the numbers are those of one compiler and machine:
//   an untrained runner was caught after 21.04 steps, then after 3.19 steps, and one that learns after 5.04 steps
//   at a distance of 10, the pursuer takes the action 0
#include <manta/rl/multi.hpp>

#include <algorithm>
#include <array>
#include <iostream>

namespace rl = manta::rl;

// [pursuit]
struct pursuit {  // on a ring of 20 cells; the pursuer steps by 2, 0 or -2 cells, the runner by 1, 0 or -1, or rests
  int distance = 0, count = 0;

  static rl::seats seats() {
    return {{"pursuer", rl::discrete{20}, rl::discrete{3}}, {"runner", rl::discrete{20}, rl::discrete{3}}};
  }
  void reset(rl::random& random, rl::table& t) {
    distance = 4 + random.index(13);
    count = 0;
    show(t);
  }
  void step(rl::table& t) {
    const int pursuer = 2 * (t.action(0) - 1);
    const int runner = t.acted(1) ? t.action(1) - 1 : 0;
    distance = (distance + runner - pursuer + 20) % 20;
    const bool caught = distance <= 1 || distance == 19;
    t.reward(0, caught ? 1 : -0.05);
    t.reward(1, caught ? -1 : 0.05);
    if (caught) return t.end();
    ++count;
    show(t);
  }
  void show(rl::table& t) const {
    t.see(0, distance);                      // who sees something acts next
    if (count % 4 != 3) t.see(1, distance);  // the runner rests in each fourth step
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(distance, count);
  }
};
// [end]

// [map]
struct by_seat {
  std::string runner;
  std::string operator()(int seat, std::uint64_t) const { return seat == 0 ? "pursuer" : runner; }
};
// [end]

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    // [train]
    rl::check<pursuit>();  // says what is wrong with the class, if anything is
    rl::multi training(rl::environment<pursuit>().with_time_limit(40),
                       {.workers = 2,
                        .seed = 1,
                        .policies = {{"pursuer", rl::ppo_options{.rate = 1e-3}}, {"runner", rl::ppo_options{}}}});
    const std::string untrained = training.snapshot("runner");  // "runner-1", which learns no more
    training.map(rl::own<by_seat>(untrained));
    const double before = training.evaluate(100, {.explore = true}).mean_length;
    for (int i = 0; i < 10; ++i) training.train();  // against the copy
    const double easy = training.evaluate(100, {.explore = true}).mean_length;
    training.map(rl::own<by_seat>("runner"));
    rl::multi_report r;
    for (int i = 0; i < 20; ++i) r = training.train();  // both learn
    std::cout << r << '\n';
    const double hard = training.evaluate(100, {.explore = true}).mean_length;
    rl::trained_policy pursuer = training.trained("pursuer");
    const int action = pursuer.act(10);
    // [end]
    std::cout << "an untrained runner was caught after " << before << " steps, then after " << easy
              << " steps, and one that learns after " << hard << " steps\n"
              << "at a distance of 10, the pursuer takes the action " << action << '\n';
    return easy < before / 2 && hard > easy ? 0 : 1;
  });
}
