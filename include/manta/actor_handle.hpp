// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// actor<A>: a handle on an object of class A that lives on some rank. It may be copied, stored and sent. The actor ends
// with its last handle, unless its options say `detached`.
#pragma once

#include "manta/base/config.hpp"
#include "manta/future.hpp"

namespace manta {

/// A handle on an actor of class A, which may be copied, stored and sent. async<&A::method>(handle, ...) calls a
/// method. Only the thread that runs tasks may call; any thread may copy and destroy handles.
template <class A>
class actor {
 public:
  /// The class of the object.
  using class_type = A;

  /// An empty handle, which may only be assigned to.
  actor() = default;
  /// False for an empty handle. Does not say whether the actor lives.
  bool valid() const { return handle_.valid(); }
  friend bool operator==(const actor& a, const actor& b) { return a.handle_.get() == b.handle_.get(); }

  /// Lets the handle travel to another rank; called by manta alone.
  template <class Archive>
  void save(Archive& out) const {
    static_assert(std::is_same_v<Archive, wire::writer>,
                  "manta: an actor's handle can be sent between ranks but not written to other archives");
    handle_.save(out);
  }
  /// The other end of save().
  template <class Archive>
  void load(Archive& in) {
    static_assert(std::is_same_v<Archive, wire::reader>, "manta: an actor's handle can only be received from a rank");
    handle_.load_actor(in, wire::type_index<std::uint64_t>::value);
  }

 private:
  friend struct detail::access;
  explicit actor(detail::handle h) : handle_(std::move(h)) {}
  detail::handle handle_;
};

}  // namespace manta
