// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The rules for calls of async. Each mistake is one sentence in the user's words, which the
// compiler prints (base/mistake.hpp).
#pragma once

#include "manta/call/requirements.hpp"
#include "manta/task_options.hpp"

namespace manta::detail {

template <class T>
inline constexpr bool is_actor = false;
template <class A>
inline constexpr bool is_actor<actor<A>> = true;

template <class... Args>
inline constexpr bool starts_with_options = false;
template <class First, class... Rest>
inline constexpr bool starts_with_options<First, Rest...> = std::is_same_v<std::remove_cvref_t<First>, task_options>;

template <class F>
struct not_a_function {
  static_assert(never<F>,
                "manta: async<f> takes a function with fixed parameters, or a method and an actor; a data member "
                "is read by a method that returns it");
};
template <class F>
struct coroutine_of_gang {
  static_assert(never<F>, "manta: a gang task cannot be a coroutine: return values, or per_rank of them");
};
template <class F>
struct not_callable {
  static_assert(never<F>,
                "manta: async takes a function as template argument, a lambda without auto parameters, or an "
                "object with one operator(): async<f>(...) or async([](int i) { ... }, ...)");
};
template <class F>
struct captures {
  static_assert(never<F>,
                "manta: captures are not sent: pass the value as an argument, or use a function object with a "
                "serialize() function");
};
template <class F>
struct move_only_object {
  static_assert(never<F>, "manta: a function object of a move-only type is moved in: pass it by std::move");
};
template <class F>
struct gang_of_object {
  static_assert(never<F>, "manta: a gang task is a function or a lambda without captures");
};
template <class Method>
struct method_without_actor {
  static_assert(never<Method>,
                "manta: a method is called on an actor: async<&A::method>(actor, args...), where spawn<A> gave the "
                "actor");
};
template <class Function>
struct static_method {
  static_assert(never<Function>,
                "manta: this function takes no actor: a static method is called without one, async<&A::f>(args...)");
};
template <class Method>
struct method_of_another_class {
  static_assert(never<Method>, "manta: this method does not belong to the actor's class");
};
template <class Method>
struct coroutine_method {
  static_assert(never<Method>,
                "manta: a method of an actor cannot be a generator: give the actor a method that returns the next "
                "value, or pass its handle to a coroutine");
};

/// Checks a call of a function type F that has a signature.
template <class F, class Arguments>
constexpr auto mistake_in_task() {
  using Signature = signature<F>;
  using Gang = gang_parameters<typename Signature::parameters>;
  if constexpr (Gang::value && is_generator<typename Signature::result>) {
    return mistake<coroutine_of_gang, F>();
  } else {
    return mistake_in_call<typename Gang::others, Arguments, typename Signature::result>();
  }
}

/// Checks async<F>(...) of a function.
template <auto F>
using type_of = std::remove_const_t<decltype(F)>;
/// Whether the first argument is an actor, and the function does not take one first.
template <class Parameters, class... Args>
inline constexpr bool is_given_an_actor = false;
template <class First, class... Args>
inline constexpr bool is_given_an_actor<list<>, First, Args...> = is_actor<std::remove_cvref_t<First>>;
template <class P, class... Rest, class First, class... Args>
inline constexpr bool is_given_an_actor<list<P, Rest...>, First, Args...> =
    is_actor<std::remove_cvref_t<First>> && !is_actor<std::remove_cvref_t<P>> && sizeof...(Rest) + 1 == sizeof...(Args);

template <auto F, class... Args>
constexpr auto mistake_in(list<Args...> arguments) {
  if constexpr (!callable_type<type_of<F>>) {
    return mistake<not_a_function, type_of<F>>();
  } else if constexpr (is_given_an_actor<typename gang_parameters<typename signature<type_of<F>>::parameters>::others,
                                         Args...>) {
    return mistake<static_method, type_of<F>>();
  } else {
    return mistake_in_task<type_of<F>, decltype(arguments)>();
  }
}
/// Checks async<M>(actor, ...) of a method.
template <auto M, class... Args>
  requires(is_method<M>)
constexpr auto mistake_in(list<Args...>) { return mistake<method_without_actor, type_of<M>>(); }
template <auto M, class First, class... Args>
  requires(is_method<M> && (is_actor<std::remove_cvref_t<First>>))
constexpr auto mistake_in(list<First, Args...>) {
  using Signature = signature<type_of<M>>;
  using A = typename std::remove_cvref_t<First>::class_type;
  if constexpr (!std::is_convertible_v<A*, typename Signature::object*>) {  // a public base, and but one of that class
    return mistake<method_of_another_class, type_of<M>>();
  } else if constexpr (is_generator<typename Signature::result>) {
    return mistake<coroutine_method, type_of<M>>();
  } else {
    return mistake_in_call<typename Signature::parameters, list<Args...>, typename Signature::result>();
  }
}
/// Checks async(object, ...) of a lambda or function object.
template <class L, class... Args>
constexpr auto mistake_in(list<L, Args...>) {
  using F = std::remove_cvref_t<L>;
  if constexpr (!one_call_operator<F>) {
    return mistake<not_callable, F>();
  } else if constexpr (!std::is_empty_v<F> && !wire::is_serializable<F>()) {
    return mistake<captures, F>();
  } else {
    using in_task = decltype(mistake_in_task<F, list<Args...>>());
    constexpr bool is_sent = !std::is_empty_v<F> || !std::is_default_constructible_v<F>;
    if constexpr (in_task::found || !is_sent) {
      return in_task();
    } else if constexpr (!can_be_kept<F, L>) {
      return mistake<move_only_object, F>();
    } else if constexpr (gang_parameters<typename signature<F>::parameters>::value) {
      return mistake<gang_of_object, F>();
    } else {
      return wire::mistake_in_value<F>();
    }
  }
}

}  // namespace manta::detail
