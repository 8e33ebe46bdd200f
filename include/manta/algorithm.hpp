// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Common shapes of task graphs: one task for each element, a reduction by a
// tree, a loop, and the parts of a tuple.
#pragma once

#include <iterator>

#include "manta/async.hpp"

namespace manta {

/// One task F(x) for each element; their futures in order.
template <auto F, class Range>
auto map(const Range& range) {
  using R = std::remove_cvref_t<typename detail::signature<decltype(F)>::result>;
  std::vector<future<R>> results;
  for (const auto& x : range) results.push_back(async<F>(x));
  return results;
}

/// Combines all values by Op(a, b), neighbours first, in a tree of tasks. Op must be associative; it need not be
/// commutative, and the tree depends on the number of values only, so that sums of floats are the same on any number
/// of ranks. Throws for an empty range.
template <auto Op, class Range>
  requires detail::is_future<detail::range_future<const Range>>
auto reduce(const Range& futures) {
  using T = detail::range_value<const Range>;
  std::vector<future<T>> level(std::begin(futures), std::end(futures));
  if (level.empty()) throw error("manta: reduce of an empty range has no value; give it at least one future");
  while (level.size() > 1) {
    std::vector<future<T>> next;
    next.reserve((level.size() + 1) / 2);
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) next.push_back(async<Op>(level[i], level[i + 1]));
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = std::move(next);
  }
  return level.front();
}

struct for_each_options {
  std::size_t grain = 0;  ///< elements a task; 0: so that each rank gets about 16 tasks
};

namespace detail {
template <auto F, class T>
void run_chunk(const std::vector<T>& elements) {
  for (const T& x : elements) F(x);
}
}  // namespace detail

/// Runs F(x) for every element, in chunks of `grain` elements a task, and waits for all of them. Throws the first
/// error, in order, after all have ended.
template <auto F, class Range>
void for_each(const Range& range, for_each_options options = {}) {
  using T = std::remove_cvref_t<decltype(*std::begin(range))>;
  const auto count = static_cast<std::size_t>(std::distance(std::begin(range), std::end(range)));
  std::size_t grain = options.grain;
  if (grain == 0) {
    const std::size_t chunks = 16 * static_cast<std::size_t>(exec::engine::here("for_each").size());
    grain = count / chunks + 1;
  }
  std::vector<future<void>> chunks;
  std::vector<T> chunk;
  for (const T& x : range) {
    chunk.push_back(x);
    if (chunk.size() == grain) chunks.push_back(async<detail::run_chunk<F, T>>(std::exchange(chunk, {})));
  }
  if (!chunk.empty()) chunks.push_back(async<detail::run_chunk<F, T>>(std::move(chunk)));
  for (const auto& c : chunks) c.wait();
  get(chunks);
}

namespace detail {
template <std::size_t I, class Tuple>
std::tuple_element_t<I, Tuple> part(const Tuple& whole) {
  return std::get<I>(whole);
}
}  // namespace detail

/// One future for each member of a tuple or pair that a task returns.
///
///   auto [a, b] = manta::unpack(manta::async<f>(x));
template <class Tuple>
auto unpack(const future<Tuple>& whole) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple(async<detail::part<I, Tuple>>(whole)...);
  }(std::make_index_sequence<std::tuple_size_v<Tuple>>());
}

}  // namespace manta
