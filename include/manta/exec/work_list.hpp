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

template <class T>
class work_list {
 public:
  /// True if the caller has to do the work, until `take` returns false.
  bool add(const T& item) {
    items_.push_back(item);
    return !std::exchange(busy_, true);
  }
  /// Takes out what came last. False if nothing is left, and then the next `add` begins a loop again.
  bool take(T& item) {
    if (items_.empty()) {
      busy_ = false;
      return false;
    }
    item = items_.back();
    items_.pop_back();
    return true;
  }

 private:
  base::list<T> items_;
  bool busy_ = false;  // somebody is in the loop
};

/// As work_list, for work that is done in the order in which it comes.
template <class T>
class work_queue {
 public:
  /// True if the caller has to do the work, until `take` returns false.
  bool add(const T& item) {
    items_.push_back(item);
    return !std::exchange(busy_, true);
  }
  /// Takes out what came first. False if nothing is left, and then the next `add` begins a loop again.
  bool take(T& item) {
    if (items_.empty()) {
      busy_ = false;
      return false;
    }
    item = items_.pop_front();
    return true;
  }

 private:
  base::ring<T> items_;
  bool busy_ = false;  // somebody is in the loop
};

}  // namespace manta::exec
