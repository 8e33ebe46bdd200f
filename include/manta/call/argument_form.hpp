// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How an argument travels to a parameter: as plain bytes, encoded, or as an input of the task.
#pragma once

#include "manta/call/signature.hpp"

namespace manta::detail {

template <class T>
struct vector_of_futures : std::false_type {};
template <class T, class A>
struct vector_of_futures<std::vector<future<T>, A>> : std::true_type {
  using item = T;
};
template <class T>
struct element {
  using type = void;
};
template <class T, class A>
struct element<std::vector<T, A>> {
  using type = T;
};

template <class S>
struct plain_form {};  // bytes
template <class S>
struct value_form {};  // encoded in place if small, else an input
template <class U>
struct future_form {};  // an input
template <class U>
struct futures_form {};  // a count and that many inputs
struct no_form {};       // does not fit

/// The form in which an argument of type A travels to a parameter of type P.
template <class P, class A>
constexpr auto form_of() {
  using S = stored_type<P, A>;
  using V = std::remove_cvref_t<A>;
  if constexpr (is_future<V> && !is_future<S>) {
    using U = typename future_value<V>::type;
    if constexpr (std::is_void_v<U>) {
      return no_form{};
    } else if constexpr (std::is_same_v<U, S> || std::is_convertible_v<const U&, S>) {
      return future_form<U>{};
    } else {
      return no_form{};
    }
  } else if constexpr (vector_of_futures<V>::value && !vector_of_futures<S>::value) {
    using U = typename vector_of_futures<V>::item;
    using E = typename element<S>::type;
    if constexpr (std::is_void_v<E> || std::is_void_v<U>) {
      return no_form{};
    } else if constexpr (std::is_same_v<U, E> || std::is_convertible_v<const U&, E>) {
      return futures_form<U>{};
    } else {
      return no_form{};
    }
  } else if constexpr (!std::is_same_v<V, S> && !std::is_convertible_v<A, S>) {
    if constexpr (!std::is_same_v<S, std::remove_cvref_t<P>> &&
                  requires(const V& v) { S(std::begin(v), std::end(v)); }) {
      return value_form<S>{};  // any range for a span
    } else {
      return no_form{};
    }
  } else if constexpr (wire::is_plain<S>) {
    return plain_form<S>{};
  } else {
    return value_form<S>{};
  }
}
template <class P, class A>
using form_type = decltype(form_of<P, A>());

}  // namespace manta::detail
