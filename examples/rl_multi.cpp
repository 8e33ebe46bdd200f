// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Many agents: a pursuer learns to catch somebody who runs away, and who learns too. A copy of the runner as it was in
// the beginning shows how much both have learnt.
//
//   scripts/run rl_multi -n 4
//
// Expected output, where the numbers are those of one compiler and machine:
//   an untrained runner was caught after 21.04 steps, then after 3.19 steps, and one that learns after 5.07 steps
//   at a distance of 10, the pursuer takes the action 2
#include <manta/rl/multi.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

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
struct league {  // the pursuer meets these runners, one after the other
  std::vector<std::string> runners;
  std::string operator()(int seat, std::uint64_t episode) const {
    return seat == 0 ? "pursuer" : runners[episode % runners.size()];
  }
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
    std::vector<std::string> runners = {training.snapshot("runner")};  // "runner-1", which learns no more
    const auto meet = [&](const std::vector<std::string>& whom) { training.map(rl::own<league>(whom)); };
    const auto length = [&] { return training.evaluate(100, {.explore = true}).mean_length; };
    meet(runners);
    const double before = length();
    for (int i = 0; i < 10; ++i) training.train();  // against the copy
    const double easy = length();
    // [end]
    // [league]
    runners.emplace_back("runner");  // which learns
    rl::multi_report r;
    for (int generation = 0; generation < 4; ++generation) {
      meet(runners);
      for (int i = 0; i < 5; ++i) r = training.train();
      runners.push_back(training.snapshot("runner"));
    }
    std::cout << r << '\n';
    meet({"runner"});
    const double hard = length();
    rl::trained_policy pursuer = training.trained("pursuer");
    const int action = pursuer.act(10);
    // [end]
    std::cout << "an untrained runner was caught after " << before << " steps, then after " << easy
              << " steps, and one that learns after " << hard << " steps\n"
              << "at a distance of 10, the pursuer takes the action " << action << '\n';
    return easy < before / 2 && hard > easy ? 0 : 1;
  });
}
