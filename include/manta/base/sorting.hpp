// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sorts what people are told. The compiler makes some 130 functions for each type that std::ranges::stable_sort sorts,
// which every header-only program would pay for; here it makes four.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace manta::base {

namespace detail {

/// The numbers below `count`, sorted by before(with, left, right); numbers of which neither comes before the other
/// keep their order.
inline std::vector<std::uint32_t> sorted_numbers(std::size_t count,
                                                 bool (*before)(const void* with, std::uint32_t, std::uint32_t),
                                                 const void* with) {
  std::vector<std::uint32_t> now(count), next(count);
  for (std::size_t i = 0; i < count; ++i) now[i] = static_cast<std::uint32_t>(i);
  for (std::size_t run = 1; run < count; run *= 2) {  // runs of this length are sorted, and are merged in pairs
    for (std::size_t begin = 0; begin < count; begin += 2 * run) {
      const std::size_t middle = std::min(begin + run, count), end = std::min(begin + 2 * run, count);
      std::size_t left = begin, right = middle;
      for (std::size_t to = begin; to < end; ++to) {
        const bool takes_left = left < middle && (right == end || !before(with, now[right], now[left]));
        next[to] = takes_left ? now[left++] : now[right++];
      }
    }
    now.swap(next);
  }
  return now;
}

}  // namespace detail

/// Sorts fewer than 2^32 elements by before(left, right). Elements of which neither comes before the other keep their
/// order.
template <class T, class Before>
void sort(std::vector<T>& all, const Before& before) {
  const auto with = std::pair<const T*, const Before*>(all.data(), &before);
  const auto order = detail::sorted_numbers(
      all.size(),
      [](const void* given, std::uint32_t left, std::uint32_t right) {
        const auto& [first, is_before] = *static_cast<const std::pair<const T*, const Before*>*>(given);
        return (*is_before)(first[left], first[right]);
      },
      &with);
  std::vector<T> sorted;
  for (const std::uint32_t i : order) sorted.push_back(std::move(all[i]));
  all.swap(sorted);
}

/// Sorts by a member, the greatest first.
template <class T, class Member>
void sort_falling(std::vector<T>& all, Member T::*member) {
  sort(all, [member](const T& left, const T& right) { return left.*member > right.*member; });
}

}  // namespace manta::base
