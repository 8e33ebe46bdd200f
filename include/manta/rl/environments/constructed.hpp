// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A class and the arguments of its constructor, as a value that travels: what environments and games have in common.
// Each rank finds the class in the table of its program, and makes objects of its own.
#pragma once

#include <cereal/archives/binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/tuple.hpp>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include "manta/base/demangle.hpp"
#include "manta/own.hpp"

namespace manta::rl::detail {

class constructed {
 public:
  constructed() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The constructor call in the program's words, such as "corridor(10)".
  [[nodiscard]] const std::string& call() const { return call_; }
  /// Episodes are truncated after this number of steps; 0: never.
  [[nodiscard]] int time_limit() const { return time_limit_; }
  /// Whether both make objects of the same class from the same arguments, whatever their names and limits.
  [[nodiscard]] bool makes_as(const constructed& other) const {
    return mangled_ == other.mangled_ && arguments_ == other.arguments_;
  }
  /// False for one that was default constructed.
  explicit operator bool() const { return !mangled_.empty(); }

 protected:
  /// Objects of class E, whose entry in the table is `Entry`.
  template <class E, class Entry, class... Args>
  static constructed from(const std::tuple<Args...>& arguments) {
    if (!Entry::registered) Entry::enter();  // an object of static storage asks
    std::ostringstream out(std::ios::binary);
    {
      cereal::BinaryOutputArchive archive(out);
      archive(arguments);
    }
    constructed made;
    made.name_ = base::demangle(typeid(E).name());
    made.mangled_ = typeid(Entry).name();
    made.arguments_ = std::move(out).str();
    made.call_ = manta::detail::class_text<E>(arguments);
    return made;
  }
  /// The entry of the class. Throws if this program does not have it. `kind`: what the objects are.
  template <class Class>
  const Class& class_in(const manta::detail::class_table<Class>& all, const char* kind) const {
    return all.at([&] { return base::text("the {} {}", kind, name_); }, mangled_);
  }

  std::string name_, mangled_, arguments_, call_;
  int time_limit_ = 0;
};

/// The names of a table, in their order.
template <class Value>
std::vector<std::string> names_in(const std::map<std::string, Value>& all) {
  std::vector<std::string> names;
  for (const auto& [name, value] : all) names.push_back(name);
  return names;
}
/// These names with commas between them, for a sentence.
template <class Value>
std::string names_text(const std::map<std::string, Value>& all) {
  std::string names;
  for (const auto& [name, value] : all) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace manta::rl::detail
