// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors: objects that live on a rank and that any rank can call. Any class with public methods will do; nothing to
// inherit, nothing to register.
//
//   manta::actor<Simulator> sim = manta::spawn<Simulator>(42);
//   auto observation = manta::async<&Simulator::step>(sim, 0);
//
// An actor's rank runs tasks as well. A call waits until the task that runs there ends or waits, but no longer: it
// starts before tasks that have not started, and between the children that a task runs one after the other.
#pragma once

#include "manta/async.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/isolation/isolated_actor.hpp"
#include "manta/places.hpp"
#include "manta/team.hpp"

namespace manta {

/// What an actor asks for, for as long as it lives.
struct actor_options {
  std::string name = {};      ///< find_actor finds it under this name; must be unique in the run
  int cpus = 1;               ///< cores that its rank must have, and that its calls use
  double gpus = 0;            ///< devices, held until it ends: whole ones, or a part of one
  quantities resources = {};  ///< named amounts, held until it ends (in a gang, by each rank)
  int ranks = 0;              ///< a gang of that many ranks: the constructor takes manta::team first
  int nodes = 0;              ///< number of nodes of the gang, with equally many ranks on each
  int rank = -1;              ///< lives on this rank; -1: on any
  int node = -1;              ///< lives on a rank of this node; -1: on any
  places except = {};         ///< lives on none of these: {{0, 3}} are two ranks, {.nodes = {1}} is a node
  /// Lives where this value (or actor) lies; else on the node of that rank, else anywhere. A gang has as many members
  /// on that node as possible.
  any_future near = {};
  bool spread = false;  ///< lives where the fewest actors are, in turn (a gang: on many nodes)
  int restarts = 0;     ///< times that it may be constructed again, after manta::fatal or a rank's death
  /// Number of calls after which the object is saved. A restart loads it and repeats the calls made since. 0: never.
  /// A named actor is saved to the journal too, if there is one.
  int checkpoint_every = 0;
  bool at_least_once = false;   ///< repeat, after the restart, a call that was under way when the actor failed
  int concurrency = 1;          ///< calls that may be under way at once; one of them runs, the others wait inside
  bool overlap_const = false;   ///< const methods may run while another call waits
  int max_pending = 0;          ///< calls that may wait for their turn; further ones fail with actor_busy; 0: no limit
  bool detached = false;        ///< lives until it is killed or the run ends, even without a handle
  reservation in = {};          ///< lives in a bundle of this reservation, but does not keep the reservation alive
  int bundle = -1;              ///< number of the bundle in the reservation; -1: any that fits
  isolate_option isolate = {};  ///< lives in a child process of its rank, so that a crash ends only that process
};

namespace detail {

/// What is stored for an argument of a constructor. C++ has no way to find out the constructor's parameter types, so
/// the argument is stored as a value of its own type, and text as a std::string.
template <class T>
struct constructor_parameter {
  using type = std::remove_cvref_t<T>;
};
template <std::size_t N>
struct constructor_parameter<const char (&)[N]> {
  using type = std::string;
};
template <>
struct constructor_parameter<const char*> {
  using type = std::string;
};
/// What is stored for an argument if a future stands for its value.
template <class T>
struct held_by : constructor_parameter<T> {};
template <class T>
  requires(is_future<T>)
struct held_by<T> {
  using type = typename future_value<std::remove_cvref_t<T>>::type;
};
/// What is stored for an argument if also a vector of futures stands for a vector of their values.
template <class T>
struct all_held_by : held_by<T> {};
template <class T>
  requires(vector_of_futures<std::remove_cvref_t<T>>::value)
struct all_held_by<T> {
  using type = std::vector<typename vector_of_futures<std::remove_cvref_t<T>>::item>;
};

template <class A, class... P>
inline constexpr bool is_made_from = std::is_constructible_v<A, P...> || std::is_constructible_v<A, team, P...>;

/// Chooses the first of these kinds of parameters that the class can be constructed from.
template <class A, class... T>
auto choose_parameters() {
  if constexpr (is_made_from<A, typename held_by<T>::type...>) {
    return list<typename held_by<T>::type...>();
  } else if constexpr (is_made_from<A, typename all_held_by<T>::type...>) {
    return list<typename all_held_by<T>::type...>();
  } else if constexpr (is_made_from<A, typename constructor_parameter<T>::type...>) {
    return list<typename constructor_parameter<T>::type...>();
  } else {
    return list<typename held_by<T>::type...>();
  }
}
template <class A, class... T>
using constructor_parameters = decltype(choose_parameters<A, T...>());

template <class A>
inline constexpr bool can_be_saved = [] {
  if constexpr (std::is_default_constructible_v<A>) {
    return wire::is_serializable<A>();
  } else {
    return false;
  }
}();

template <class A>
void* load_isolated_actor(wire::source& in);

/// The functions of the object that represents, on its rank, an actor in a child process. It is not constexpr, since
/// the functions are weak in the compiled mode, and nvcc does not count the address of a weak function as a constant.
template <class A>
inline const exec::actor_class isolated_class_of = [] {
  exec::actor_class c{&exec::destroy_isolated, nullptr, nullptr};
  if constexpr (can_be_saved<A>) {
    c.save = &exec::save_isolated;
    c.load = &load_isolated_actor<A>;
  }
  return c;
}();

template <class A>
inline constexpr exec::actor_class class_of = [] {
  exec::actor_class c{[](void* object) { delete static_cast<A*>(object); }, nullptr, nullptr, &isolated_class_of<A>};
  if constexpr (can_be_saved<A>) {
    c.save = [](const void* object, wire::sink& out) { wire::encode(*static_cast<const A*>(object), out); };
    c.load = [](wire::source& in) -> void* { return wire::decode<A>(in); };
  }
  return c;
}();

template <class A>
void* load_isolated_actor(wire::source& in) {
  return exec::load_isolated(&class_of<A>, in);
}

/// What the request for an actor needs to know about its class.
struct actor_traits {
  std::string_view name;
  bool gang, saved;
};
/// Throws if the options contradict each other, or if no rank can ever meet them.
MANTA_DECL graph::request_ptr make_actor_request(exec::engine& e, const actor_options& o, const actor_traits& its);

template <class A, class Parameters, class Forms>
struct constructor_task;
template <class A, class... P, class... Forms>
struct constructor_task<A, list<P...>, list<Forms...>> {
  static constexpr bool gang = !std::is_constructible_v<A, P...>, looks_only = false;  // else it takes a team first
  using result = void;
  static void run(exec::invocation& call) {
    auto arguments = read_arguments(call, list<P...>{}, list<Forms...>{});
    std::apply(
        [&](auto&... a) {
          const exec::outside user(call.lock);
          if constexpr (gang) {
            call.actor = new A(team(*call.team), a.pass()...);
          } else {
            call.actor = new A(a.pass()...);
          }
          call.actor_type = &class_of<A>;
        },
        arguments);
  }
  static std::string_view name() { return wire::type_name<A>(); }
};

template <class A>
struct no_such_constructor {
  static_assert(never<A>, "manta: the actor's class has no public constructor that takes these arguments");
};

template <class A>
struct abstract_actor {
  static_assert(never<A>,
                "manta: the actor's class is abstract; spawn a class that defines all of its virtual functions");
};

template <class A, class... P, class... Args>
constexpr auto mistake_in_construction(list<P...>, list<Args...>) {
  using in_values = decltype(base::first_mistake(wire::mistake_in_value<P>()...));
  if constexpr (std::is_abstract_v<A>) {
    return mistake<abstract_actor, A>();
  } else if constexpr (in_values::found) {
    return in_values();
  } else if constexpr (!is_made_from<A, P...>) {
    return mistake<no_such_constructor, A>();
  } else {
    return base::first_mistake(
        std::conditional_t<can_be_kept<P, Args>, no_mistake, mistake<move_only_lvalue, Args>>()...);
  }
}
template <class A, class... Args>
using mistake_in_spawn = decltype(mistake_in_construction<A>(constructor_parameters<A, Args...>(), list<Args...>()));

/// Submits the task that constructs the actor. `claimed` is what rank 0 has answered about the
/// actor's name, if it has one.
template <class A, class... Args>
actor<A> construct(exec::engine& e, const actor_options& o, const exec::name_state& claimed, Args&&... args) {
  using Parameters = constructor_parameters<A, Args...>;
  using Forms = typename forms<Parameters, list<Args...>>::type;
  using Task = constructor_task<A, Parameters, Forms>;
  auto request = make_actor_request(e, o, {Task::name(), Task::gang, can_be_saved<A>});
  argument_writer out(e);
  write_arguments(out, Parameters{}, std::forward<Args>(args)...);
  write_hidden(out, o);
  const std::uint32_t function = function_index<Task>::value;
  if (o.name.empty()) {
    auto& n = e.home().submit(function, wire::type_index<std::uint64_t>::value, out.written(), std::move(request));
    out.handed_over();
    if (o.detached) e.named().detach(n);
    return access::make_actor<A>(handle(n));
  }
  auto& n = e.named().submit(claimed, function, out.written(), std::move(request));
  out.handed_over();
  return access::make_actor<A>(handle(e.named().handle_of(n)));
}

/// Gives the actor of that name, and constructs it if there is none. `shared`: another task may have spawned it.
template <class A, class... Args>
actor<A> construct_named(exec::engine& e, const actor_options& o, bool shared, Args&&... args) {
  const exec::name_state claimed = e.named().claim(o.name, typeid(A).name());
  if (claimed.handle != nullptr) {
    actor<A> there = access::make_actor<A>(handle(*claimed.handle));
    if (shared || claimed.own) return there;
    throw name_error("manta: spawn: there is an actor named \"" + o.name +
                         "\" already; use spawn_or_find to share it. The name is free when it has been killed, when it "
                         "has died, or when its last handle has gone, also those in arguments of tasks that have not "
                         "ended and in calls that wait until it has been made",
                     name_error::reason::taken);
  }
  try {
    return construct<A>(e, o, claimed, std::forward<Args>(args)...);
  } catch (...) {
    e.named().give_up(o.name);
    throw;
  }
}

template <class A, class... Args>
actor<A> start_actor(const actor_options& options, Args&&... args) {
  exec::engine& e = exec::engine::here("spawn");
  const exec::engine::guard g(e);
  if (options.name.empty()) return construct<A>(e, options, {}, std::forward<Args>(args)...);
  return construct_named<A>(e, options, false, std::forward<Args>(args)...);
}

template <class... Args>
inline constexpr bool starts_with_actor_options = false;
template <class First, class... Rest>
inline constexpr bool starts_with_actor_options<First, Rest...> =
    std::is_same_v<std::remove_cvref_t<First>, actor_options>;

}  // namespace detail

/// Constructs an actor on a rank that fits and returns its handle at once; calls may be made right away. If the
/// constructor throws, the calls fail with actor_died, which says why.
///
/// An actor with a name belongs to rank 0, and spawn waits for rank 0's answer. It throws name_error if the name is
/// taken, unless this task had spawned the actor itself before a retry. The name becomes free when the actor has
/// been killed or has died, or when its last handle has gone. Handles in arguments of unfinished tasks and in calls
/// that wait for the construction count. Calls that have reached the actor still run, perhaps beside
/// the next actor of the name.
template <class A, class... Args>
actor<A> spawn(const actor_options& options, Args&&... args) {
  using Mistake = detail::mistake_in_spawn<A, Args...>;
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return {};
  } else {
    return detail::start_actor<A>(options, std::forward<Args>(args)...);
  }
}
/// Constructs an actor with default options.
template <class A, class... Args>
  requires(!detail::starts_with_actor_options<Args...>)
