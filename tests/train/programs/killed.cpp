// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A worker of a training kills itself in the middle of an epoch: the parameters at the end are those of an undisturbed
// training by one worker, up to the rounding of sums, and the other workers' ranks have gone on. Then a member of a
// loop of one's own kills itself, and the loop is run again by ranks that live. To be started by manta-run on five
// ranks.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "two_clouds.hpp"

int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("not so: %s\n", what);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

std::vector<double> trained(bool dies) {
  train::trainer trainer(two_clouds{dies ? SIGKILL : 0, 2}, {.workers = dies ? 4 : 1, .batch = 20, .seed = 1});
  train::summary s;
  for (int epoch = 0; epoch < 5; ++epoch) s = trainer.train();
  check(s.step == 50, "50 steps");
  check(s.samples == 200, "200 samples in the last epoch");
  if (dies) {
    check(s["rank 1"] > 0.29 && s["rank 3"] > 0.29 && s["rank 4"] > 0.29, "each of the others takes a third");
    const auto v = trainer.validate();
    check(v.samples == 200, "200 samples in the validation");
  }
  const auto net = trainer.model();
  return {net.parameters().begin(), net.parameters().end()};
}

bool lives(int rank) { return manta::capacity()[static_cast<std::size_t>(rank)].node >= 0; }
int deaths() { return 5 - lives(0) - lives(1) - lives(2) - lives(3) - lives(4); }

std::vector<double> loop(manta::team team, bool dies) {
  const two_clouds recipe{};
  auto net = recipe.model();
  net.initialise(3);
  train::data_parallel ddp(team, net, {.exchange = train::wire::as_is, .bucket_bytes = 64});
  const train::samples all = recipe.training_data();
  std::vector<std::uint64_t> which(20);
  train::batch<double> batch;
  nn::adam optimizer({.rate = 1e-2});
  for (std::uint64_t step = 0; step < 10; ++step) {
    for (std::uint64_t i = 0; i < which.size(); ++i)
      which[i] = 40 * (step % 5) + 2 * i + static_cast<std::uint64_t>(team.rank() == 0);
    all.take(which, batch);
    const auto [loss, dy] = nn::cross_entropy(ddp.forward(batch.x), batch.labels);
    if (dies && step == 5 && team.rank() == 1 && deaths() == 1) kill(getpid(), SIGKILL);
    ddp.backward(dy);
    optimizer.step(net.parameters(), net.gradients());
  }
  return {net.parameters().begin(), net.parameters().end()};
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    const std::vector<double> expected = trained(false), got = trained(true);
    check(largest_difference(expected, got) < 1e-10, "the parameters are those of an undisturbed training");
    check(!lives(2), "rank 2 has died");
    check(lives(1) && lives(3) && lives(4), "the others live");

    const auto undisturbed = manta::async<loop>({.ranks = 2}, false).get();
    const auto again = manta::async<loop>({.ranks = 2}, true).get();
    check(undisturbed == again, "the loop's parameters are the same bits");
    check(deaths() == 2, "one more rank has died");
    return failures;
  });
}
