// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Work that leads to more work of its kind: a list and one loop instead of
// recursion, which a chain of a million would give a stack of that depth.
//
//   if (!list.add(x)) return;                      // a loop further up does it
//   for (T next; list.take(next);) do_one(next);   // may call this very function
#pragma once

#include <utility>

#include "manta/base/containers.hpp"

namespace manta::exec {

/// Items is a container with what it takes out next: see work_list and work_queue.
template <class T, class Items>
class pending_work {
 public:
  /// True if the caller has to do the work, until `take` returns false.
  bool add(const T& item) {
    items_.push_back(item);
    return !std::exchange(busy_, true);
  }
  /// Takes out the next one. False if nothing is left, and then the next `add` begins a loop again.
  bool take(T& item) {
    if (items_.empty()) {
      busy_ = false;
      return false;
    }
    if constexpr (requires { items_.pop_front(); }) {
      item = items_.pop_front();
    } else {
      item = items_.back();
      items_.pop_back();
    }
    return true;
  }

 private:
  Items items_;
  bool busy_ = false;  // somebody is in the loop
};

/// What came last is done first.
template <class T>
using work_list = pending_work<T, base::list<T>>;
/// Work is done in the order in which it comes.
template <class T>
using work_queue = pending_work<T, base::ring<T>>;

}  // namespace manta::exec
