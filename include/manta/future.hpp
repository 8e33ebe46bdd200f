// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// future<T>: a handle on a value that is there or will be, anywhere in the
// world of ranks. Handles may be copied, stored and sent; the value lives as
// long as some handle does.
#pragma once

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "manta/call/handle.hpp"  // first: see manta.hpp

#include "manta/call/future_range.hpp"

namespace manta {

/// A handle on an immutable value. An empty one (default-constructed, moved from, or left by std::move(f).get()) may
/// only be assigned to; all else throws manta::error. All members that wait run other tasks of this rank meanwhile.
/// Only the thread that runs tasks may call them; copying and destroying handles is allowed on any thread.
template <class T>
class future {
 public:
  /// The type of the value; may be void.
  using value_type = T;

  /// An empty handle.
  future() = default;

  /// Waits for the value; the reference holds as long as this or any other handle on this rank does, and so long the
  /// value cannot move to a disk unless it is an array.
  /// A failed task's error is thrown here: task_failed, or the exception itself if its type was given to rethrow_as.
  /// Hold no mutex meanwhile: while a task waits others run on its thread, and one that wants the mutex stops them all.
  /// (After five seconds of that stderr says which task stands in the lock, and which ones wait.)
  std::add_lvalue_reference_t<const T> get() const& requires(!std::is_void_v<T>) {
    exec::engine& e = exec::engine::here("future::get");
    const exec::engine::guard g(e);
    graph::node& n = handle_.node("future::get");
    const void* const v = e.value(n);
    store::give(n);
    return *static_cast<std::add_pointer_t<const T>>(v);
  }
  /// Waits and gives the handle up with its value, as std::future does: it is empty afterwards. The value is moved out
  /// if no other handle needs it, else copied, and the others go on giving it. The handle keeps what it has if this
  /// throws.
  T get() && requires(!std::is_void_v<T>) {
    exec::engine& e = exec::engine::here("future::get");
    const exec::engine::guard g(e);
    graph::node& n = handle_.node("future::get");
    const void* const v = e.value(n);
    const detail::handle last = std::move(handle_);
    return detail::take<T>(v, detail::may_move(n));
  }
  /// Waits; throws the error of a failed task.
  void get() const& requires std::is_void_v<T> {
    exec::engine& e = exec::engine::here("future::get");
    const exec::engine::guard g(e);
    e.value(handle_.node("future::get"));
  }
  /// The handle is empty afterwards, unless this throws.
  void get() && requires std::is_void_v<T> {
    std::as_const(*this).get();
    *this = future();
  }

  /// Whether it has ended, well or badly. Does not wait for that, but receives what is there, and when this rank has
  /// other work runs some of it first, so that a loop around ready() comes to an end.
  bool ready() const {
    exec::engine& e = exec::engine::here("future::ready");
    const exec::engine::guard g(e);
    graph::node& n = handle_.node("future::ready");
    if (n.state == graph::state::pending) {
      e.need(n);
      e.step();
    }
    return n.state != graph::state::pending;
  }
  /// Waits until it has ended, well or badly.
  void wait() const {
    exec::engine& e = exec::engine::here("future::wait");
    const exec::engine::guard g(e);
    e.wait_for_end(handle_.node("future::wait"), false);
  }
  /// Waits at most that long; false if it has not ended by then. A task that runs here meanwhile is not interrupted.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> d) const {
    return wait_until_ns(detail::deadline_after(d));
  }
  /// Waits until that moment at most; false if it has not ended by then.
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
  /// The other end of save().
  template <class Archive>
  void load(Archive& in) {
    static_assert(std::is_same_v<Archive, wire::reader>, "manta: a future can only be received from another rank");
    handle_.load(in, wire::type_index<T>::value);
  }

 private:
  friend struct detail::access;
  explicit future(detail::handle h) : handle_(std::move(h)) {}

  /// Waits and copies: the value need not stay where it is.
  T copy() const {
    exec::engine& e = exec::engine::here("get");
    const exec::engine::guard g(e);
    graph::node* const n = &handle_.node("get");
    const void* const v = e.value(*n);
    if (store::large_of(*n) == nullptr) return detail::take<T>(v, false);
    const store::looking here(&n, 1);
    const exec::outside user(e.lock());  // it takes a while
    return detail::take<T>(v, false);
  }
  bool wait_until_ns(std::int64_t deadline) const {
    exec::engine& e = exec::engine::here("future::wait_for");
    const exec::engine::guard g(e);
    return e.wait_for_end(handle_.node("future::wait_for"), deadline);
  }

  detail::handle handle_;
};

/// A future of any type, or an actor: what a task may be asked to be near to.
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
  /// Number of other ranks, of other nodes where there are any, that keep a copy as long as the value lives. By them
  /// the value outlives this rank.
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

/// Makes a value known to all ranks and gives a future of it. The value stays on this rank until another one asks for
/// it; a large array goes to memory that the ranks of this node share. Sends nothing, but for replicas. Where memory is
/// short, other tasks of this rank run first; throws store_full where there is none left.
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
      throw error("manta: put_options::replicas = " + std::to_string(options.replicas) + " is negative");
    graph::node* n = nullptr;
    if constexpr (wire::is_plain<T>) {
      n = &e.make_node(graph::no_index, type);
      store::set_plain(*n, &value, sizeof value);
      e.complete(*n);
    } else {
      if constexpr (std::is_lvalue_reference_v<V> && wire::is_array<T>) n = e.copy_value(type, &value);
      if (n == nullptr) n = &e.make_value(type, new T(std::forward<V>(value)));
    }
    if (options.replicas > 0) e.replicate(*n, options.replicas);
    if (e.is_short()) e.relieve();
    return detail::access::make_future<T>(*n);
  } else {
    return {};
  }
}

/// Puts text in quotes as a std::string.
inline future<std::string> put(const char* text, const put_options& options = {}) {
  return put(std::string(text), options);
}

/// Waits for all futures of a range and gives their values in order. Throws the first error in order. From a container
/// that is given away, get(std::move(futures)), each value is taken out, as by std::move(f).get(): the futures whose
/// values have been taken are empty afterwards.
template <class Range>
requires(!detail::is_future<Range>) auto get(Range&& futures) {
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
/// In messages: the value of whose function has not come.
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
    throw timeout("manta: get_for: " + detail::missing_value(detail::access::of(f)) + " after " +
                  std::to_string(std::chrono::duration<double>(d).count()) +
                  " s; the task goes on: wait longer, or ask manta::explain where it is");
  }
  return get(f);
}

}  // namespace manta
