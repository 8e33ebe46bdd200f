// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a C++ function becomes something that can be called elsewhere: its
// parameters, what may be passed for each, how the arguments are written on one
// side and read on the other. Used by async and spawn.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

#include "manta/future.hpp"

namespace manta {

class team;
template <class T>
class generator;
template <class T>
class stream;

/// What is stored and sent for a parameter of type P. A view is specialised to the container it looks at; if that is one
/// array, it says how it looks at the pages of one that has not been decoded.
template <class P>
struct stored_as {
  using type = std::remove_cvref_t<P>;
};
template <class T, std::size_t Extent>
struct stored_as<std::span<const T, Extent>> {
  using type = std::vector<T>;
  static std::span<const T, Extent> look(const store::large& l) {
    return std::span<const T, Extent>(reinterpret_cast<const T*>(l.array()), l.bytes / sizeof(T));
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

/// The same for an argument of type A, or a future of it: a span looks at any array of its elements.
template <class P, class A>
struct stored_for : stored_as<P> {};
template <class P, class U>
struct stored_for<P, future<U>> : stored_for<P, U> {};
template <class T, std::size_t Extent, class A>
  requires requires(const A& a) {
    { a.data() } -> std::same_as<const T*>;
    a.size();
  } && (wire::is_serializable<A>())
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

template <class F>
concept one_call_operator = requires { &F::operator(); };
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
struct signature<R (C::*)(P...) &> : signature<R (C::*)(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const&> : signature<R (C::*)(P...) const> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) noexcept> : signature<R (C::*)(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const noexcept> : signature<R (C::*)(P...) const> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) & noexcept> : signature<R (C::*)(P...)> {};
template <class R, class C, class... P>
struct signature<R (C::*)(P...) const & noexcept> : signature<R (C::*)(P...) const> {};

/// A gang task takes manta::team first; the caller gives the others.
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
concept callable_type = requires { typename signature<F>::parameters; };

// --- what a call gives

/// A coroutine's result is what it yields, see stream.hpp.
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

/// The result of a call that is refused, as far as it can be known; void if it cannot. Arguments that are futures count as
/// their values, actors as their objects.
template <class A>
struct passed_as {
  using type = A;
};
template <class A>
  requires is_future<A>
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

/// What a call of F, or of the first argument, gives after its mistake has been named: of the type that the right call would have
/// had, so that the compiler has nothing to say about how the result is used.
template <auto... F, class... Args>
auto refused(list<Args...>) {
  using called = result_if_called<std::decay_t<decltype(F)>..., std::decay_t<Args>...>;
  return typename returned<typename called::type>::type();
}

// --- what a parameter may be given

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
struct plain_form {};    // bytes
template <class S>
struct value_form {};    // encoded in place if small, else an input
template <class U>
struct future_form {};   // an input
template <class U>
struct futures_form {};  // a count and that many inputs
struct no_form {};       // does not fit

/// How argument type A is handed to parameter type P.
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
    if constexpr (!std::is_same_v<S, std::remove_cvref_t<P>> && requires(const V& v) {
                    S(std::begin(v), std::end(v));
                  }) {
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

// --- the mistakes, in the user's words; see base/mistake.hpp

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
  static_assert(never<P>, "manta: manta::team is the first parameter of a gang task and no other; take it once, first, by value");
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
  static_assert(never<P>, "manta: a task cannot take a non-const reference: the argument would be a copy; return the new value, or keep "
                          "it in an actor");
};
template <class P>
struct characters_parameter {
  static_assert(never<P>, "manta: a task cannot take a std::string_view: take const std::string&");
};
template <class P>
struct mutable_view_parameter {
  static_assert(never<P>, "manta: a task cannot write through a span or an Eigen::Ref: take it of const values, or take the vector or "
                          "matrix by value");
};
template <class P>
struct reference_to_view {
  static_assert(never<P>, "manta: a coroutine takes a view by value: the view that a reference refers to is gone when the coroutine goes on");
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

/// Of a coroutine, which goes on looking at its arguments.
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
  static_assert(never<Conversion>, "manta: an argument cannot be converted to the parameter's type; pass a value or a future of a type "
                                   "that converts to it");
};
template <class A>
struct move_only_lvalue {
  static_assert(never<A>, "manta: an argument of a move-only type is moved in: pass it by std::move");
};

/// What is not copyable has to be moved in.
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
  static_assert(never<T>, "manta: a generator cannot yield references: the value is gone when the coroutine goes on; yield values");
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

/// In the order in which a reader would look; what is found first is not asked any further.
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

// --- writing arguments

template <class T>
inline constexpr bool is_handle = false;
template <class T>
inline constexpr bool is_handle<future<T>> = true;
template <class A>
inline constexpr bool is_handle<actor<A>> = true;
template <class T, class Allocator>
inline constexpr bool is_handle<std::vector<T, Allocator>> = is_handle<T>;

/// Collects a call's plain bytes and input nodes on the caller's stack.
class argument_writer {
 public:
  /// `longest`: encodings up to this size are written among the bytes, other values become inputs.
  explicit argument_writer(exec::engine& e, std::size_t longest = store::inline_bytes)
      : engine_(e), out_(e.arguments()), longest_(longest) {
    out_.clear();
  }
  ~argument_writer() {
    for (graph::node* n : inputs_) engine_.release(*n);  // only if writing threw
  }
  argument_writer(const argument_writer&) = delete;
  argument_writer& operator=(const argument_writer&) = delete;

  template <class S, class A>
  void write(plain_form<S>, A&& value) {
    const S plain = static_cast<S>(std::forward<A>(value));
    out_.append(&plain, sizeof plain);
  }

  template <class S, class A>
  void write(value_form<S>, A&& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<A>, S>) {
      if (try_inline(static_cast<const S&>(value))) return;
      add_object<S>(std::forward<A>(value));
    } else if constexpr (std::is_convertible_v<A, S>) {
      S converted = std::forward<A>(value);
      if (!try_inline(static_cast<const S&>(converted))) add_object<S>(std::move(converted));
    } else {
      S converted(std::begin(value), std::end(value));
      if (!try_inline(static_cast<const S&>(converted))) add_object<S>(std::move(converted));
    }
  }

  template <class U>
  void write(future_form<U>, const future<U>& f) {
    add_input(f);
  }
  /// From an rvalue the only handle may go to the task, which then may move the value out.
  template <class U>
  void write(future_form<U>, future<U>&& f) {
    access::of(f).node("async: an argument");
    inputs_.push_back(access::take(f).give_up());
  }
  template <class U>
  void write(futures_form<U>, const std::vector<future<U>>& futures) {
    const auto count = static_cast<std::uint32_t>(futures.size());
    out_.append(&count, sizeof count);
    inputs_.reserve(inputs_.size() + count);
    for (const future<U>& f : futures) add_input(f);
  }

  /// An input that the function does not see: the task waits for it and holds it.
  void add_hidden(const handle& h) {
    graph::node& n = h.node("async");
    engine_.hold(n);
    inputs_.push_back(&n);
  }

  const std::byte* bytes() const { return out_.data(); }
  std::size_t byte_count() const { return out_.size(); }
  graph::node* const* inputs() const { return inputs_.data(); }
  std::uint32_t input_count() const { return static_cast<std::uint32_t>(inputs_.size()); }
  void handed_over() { inputs_.clear(); }

 private:
  // Bytes among the arguments may be read twice (a retry) or never (a task that is dropped), so a value that holds
  // references always becomes an input.
  template <class S>
  bool try_inline(const S& value) {
    if constexpr (is_handle<S>) return false;
    const std::size_t before = out_.size();
    const char in_place = 0;
    out_.append(&in_place, 1);
    wire::sink sink(out_, nullptr, longest_, false);
    try {
      wire::encode(value, sink);
      return true;
    } catch (const wire::over_limit&) {
      out_.shrink(before);
      return false;
    } catch (...) {
      store::raise(*engine_.codec_failure("save()", wire::type_name<S>()));
    }
  }
  template <class S, class A>
  void add_object(A&& value) {
    const char as_input = 1;
    out_.append(&as_input, 1);
    inputs_.push_back(&engine_.make_value(wire::type_index<S>::value, new S(std::forward<A>(value))));
  }
  template <class U>
  void add_input(const future<U>& f) {
    graph::node& n = access::of(f).node("async: an argument");
    engine_.hold(n);
    inputs_.push_back(&n);
  }

  exec::engine& engine_;
  wire::buffer& out_;
  std::size_t longest_;
  base::list<graph::node*> inputs_;
};

template <class... P, class... A>
void write_arguments(argument_writer& out, list<P...>, A&&... arguments) {
  (out.write(form_type<P, A>{}, std::forward<A>(arguments)), ...);
}

// --- reading them

struct argument_reader {
  exec::invocation& call;
  std::size_t next_input = 0;

