// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions, lambdas and methods as entries of the function table: how the executor runs each, and its name in reports.
#pragma once

#include <string_view>
#include <typeinfo>

#include "manta/call/argument_reader.hpp"

namespace manta::detail {

/// The name of a function in the compiler's text "... F = &name(parameters)]" of a template's instance.
MANTA_DECL std::string_view name_of_constant(std::string_view text);

template <auto F>
struct constant {
  static std::string_view name() {
    if constexpr (std::is_class_v<decltype(F)>) return wire::callable_name<std::remove_const_t<decltype(F)>>();
    return name_of_constant(__PRETTY_FUNCTION__);
  }
};

template <auto F, class Parameters, class Forms, bool Gang>
struct function_task {
  static constexpr bool gang = Gang, looks_only = false;
  using result = typename signature<decltype(F)>::result;
  static void run(exec::invocation& call) {
    if constexpr (Gang) {
      run_member<result>(call, F, Parameters{}, Forms{});
    } else {
      run_function<result>(call, F, Parameters{}, Forms{});
    }
  }
  static std::string_view name() { return constant<F>::name(); }
};

/// A task that runs a lambda. `Named` is the type whose name appears in reports.
template <class L, class Parameters, class Forms, bool Gang = false, class Named = L>
struct lambda_task {
  static constexpr bool gang = Gang, looks_only = false;
  using result = typename signature<L>::result;
  static void run(exec::invocation& call) {
    if constexpr (Gang) {
      run_member<result>(call, L{}, Parameters{}, Forms{});
    } else {
      run_function<result>(call, L{}, Parameters{}, Forms{});
    }
  }
  static std::string_view name() { return wire::callable_name<Named>(); }
};

/// A task that runs a method. (The class is a parameter too. Without it, g++ 12 gives the template external linkage
/// even for a class that is local to one file, and classes of the same name in two files would share it.)
template <auto M, class Object, class Parameters, class Forms>
struct method_task {
  static constexpr bool gang = false, looks_only = signature<decltype(M)>::is_const;
  using result = typename signature<decltype(M)>::result;
  static void run(exec::invocation& call) {
    auto& self = *static_cast<Object*>(call.self);
    run_function<result>(
        call, [&]<class... A>(A&&... a) -> result { return (self.*M)(std::forward<A>(a)...); }, Parameters{}, Forms{});
  }
  static std::string_view name() { return constant<M>::name(); }
};

/// Index of a task in the function table; instantiating it registers it.
template <class Task>
struct function_index {
  static inline const std::uint32_t value =
      wire::add_entry(wire::function_entry{typeid(Task).name(), &Task::name, &Task::run, Task::gang, Task::looks_only});
};

template <class Parameters, class Arguments>
struct forms;
template <class... P, class... A>
struct forms<list<P...>, list<A...>> {
  using type = list<form_type<P, A>...>;
};

template <class R>
std::uint32_t result_type() {
  return wire::type_index<std::remove_cvref_t<R>>::value;
}

}  // namespace manta::detail

#ifndef MANTA_COMPILED
#include "manta/call/task_kinds.ipp"
#endif
