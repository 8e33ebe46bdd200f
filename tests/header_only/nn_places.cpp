// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Optimisers give the same bits wherever the arrays lie. This needs the widest vectors of the machine (-march=native):
// narrow ones are never wider than what malloc's addresses are multiples of.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "manta/nn/aligned.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/nn/random.hpp"

namespace nn = manta::nn;

namespace {

/// Parameters after three steps, with arrays that begin so many numbers after a multiple of 64 bytes.
std::vector<float> steps(nn::optimizer optimizer, std::size_t shift) {
  constexpr std::size_t count = 77;
  nn::detail::aligned_vector<float> p(count + shift), g(count + shift);
  for (std::uint64_t step = 0; step < 3; ++step) {
    const nn::random random(step);
    for (std::size_t i = 0; i < count; ++i) g[shift + i] = static_cast<float>(2 * random.uniform(i) - 1);
    optimizer.step(std::span(p).subspan(shift), std::span<const float>(g).subspan(shift));
  }
  return {p.begin() + static_cast<std::ptrdiff_t>(shift), p.end()};
}

}  // namespace

int main() {
  const std::vector<nn::optimizer> optimizers = {nn::adam(), nn::adamw({.weight_decay = 0.1}),
                                                 nn::rmsprop({.momentum = 0.9}), nn::sgd({.rate = 0.1}),
                                                 nn::sgd({.rate = 0.1, .momentum = 0.9, .nesterov = true})};
  int failures = 0;
  for (const nn::optimizer& o : optimizers) {
    for (std::size_t shift = 1; shift < 16; ++shift) {
      if (steps(o, shift) == steps(o, 0)) continue;
      std::printf("%s differs where the arrays begin %zu numbers later\n", o.name().c_str(), shift);
      ++failures;
    }
  }
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
