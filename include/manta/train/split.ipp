// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <numeric>
#include <span>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/nn/random.hpp"
#include "manta/train/split.hpp"

namespace manta::train {

namespace detail {
/// All numbers of samples, in an order that follows from the seed.
inline std::vector<std::uint64_t> shuffled(std::size_t size, std::uint64_t seed) {
  std::vector<std::uint64_t> order(size);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  const nn::random numbers(seed);
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[numbers.bits(i) % i]);
  return order;
}
}  // namespace detail

MANTA_DECL std::vector<samples> split(const samples& all, const std::vector<double>& shares, std::uint64_t seed) {
  double sum = 0;
  for (const double share : shares) {
    if (!(share > 0 && share <= 1))
      throw error(base::text("manta: train::split: the share {} is not above 0 and at most 1", share));
    sum += share;
  }
  if (sum > 1 + 1e-9)
    throw error(base::text("manta: train::split: the shares add up to {}, which is more than 1", sum));
  const std::vector<std::uint64_t> order = detail::shuffled(all.size(), seed);
  std::vector<samples> parts;
  std::size_t begin = 0;
  double before = 0;
  for (const double share : shares) {
    before += share;
    const auto end =
        std::min(all.size(), static_cast<std::size_t>(std::llround(before * static_cast<double>(all.size()))));
    if (end <= begin)
      throw error(base::text("manta: train::split: a part of {} of {} samples would be empty", share, all.size()));
    parts.push_back(all.chosen(std::span(order).subspan(begin, end - begin)));
    begin = end;
  }
  return parts;
}

MANTA_DECL std::vector<fold> folds(const samples& all, int k, std::uint64_t seed) {
  if (k < 2 || static_cast<std::size_t>(k) > all.size())
    throw error(
        base::text("manta: train::folds: k is {}; it has to be from 2 to the number of samples, {}", k, all.size()));
  const std::vector<std::uint64_t> order = detail::shuffled(all.size(), seed);
  const auto n = static_cast<std::size_t>(k);
  std::vector<fold> parts;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t begin = all.size() * i / n, end = all.size() * (i + 1) / n;
    std::vector<std::uint64_t> others(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(begin));
    others.insert(others.end(), order.begin() + static_cast<std::ptrdiff_t>(end), order.end());
    parts.push_back({all.chosen(others), all.chosen(std::span(order).subspan(begin, end - begin))});
  }
  return parts;
}

}  // namespace manta::train
