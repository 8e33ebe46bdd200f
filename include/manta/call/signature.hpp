// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parameters and the result of a callable type, what async returns for it, and what is stored and sent
// for each parameter.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/call/input.hpp"
#include "manta/future.hpp"

namespace manta {

class team;
template <class T>
class generator;
template <class T>
class stream;

/// The type that is stored and sent for a parameter of type P. For a view it is the container that the view refers to.
/// If that is one array, `look` gives a view of the pages of a value that has not been decoded.
template <class P>
struct stored_as {
  using type = std::remove_cvref_t<P>;
};
template <class T, std::size_t Extent>
struct stored_as<std::span<const T, Extent>> {
  using type = std::vector<T>;
  static std::span<const T, Extent> look(const array_in_pages& a) {
    return std::span<const T, Extent>(reinterpret_cast<const T*>(a.data), a.bytes / sizeof(T));
  }
};
template <class Key, class T>
struct stored_as<std::pair<const Key, T>> {  // an element of a map
  using type = std::pair<Key, T>;
};
template <class P>
  requires(!std::is_same_v<P, std::remove_cvref_t<P>>)
struct stored_as<P> : stored_as<std::remove_cvref_t<P>> {};

namespace detail {

/// The type that is stored for an argument of type A, or a future of it: a span can refer to any array of its elements.
template <class P, class A>
struct stored_for : stored_as<P> {};
template <class P, class U>
struct stored_for<P, future<U>> : stored_for<P, U> {};
/// A contiguous container of T that can be sent.
template <class A, class T>
concept stored_array_of = wire::is_serializable<A>() && requires(const A& a) {
  { a.data() } -> std::same_as<const T*>;
  a.size();
};
template <class T, std::size_t Extent, stored_array_of<T> A>
struct stored_for<std::span<const T, Extent>, A> {
  using type = A;
};
template <class P, class A>
using stored_type = typename stored_for<std::remove_cvref_t<P>, std::remove_cvref_t<A>>::type;

template <class... T>
struct list {
  static constexpr std::size_t size = sizeof...(T);
};

// --- the parameters and the result of anything callable

template <auto M>
inline constexpr bool is_method = std::is_member_function_pointer_v<decltype(M)>;

template <class F>
concept one_call_operator = requires {
  &F::operator();
};
template <class F>
struct signature {};
template <one_call_operator F>
struct signature<F> : signature<decltype(&F::operator())> {};
template <class R, class... P>
struct signature<R (*)(P...)> {
  static constexpr bool is_const = false;
  using result = R;
  using parameters = list<P...>;
  using object = void;
};
template <class R, class... P>
struct signature<R (*)(P...) noexcept> : signature<R (*)(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...)> : signature<R (*)(P...)> {
  using object = C;
};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const> : signature<R (C::*)(P...)> {
  static constexpr bool is_const = true;
};
template <class R, class C, class... P>
struct signature<R (C::*)(P...)&> : signature<R (C::*)(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const&> : signature<R (C::*)(P...) const> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) noexcept> : signature<R (C::*)(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const noexcept> : signature<R (C::*)(P...) const> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...)& noexcept> : signature<R (C::*)(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const& noexcept> : signature<R (C::*)(P...) const> {};

/// Whether a function is a gang task, whose first parameter is manta::team; `others` are the parameters that
/// the caller gives.
template <class Parameters>
struct gang_parameters : std::false_type {
  using others = Parameters;
};
template <class First, class... P>
  requires(std::is_same_v<std::remove_cvref_t<First>, team> && !std::is_same_v<First, team&>)
struct gang_parameters<list<First, P...>> : std::true_type {
  using others = list<P...>;
};

template <class F>
concept callable_type = requires {
  typename signature<F>::parameters;
};

// --- what a call gives

/// Whether the result type is that of a coroutine, whose results are the values that it yields (stream.hpp).
template <class R>
inline constexpr bool is_generator = false;
template <class T>
inline constexpr bool is_generator<generator<T>> = true;

template <class R>
struct returned {
  using type = future<std::remove_cvref_t<R>>;
};
template <class T>
struct returned<generator<T>> {
  using type = stream<std::remove_cvref_t<T>>;
};

/// An argument's type in a call that was refused, to find the result's type: a future counts as its value, an actor
/// as its object.
template <class A>
struct passed_as {
  using type = A;
};
template <class A>
  requires(is_future<A>)
struct passed_as<A> : future_value<A> {};
template <class A>
struct passed_as<actor<A>> {
  using type = A&;
};

template <class F, class... Args>
struct result_if_called {
  using type = void;
};
template <callable_type F, class... Args>
struct result_if_called<F, Args...> {
  using type = typename signature<F>::result;
};
template <class F, class... Args>
  requires(!callable_type<F> && std::is_invocable_v<F, typename passed_as<Args>::type...>)
struct result_if_called<F, Args...> : std::invoke_result<F, typename passed_as<Args>::type...> {};

/// What async returns for a call that was refused. Its type is that of the correct call as far as it is known, so that
/// the compiler has nothing more to complain about where the program uses the result.
template <auto... F, class... Args>
auto refused(list<Args...>) {
  using called = result_if_called<std::decay_t<decltype(F)>..., std::decay_t<Args>...>;
  return typename returned<typename called::type>::type();
}

}  // namespace detail

}  // namespace manta
