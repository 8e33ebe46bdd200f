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

#include "manta/base/random.hpp"
#include "manta/tune/math.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// Distributions are computed here, for those of the standard library differ between its implementations.
class random {
 public:
  MANTA_DECL explicit random(std::uint64_t seed, std::uint64_t stream = 0, std::uint64_t purpose = 0);

  std::uint64_t bits() { return sequence_.bits(count_++); }
  /// A number in (0, 1), never an end, so that logarithms and quantiles are finite.
  double uniform() { return sequence_.inside(count_++); }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// An integer in [0, n).
  MANTA_DECL std::size_t index(std::size_t n);
  bool chance(double probability) { return uniform() < probability; }
  double normal() { return normal_quantile(uniform()); }

  /// 0, ..., n - 1 in random order.
  MANTA_DECL std::vector<std::size_t> permutation(std::size_t n);

 private:
  base::random_numbers sequence_;
  std::uint64_t count_ = 0;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/random.ipp"
#endif
