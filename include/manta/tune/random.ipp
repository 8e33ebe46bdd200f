// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/random.hpp"

namespace manta::tune {

MANTA_DECL random::random(std::uint64_t seed, std::uint64_t stream, std::uint64_t purpose)
    : sequence_(base::finalise(seed), stream, purpose, 0x632be59bd9b4e019ULL) {}

MANTA_DECL std::size_t random::index(std::size_t n) {
  return static_cast<std::size_t>(uniform() * static_cast<double>(n)) % n;
}

MANTA_DECL std::vector<std::size_t> random::permutation(std::size_t n) {
  std::vector<std::size_t> p(n);
  for (std::size_t i = 0; i < n; ++i) p[i] = i;
  for (std::size_t i = n; i > 1; --i) std::swap(p[i - 1], p[index(i)]);
  return p;
}

}  // namespace manta::tune
