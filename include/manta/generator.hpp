// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// generator<T>: the return type of a coroutine that yields values of type T one after the other. With async, such a
// coroutine makes a stream (stream.hpp); without, a loop over the generator runs the coroutine on the loop's thread.
//
//   manta::generator<int> count(int n) {
//     for (int i = 0; i < n; ++i) co_yield i;
//   }
#pragma once

#include "manta/base/config.hpp"

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace manta {

/// Owns a coroutine that is suspended before its first or behind its latest co_yield. Move-only; destroying the
/// generator destroys the coroutine's locals. When a program calls the coroutine directly, objects that its parameters
/// refer to must outlive it; async keeps the arguments as long as the stream needs them.
template <class T>
class generator {
  using item = std::remove_cvref_t<T>;  // T itself, or async says what is wrong

 public:
  /// The type of the values.
  using value_type = T;

  class promise_type {
   public:
    generator get_return_object() { return generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    std::suspend_always yield_value(item value) {
      item_.emplace(std::move(value));
      return {};
    }
    void return_void() const noexcept {}
    /// Keeps the exception for next() to throw. If it were thrown here, clang 14 would destroy the
    /// coroutine's locals twice.
    void unhandled_exception() noexcept { thrown_ = std::current_exception(); }
    template <class Awaited>
    std::suspend_never await_transform(Awaited&&) const {
      static_assert(!std::is_same_v<Awaited, Awaited>,
                    "manta: a generator only yields: co_await waits for nothing here; get() of a future waits, and "
                    "runs other tasks meanwhile");
      return {};
    }

    /// Takes the value of the latest co_yield; nothing if the coroutine has ended. Throws what the coroutine threw.
    std::optional<item> take() {
      if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
      return std::exchange(item_, std::nullopt);
    }

   private:
    std::optional<item> item_;
    std::exception_ptr thrown_;
  };

  /// An empty generator, which yields nothing.
  generator() = default;
  /// Takes over the coroutine of the other generator, which is empty afterwards.
  generator(generator&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  /// Exchanges the coroutines.
  generator& operator=(generator&& other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~generator() {
    if (body_) body_.destroy();
  }

  /// Runs the coroutine up to its next co_yield and returns the value; returns nothing when the coroutine has ended. An
  /// exception of the coroutine ends it, and next() throws it.
  std::optional<item> next() {
    if (!body_ || body_.done()) return std::nullopt;
    body_.resume();
    return body_.promise().take();
  }

  struct end_marker {};
  class iterator {
   public:
    explicit iterator(generator& source) : source_(&source), item_(source.next()) {}
    item& operator*() { return *item_; }
    iterator& operator++() {
      item_ = source_->next();
      return *this;
    }
    bool operator==(end_marker) const { return !item_; }

   private:
    generator* source_;
    std::optional<item> item_;
  };
  /// Runs the coroutine up to its first co_yield; a loop over a generator runs it on this thread.
  iterator begin() { return iterator(*this); }
  /// Reached when the coroutine has ended.
  end_marker end() const { return {}; }

 private:
  explicit generator(std::coroutine_handle<promise_type> body) : body_(body) {}
  std::coroutine_handle<promise_type> body_;
};

}  // namespace manta
