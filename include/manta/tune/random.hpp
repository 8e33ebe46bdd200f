// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Random numbers that are the same on every machine, in every run and on any
// number of ranks. A generator is made from a seed and the number of what it is
// for (a trial, a decision), so nothing needs to be remembered between them and
// the state of a search is its history alone.
//
//   random r(seed, trial);
//   double u = r.uniform();
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "manta/tune/math.hpp"

namespace manta::tune {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): 64 bits of state, passes BigCrush. Distributions are computed here,
/// for those of the standard library differ between its implementations.
class random {
 public:
  explicit random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t purpose = 0)
      : state_(mix(mix(mix(seed) ^ stream) ^ (purpose + 0x632be59bd9b4e019ULL))) {}

  std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15ULL); }
  /// In (0, 1), never an end, so logarithms and quantiles are finite.
  double uniform() { return (static_cast<double>(bits() >> 11U) + 0.5) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In [0, n).
  std::size_t index(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)) % n; }
  bool chance(double probability) { return uniform() < probability; }
  double normal() { return normal_quantile(uniform()); }

  /// 0, ..., n - 1 in random order.
  std::vector<std::size_t> permutation(std::size_t n) {
    std::vector<std::size_t> p(n);
    for (std::size_t i = 0; i < n; ++i) p[i] = i;
    for (std::size_t i = n; i > 1; --i) std::swap(p[i - 1], p[index(i)]);
    return p;
  }

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace manta::tune
