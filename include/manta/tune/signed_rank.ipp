// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of signed_rank.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "manta/tune/math.hpp"
#include "manta/tune/signed_rank.hpp"

namespace manta::tune {

namespace detail {
/// Twice the ranks of the differences that are not zero, which are whole numbers also where sizes are equal.
struct doubled_ranks {
  std::vector<std::size_t> all;
  std::size_t sum = 0, positive = 0;  ///< the sum of all, and that of the positive differences
};

inline doubled_ranks doubled_ranks_of(std::vector<double> differences) {
  std::sort(differences.begin(), differences.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  doubled_ranks ranks;
  for (std::size_t i = 0, end = 0; i < differences.size(); i = end) {
    const double size = std::abs(differences[i]);
    while (end < differences.size() && !(size < std::abs(differences[end]))) ++end;
    for (std::size_t k = i; k < end && size > 0; ++k) {
      ranks.all.push_back(i + 1 + end);
      ranks.sum += i + 1 + end;
      ranks.positive += differences[k] > 0 ? i + 1 + end : 0;
    }
  }
  return ranks;
}

/// The probability of a sum at least as large, by the probabilities of all sums.
inline double exact_tail(const doubled_ranks& ranks) {
  std::vector<double> probability(ranks.sum + 1, 0);
  probability[0] = 1;
  std::size_t largest = 0;
  for (const std::size_t rank : ranks.all) {
    largest += rank;
    for (std::size_t s = largest + 1; s-- > 0;)
      probability[s] = (probability[s] + (s >= rank ? probability[s - rank] : 0)) / 2;
  }
  const auto from = probability.begin() + static_cast<std::ptrdiff_t>(ranks.positive);
  return std::accumulate(std::make_reverse_iterator(probability.end()), std::make_reverse_iterator(from), 0.0);
}

inline double normal_tail(const doubled_ranks& ranks) {
  double squares = 0;
  for (const std::size_t rank : ranks.all) squares += static_cast<double>(rank) * static_cast<double>(rank);
  const double above_mean = static_cast<double>(ranks.positive) - static_cast<double>(ranks.sum) / 2;
  return normal_cdf(-above_mean / std::sqrt(squares / 4));
}
}  // namespace detail

MANTA_DECL double signed_rank_p(const std::vector<double>& differences) {
  constexpr std::size_t largest_exact = 54 * 55;  // the sum of the doubled ranks of 54 differences
  const detail::doubled_ranks ranks = detail::doubled_ranks_of(differences);
  return ranks.sum <= largest_exact ? detail::exact_tail(ranks) : detail::normal_tail(ranks);
}

}  // namespace manta::tune