actor<A> spawn(Args&&... args) {
  using Mistake = detail::mistake_in_spawn<A, Args...>;
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    return {};
  } else {
    return detail::start_actor<A>(actor_options{}, std::forward<Args>(args)...);
  }
}

/// Finds the actor of that name. Waits for rank 0's answer. Throws name_error if there is none or if it is
/// of another class.
template <class A>
actor<A> find_actor(const std::string& name) {
  exec::engine& e = exec::engine::here("find_actor");
  const exec::engine::guard g(e);
  auto* const n = e.named().ask(name, typeid(A).name()).handle;
  if (n == nullptr) {
    throw name_error("manta: find_actor: no actor is named \"" + name + "\"; it has ended or was not spawned yet",
                     name_error::reason::unknown);
  }
  return detail::access::make_actor<A>(detail::handle(*n));
}

/// Finds the actor of that name, or constructs it: exactly one of several ranks that ask at once constructs it. Waits
/// for rank 0's answer.
template <class A, class... Args>
actor<A> spawn_or_find(const actor_options& options, Args&&... args) {
  using Mistake = detail::mistake_in_spawn<A, Args...>;
  (void)typename Mistake::sentence();
  if constexpr (!Mistake::found) {
    exec::engine& e = exec::engine::here("spawn_or_find");
    const exec::engine::guard g(e);
    if (options.name.empty())
      throw error("manta: spawn_or_find needs a name: spawn_or_find<A>({.name = \"...\"}, ...)");
    return detail::construct_named<A>(e, options, true, std::forward<Args>(args)...);
  } else {
    return {};
  }
}

