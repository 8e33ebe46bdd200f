// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// future<T>: a handle on a value that exists, or will exist, on some rank. Handles may be copied, stored and sent; the
// value lives as long as any handle on it.
#pragma once

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/call/handle.hpp"  // first: see manta.hpp

#include "manta/base/text.hpp"
#include "manta/call/future_range.hpp"

namespace manta {

/// A handle on an immutable value. An empty handle (default-constructed, moved from, or left by std::move(f).get()) may
/// only be assigned to; members other than valid() throw manta::error then. While a member waits, this rank runs other
/// tasks. Only the thread that runs tasks may call the members that wait; any thread may copy and destroy handles.
template <class T>
class future {
 public:
  /// The type of the value; may be void.
  using value_type = T;

  /// An empty handle.
  future() = default;

  /// Waits for the value. The reference is valid as long as this rank has a handle on the value; for that time a value
  /// that is not an array cannot move to a disk. Throws the error of a failed task: task_failed, or the exception
  /// itself if its type was given to rethrow_as.
  ///
  /// Hold no mutex during the call: while a task waits, other tasks run on its thread, and one of them that locks the
  /// mutex stops the rank for ever. (After five seconds, stderr names the task that locks and the tasks that wait.)
  std::add_lvalue_reference_t<const T> get() const& requires(!std::is_void_v<T>) {
    exec::engine& e = exec::engine::here("future::get");
    const exec::engine::guard g(e);
    const void* const v = e.waits().value_to_keep(handle_.node("future::get"));
    return *static_cast<std::add_pointer_t<const T>>(v);
  }
  /// Waits, returns the value and leaves the handle empty, as std::future does. Moves the value if no other handle on
  /// it exists, else copies it. If this throws, the handle is unchanged.
  T get() && requires(!std::is_void_v<T>) {
    exec::engine& e = exec::engine::here("future::get");
    const exec::engine::guard g(e);
    const void* const v = e.waits().value(handle_.node("future::get"));
    const detail::handle last = std::move(handle_);
    return detail::take<T>(v, last.may_move());
  }
  /// Waits for the end of the task; throws the error of a failed task.
  void get() const& requires std::is_void_v<T> {
    exec::engine& e = exec::engine::here("future::get");
    const exec::engine::guard g(e);
    e.waits().value(handle_.node("future::get"));
  }
  /// Waits for the end of the task and leaves the handle empty. If this throws, the handle is unchanged.
  void get() && requires std::is_void_v<T> {
    std::as_const(*this).get();
    *this = future();
  }

  /// Whether the task has ended, with a value or an error. Does not wait for the end, but receives messages that have
  /// arrived and runs a part of this rank's other work, so that a loop around ready() ends.
  bool ready() const {
    exec::engine& e = exec::engine::here("future::ready");
    const exec::engine::guard g(e);
    auto& n = handle_.node("future::ready");
    if (n.is_pending()) {
      e.fetching().need(n);
      e.loop().step();
    }
    return !n.is_pending();
  }
  /// Waits until the task has ended, with a value or an error.
  void wait() const {
    exec::engine& e = exec::engine::here("future::wait");
    const exec::engine::guard g(e);
    e.waits().wait_for_end(handle_.node("future::wait"), false);
  }
  /// Waits at most that long; false if the task has not ended by then. Another task that this rank runs meanwhile
  /// is not interrupted.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> d) const {
    return wait_until_ns(detail::deadline_after(d));
  }
  /// Waits until that moment at most; false if the task has not ended by then.
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> t) const {
    using seconds = std::chrono::duration<double>;
    return wait_for(seconds(t.time_since_epoch()) - seconds(Clock::now().time_since_epoch()));
  }

  /// False for an empty handle. Does not communicate.
  bool valid() const { return handle_.valid(); }
  friend bool operator==(const future& a, const future& b) { return a.handle_.get() == b.handle_.get(); }

  /// Lets the handle travel to another rank; called by manta alone.
  template <class Archive>
  void save(Archive& out) const {
    static_assert(std::is_same_v<Archive, wire::writer>,
                  "manta: a future can be sent between ranks but not written to other archives: write its value");
    handle_.save(out);
  }
  /// Reads what save() has written; called by manta alone.
  template <class Archive>
  void load(Archive& in) {
    static_assert(std::is_same_v<Archive, wire::reader>, "manta: a future can only be received from another rank");
    handle_.load(in, wire::type_index<T>::value);
  }

 private:
  friend struct detail::access;
  explicit future(detail::handle h) : handle_(std::move(h)) {}

  /// Waits and copies the value; it may move to a disk again afterwards.
  T copy() const {
    exec::engine& e = exec::engine::here("get");
    const exec::engine::guard g(e);
    auto& n = handle_.node("get");
    const void* const v = e.waits().value(n);
    const exec::copying under_way(e.lock(), n);
    return detail::take<T>(v, false);
  }
  bool wait_until_ns(std::int64_t deadline) const {
    exec::engine& e = exec::engine::here("future::wait_for");
    const exec::engine::guard g(e);
    return e.waits().wait_for_end(handle_.node("future::wait_for"), deadline);
  }

  detail::handle handle_;
};

/// Refuses at compile time to print a handle on a value instead of the value. The compiler quotes the line.
template <class Stream, class T>
void operator<<(Stream& out, const future<T>&) = delete;  // manta: a future is no value: print what its get() returns

