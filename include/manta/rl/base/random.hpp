// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Random numbers that are computed from a key and a counter. Each environment, each episode and each policy has a
// stream of its own, so what it draws does not depend on how environments are divided among workers and ranks.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "manta/base/random.hpp"
#include "manta/rl/source.hpp"

namespace manta::rl {

class random {
 public:
  random() : random(0) {}
  /// The stream of these three numbers; streams of different numbers are independent.
  explicit random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t purpose = 0)
      : stream_(base::mix(seed), stream, purpose, 0xd1b54a32d192ed03U) {}

  /// 64 random bits.
  std::uint64_t bits() { return stream_.bits(count_++); }
  /// In [0, 1).
  double uniform() { return stream_.from_zero(count_++); }
  /// In [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Mean 0, variance 1 (Box, Muller, 1958). Uses two numbers.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  /// In 0, 1, .., n - 1. n has to be positive.
  int index(int n) { return static_cast<int>(((bits() >> 32U) * static_cast<std::uint64_t>(n)) >> 32U); }

  bool operator==(const random&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(stream_, count_);
  }

 private:
  base::random_numbers stream_;
  std::uint64_t count_ = 0;
};

}  // namespace manta::rl
