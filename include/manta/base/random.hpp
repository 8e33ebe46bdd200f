// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The generator of random numbers behind nn::random, rl::random and tune::random: number i of a key is a function of
// both alone, so it is the same on every machine and in any order.
#pragma once

#include <cstdint>

#include "manta/base/hash.hpp"

namespace manta::base {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014), 64 bits of state, passes BigCrush; as a function of its counter.
class random_numbers {
 public:
  /// Numbers of this key. Those of different keys are independent.
  explicit constexpr random_numbers(std::uint64_t key) : key_(key) {}
  /// Numbers for one purpose of one stream under a seed, which is mixed already. Each library has a `salt` of its own.
  constexpr random_numbers(std::uint64_t mixed_seed, std::uint64_t stream, std::uint64_t purpose, std::uint64_t salt)
      : key_(finalise(finalise(mixed_seed ^ stream) ^ (purpose + salt))) {}

  /// The 64 bits of number i.
  constexpr std::uint64_t bits(std::uint64_t i) const { return mix(key_ + i * golden); }
  /// Number i in (0, 1): never an end, so that logarithms and quantiles are finite.
  constexpr double inside(std::uint64_t i) const { return (static_cast<double>(bits(i) >> 11U) + 0.5) * 0x1p-53; }
  /// Number i in [0, 1).
  constexpr double from_zero(std::uint64_t i) const { return static_cast<double>(bits(i) >> 11U) * 0x1p-53; }

  bool operator==(const random_numbers&) const = default;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(key_);
  }

 private:
  std::uint64_t key_;
};

}  // namespace manta::base
