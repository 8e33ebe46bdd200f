// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A small U-Net (Ronneberger et al., 2015) with two inputs: it marks the pixels of the bright disc in a noisy picture, or
// those of the dark one, as a number beside the picture says. The network is a graph, whose skip is joined by
// concatenation.
//
//   scripts/run train_unet -n 4
//
// Expected output (digits vary between machines):
//   epoch 1: loss 0.5, 400 samples in 0.2 s; validation: right 0.9
//   ...
#include <manta/manta.hpp>
#include <manta/train.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

namespace nn = manta::nn;
namespace train = manta::train;

constexpr int side = 16, pixels = side * side;

/// Pictures of a bright and of a dark disc, each with the number 1 or -1, and the disc's pixels as the target.
train::samples pictures(std::uint64_t seed, int count) {
  nn::matrix<float> x(pixels + 1, count), y(pixels, count);
  for (int s = 0; s < count; ++s) {
    const nn::random numbers(seed, static_cast<std::uint64_t>(s));
    const auto place = [&](std::uint64_t i) { return 3 + 10 * numbers.uniform(1000 + i); };
    const double row[2] = {place(0), place(1)}, column[2] = {place(2), place(3)};
    const bool wants_dark = s % 2 == 1;
    x(pixels, s) = wants_dark ? -1.F : 1.F;
    for (int i = 0; i < pixels; ++i) {
      const auto is_in = [&](int disc) {
        const double dy = i / side - row[disc], dx = i % side - column[disc];
        return dy * dy + dx * dx < 9;
      };
      x(i, s) = (is_in(0) ? 1.F : 0.F) - (is_in(1) ? 1.F : 0.F) +
                0.2F * static_cast<float>(numbers.normal(static_cast<std::uint64_t>(i)));
      y(i, s) = is_in(wants_dark ? 1 : 0) ? 1.F : 0.F;
    }
  }
  return train::samples(std::move(x), std::move(y));
}

nn::spec block(int channels) {
  return nn::sequential(nn::conv2d(channels, 3, {.padding = 1}), nn::group_norm(2), nn::silu());
}

struct discs {
  double rate = 1e-2;

  nn::network<float> model() const {
    // [graph]
    nn::graph g;
    const nn::node picture = g.input({1, 16, 16}), which = g.input({1});
    const nn::node down = g.add("down", block(8), picture);
    const nn::node wish = g.add("wish", nn::sequential(nn::linear(4 * 8 * 8), nn::reshape({4, 8, 8})), which);
    const nn::node below = g.add("below", nn::sequential(nn::max_pool(2), block(12)), down);
    const nn::node mixed = g.add("mixed", block(12), g.concat({below, wish}));
    const nn::node up = g.add("up", nn::conv2d_transposed(8, 2, {.stride = 2}), mixed);
    const nn::node mask = g.add("mask", nn::sequential(block(8), nn::conv2d(1, 1)), g.concat({down, up}));
    return nn::network<float>(g.input_shape(), g.outputs({mask}));
    // [end]
  }
  nn::adamw optimizer() const {
    return nn::adamw({.rate = rate, .weight_decay = 0.01, .groups = {{.dimensions = 1, .weight_decay = 0}}});
  }
  nn::loss loss() const { return nn::binary_cross_entropy(); }
  train::samples training_data() const { return pictures(1, 400); }
  train::samples validation_data() const { return pictures(2, 100); }
  std::map<std::string, double> metrics(const nn::matrix<float>& y, const nn::targets<float>& t) const {
    return {{"right", ((y.array() > 0) == (t.values().array() > 0.5F)).cast<double>().mean()}};
  }
  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rate));
  }
};

int main(int argc, char** argv) {
  return manta::run(argc, argv, [] {
    train::trainer trainer(discs{}, {.workers = std::max(1, manta::size() - 1), .batch = 20, .seed = 1});
    double right = 0;
    for (int epoch = 0; epoch < 6; ++epoch) {
      const train::summary t = trainer.train();
      right = trainer.validate()["right"];
      std::cout << t << "; validation: right " << right << std::endl;
    }
    return right > 0.96 ? EXIT_SUCCESS : EXIT_FAILURE;
  });
}