  void read(void* into, std::size_t bytes) {
    std::memcpy(into, call.arguments, bytes);
    call.arguments += bytes;
    call.argument_bytes -= bytes;
  }
  graph::node& input() { return *call.inputs[next_input++]; }
};

/// Holds one argument while the function runs. `pass()` gives what the parameter P takes.
template <class P, class Form>
class argument;

template <class P, class S>
class argument<P, plain_form<S>> {
 public:
  explicit argument(argument_reader& in) { in.read(&value_, sizeof value_); }
  std::conditional_t<std::is_reference_v<P>, const S&, S> pass() { return value_; }

 private:
  S value_;
};

template <class P, class S>
class argument_value {
  using V = std::remove_cvref_t<P>;
  static constexpr bool is_view = !std::is_same_v<V, S>;
  static constexpr bool looks_at_pages = requires { &stored_as<V>::look; };

 public:
  // by value: hand the only copy over; by reference or view: look at it
  decltype(auto) pass() {
    if constexpr (std::is_same_v<std::remove_cv_t<P>, S>) {
      if (own_) return S(std::move(*own_));
      return detail::take<S>(value_, may_move_);
    } else if constexpr (is_view) {
      if constexpr (looks_at_pages) {
        if (pages_ != nullptr) return stored_as<V>::look(*pages_);
      }
      return view<V>(own_ ? *own_ : *static_cast<const S*>(value_));
    } else {
      return static_cast<const S&>(own_ ? *own_ : *static_cast<const S*>(value_));
    }
  }
  /// The node that has to live as long as what pass() gave is looked at, if there is one.
  graph::node* viewed() const { return own_ || std::is_same_v<std::remove_cv_t<P>, S> ? nullptr : node_; }