/// A future of any type, or an actor: something that a task can be placed near to.
class any_future {
 public:
  /// Names nothing.
  any_future() = default;
  /// Holds the value as a future does.
  template <class T>
  any_future(const future<T>& f) : handle_(detail::access::of(f)) {}
  /// Holds the actor as a handle does.
  template <class A>
  any_future(const actor<A>& a) : handle_(detail::access::of(a)) {}
  /// False if it names nothing.
  bool valid() const { return handle_.valid(); }

 private:
  friend struct detail::access;
  detail::handle handle_;
};

/// How put keeps a value.
struct put_options {
  /// Number of other ranks that keep a copy as long as the value lives; on other nodes where there are any. The value
  /// outlives this rank as long as one of them lives.
  int replicas = 0;
};

namespace detail {
template <class T>
struct put_of_move_only_lvalue {
  static_assert(base::never<T>, "manta: a value of a move-only type is moved in: pass it by std::move");
};
template <class V, class T>
constexpr auto mistake_in_put() {
  using in_value = decltype(wire::mistake_in_value<T>());
  if constexpr (!in_value::found && std::is_lvalue_reference_v<V> && !wire::is_copyable<T>) {
    return base::mistake<put_of_move_only_lvalue, T>();
  } else {
    return in_value();
  }
}
}  // namespace detail

/// Stores a value and returns a future of it, which any rank can use. The value stays on this rank until another rank
/// asks for it; a large array goes to memory that the ranks of this node share. Sends nothing, except to replicas. When
/// memory is short, other tasks of this rank run first; throws store_full when no memory is left.
template <class V>
future<std::remove_cvref_t<V>> put(V&& value, const put_options& options = {}) {
  using T = std::remove_cvref_t<V>;
  using Mistake = decltype(detail::mistake_in_put<V, T>());
  (void)typename Mistake::sentence();
  if constexpr (!Mistake::found) {
    exec::engine& e = exec::engine::here("put");
    const exec::engine::guard g(e);
    const std::uint32_t type = wire::type_index<T>::value;
    if (options.replicas < 0)
      throw error(base::text("manta: put_options::replicas = {} is negative", options.replicas));
    detail::handle made;
    if constexpr (wire::is_plain<T>) {
      made = detail::handle(e.made().make_plain(type, &value, sizeof value));
    } else {
      if constexpr (std::is_lvalue_reference_v<V> && wire::is_array<T>) {
        if (auto* const n = e.made().copy(type, &value)) made = detail::handle(*n);
      }
      if (!made.valid()) made = detail::handle(e.made().make(type, new T(wire::separate<T>(std::forward<V>(value)))));
    }
    if (options.replicas > 0) e.supplies().replicate(*made.get(), options.replicas);
    if (e.lacks_memory()) e.waits().relieve();
    return detail::access::make_future<T>(std::move(made));
  } else {
    return {};
  }
}

/// Stores a string literal as a std::string.
inline future<std::string> put(const char* text, const put_options& options = {}) {
  return put(std::string(text), options);
}

/// Waits for all futures of a range and returns their values in order. Throws the first error in order. With a
/// container that is moved in, get(std::move(futures)), takes each value out as std::move(f).get() does: the futures
/// whose values have been taken are empty afterwards.
template <class Range>
  requires(!detail::is_future<Range>)
auto get(Range&& futures) {
  using Mistake = detail::mistake_in_futures<Range>;
  (void)typename Mistake::sentence();
  if constexpr (Mistake::found) {
    using T = detail::supposed_value<Range>;
    if constexpr (!std::is_void_v<T>) return std::vector<T>();
  } else {
    using T = detail::range_value<Range>;
    if constexpr (std::is_void_v<T>) {
      for (auto&& f : futures) {
        if constexpr (detail::is_given_container<Range>) {
          std::move(f).get();
        } else {
          f.get();
        }
      }
    } else {
      std::vector<T> values;
      for (auto&& f : futures) {
        if constexpr (detail::is_given_container<Range>) {
          values.push_back(std::move(f).get());
        } else {
          values.push_back(detail::access::copy(f));
        }
      }
      return values;
    }
  }
}

/// Waits for the value and copies it; the future keeps it. Throws the error of a failed task.
template <class T>
T get(const future<T>& f) {
  if constexpr (std::is_void_v<T>) {
    f.get();
  } else {
    return detail::access::copy(f);
  }
}

namespace detail {
/// Describes, for messages, a value that has not arrived by the name of its function.
inline std::string missing_value(const handle& h) {
  const std::uint32_t function = h.node("get_for").function;
  if (function == exec::no_index) return "no value";
  return "no value of '" + std::string(wire::function_at(function).name()) + "'";
}
}  // namespace detail

/// Waits at most `d` for the value; throws timeout when it has not come by then.
template <class T, class Rep, class Period>
T get_for(const future<T>& f, std::chrono::duration<Rep, Period> d) {
  if (!f.wait_for(d)) {
    throw timeout(
        base::text("manta: get_for: {} after {} s; the task goes on: wait longer, or ask manta::explain where it is",
                   detail::missing_value(detail::access::of(f)), std::chrono::duration<double>(d).count()));
  }
  return get(f);
}

}  // namespace manta
