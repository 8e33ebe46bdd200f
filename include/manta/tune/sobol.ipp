// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/tune/sobol.hpp"

namespace manta::tune {

MANTA_DECL sobol_sequence::sobol_sequence(std::size_t dimensions, std::uint64_t seed)
    : directions_(dimensions), shift_(dimensions) {
  random r(seed, 0, 0x736f626fULL);
  std::uint32_t polynomial = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (d == 0) {
      for (unsigned i = 0; i < bits; ++i) directions_[d][i] = std::uint32_t{1} << (bits - 1 - i);
    } else {
      polynomial = next_primitive(polynomial);
      fill(d, polynomial);
    }
    shift_[d] = static_cast<std::uint32_t>(r.bits());
  }
}

MANTA_DECL std::vector<double> sobol_sequence::operator[](std::uint64_t i) const {
  const std::uint64_t gray = i ^ (i >> 1U);
  std::vector<double> u(directions_.size());
  for (std::size_t d = 0; d < u.size(); ++d) {
    std::uint32_t x = shift_[d];
    for (unsigned b = 0; b < bits; ++b) {
      if ((gray >> b & 1U) != 0) x ^= directions_[d][b];
    }
    u[d] = (static_cast<double>(x) + 0.5) * 0x1p-32;
  }
  return u;
}

MANTA_DECL unsigned sobol_sequence::degree_of(std::uint32_t p) {
  unsigned degree = 0;
  while (p >> (degree + 1) != 0) ++degree;
  return degree;
}

MANTA_DECL std::uint32_t sobol_sequence::power_of_x(std::uint64_t e, std::uint32_t p) {
  const unsigned degree = degree_of(p);
  const auto multiply = [&](std::uint32_t a, std::uint32_t b) {
    std::uint32_t product = 0;
    for (; b != 0; b >>= 1U) {
      if ((b & 1U) != 0) product ^= a;
      a <<= 1U;
      if ((a >> degree & 1U) != 0) a ^= p;
    }
    return product;
  };
  std::uint32_t result = 1, base = degree == 1 ? 2U ^ p : 2U;
  for (; e != 0; e >>= 1U) {
    if ((e & 1U) != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

MANTA_DECL bool sobol_sequence::is_primitive(std::uint32_t p) {
  const std::uint64_t order = (std::uint64_t{1} << degree_of(p)) - 1;
  if (power_of_x(order, p) != 1) return false;
  std::uint64_t rest = order;
  for (std::uint64_t q = 2; q * q <= rest; ++q) {
    if (rest % q != 0) continue;
    if (power_of_x(order / q, p) == 1) return false;
    while (rest % q == 0) rest /= q;
  }
  return rest == order || rest == 1 || power_of_x(order / rest, p) != 1;
}

MANTA_DECL std::uint32_t sobol_sequence::next_primitive(std::uint32_t p) {
  if (p == 1) return 3;  // x + 1
  do {
    p += 2;
  } while (!is_primitive(p));
  return p;
}

MANTA_DECL void sobol_sequence::fill(std::size_t d, std::uint32_t polynomial) {
  static constexpr std::array<std::array<std::uint32_t, 7>, 20> initial = {{
      {1},
      {1, 3},
      {1, 3, 1},
      {1, 1, 1},
      {1, 1, 3, 3},
      {1, 3, 5, 13},
      {1, 1, 5, 5, 17},
      {1, 1, 5, 5, 5},
      {1, 1, 7, 11, 19},
      {1, 1, 5, 1, 1},
      {1, 1, 1, 3, 11},
      {1, 3, 5, 5, 31},
      {1, 3, 3, 9, 7, 49},
      {1, 1, 1, 15, 21, 21},
      {1, 3, 1, 13, 27, 49},
      {1, 1, 1, 15, 7, 5},
      {1, 3, 1, 15, 13, 25},
      {1, 1, 5, 5, 19, 61},
      {1, 3, 7, 11, 23, 15, 103},
      {1, 3, 7, 13, 13, 15, 69},
  }};
  const unsigned s = degree_of(polynomial);
  random r(d, 1, 0x736f626fULL);  // not the seed's: the sequence itself is the same for all
  std::vector<std::uint32_t> m(bits);
  for (unsigned i = 0; i < s; ++i) {
    m[i] =
        d <= initial.size() ? initial[d - 1][i] : (static_cast<std::uint32_t>(r.index(std::size_t{1} << i)) << 1U | 1U);
  }
  for (unsigned i = s; i < bits; ++i) {
    m[i] = m[i - s] ^ (m[i - s] << s);
    for (unsigned k = 1; k < s; ++k) {
      if ((polynomial >> (s - k) & 1U) != 0) m[i] ^= m[i - k] << k;
    }
  }
  for (unsigned i = 0; i < bits; ++i) directions_[d][i] = m[i] << (bits - 1 - i);
}

MANTA_DECL std::vector<std::vector<double>> latin_hypercube(std::size_t points, std::size_t dimensions, random& r) {
  std::vector<std::vector<double>> u(points, std::vector<double>(dimensions));
  for (std::size_t d = 0; d < dimensions; ++d) {
    const auto order = r.permutation(points);
    for (std::size_t i = 0; i < points; ++i) {
      u[i][d] = (static_cast<double>(order[i]) + r.uniform()) / static_cast<double>(points);
    }
  }
  return u;
}

MANTA_DECL void sobol_search::begin(const space& where, std::uint64_t seed) {
  cube_ = cube(where, "sobol_search");
  sequence_ = sobol_sequence(cube_.dimensions(), seed);
  seed_ = seed;
  asked_ = 0;
}

MANTA_DECL std::optional<config> sobol_search::ask(trial_number) {
  random dependent(seed_, asked_);
  return cube_.where().first_allowed(dependent, [&] { return cube_.at(sequence_[asked_++], dependent); });
}

MANTA_DECL latin_hypercube_search::latin_hypercube_search(options o) : options_(o) {
  if (o.points == 0) throw error("manta: latin_hypercube_search: points must be at least 1");
}

MANTA_DECL void latin_hypercube_search::begin(const space& where, std::uint64_t seed) {
  cube_ = cube(where, "latin_hypercube_search");
  seed_ = seed;
  asked_ = 0;
}

MANTA_DECL std::optional<config> latin_hypercube_search::ask(trial_number) {
  random dependent(seed_, asked_);
  return cube_.where().first_allowed(dependent, [&] {
    const std::uint64_t n = asked_ / options_.points, at = asked_++ % options_.points;
    if (at == 0) {
      random r(seed_, n, 0x6c6873ULL);
      points_ = latin_hypercube(options_.points, cube_.dimensions(), r);
    }
    return cube_.at(points_[at], dependent);
  });
}

}  // namespace manta::tune