 protected:
  void read_own(argument_reader& in) {
    wire::source bytes(in.call.arguments, in.call.argument_bytes);
    own_.reset(wire::decode<S>(bytes));
    in.call.argument_bytes -= static_cast<std::size_t>(bytes.position() - in.call.arguments);
    in.call.arguments = bytes.position();
  }
  template <class U>
  void read_input(argument_reader& in) {
    node_ = &in.input();
    if constexpr (looks_at_pages && std::is_same_v<U, S>) {
      if (node_->form == graph::form::pages && !store::large_of(*node_)->is_encoded()) {
        pages_ = store::large_of(*node_);
        return pages_->book->use(*pages_);
      }
    }
    const void* value = store::decode(*node_);
    if constexpr (std::is_same_v<U, S>) {
      value_ = value;
      if constexpr (std::is_same_v<std::remove_cv_t<P>, S>) may_move_ = !in.call.keeps_inputs && may_move(*node_);
    } else {
      own_.reset(new S(*static_cast<const U*>(value)));
    }
  }

 private:
  template <class V>
  static V view(const S& value) {
    if constexpr (std::is_constructible_v<V, const S&>) {
      return V(value);
    } else {
      return V(value.data(), static_cast<std::size_t>(value.size()));
    }
  }

  std::unique_ptr<S> own_;
  graph::node* node_ = nullptr;
  const void* value_ = nullptr;
  store::large* pages_ = nullptr;        // of a view, instead of the value
  bool may_move_ = false;
};

template <class P, class S>
class argument<P, value_form<S>> : public argument_value<P, S> {
 public:
  explicit argument(argument_reader& in) {
    char as_input = 0;
    in.read(&as_input, 1);
    if (as_input != 0) {
      this->template read_input<S>(in);
    } else {
      this->read_own(in);
    }
  }
};

template <class P, class U>
class argument<P, future_form<U>> : public argument_value<P, stored_type<P, future<U>>> {
 public:
  explicit argument(argument_reader& in) { this->template read_input<U>(in); }
};

template <class P, class U>
class argument<P, futures_form<U>> {
  using S = typename stored_as<P>::type;

