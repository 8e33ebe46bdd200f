// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// async: calls a function on some rank. It returns a future at once; the task starts when its arguments exist and a
// rank is free.
//
//   auto y = manta::async<f>(1, x);                      // x may be a value or a future
//   auto z = manta::async<g>({.retries = 3}, y);
//   auto w = manta::async([](int i) { return 2 * i; }, 21);
//   auto v = manta::async<&Simulator::step>(sim, action); // a method of an actor
#pragma once

#include "manta/actor_handle.hpp"
#include "manta/call/argument_writer.hpp"
#include "manta/call/task_kinds.hpp"
#include "manta/call/task_requirements.hpp"
#include "manta/task_options.hpp"

namespace manta {

namespace detail {

/// Adds the values that decide where the task or actor is placed, as inputs that the function does not see.
template <class Options>
void write_hidden(argument_writer& out, const Options& o) {
  if (o.near.valid()) out.add_hidden(access::of(o.near));
  if (o.in.valid()) out.add_hidden(access::of(o.in));
}

/// Starts a coroutine and gives a stream; defined in stream.hpp.
template <class Task, class Parameters, class... Args>
auto start_stream(const task_options* options, Args&&... args);

/// Stands for the options of a call without options, so that the code that makes requests is not compiled for it.
struct no_options {
  operator const task_options*() const { return nullptr; }
};

/// What a task asks of the scheduler; null if it asks for nothing.
template <bool Gang, class Options>
auto request_of(exec::engine& e, Options options) {
  if constexpr (!std::is_same_v<Options, no_options>) {
    return make_request(e, *options, Gang);
  } else if constexpr (Gang) {
    return make_request(e, task_options{}, true);
  } else {
    return nullptr;
  }
}

template <class Task, class Parameters, class Options, class... Args>
auto submit_task(Options options, Args&&... args) {
  using R = std::remove_cvref_t<typename Task::result>;
  exec::engine& e = exec::engine::here("async");
  const exec::engine::guard g(e);
  auto request = request_of<Task::gang>(e, options);
  argument_writer out(e);
  write_arguments(out, Parameters{}, std::forward<Args>(args)...);
  if constexpr (!std::is_same_v<Options, no_options>) write_hidden(out, *options);
  auto& n = e.home().submit(function_index<Task>::value, result_type<R>(), out.written(), std::move(request));
  out.handed_over();
  return access::make_future<R>(handle(n));
}

/// Writes the arguments and submits the task. `options` is a pointer to the options, or no_options.
template <class Task, class Parameters, class Options, class... Args>
auto submit(Options options, Args&&... args) {
  if constexpr (is_generator<typename Task::result>) {
    return start_stream<Task, Parameters>(options, std::forward<Args>(args)...);
  } else {
    return submit_task<Task, Parameters>(options, std::forward<Args>(args)...);
  }
}

/// async<F>(...) of a function.
template <auto F, class Options, class... Args>
  requires(!is_method<F>)
auto call(Options options, Args&&... args) {
  using Gang = gang_parameters<typename signature<type_of<F>>::parameters>;
  using Parameters = typename Gang::others;
  using Forms = typename forms<Parameters, list<Args...>>::type;
  return submit<function_task<F, Parameters, Forms, Gang::value>, Parameters>(options, std::forward<Args>(args)...);
}
/// async<M>(actor, ...) of a method.
template <auto M, class Options, class A, class... Args>
  requires(is_method<M>)
auto call([[maybe_unused]] Options options, const actor<A>& self, Args&&... args) {
  using Signature = signature<type_of<M>>;
  using R = std::remove_cvref_t<typename Signature::result>;
  using Forms = typename forms<typename Signature::parameters, list<Args...>>::type;
  using Task = method_task<M, A, typename Signature::parameters, Forms>;
  exec::engine& e = exec::engine::here("async");
  const exec::engine::guard g(e);
  auto& callee = access::of(self).node("async: the actor");
  argument_writer out(e, e.calls().longest_argument(callee));
  write_arguments(out, typename Signature::parameters{}, std::forward<Args>(args)...);
  const auto send = [&]() -> auto& {
    if constexpr (std::is_same_v<Options, no_options>) {
      return e.calls().call(callee, function_index<Task>::value, result_type<R>(), out.written());
    } else {
      const exec::call_terms terms = make_call_terms(*options);
      return e.calls().call_on_terms(callee, function_index<Task>::value, result_type<R>(), out.written(), terms);
    }
  };
  auto& n = send();
  out.handed_over();
  return access::make_future<R>(handle(n));
}

template <class Options, class L, class... P, class... Rest>
auto call_stateful(Options options, L&& object, list<P...>, Rest&&... rest) {
  // The task is a captureless lambda whose first argument is the object. A coroutine refers to the object
  // until it ends.
  using R = typename signature<std::remove_cvref_t<L>>::result;
  using F = std::conditional_t<is_generator<R>, const std::remove_cvref_t<L>&, std::remove_cvref_t<L>>;
  constexpr auto apply = [](F f, P... p) -> R { return f(std::forward<P>(p)...); };
  using Apply = std::remove_const_t<decltype(apply)>;
  using Parameters = list<F, P...>;
  using Forms = typename forms<Parameters, list<L, Rest...>>::type;
  using Task = lambda_task<Apply, Parameters, Forms, false, std::remove_cvref_t<L>>;
  return submit<Task, Parameters>(options, std::forward<L>(object), std::forward<Rest>(rest)...);
}

/// async(object, ...) of a lambda or function object.
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

/// Runs a function as a task, or calls a method of an actor. Copies the arguments at the call; a table in
/// examples/01_tasks.md shows what may be passed for each parameter. Returns at once, unless this rank is far ahead of
/// the network: then it first helps to send.
///
///   async<f>(args...)               a function
///   async(object, args...)          a lambda without captures, or a serialisable function object
///   async<&A::method>(a, args...)   on the rank of the actor; calls that one rank makes through one actor run in order
///
/// All forms take options before the arguments: async<f>({.retries = 3}, args...). Throws unschedulable if no rank can
/// ever meet the options. A call of a method takes .deadline and .retries alone; the others are options of spawn.
///
/// A call that has arrived at the actor's rank waits for the calls that arrived before it, and until the task or method
/// that runs on the rank ends or waits. The call starts before tasks that have not started, and before the next child
/// of a task that runs its children one after the other. A call on an actor that is gone fails with actor_died.
//  (Compilers show the line with a function's name when the call does not fit it, so that line has the advice.)
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
/// Runs a function as a task with these options, or calls a method of an actor: async<&A::m>({.retries = 2}, actor).
/// The call fails with timeout if it has not started within .deadline, and never runs then. It is made again up to
/// .retries times when it was lost with the actor, by its rank's death or by manta::fatal, if the actor has .restarts:
/// they are for methods that may do their work twice without harm. What a method throws otherwise is not tried again.
/// Calls that are made again come after those made since. Other options throw: they are given to spawn.
template <auto... F, class... Args>
auto async(const task_options& options, Args&&... args) {  // likewise
  using Arguments = detail::list<Args...>;
  using Mistake = decltype(detail::mistake_in<F...>(Arguments()));
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return detail::refused<F...>(Arguments());
  } else {
    return detail::call<F...>(&options, std::forward<Args>(args)...);
  }
}

}  // namespace manta
