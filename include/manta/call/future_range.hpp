// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranges of futures as arguments of get, wait and the algorithms.
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/base/mistake.hpp"

namespace manta {

template <class T>
class future;

namespace detail {

template <class T>
struct future_value {
  static constexpr bool is_future = false;
};
template <class T>
struct future_value<future<T>> {
  static constexpr bool is_future = true;
  using type = T;
};
template <class T>
inline constexpr bool is_future = future_value<std::remove_cvref_t<T>>::is_future;
template <class Range>
using range_future = std::remove_cvref_t<decltype(*std::begin(std::declval<Range&>()))>;
template <class Range>
using range_value = typename future_value<range_future<Range>>::type;

template <class Range>
concept is_range = requires(Range& range) {
  *std::begin(range), std::end(range);
};
template <class Range>
concept is_range_of_futures = is_range<Range> && is_future<range_future<Range>>;

template <class Range>
struct not_futures {
  static_assert(base::never<Range>,
                "manta: this takes a range of futures, such as std::vector<manta::future<T>>; a single future has "
                "get(), wait() and ready() of its own");
};
template <class Range>
using mistake_in_futures =
    std::conditional_t<is_range_of_futures<Range>, base::no_mistake, base::mistake<not_futures, Range>>;

/// The type of the elements of a range that was refused; a result of this type gives the compiler nothing more to
/// complain about where the program uses it.
template <class Range>
struct element_or_void {
  using type = void;
};
template <is_range Range>
struct element_or_void<Range> {
  using type = range_future<Range>;
};
template <class T>
  requires(is_future<T>)
struct element_or_void<T> {
  using type = typename future_value<std::remove_cvref_t<T>>::type;
};
template <class Range>
using supposed_value = typename element_or_void<Range>::type;

/// Whether a container was passed as an rvalue, so that its elements may be moved out. A view does not
/// own its elements.
template <class Range>
concept is_given_container = !std::is_const_v<Range> && requires {
  typename Range::allocator_type;
};

/// A vector of the futures of a range, moved out of a container that is an rvalue.
template <class Range>
auto listed(std::remove_reference_t<Range>& futures) {
  if constexpr (std::is_same_v<Range, std::vector<range_future<Range>>>) {
    return std::move(futures);
  } else {
    std::vector<range_future<Range>> list;
    for (auto&& f : futures) {
      if constexpr (is_given_container<Range>) {
        list.push_back(std::move(f));
      } else {
        list.push_back(f);
      }
    }
    return list;
  }
}

}  // namespace detail

}  // namespace manta
