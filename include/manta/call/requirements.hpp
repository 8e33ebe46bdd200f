// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rules for calls. Each mistake is one sentence in the user's words, which the compiler prints (base/mistake.hpp).
#pragma once

#include <string_view>

#include "manta/call/argument_form.hpp"

namespace manta::detail {

using base::mistake;
using base::never;
using base::no_mistake;

template <class T>
inline constexpr bool looks_at_characters = false;
template <class C, class Traits>
inline constexpr bool looks_at_characters<std::basic_string_view<C, Traits>> = true;
/// eigen.hpp adds its own.
template <class T>
inline constexpr bool writes_through_view = false;
template <class T, std::size_t Extent>
inline constexpr bool writes_through_view<std::span<T, Extent>> = !std::is_const_v<T>;

template <class P>
struct team_not_first {
  static_assert(never<P>,
                "manta: manta::team is the first parameter of a gang task and no other; take it once, first, by value");
};
template <class P>
struct pointer_parameter {
  static_assert(never<P>, "manta: a task cannot take a pointer: it means nothing on another rank; pass the value");
};
template <class P>
struct rvalue_parameter {
  static_assert(never<P>, "manta: a task cannot take an rvalue reference: take it by value");
};
template <class P>
struct mutable_parameter {
  static_assert(
      never<P>,
      "manta: a task cannot take a non-const reference: the argument would be a copy; return the new value, or keep "
      "it in an actor");
};
template <class P>
struct characters_parameter {
  static_assert(never<P>, "manta: a task cannot take a std::string_view: take const std::string&");
};
template <class P>
struct mutable_view_parameter {
  static_assert(
      never<P>,
      "manta: a task cannot write through a span or an Eigen::Ref: take it of const values, or take the vector or "
      "matrix by value");
};
template <class P>
struct reference_to_view {
  static_assert(never<P>,
                "manta: a coroutine takes a view by value: the view that a reference refers to is gone when the "
                "coroutine goes on");
};

template <class P>
constexpr auto mistake_in_parameter() {
  using T = std::remove_reference_t<P>;
  using V = std::remove_cvref_t<P>;
  if constexpr (std::is_same_v<V, team>) {
    return mistake<team_not_first, P>();
  } else if constexpr (std::is_pointer_v<V>) {
    return mistake<pointer_parameter, P>();
  } else if constexpr (std::is_rvalue_reference_v<P>) {
    return mistake<rvalue_parameter, P>();
  } else if constexpr (std::is_lvalue_reference_v<P> && !std::is_const_v<T>) {
    return mistake<mutable_parameter, P>();
  } else if constexpr (looks_at_characters<V>) {
    return mistake<characters_parameter, P>();
  } else if constexpr (writes_through_view<V>) {
    return mistake<mutable_view_parameter, P>();
  } else {
    return no_mistake();
  }
}
template <class... P>
constexpr auto mistake_in_parameters(list<P...>) {
  return base::first_mistake(mistake_in_parameter<P>()...);
}

/// Checks a parameter P of a coroutine, which refers to its arguments until it ends.
template <class P>
constexpr auto mistake_in_kept_parameter() {
  if constexpr (std::is_reference_v<P> && !std::is_same_v<typename stored_as<P>::type, std::remove_cvref_t<P>>) {
    return mistake<reference_to_view, P>();
  } else {
    return no_mistake();
  }
}
template <class... P>
constexpr auto mistake_in_kept_parameters(list<P...>) {
  return base::first_mistake(mistake_in_kept_parameter<P>()...);
}

template <class Arguments>
struct too_many_arguments {
  static_assert(never<Arguments>, "manta: too many arguments for this function; options come before them");
};
template <class Arguments>
struct too_few_arguments {
  static_assert(never<Arguments>, "manta: too few arguments for this function");
};
template <class Given, class Wanted>
struct conversion;  // names two types
template <class Conversion>
struct not_convertible {
  static_assert(never<Conversion>,
                "manta: an argument cannot be converted to the parameter's type; pass a value or a future of a type "
                "that converts to it");
};
template <class A>
struct move_only_lvalue {
  static_assert(never<A>, "manta: an argument of a move-only type is moved in: pass it by std::move");
};

/// Whether an argument of type A can be stored as S: a move-only argument must be an rvalue.
template <class S, class A>
inline constexpr bool can_be_kept = !std::is_same_v<std::remove_cvref_t<A>, S> || wire::is_copyable<S> ||
                                    (std::is_rvalue_reference_v<A&&> && std::is_constructible_v<S, A&&>);

template <class P, class A>
constexpr auto mistake_in_argument() {
  if constexpr (std::is_same_v<form_type<P, A>, no_form>) {
    return mistake<not_convertible, conversion<A, P>>();
  } else {
    using S = stored_type<P, A>;
    using in_value = decltype(wire::mistake_in_value<S>());
    if constexpr (!in_value::found && !can_be_kept<S, A>) {
      return mistake<move_only_lvalue, A>();
    } else {
      return in_value();
    }
  }
}
template <class... P, class... A>
constexpr auto mistake_in_arguments(list<P...>, list<A...> given) {
  if constexpr (sizeof...(A) > sizeof...(P)) {
    return mistake<too_many_arguments, decltype(given)>();
  } else if constexpr (sizeof...(A) < sizeof...(P)) {
    return mistake<too_few_arguments, decltype(given)>();
  } else {
    return base::first_mistake(mistake_in_argument<P, A>()...);
  }
}

template <class R>
struct pointer_result {
  static_assert(never<R>, "manta: a task cannot return a pointer: it means nothing on another rank; return the value");
};

template <class T>
struct generator_of_references {
  static_assert(
      never<T>,
      "manta: a generator cannot yield references: the value is gone when the coroutine goes on; yield values");
};
template <class T>
struct generator_of_pointers {
  static_assert(never<T>, "manta: a generator cannot yield pointers: they mean nothing on another rank; yield values");
};
template <class T>
struct generator_of_constants {
  static_assert(never<T>, "manta: generator<T> needs a type of values, without const");
};

template <class T>
constexpr auto mistake_in_yield() {
  if constexpr (std::is_reference_v<T>) {
    return mistake<generator_of_references, T>();
  } else if constexpr (std::is_pointer_v<T>) {
    return mistake<generator_of_pointers, T>();
  } else if constexpr (std::is_const_v<T> || std::is_void_v<T>) {
    return mistake<generator_of_constants, T>();
  } else {
    return wire::mistake_in_value<T>();
  }
}

template <class R>
constexpr auto mistake_in_result() {
  if constexpr (std::is_void_v<R>) {
    return no_mistake();
  } else if constexpr (is_generator<R>) {
    return mistake_in_yield<typename R::value_type>();
  } else if constexpr (std::is_pointer_v<std::remove_reference_t<R>>) {
    return mistake<pointer_result, R>();
  } else {
    return wire::mistake_in_value<std::remove_cvref_t<R>>();
  }
}

/// Finds the first mistake of a call: in the parameters, then in the arguments, then in the result.
template <class Parameters, class Arguments, class Result>
constexpr auto mistake_in_call() {
  using in_parameters = decltype(mistake_in_parameters(Parameters()));
  if constexpr (in_parameters::found) {
    return in_parameters();
  } else {
    using in_arguments = decltype(mistake_in_arguments(Parameters(), Arguments()));
    if constexpr (in_arguments::found) {
      return in_arguments();
    } else if constexpr (is_generator<Result>) {
      return base::first_mistake(mistake_in_result<Result>(), mistake_in_kept_parameters(Parameters()));
    } else {
      return mistake_in_result<Result>();
    }
  }
}

}  // namespace manta::detail
