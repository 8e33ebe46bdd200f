// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The caller's side of a call: turns arguments into bytes and inputs.
#pragma once

#include "manta/call/argument_form.hpp"

namespace manta::detail {

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
  /// Begins a list of arguments. Values whose encoding has at most `longest` bytes are written among the bytes; other
  /// values become inputs.
  explicit argument_writer(exec::engine& e, std::size_t longest = store::inline_bytes)
      : engine_(e), out_(e.argument_buffer()), longest_(longest) {
    out_.clear();
  }
  ~argument_writer() {
    for (auto* n : inputs_) engine_.refs().release(*n);  // only if writing threw
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
  /// Gives the handle itself to the task. If it is the only one, the task may move the value out.
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

  /// Adds an input that the function does not see: the task waits for it and holds it.
  void add_hidden(const handle& h) {
    auto& n = h.node("async");
    engine_.refs().hold(n);
    inputs_.push_back(&n);
  }

  /// What has been written. It refers to the writer.
  exec::task_arguments written() const {
    return {out_.data(), out_.size(), inputs_.data(), static_cast<std::uint32_t>(inputs_.size())};
  }
  /// The task holds the inputs now.
  void handed_over() { inputs_.clear(); }

 private:
  // Writes the value among the bytes if it is small. A value that holds references always becomes an input, because the
  // bytes may be read twice (by a retry) or never (of a dropped task).
  template <class S>
  bool try_inline(const S& value) {
    if constexpr (is_handle<S>) return false;
    if constexpr (wire::is_array<S>) {  // known to be too long, without an exception
      if (wire::array_in(value).bytes > longest_) return false;
    }
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
      store::raise(*engine_.failures().codec("save()", wire::type_name<S>()));
    }
  }
  template <class S, class A>
  void add_object(A&& value) {
    const char as_input = 1;
    out_.append(&as_input, 1);
    inputs_.push_back(
        &engine_.made().make(wire::type_index<S>::value, new S(wire::separate<S>(std::forward<A>(value)))));
  }
  template <class U>
  void add_input(const future<U>& f) {
    auto& n = access::of(f).node("async: an argument");
    engine_.refs().hold(n);
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

}  // namespace manta::detail