 public:
  explicit argument(argument_reader& in) {
    std::uint32_t count = 0;
    in.read(&count, sizeof count);
    values_.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      graph::node& n = in.input();
      const void* const value = store::decode(n);
      values_.push_back(detail::take<U>(value, !in.call.keeps_inputs && may_move(n)));
    }
  }
  decltype(auto) pass() {
    if constexpr (std::is_same_v<std::remove_cv_t<P>, S>) {
      return S(std::move(values_));
    } else {
      return static_cast<const S&>(values_);
    }
  }

 private:
  S values_;
};

// --- a call on the executing side

/// Gives the result of `body()`, which runs without the lock, to the invocation.
template <class R, class Body>
void run_outside(exec::invocation& call, Body&& body) {
  if constexpr (std::is_void_v<R>) {
    const exec::outside user(call.lock);
    body();
  } else if constexpr (wire::is_plain<std::remove_cvref_t<R>>) {
    using T = std::remove_cvref_t<R>;
    T value;
    {
      const exec::outside user(call.lock);
      value = body();
    }
    call.form = graph::form::plain;
    call.type = wire::type_index<T>::value;
    std::memcpy(call.plain, &value, sizeof value);
  } else {
    using T = std::remove_cvref_t<R>;
    const exec::outside user(call.lock);
    call.box = new T(body());
    call.form = graph::form::box;
    call.type = wire::type_index<T>::value;
  }
}

template <class... P, class... Forms>
std::tuple<argument<P, Forms>...> read_arguments(exec::invocation& call, list<P...>, list<Forms...>) {
  [[maybe_unused]] argument_reader in{call};
  call.reads_arguments = true;
  std::tuple<argument<P, Forms>...> arguments{argument<P, Forms>(in)...};  // braces: read from left to right
  call.reads_arguments = false;
  return arguments;
}

template <class R, class Function, class Parameters, class Forms>
void run_function(exec::invocation& call, Function&& function, Parameters parameters, Forms forms) {
  auto arguments = read_arguments(call, parameters, forms);
  // (In this order: nvcc 13 refuses a pack that a lambda inside a generic lambda expands.)
  run_outside<R>(call, [&]() -> R { return std::apply([&](auto&... a) -> R { return function(a.pass()...); }, arguments); });
}

/// The same for a member of a gang. (A template parameter for the team, for team.hpp comes later.)
template <class R, class Function, class Parameters, class Forms, class Team = team>
void run_member(exec::invocation& call, Function&& function, Parameters parameters, Forms forms) {
  run_function<R>(
      call, [&]<class... A>(A&&... a) -> R { return function(Team(*call.team), std::forward<A>(a)...); }, parameters,
      forms);
}

}  // namespace detail

}  // namespace manta
