// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Classes of a program of which objects are made on any rank: a value that travels holds the compiler's name of the
// class, which is the same on all ranks of a program, and each rank finds in its own table what makes the objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manta/base/text.hpp"
#include "manta/error.hpp"

namespace manta::detail {

/// The classes that stand for one purpose. `Entry` is what makes their objects.
template <class Entry>
class class_table {
 public:
  /// Adds a class, before main or when the program first names it. Returns its number, which is the same on all ranks.
  std::uint32_t add(const char* mangled, const Entry& entry) {
    entries_.push_back({mangled, entry});
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }

  /// The entry of the class of this name. Classes of anonymous namespaces can have the same name; `number`, where it is
  /// known, tells them apart. Null if this program does not have the class.
  const Entry* find(std::string_view mangled, std::uint32_t number = no_number) const {
    if (number < entries_.size() && entries_[number].mangled == mangled) return &entries_[number].entry;
    for (const row& each : entries_) {
      if (each.mangled == mangled) return &each.entry;
    }
    return nullptr;
  }

  /// As find(). Throws manta::error if this program does not have the class: `what` says in words which one it is.
  template <class Words>
  const Entry& at(const Words& what, std::string_view mangled, std::uint32_t number = no_number) const {
    if (const Entry* const found = find(mangled, number)) return *found;
    throw error(base::text("manta: this rank's program does not have {}: start the same program on all ranks", what()));
  }

 private:
  static constexpr std::uint32_t no_number = ~std::uint32_t{0};
  struct row {
    std::string mangled;
    Entry entry;
  };
  std::vector<row> entries_;
};

}  // namespace manta::detail
