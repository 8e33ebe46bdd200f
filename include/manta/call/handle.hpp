// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parts of futures and handles of actors: counted pointers to nodes, and how a value leaves its node.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "manta/wire/separate.hpp"
#include "manta/wire/traits.hpp"  // first: see manta.hpp

#include "manta/base/number.hpp"
#include "manta/exec/engine.hpp"
#include "manta/exec/rank/copying.hpp"

namespace manta {

template <class T>
class future;
template <class A>
class actor;

namespace detail {

/// The time of the clock in nanoseconds that a duration from now ends at. Floating point can hold
/// the largest durations.
template <class Rep, class Period>
std::int64_t deadline_after(std::chrono::duration<Rep, Period> d) {
  const double ns = std::chrono::duration<double, std::nano>(d).count();
  if (base::is_nan(ns) || ns >= 9e18 - static_cast<double>(base::now_ns())) return exec::wait_record::never;
  return ns > 0 ? base::now_ns() + static_cast<std::int64_t>(ns) : base::now_ns();
}

class handle;
/// Throws if the node of `written` has ended: `call` would complete a promise twice.
MANTA_DECL void require_pending(const handle& written, const char* call);

/// Throws what the user reads who calls `call` on an empty handle.
[[noreturn]] MANTA_DECL void refuse_empty(const char* call);

/// A counted pointer to a node, the one member of futures and actor handles.
class handle {
 public:
  handle() = default;
  explicit handle(graph::node& owned) : node_(&owned) {}
  handle(const handle& other) : node_(other.node_) {
    if (node_ != nullptr) node_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  handle(handle&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  handle& operator=(handle other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~handle() {
    if (node_ != nullptr) exec::engine::drop_handle(*node_);
  }

  bool valid() const { return node_ != nullptr; }
  graph::node& node(const char* call) const {
    if (node_ == nullptr) refuse_empty(call);
    return *node_;
  }
  graph::node* get() const { return node_; }
  /// A failure of the value is not reported at the end of the run.
  MANTA_DECL void mark_observed() const;
  /// Whether the object may be moved out of its node, because nobody else sees it. If so, the caller must move it: the
  /// store no longer counts the object, and later requests do not find it.
  MANTA_DECL bool may_move() const;
  graph::node* give_up() { return std::exchange(node_, nullptr); }

  /// Writes the reference. Throws where the archive may hold none.
  MANTA_DECL void save(wire::writer& out) const;
  /// Reads a reference to a value of this type.
  MANTA_DECL void load(wire::reader& in, std::uint32_t type);
  /// Reads a reference to an actor, whose handles have this type.
  MANTA_DECL void load_actor(wire::reader& in, std::uint32_t type);

 private:
  graph::node* node_ = nullptr;
};

/// Access to private members for the other public headers; not for users.
struct access {
  template <class T, class... Args>
  static T make(Args&&... args) {
    return T(std::forward<Args>(args)...);
  }
  template <class T>
  static future<T> make_future(handle&& owned) {
    return future<T>(std::move(owned));
  }
  template <class A>
  static actor<A> make_actor(handle&& owned) {
    return actor<A>(std::move(owned));
  }
  template <class T>
  static T copy(const future<T>& f) {
    return f.copy();
  }
  template <class Handle>
  static const handle& of(const Handle& h) {
    return h.handle_;
  }
  template <class Handle>
  static handle take(Handle& h) {
    return std::move(h.handle_);
  }
  template <class Reservation>
  static std::uint64_t id_of(const Reservation& r) {
    return r.id_;
  }
  template <class Reservation>
  static const auto& bundles_of(const Reservation& r) {
    return r.bundles_;
  }
};

/// Moves the value out if it may; else copies it. A value of a type without a copy constructor is encoded and decoded,
/// as on its way to another rank.
template <class T>
T take(const void* value, bool may_move) {
  if constexpr (wire::is_plain<T>) {
    return *static_cast<const T*>(value);
  } else {
    T& object = *static_cast<T*>(const_cast<void*>(value));
    if (may_move) return std::move(object);
    if constexpr (wire::is_copyable<T>) {
      return wire::separate<T>(static_cast<const T&>(object));
    } else if constexpr (!wire::is_serializable<T>()) {
      return std::move(object);  // never comes here: the compiler has refused the call that gave the future
    } else {
      wire::buffer bytes;
      wire::sink out(bytes);
      wire::encode(*static_cast<const T*>(value), out);
      wire::source in(bytes.data(), bytes.size());
      return std::move(*std::unique_ptr<T>(wire::decode<T>(in)));
    }
  }
}

}  // namespace detail

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/call/handle.ipp"
#endif
