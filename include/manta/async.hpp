// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// async: call a function somewhere in the world of ranks. Returns a future at
// once; the task starts when its arguments exist and a rank is free.
//
//   auto y = manta::async<f>(1, x);                      // x may be a value or a future
//   auto z = manta::async<g>({.retries = 3}, y);
//   auto w = manta::async([](int i) { return 2 * i; }, 21);
//   auto v = manta::async<&Simulator::step>(sim, action); // a method of an actor
#pragma once

#include <string>

#include "manta/actor_handle.hpp"
#include "manta/signature.hpp"
#include "manta/task_options.hpp"

namespace manta {

namespace detail {

/// Adds the values that say where the task or actor is to be: its placement waits for them.
template <class Options>
void write_hidden(argument_writer& out, const Options& o) {
  if (o.near.valid()) out.add_hidden(access::of(o.near));
  if (o.in.valid()) out.add_hidden(access::of(o.in));
}

template <auto F>
struct constant {
  static std::string_view name() {
    if constexpr (std::is_class_v<decltype(F)>) return wire::callable_name<std::remove_const_t<decltype(F)>>();
    const std::string_view text = __PRETTY_FUNCTION__;
    const std::size_t begin = text.find("F = ") + 4;
    std::string_view name = text.substr(begin, text.find_first_of(";]", begin) - begin);
    if (name.starts_with('&')) name.remove_prefix(1);
    if (name.starts_with('(') && name.ends_with(')')) name = name.substr(1, name.size() - 2);
    return name.substr(0, name.find('(', 1));
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

/// `Named`: the type whose name is shown.
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

/// (The class is a parameter too: g++ 12 gives a template that is told only by a member of a class of one file external
/// linkage, so that classes of the same name in two files would share it.)
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

/// Starts a coroutine and gives a stream; defined in stream.hpp.
template <class Task, class Parameters, class... Args>
auto start_stream(const task_options* options, Args&&... args);

/// In place of options where there are none: then nothing of what makes requests is compiled.
struct no_options {
  operator const task_options*() const { return nullptr; }
};

template <class Task, class Parameters, class Options, class... Args>
auto submit_task(Options options, Args&&... args) {
  using R = std::remove_cvref_t<typename Task::result>;
  constexpr bool has_options = !std::is_same_v<Options, no_options>;
  exec::engine& e = exec::engine::here("async");
  const exec::engine::guard g(e);
  graph::request_ptr request;
  if constexpr (has_options) {
    request = make_request(e, *options, Task::gang);
  } else if constexpr (Task::gang) {
    request = make_request(e, task_options{}, true);
  }
  argument_writer out(e);
  write_arguments(out, Parameters{}, std::forward<Args>(args)...);
  if constexpr (has_options) write_hidden(out, *options);
  graph::node& n = e.submit(function_index<Task>::value, result_type<R>(), out.bytes(), out.byte_count(), out.inputs(),
                            out.input_count(), std::move(request));
  out.handed_over();
  return access::make_future<R>(n);
}

/// `options`: a pointer to them, or no_options.
template <class Task, class Parameters, class Options, class... Args>
auto submit(Options options, Args&&... args) {
  if constexpr (is_generator<typename Task::result>) {
    return start_stream<Task, Parameters>(options, std::forward<Args>(args)...);
  } else {
    return submit_task<Task, Parameters>(options, std::forward<Args>(args)...);
  }
}

// --- the mistakes, see base/mistake.hpp

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
  static_assert(never<F>, "manta: async<f> takes a function with fixed parameters, or a method and an actor; a data member is read by a "
                          "method that returns it");
};
template <class F>
struct coroutine_of_gang {
  static_assert(never<F>, "manta: a gang task cannot be a coroutine: return values, or per_rank of them");
};
template <class F>
struct not_callable {
  static_assert(never<F>, "manta: async takes a function as template argument, a lambda without auto parameters, or an object with one "
                          "operator(): async<f>(...) or async([](int i) { ... }, ...)");
};
template <class F>
struct captures {
  static_assert(never<F>, "manta: captures are not sent: pass the value as an argument, or use a function object with a serialize() "
                          "function");
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
  static_assert(never<Method>, "manta: a method is called on an actor, without options: async<&A::method>(actor, args...), where "
                               "spawn<A> gave the actor and took the options");
};
template <class Method>
struct method_of_another_class {
  static_assert(never<Method>, "manta: this method does not belong to the actor's class");
};
template <class Method>
struct coroutine_method {
  static_assert(never<Method>, "manta: a method of an actor cannot be a generator: give the actor a method that returns the next value, "
                               "or pass its handle to a coroutine");
};

/// Of a function type F that has a signature.
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

/// async<F>(...) of a function,
template <auto F>
using type_of = std::remove_const_t<decltype(F)>;
template <auto F, class... Args>
constexpr auto mistake_in(list<Args...> arguments) {
  if constexpr (callable_type<type_of<F>>) {
    return mistake_in_task<type_of<F>, decltype(arguments)>();
  } else {
    return mistake<not_a_function, type_of<F>>();
  }
}
/// of a method,
template <auto M, class... Args>
  requires(std::is_member_function_pointer_v<decltype(M)>)
constexpr auto mistake_in(list<Args...>) {
  return mistake<method_without_actor, type_of<M>>();
}
template <auto M, class First, class... Args>
  requires(std::is_member_function_pointer_v<decltype(M)> && is_actor<std::remove_cvref_t<First>>)
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
/// and async(object, ...).
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

template <auto... F, class... Args>
constexpr auto mistake_with_options(list<Args...> arguments) {
  if constexpr ((std::is_member_function_pointer_v<decltype(F)> || ...)) {
    return mistake<method_without_actor, list<type_of<F>...>>();
  } else {
    return mistake_in<F...>(arguments);
  }
}

// --- the calls

/// async<F>(...) of a function,
template <auto F, class Options, class... Args>
  requires(!std::is_member_function_pointer_v<decltype(F)>)
auto call(Options options, Args&&... args) {
  using Gang = gang_parameters<typename signature<type_of<F>>::parameters>;
  using Parameters = typename Gang::others;
  using Forms = typename forms<Parameters, list<Args...>>::type;
  return submit<function_task<F, Parameters, Forms, Gang::value>, Parameters>(options, std::forward<Args>(args)...);
}
/// of a method,
template <auto M, class Options, class A, class... Args>
  requires(std::is_member_function_pointer_v<decltype(M)>)
auto call(Options, const actor<A>& self, Args&&... args) {
  using Signature = signature<type_of<M>>;
  using R = std::remove_cvref_t<typename Signature::result>;
  using Forms = typename forms<typename Signature::parameters, list<Args...>>::type;
  using Task = method_task<M, A, typename Signature::parameters, Forms>;
  exec::engine& e = exec::engine::here("async");
  const exec::engine::guard g(e);
  graph::node& handle = access::of(self).node("async: the actor");
  argument_writer out(e, e.longest_argument(handle));
  write_arguments(out, typename Signature::parameters{}, std::forward<Args>(args)...);
  graph::node& n = e.call_actor(handle, function_index<Task>::value, result_type<R>(), out.bytes(), out.byte_count(),
                                out.inputs(), out.input_count());
  out.handed_over();
  return access::make_future<R>(n);
}

template <class Options, class L, class... P, class... Rest>
auto call_stateful(Options options, L&& object, list<P...>, Rest&&... rest) {
  // the object is the first argument of a captureless lambda that calls it; a coroutine goes on looking at it
  using R = typename signature<std::remove_cvref_t<L>>::result;
  using F = std::conditional_t<is_generator<R>, const std::remove_cvref_t<L>&, std::remove_cvref_t<L>>;
  constexpr auto apply = [](F f, P... p) -> R { return f(std::forward<P>(p)...); };
  using Apply = std::remove_const_t<decltype(apply)>;
  using Parameters = list<F, P...>;
  using Forms = typename forms<Parameters, list<L, Rest...>>::type;
  using Task = lambda_task<Apply, Parameters, Forms, false, std::remove_cvref_t<L>>;
  return submit<Task, Parameters>(options, std::forward<L>(object), std::forward<Rest>(rest)...);
}

/// and async(object, ...).
template <class Options, class L, class... Args>
auto call(Options options, L&& object, Args&&... args) {
  using F = std::remove_cvref_t<L>;
  using Gang = gang_parameters<typename signature<F>::parameters>;
  using Parameters = typename Gang::others;
  if constexpr (std::is_empty_v<F> && std::is_default_constructible_v<F>) {
    using Forms = typename forms<Parameters, list<Args...>>::type;
    return submit<lambda_task<F, Parameters, Forms, Gang::value>, Parameters>(options, std::forward<Args>(args)...);
  } else {
    return call_stateful(options, std::forward<L>(object), Parameters{}, std::forward<Args>(args)...);
  }
}

}  // namespace detail

/// Runs a function as a task, or calls a method of an actor; examples/01_tasks.md has a table of what may be passed for each
/// parameter. Arguments are copied at the call. Returns at once, but helps when this rank is far ahead of the network.
///
///   async<f>(args...)               a function
///   async(object, args...)          a lambda without captures, or a serialisable function object
///   async<&A::method>(a, args...)   on the rank of the actor; calls through one actor from one rank run in the order made
///
/// The first two take options before all else: async<f>({.retries = 3}, args...). Throws unschedulable if no rank can ever
/// meet the options.
///
/// A call that has come to the actor's rank waits until the task or method that runs there ends or waits, and for the calls
/// that came before it. Tasks that have not started, and a task that runs its own children one after the other, go after it.
/// A call on an actor that is gone fails with actor_died.
//  (What stands on the line of a function's name is what compilers show of one that they could not take.)
template <auto... F, class... Args>
  requires(!detail::starts_with_options<Args...>)
auto async(Args&&... args) {  // manta: if f is overloaded, name one: async<static_cast<int (*)(int)>(f)>
  using Arguments = detail::list<Args...>;
  using Mistake = decltype(detail::mistake_in<F...>(Arguments()));
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return detail::refused<F...>(Arguments());
  } else {
    return detail::call<F...>(detail::no_options(), std::forward<Args>(args)...);
  }
}
/// The same with options; a method has none, for spawn took those of the actor.
template <auto... F, class... Args>
auto async(const task_options& options, Args&&... args) {  // likewise
  using Arguments = detail::list<Args...>;
  using Mistake = decltype(detail::mistake_with_options<F...>(Arguments()));
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return detail::refused<F...>(Arguments());
  } else {
    return detail::call<F...>(&options, std::forward<Args>(args)...);
  }
}

}  // namespace manta
