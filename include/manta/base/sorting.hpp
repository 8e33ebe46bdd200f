// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sorts what people are told. The compiler makes some 130 functions for each type that std::stable_sort sorts, which
// every header-only program would pay for. Here they are made once, for the numbers of the elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace manta::base {

namespace detail {

/// The numbers below `count`, sorted by before(with, left, right); numbers of which neither comes before the other
/// keep their order.
inline std::vector<std::uint32_t> sorted_numbers(std::size_t count,
                                                 bool (*before)(const void* with, std::uint32_t, std::uint32_t),
                                                 const void* with) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  std::stable_sort(all.begin(), all.end(),
                   [&](std::uint32_t left, std::uint32_t right) { return before(with, left, right); });
  return all;
}

}  // namespace detail

/// Sorts fewer than 2^32 elements by before(left, right). Elements of which neither comes before
/// the other keep their order.
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
