// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Common shapes of task graphs: one task for each element, a reduction by a tree, a loop, and the parts of a tuple.
#pragma once

#include <iterator>

#include "manta/async.hpp"

namespace manta {

namespace detail {
template <class Range>
struct not_a_range {
  static_assert(never<Range>, "manta: this takes a range of elements: a container, an array or a view");
};

/// The parameters that a function of one element has.
template <auto F>
using parameters_of = typename signature<type_of<F>>::parameters;
template <auto F>
using result_of = std::remove_cvref_t<typename signature<type_of<F>>::result>;

/// The type by which an element reaches a task: an rvalue if the container was moved in, else an lvalue.
template <class Range>
using element_of = std::remove_reference_t<decltype(*std::begin(std::declval<Range&>()))>;
template <class Range>
using handed_over = std::conditional_t<is_given_container<Range>, element_of<Range>, element_of<Range>&>;

/// Checks a task of F whose one argument is an element of the range.
template <auto F, class Range>
constexpr auto mistake_in_map() {
  if constexpr (!is_range<Range>) {
    return mistake<not_a_range, Range>();
  } else {
    return mistake_in<F>(list<handed_over<Range>>());
  }
}

template <auto F>
struct result_of_function : result_if_called<type_of<F>> {};
}  // namespace detail

/// Submits one task F(x) for each element and returns the futures in order. Copies the elements, or moves them out of a
/// container that is an rvalue.
template <auto F, class Range>
auto map(Range&& range) {  // manta: if f is overloaded, name one: map<static_cast<int (*)(int)>(f)>
  using Mistake = decltype(detail::mistake_in_map<F, Range>());
  (void)typename Mistake::sentence();
  std::vector<future<std::remove_cvref_t<typename detail::result_of_function<F>::type>>> results;
  if constexpr (!Mistake::found) {
    for (auto&& x : range) results.push_back(async<F>(static_cast<detail::handed_over<Range>&&>(x)));
  }
  return results;
}

/// Refuses at compile time a function that is passed as an argument.
template <class Range, class F>
std::vector<future<int>> map(const Range&, F&&) {
  static_assert(base::never<F>,
                "manta: map takes the function as template argument: map<f>(range), or map<[](int x) { ... }>(range)");
  return {};
}

namespace detail {
template <class F>
struct not_an_operation {
  static_assert(never<F>,
                "manta: reduce<op> needs a function op(a, b) of two values that returns one of the same type");
};

/// The type of the value of an element: its own type, or the T of a future<T>.
template <class Element>
struct value_of_element : std::type_identity<Element> {};
template <class T>
struct value_of_element<future<T>> : std::type_identity<T> {};

template <auto Op, class Range>
constexpr auto mistake_in_reduce() {
  if constexpr (!is_range<Range>) {
    return mistake<not_a_range, Range>();
  } else {
    using Element = range_future<Range>;
    using T = typename value_of_element<Element>::type;
    if constexpr (!callable_type<type_of<Op>>) {
      return mistake<not_a_function, type_of<Op>>();
    } else if constexpr (is_future<Element> ? !std::is_same_v<result_of<Op>, T>
                                            : !std::is_convertible_v<T, result_of<Op>>) {
      return mistake<not_an_operation, type_of<Op>>();
    } else {
      return mistake_in<Op>(list<future<result_of<Op>>, future<result_of<Op>>>());
    }
  }
}

template <auto Op, class T>
future<T> reduce_futures(std::vector<future<T>> level) {
  if (level.empty()) throw error("manta: reduce of an empty range has no value; give it at least one");
  while (level.size() > 1) {
    std::vector<future<T>> next;
    next.reserve((level.size() + 1) / 2);
    for (std::size_t i = 0; i + 1 < level.size(); i += 2)
      next.push_back(async<Op>(std::move(level[i]), std::move(level[i + 1])));
    if (level.size() % 2 != 0) next.push_back(std::move(level.back()));
    level = std::move(next);
  }
  return level.front();
}
}  // namespace detail

/// Combines all elements, values or futures, by Op(a, b) in a tree of tasks, neighbours first. Op must be associative
/// but need not be commutative. The tree depends only on the number of elements, so that sums of floating-point numbers
/// are the same on any number of ranks. Throws for an empty range.
template <auto Op, class Range>
auto reduce(Range&& range) {  // manta: if op is overloaded, name one: reduce<static_cast<int (*)(int, int)>(op)>
  using Mistake = decltype(detail::mistake_in_reduce<Op, Range>());
  (void)typename Mistake::sentence();
  using T = std::remove_cvref_t<typename detail::result_of_function<Op>::type>;
  if constexpr (Mistake::found) {
    return future<T>();
  } else if constexpr (detail::is_range_of_futures<Range>) {
    return detail::reduce_futures<Op>(detail::listed<Range>(range));
  } else {
    std::vector<future<T>> values;
    for (auto&& x : range) values.push_back(put(static_cast<T>(static_cast<detail::handed_over<Range>&&>(x))));
    return detail::reduce_futures<Op>(std::move(values));
  }
}

/// How for_each cuts a range.
struct for_each_options {
  std::size_t grain = 0;  ///< elements per task; 0: as many as give each rank about 16 tasks
};

namespace detail {
template <auto F, class T>
void run_chunk(std::vector<T> elements) {
  for (auto&& x : elements) F(std::move(x));
}

/// The type of the elements in a chunk for F; void if F's argument is no value, so that each element needs a task.
template <class Parameters, class Element>
struct chunk_of {
  using type = void;
};
template <class P, class Element>
  requires(!is_future<Element> && !vector_of_futures<Element>::value && !std::is_same_v<std::remove_cvref_t<P>, team> &&
           std::is_constructible_v<typename stored_as<P>::type, Element>)
struct chunk_of<list<P>, Element> : stored_as<P> {};

template <class Task>
void finish(const std::vector<future<Task>>& tasks) {
  std::exception_ptr first;
  for (const auto& t : tasks) {
    try {
      t.get();
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}
}  // namespace detail

/// Runs F(x) for every element, `grain` elements per task (of futures, one per task), and waits for all of the tasks.
/// When all have ended, throws the first error in the order of the elements.
template <auto F, class Range>
void for_each(
    Range&& range,
    for_each_options options = {}) {  // manta: if f is overloaded, name one: for_each<static_cast<void (*)(int)>(f)>
  using Mistake = decltype(detail::mistake_in_map<F, Range>());
  (void)typename Mistake::sentence();
  if constexpr (!Mistake::found) {
    using Element = std::remove_cvref_t<decltype(*std::begin(range))>;
    using T = typename detail::chunk_of<detail::parameters_of<F>, Element>::type;
    if constexpr (std::is_void_v<T>) {
      detail::finish(map<F>(std::forward<Range>(range)));
    } else {
      std::vector<T> elements;
      for (auto&& x : range) elements.push_back(static_cast<T>(static_cast<detail::handed_over<Range>&&>(x)));
      std::size_t grain = options.grain;
      if (grain == 0)
        grain = elements.size() / (16 * static_cast<std::size_t>(exec::engine::here("for_each").size())) + 1;
      const task_options named{.name = std::string(detail::constant<F>::name())};
      std::vector<future<void>> chunks;
      for (auto at = elements.begin(); at != elements.end();) {
        const auto left = static_cast<std::size_t>(elements.end() - at);
        const auto end = at + static_cast<std::ptrdiff_t>(left < grain ? left : grain);
        chunks.push_back(async<detail::run_chunk<F, T>>(
            named, std::vector<T>(std::make_move_iterator(at), std::make_move_iterator(end))));
        at = end;
      }
      detail::finish(chunks);
    }
  }
}

namespace detail {
template <std::size_t I, class Tuple>
std::tuple_element_t<I, Tuple> part(const Tuple& whole) {
  return take<std::tuple_element_t<I, Tuple>>(&std::get<I>(whole), false);
}
template <class Tuple>
concept has_members = requires {
  std::tuple_size<Tuple>::value;
};
}  // namespace detail

/// Makes one future for each member of a tuple or pair that a task returns.
///
///   auto [a, b] = manta::unpack(manta::async<f>(x));
template <class Tuple>
auto unpack(const future<Tuple>& whole) {
  constexpr bool is_tuple = detail::has_members<Tuple>;
  static_assert(is_tuple, "manta: unpack takes a future of a std::tuple, std::pair or std::array");
  if constexpr (is_tuple) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple(async<detail::part<I, Tuple>>(whole)...);
    }
    (std::make_index_sequence<std::tuple_size_v<Tuple>>());
  }
}

}  // namespace manta
