// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A parameter server: one actor holds the weights of a linear model, four
// long-running tasks pull them, compute a gradient on samples of their own and
// push it, each at its own pace, until the server says stop. Any number of
// ranks will do, one too: a worker that waits for its pull lets others run.
//
//   scripts/run parameter_server -n 4        or        manta-run -n 4 ./parameter_server
//
// Expected output (the number N of gradients varies):
//   found 1.00 -2.00 3.00 0.50 after N gradients of 4 workers
#include <manta/manta.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include <cereal/types/array.hpp>

using weights = std::array<double, 4>;
constexpr weights truth{1.0, -2.0, 3.0, 0.5};

struct reply {
  weights w{};
  bool stop = false;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(w, stop);
  }
};

class server {
 public:
  reply pull() const { return {w_, stop_}; }
  void push(const weights& gradient) {
    for (std::size_t i = 0; i < w_.size(); ++i) w_[i] -= 0.02 * gradient[i];
  }
  void stop() { stop_ = true; }

 private:
  weights w_{};
  bool stop_ = false;
};

/// Least squares on samples y = truth . x; returns the number of gradients pushed.
int work(manta::actor<server> ps) {
  std::mt19937_64 random(manta::this_task::seed());
  std::normal_distribution<double> normal;
  for (int pushed = 0;; ++pushed) {
    const reply now = manta::async<&server::pull>(ps).get();
    if (now.stop) return pushed;
    weights gradient{};
    for (int sample = 0; sample < 16; ++sample) {
      weights x{};
      std::generate(x.begin(), x.end(), [&] { return normal(random); });
      double error = 0;
      for (std::size_t i = 0; i < x.size(); ++i) error += (now.w[i] - truth[i]) * x[i];
      for (std::size_t i = 0; i < x.size(); ++i) gradient[i] += error * x[i] / 16;
    }
    manta::async<&server::push>(ps, gradient);  // no need to wait: the next pull runs after it
  }
}

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    auto ps = manta::spawn<server>();
    std::vector<manta::future<int>> workers;
    for (int i = 0; i < 4; ++i) workers.push_back(manta::async<work>(ps));

    weights found{};
    const auto distance = [&found](std::size_t i) { return std::abs(found[i] - truth[i]); };
    do {
      found = manta::async<&server::pull>(ps).get().w;
    } while (std::max({distance(0), distance(1), distance(2), distance(3)}) > 1e-3);
    manta::async<&server::stop>(ps);

    int gradients = 0;
    for (const int pushed : manta::get(workers)) gradients += pushed;
    std::printf("found %.2f %.2f %.2f %.2f after %d gradients of 4 workers\n", found[0], found[1], found[2], found[3],
                gradients);
    return gradients > 0 ? 0 : 1;
  });
}
