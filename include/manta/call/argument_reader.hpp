// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The executor's side of a call: reads the arguments, calls the function with them, and hands its result
// to the invocation.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <tuple>

#include "manta/call/argument_form.hpp"

namespace manta::detail {

struct argument_reader {
  exec::invocation& call;  ///< stays as it was at the call: what a crash says of it is true
  const std::byte* at = call.arguments;
  std::size_t next_input = 0;

  void read(void* into, std::size_t bytes) {
    std::memcpy(into, at, bytes);
    at += bytes;
  }
  wire::source rest() const { return {at, call.argument_bytes - static_cast<std::size_t>(at - call.arguments)}; }
  input next() { return input(*call.inputs[next_input++], call.keeps_inputs); }
};

/// Holds one argument while the function runs. pass() returns what the parameter P takes.
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
  // A parameter by value gets the object, moved if nothing else needs it; a reference or view refers to
  // the stored value.
  decltype(auto) pass() {
    if constexpr (std::is_same_v<std::remove_cv_t<P>, S>) {
      if (own_) return S(std::move(*own_));
      return detail::take<S>(value_, may_move_);
    } else if constexpr (is_view) {
      if constexpr (looks_at_pages) {
        if (looks_) return stored_as<V>::look(input_->pages());
      }
      return view<V>(own_ ? *own_ : *static_cast<const S*>(value_));
    } else {
      return static_cast<const S&>(own_ ? *own_ : *static_cast<const S*>(value_));
    }
  }
  /// The input that must live as long as the function uses the result of pass(), if there is one.
  const input* viewed() const { return own_ || !input_ || std::is_same_v<std::remove_cv_t<P>, S> ? nullptr : &*input_; }

 protected:
  void read_own(argument_reader& in) {
    wire::source bytes = in.rest();
    own_.reset(wire::decode<S>(bytes));
    in.at = bytes.position();
  }
  template <class U>
  void read_input(argument_reader& in) {
    input_ = in.next();
    if constexpr (looks_at_pages && std::is_same_v<U, S>) {
      looks_ = input_->use_pages();
      if (looks_) return;
    }
    const void* value = input_->value();
    if constexpr (std::is_same_v<U, S>) {
      value_ = value;
      if constexpr (std::is_same_v<std::remove_cv_t<P>, S>) may_move_ = input_->may_move();
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
  std::optional<input> input_;
  const void* value_ = nullptr;
  bool looks_ = false;  // at the pages of the input, instead of a decoded value
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
      const input next = in.next();
      const void* const value = next.value();
      values_.push_back(detail::take<U>(value, next.may_move()));
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

/// Runs `body()` without the lock and gives its result to the invocation.
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
    std::memcpy(call.plain, &value, sizeof value);
    call.note_plain(wire::type_index<T>::value);
  } else {
    using T = std::remove_cvref_t<R>;
    const exec::outside user(call.lock);
    call.note_box(new T(wire::separate<T>(body())), wire::type_index<T>::value);
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
  run_outside<R>(call,
                 [&]() -> R { return std::apply([&](auto&... a) -> R { return function(a.pass()...); }, arguments); });
}

/// Calls a function as a member of a gang. (The team is a template parameter because team.hpp is included later.)
template <class R, class Function, class Parameters, class Forms, class Team = team>
void run_member(exec::invocation& call, Function&& function, Parameters parameters, Forms forms) {
  run_function<R>(
      call, [&]<class... A>(A&&... a) -> R { return function(Team(*call.team), std::forward<A>(a)...); }, parameters,
      forms);
}

}  // namespace manta::detail
