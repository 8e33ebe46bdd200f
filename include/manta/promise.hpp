// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// promise<T>: makes a future that the program completes, instead of the end of a task. It suits actors that keep
// callers waiting until something has happened: the method returns the future, and a later call sets the value.
//
//   struct door {
//     manta::future<int> enter() { return waiting_.emplace_back().get_future(); }
//     void open(int room) { for (auto& p : waiting_) p.set_value(room); waiting_.clear(); }
//     std::vector<manta::promise<int>> waiting_;
//   };
#pragma once

#include "manta/error.hpp"
#include "manta/future.hpp"

namespace manta {

namespace detail {
template <class T>
constexpr auto mistake_in_promise() {
  if constexpr (std::is_void_v<T>) {
    return base::no_mistake();
  } else {
    return wire::mistake_in_value<T>();
  }
}
}  // namespace detail

/// The writing end of a future. Move-only. A promise stays on the rank that made it and cannot be sent; its futures
/// can. Only the thread that runs tasks may make and complete it. If a promise is destroyed before it is completed, its
/// futures fail with broken_promise. If nothing can complete a promise any more, waiting for it throws `deadlock`.
template <class T>
class promise {
 public:
  /// The type of the value; may be void.
  using value_type = T;

  promise() {
    using Mistake = decltype(detail::mistake_in_promise<T>());
    (void)typename Mistake::sentence();
    if constexpr (!Mistake::found) {
      exec::engine& e = exec::engine::here("promise");
      const exec::engine::guard g(e);
      handle_ = detail::handle(e.refs().make_node(wire::type_index<T>::value));
    }
  }
  /// Takes over the future of the other promise, which is empty afterwards.
  promise(promise&&) noexcept = default;
  /// Fails this promise's future with broken_promise if it is not completed, then takes over the other's.
  promise& operator=(promise&& other) noexcept {
    promise(std::move(other)).swap(*this);
    return *this;
  }
  ~promise() {
    if (!handle_.valid() || !exec::engine::inside()) return;
    exec::engine& e = *exec::engine::current();
    const exec::engine::guard g(e);
    auto& n = *handle_.get();
    // One of the node's references is this promise's own; if there is no other, no future needs an error.
    if (!n.is_pending() || n.refs.load(std::memory_order_acquire) == 1) return;
    fail([] {
      throw broken_promise(
          "manta: a promise was destroyed before it got a value; keep it until set_value or "
          "set_exception has been called");
    });
  }
  /// Exchanges the futures of two promises.
  void swap(promise& other) noexcept { std::swap(handle_, other.handle_); }

  /// Returns a future of the value. May be called any number of times, before and after the promise is completed.
  future<T> get_future() const {
    exec::engine& e = exec::engine::here("promise::get_future");
    const exec::engine::guard g(e);
    auto& n = handle_.node("promise::get_future");
    e.refs().hold(n);
    return detail::access::make_future<T>(detail::handle(n));
  }

  /// Completes the promise with a value: tasks that depend on it can start, and tasks that wait for it go on. Does not
  /// wait. Throws if the promise is completed already.
  template <class V>
    requires(!std::is_void_v<T> && std::is_convertible_v<V, T>)
  void set_value(V&& value) {
    exec::engine& e = exec::engine::here("promise::set_value");
    const exec::engine::guard g(e);
    detail::require_pending(handle_, "promise::set_value");
    if constexpr (wire::is_plain<T>) {
      const T plain = static_cast<T>(std::forward<V>(value));
      e.completions().complete_plain(*handle_.get(), &plain, sizeof plain);
    } else {
      e.completions().complete_object(*handle_.get(), new T(wire::separate<T>(std::forward<V>(value))), exec::no_index);
    }
  }
  /// Completes a promise of void. Throws if the promise is completed already.
  void set_value() requires(std::is_void_v<T>) {
    exec::engine& e = exec::engine::here("promise::set_value");
    const exec::engine::guard g(e);
    detail::require_pending(handle_, "promise::set_value");
    e.completions().complete(*handle_.get());
  }

  /// Completes the promise with an error, which arrives as the error of a task does: as task_failed, or with its own
  /// type if that was given to rethrow_as. Throws if the promise is completed already.
  void set_exception(const std::exception_ptr& thrown) {
    exec::engine& e = exec::engine::here("promise::set_exception");
    const exec::engine::guard g(e);
    detail::require_pending(handle_, "promise::set_exception");
    if (thrown == nullptr) throw error("manta: promise::set_exception needs an exception; this one is empty");
    fail([&] { std::rethrow_exception(thrown); });
  }

  /// False for a promise that was moved from.
  bool valid() const { return handle_.valid(); }

 private:
  /// Runs `body`, and fails the promise with an exception that `body` throws.
  template <class Body>
  void fail(Body&& body) {
    (void)detail::registered_exception<typename wire::only_with<broken_promise, T>::type>::index;
    exec::engine& e = *exec::engine::current();
    try {
      body();
    } catch (...) {
      e.completions().fail(*handle_.get(), e.failures().here(e.current_task()));
    }
  }

  detail::handle handle_;
};

namespace wire {
template <class T>
inline constexpr bool stays_on_its_rank<promise<T>> = true;
}

}  // namespace manta
