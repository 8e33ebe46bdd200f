// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Learning from a file of episodes: a mediocre policy is recorded, marwil learns a better one from the file alone, and
// what that is worth is estimated before it plays.
//
//   scripts/run rl_files -n 2
//
// Expected output:
//   recorded: .. 100 episodes: return 195.6 ..
//   value 84.32 +- 0.96 from 100 episodes, as good as 82.6 of its own; the data's is 83.62
//   value 89.48 +- 5.8 from 100 episodes, as good as 8.01 of its own; the data's is 83.62
//   the data's return is 195.59, that of marwil 398.82
#include <manta/rl.hpp>
#include <manta/rl/offline.hpp>

#include <filesystem>
#include <iostream>
#include <string>

namespace rl = manta::rl;

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const std::string name = "rl_files-" + std::to_string(manta::size()), file = name + ".episodes";
    std::filesystem::remove(file);
    rl::ppo training("CartPole-v1", {.seed = 1, .fragment = 64, .epochs = 4});
    while (training.train().mean_return < 40) {
    }
    // [record]
    const rl::report r =
        rl::record(file, "CartPole-v1", training.trained(), {.episodes = 100, .seed = 1, .explore = true});
    std::cout << "recorded: " << r << '\n';
    // [end]

    // [learn]
    const rl::episodes data = rl::read_episodes(file);
    rl::bc clone(data, {.seed = 1, .model = {.hidden = {32}}});       // as the data
    rl::marwil better(data, {.seed = 1, .model = {.hidden = {32}}});  // better than the data
    for (int i = 0; i < 20; ++i) {
      clone.train();
      better.train();
    }
    // [end]

    // [estimate]
    for (const auto& policy : {clone.trained(), better.trained()})
      std::cout << rl::estimate(data, policy,
                                {.by = rl::doubly_robust, .explore = true, .passes = 10, .model = {.hidden = {32}}})
                << '\n';
    // [end]

    // [play]
    const double played = rl::evaluate("CartPole-v1", better.trained(), 100).mean_return;
    std::cout << "the data's return is " << data.mean_return() << ", that of marwil " << played << '\n';
    rl::ppo fine("CartPole-v1", {.seed = 1, .model = {.hidden = {32}}, .begin_with = better.trained()});
    // [end]
    data.save(name + ".npz");  // Python: numpy.load("rl_files-2.npz")["rewards"]
    // [film]
    rl::film(name + ".html", "CartPole-v1", better.trained());
    rl::film(name + "-recorded.html", data, 3);
    // [end]
    return played > data.mean_return() + 30 && fine.evaluate(20).mean_return > data.mean_return() ? 0 : 1;
  });
}
