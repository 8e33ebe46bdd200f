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

#include "manta/actor_handle.hpp"
#include "manta/call/argument_writer.hpp"
#include "manta/call/task_kinds.hpp"
#include "manta/call/task_requirements.hpp"
#include "manta/task_options.hpp"

namespace manta {

namespace detail {

/// Adds the values that say where the task or actor is to be: its placement waits for them.
template <class Options>
void write_hidden(argument_writer& out, const Options& o) {
  if (o.near.valid()) out.add_hidden(access::of(o.near));
  if (o.in.valid()) out.add_hidden(access::of(o.in));
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
/// Runs a function as a task with these options. A method takes none, because spawn took those of the actor.
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
