// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Functions and types travel by index. A static member of a template registers each one that the program uses while
// the program is loaded, so the same binary has the same table on every rank. The ranks compare a digest of the table
// when they start.
#pragma once

#include <cstdint>
#include <string>
#include <typeinfo>

#include "manta/base/containers.hpp"
#include "manta/base/demangle.hpp"
#include "manta/wire/traits.hpp"

namespace manta::exec {
struct invocation;
}

namespace manta::wire {

using base::demangle;

/// The name of a function object for reports; it lives as long as the program. It distinguishes lambdas:
/// clang++ names the line, "lambda at main.cpp:12:18"; g++ numbers the lambdas of a function, in mangled
/// names only, "main::{lambda(int)#2}".
template <class F>
std::string_view callable_name() {
  constexpr std::string_view spelled = type_name<F>();
  if constexpr (spelled.starts_with("(lambda at ")) {
    return spelled.substr(1, spelled.size() - 2);
  } else if constexpr (spelled.find("<lambda") == std::string_view::npos) {
    return spelled;
  } else {
    static const std::string& name = *new std::string([] {
      std::string text = demangle(typeid(F).name());
      constexpr std::string_view call = "::operator()() const";  // a lambda around this one
      for (std::size_t at = 0; (at = text.find(call, at)) != std::string::npos;) text.erase(at, call.size());
      return text;
    }());
    return name;
  }
}

/// Writes a value: plain values and arrays as they lie in memory, others through cereal.
template <class T>
void encode(const T& value, sink& out) {
  if constexpr (is_plain<T>) {
    out.write(&value, sizeof value);
  } else if constexpr (is_array<T>) {
    const auto shape = array_shape<T>::get(value);
    const segment array = array_in(value);
    out.write(&shape, sizeof shape);
    out.write(array.data, array.bytes);
  } else {
    writer archive(out);
    archive(value);
  }
}
/// Reads a value that encode() has written; the caller owns it.
template <class T>
T* decode(source& in) {
  if constexpr (is_plain<T>) {
    return new T(in.get<T>());
  } else {
    T* value = cereal::access::construct<T>();
    try {
      if constexpr (is_array<T>) {
        array_shape<T>::set(*value, in.get<decltype(array_shape<T>::get(*value))>());
        const segment array = array_in(*value);
        in.read(array.data, array.bytes);
      } else {
        reader archive(in);
        archive(*value);
      }
    } catch (...) {
      delete value;
      throw;
    }
    return value;
  }
}

/// Whether each member of a gang gives a part of a T, which merge() joins.
template <class T>
inline constexpr bool is_gathered = false;

/// A type of values: functions to destroy, write and read an object without knowing its type.
struct type_entry {
  const char* mangled;
  std::size_t plain_bytes;        ///< its size if it is plain, else 0
  segment (*array)(const void*);  ///< finds its numbers; null unless it is_array
  void (*destroy)(void*);
  void (*write)(const void*, sink&);
  void* (*read)(source&);
  void (*merge)(void* into, void* from);  ///< joins the parts that the members of a gang give; null: there are none
  std::string_view name;                  ///< as in the program, for reports
};

/// A function that can be a task or an actor's method.
struct function_entry {
  const char* mangled;         ///< identifies it in the digest
  std::string_view (*name)();  ///< the name for reports; lives as long as the program
  void (*run)(exec::invocation&);
  bool gang;        ///< its first parameter is manta::team
  bool looks_only;  ///< a const method
};

template <class Entry>
base::list<Entry>& table() {
  static auto& entries = *new base::list<Entry>;  // never destroyed: handles may be destroyed after all other objects
  return entries;
}
inline const type_entry& type_at(std::uint32_t index) { return table<type_entry>()[index]; }
inline const function_entry& function_at(std::uint32_t index) { return table<function_entry>()[index]; }

template <class Entry>
std::uint32_t add_entry(const Entry& entry) {
  table<Entry>().push_back(entry);
  return static_cast<std::uint32_t>(table<Entry>().size() - 1);
}

/// Index of type T, registered before main. void is a type too, with an empty value.
template <class T>
struct type_index {
  static inline const std::uint32_t value = [] {
    type_entry entry{typeid(T).name(), 0, nullptr, nullptr, nullptr, nullptr, nullptr, type_name<T>()};
    if constexpr (is_plain<T>) entry.plain_bytes = sizeof(T);
    if constexpr (!std::is_void_v<T> && !is_plain<T>) {
      if constexpr (is_array<T>) {
        entry.array = [](const void* value) { return array_in(*static_cast<const T*>(value)); };
      }
      entry.destroy = [](void* value) { delete static_cast<T*>(value); };
      entry.write = [](const void* value, sink& out) { encode(*static_cast<const T*>(value), out); };
      entry.read = [](source& in) -> void* { return decode<T>(in); };
      if constexpr (is_gathered<T>) {
        entry.merge = [](void* into, void* from) { static_cast<T*>(into)->merge(std::move(*static_cast<T*>(from))); };
      }
    }
    return add_entry(entry);
  }();
};

/// The names of all entries in order; line i belongs to index i.
inline std::string table_listing() {
  std::string text;
  for (const auto& f : table<function_entry>()) text += std::string("f ") + f.mangled + '\n';
  for (const auto& t : table<type_entry>()) text += std::string("t ") + t.mangled + '\n';
  return text;
}

}  // namespace manta::wire