/// Refuses at compile time a name that is not given in the options.
template <class A, class Name, class... Args>
  requires(std::is_convertible_v<Name, std::string_view>)
actor<A> spawn_or_find(const Name&, Args&&...) {
  static_assert(base::never<A>, "manta: spawn_or_find takes options first: spawn_or_find<A>({.name = \"...\"}, ...)");
  return {};
}

/// Ends an actor now: calls that have not started, and later ones, fail with actor_died. A running call is not
/// interrupted, but sees this_task::stop_requested(). Waits until the actor has been constructed and, if it has a name,
/// until rank 0 has freed the name.
template <class A>
void kill(const actor<A>& victim) {
  exec::engine& e = exec::engine::here("kill");
  const exec::engine::guard g(e);
  auto& handle = detail::access::of(victim).node("kill");
  e.calls().kill(handle, base::text("the actor of class {} was killed by '{}' on rank {}", wire::type_name<A>(),
                                    e.current_task().name(), e.rank()));
  e.named().free_name_of(handle);
}

/// Whether this rank knows that the actor's rank has died or that its construction failed, so that calls would fail.
/// Does not communicate and does not wait, so an actor that has died in another way, or just now, may count as alive.
template <class A>
bool has_died(const actor<A>& a) {
  exec::engine& e = exec::engine::here("has_died");
  const exec::engine::guard g(e);
  return detail::access::of(a).node("has_died").has_failed();
}

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/actor.ipp"
#endif
