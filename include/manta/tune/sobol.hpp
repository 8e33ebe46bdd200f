// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Points that fill the unit cube more evenly than chance: the Sobol sequence,
// whose every prefix is even, and Latin hypercubes of a given size, of which each
// row and column has one point. Both are searchers and both can be used alone.
#pragma once

#include <array>

#include "manta/tune/cube.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// Sobol's sequence in base 2. Direction numbers by S. Joe and F. Y. Kuo (SIAM J. Sci. Comput. 30, 2008) for the first
/// 21 dimensions, random odd ones with further primitive polynomials beyond. A random digital shift makes sequences of
/// different seeds different and keeps how even they are.
class sobol_sequence {
 public:
  sobol_sequence() = default;
  MANTA_DECL sobol_sequence(std::size_t dimensions, std::uint64_t seed);

  /// Point i, by the bits of the Gray code of i.
  MANTA_DECL std::vector<double> operator[](std::uint64_t i) const;

 private:
  static constexpr unsigned bits = 32;

  static unsigned degree_of(std::uint32_t p);
  /// x^e modulo p over GF(2).
  static std::uint32_t power_of_x(std::uint64_t e, std::uint32_t p);
  /// Its roots generate the whole multiplicative group: x has order 2^degree - 1.
  static bool is_primitive(std::uint32_t p);
  static std::uint32_t next_primitive(std::uint32_t p);

  void fill(std::size_t d, std::uint32_t polynomial);

  std::vector<std::array<std::uint32_t, bits>> directions_;
  std::vector<std::uint32_t> shift_;
};

/// The points of one Latin hypercube (McKay, Beckman, Conover 1979).
MANTA_DECL std::vector<std::vector<double>> latin_hypercube(std::size_t points, std::size_t dimensions, random& r);

/// Searches in the order of a Sobol sequence.
class sobol_search {
 public:
  static constexpr bool is_distinct = true;
  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number);
  void tell(trial_number, const outcome&) {}

 private:
  cube cube_;
  sobol_sequence sequence_;
  std::uint64_t seed_ = 0, asked_ = 0;
};

/// Searches one Latin hypercube after the other, each of the given number of points: give the number of trials.
class latin_hypercube_search {
 public:
  static constexpr bool is_distinct = true;
  struct options {
    std::size_t points = 16;
  };
  latin_hypercube_search() = default;
  MANTA_DECL explicit latin_hypercube_search(options o);

  MANTA_DECL void begin(const space& where, std::uint64_t seed);
  MANTA_DECL std::optional<config> ask(trial_number);
  void tell(trial_number, const outcome&) {}

 private:
  options options_;
  cube cube_;
  std::vector<std::vector<double>> points_;
  std::uint64_t seed_ = 0, asked_ = 0;
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/sobol.ipp"
#endif
