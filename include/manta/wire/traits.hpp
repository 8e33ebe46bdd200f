// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What manta asks of types: may this be sent, is it a few plain bytes, is it one
// array of numbers. Answers are given at compile time, so that a mistake is one
// sentence from the compiler.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "manta/wire/archive.hpp"

namespace manta::wire {

/// X, where a template over T is instantiated and not before: programs that do not use the template then do not compile
/// what is registered for it.
template <class X, class T>
struct only_with {
  using type = X;
};

/// The name of a type as the compiler spells it.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  const std::size_t end = text.find_first_of(";]", begin);  // g++ lists typedefs behind a semicolon
  return text.substr(begin, end - begin);
}

template <class T>
inline constexpr bool is_std = type_name<T>().substr(0, 5) == "std::";

/// The shape of a value that is one array of numbers, data(): what a new one is given before its numbers are copied or
/// received into it. Written as it lies in memory. Specialised for vectors and strings here, for dense matrices in
/// eigen.hpp.
template <class T>
struct array_shape;
template <class T, class Allocator>
  requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
struct array_shape<std::vector<T, Allocator>> {
  static std::size_t get(const std::vector<T, Allocator>& v) { return v.size(); }
  static void set(std::vector<T, Allocator>& v, std::size_t size) { v.resize(size); }
};
template <>
struct array_shape<std::string> {
  static std::size_t get(const std::string& s) { return s.size(); }
  static void set(std::string& s, std::size_t size) { s.resize(size); }
};
template <class T>
inline constexpr bool is_array = requires { sizeof(array_shape<T>); };

template <class T>
segment array_in(const T& value) {
  return {const_cast<void*>(static_cast<const void*>(value.data())), static_cast<std::size_t>(value.size()) * sizeof(*value.data())};
}

/// cereal accepts std::vector<X> for any X and fails deep inside; so look into the parameters of std's templates.
template <class T>
constexpr bool is_serializable();

template <class T>
struct parts_serializable : std::true_type {};
template <template <class...> class Template, class... Parts>
  requires is_std<Template<Parts...>>
struct parts_serializable<Template<Parts...>>
    : std::bool_constant<((std::is_empty_v<Parts> || std::is_abstract_v<Parts> || is_serializable<std::remove_const_t<Parts>>()) &&
                          ...)> {};  // there may be pointers to abstract classes

template <class T, std::size_t N>
struct parts_serializable<std::array<T, N>> : std::bool_constant<is_serializable<T>()> {};

template <class T>
constexpr bool is_serializable() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || is_array<T>) {
    return true;
  } else if constexpr (std::is_pointer_v<T> || std::is_reference_v<T> || std::is_abstract_v<T>) {
    return false;
  } else if constexpr (std::is_empty_v<T> && std::is_aggregate_v<T>) {  // no closure: those may not be sent as values
    return true;
  } else if constexpr (!parts_serializable<T>::value) {
    return false;
  } else {
    return cereal::traits::is_output_serializable<T, writer>::value &&
           cereal::traits::is_input_serializable<T, reader>::value;
  }
}

/// std says of a std::vector<std::unique_ptr<X>> that it can be copied; so look into the parameters of std's templates, other
/// than those that share what they point to.
template <class T>
inline constexpr bool is_copyable = std::is_copy_constructible_v<T>;
template <template <class...> class Template, class... Parts>
  requires(is_std<Template<Parts...>> && !requires { typename Template<Parts...>::element_type; })
inline constexpr bool is_copyable<Template<Parts...>> =
    std::is_copy_constructible_v<Template<Parts...>> && ((std::is_empty_v<Parts> || is_copyable<Parts>) && ...);

/// Numbers and enumerations: copied as they are, no archive involved.
template <class T>
inline constexpr bool is_plain = [] {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return alignof(T) <= 8;
  } else {
    return false;
  }
}();

/// Specialised for types that mean something on their own rank only.
template <class T>
inline constexpr bool stays_on_its_rank = false;

/// The one place where an unserialisable type is refused; the compiler shows T in "with T = ...".
template <class T>
constexpr bool require_serializable() {
  constexpr bool stays = stays_on_its_rank<T>;
  static_assert(!stays, "manta: a promise cannot be sent: it is completed on the rank that made it; send its future");
  static_assert(stays || is_serializable<T>(),
                "manta: this type cannot be serialised: give it a serialize() function that cereal finds, or include "
                "the header <cereal/types/...> of the standard type it uses (<manta/eigen.hpp> for Eigen's)");
  return is_serializable<T>();
}

}  // namespace manta::wire
