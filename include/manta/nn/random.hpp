// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Random numbers of networks: computed from a seed and the number of what is drawn, so they are the same on every
// machine and in any order, and there is no state to keep.
#pragma once

#include <cstdint>

#include "manta/base/random.hpp"
#include "manta/nn/source.hpp"

namespace manta::nn {

class random {
 public:
  /// Numbers of one purpose (`stream`: a layer, a sample, ..) under one seed.
  MANTA_DECL explicit random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t purpose = 0);

  /// The 64 random bits of number `i`.
  [[nodiscard]] std::uint64_t bits(std::uint64_t i) const { return numbers_.bits(i); }
  /// In (0, 1).
  [[nodiscard]] double uniform(std::uint64_t i) const { return numbers_.inside(i); }
  /// Mean 0, variance 1 (Box, Muller, 1958).
  [[nodiscard]] MANTA_DECL double normal(std::uint64_t i) const;

 private:
  base::random_numbers numbers_;
};

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/random.ipp"
#endif
