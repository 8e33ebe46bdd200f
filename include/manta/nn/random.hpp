// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Random numbers of networks: computed from a seed and the number of what is drawn, so they are the same on every
// machine and in any order, and there is no state to keep.
#pragma once

#include <cstdint>

#include "manta/nn/source.hpp"

namespace manta::nn {

class random {
 public:
  /// Numbers of one purpose (`stream`: a layer, a sample, ..) under one seed.
  MANTA_DECL explicit random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t purpose = 0);

  /// The 64 random bits of number `i`; splitmix64 (Steele, Lea, Flood, OOPSLA 2014) as a function of its counter.
  [[nodiscard]] std::uint64_t bits(std::uint64_t i) const { return mixed(key_ + (i + 1) * 0x9e3779b97f4a7c15ULL); }
  /// In (0, 1).
  [[nodiscard]] double uniform(std::uint64_t i) const { return (static_cast<double>(bits(i) >> 11U) + 0.5) * 0x1p-53; }
  /// Mean 0, variance 1 (Box, Muller, 1958).
  [[nodiscard]] MANTA_DECL double normal(std::uint64_t i) const;

 private:
  static constexpr std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }

  std::uint64_t key_;
};

}  // namespace manta::nn

#ifndef MANTA_COMPILED
#include "manta/nn/random.ipp"
#endif
