// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A map from numbers to pointers: an index_table, whose values are numbers, with the casts in one place. It does not
// own the objects.
#pragma once

#include "manta/base/containers.hpp"

namespace manta::base {

template <class T>
class pointer_table {
 public:
  std::size_t size() const { return table_.size(); }
  /// The object with this key, or null.
  T* find(std::uint64_t key) const {
    const std::uint64_t* const at = table_.find(key);
    return at == nullptr ? nullptr : to_pointer(*at);
  }
  /// Sets the object of this key, in place of a former one.
  void set(std::uint64_t key, T* object) { table_.insert(key) = reinterpret_cast<std::uint64_t>(object); }
  void erase(std::uint64_t key) { table_.erase(key); }
  /// Calls visit(object) for each object, in no particular order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    table_.for_each([&](std::uint64_t, std::uint64_t at) { visit(*to_pointer(at)); });
  }

 private:
  static T* to_pointer(std::uint64_t at) { return reinterpret_cast<T*>(at); }

  mutable index_table table_;  // mutable because index_table::find is not const
};

}  // namespace manta::base
