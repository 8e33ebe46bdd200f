// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Properties of types: whether a value may be sent, whether it is a few plain bytes, whether it is one array of
// numbers. They are known at compile time, so that the compiler reports a mistake in one sentence.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>

#include "manta/base/mistake.hpp"
#include "manta/wire/archive.hpp"

namespace manta::wire {

/// The type X, but dependent on T: code that names it is compiled only where a template over T is instantiated.
/// Programs that do not use the template then do not register X.
template <class X, class T>
struct only_with {
  using type = X;
};

/// The name of a type in the compiler's spelling.
template <class T>
constexpr std::string_view type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  const std::size_t begin = text.find("T = ") + 4;
  const std::size_t end = text.find_first_of(";]", begin);  // g++ lists typedefs behind a semicolon
  return text.substr(begin, end - begin);
}

template <class T>
inline constexpr bool is_std = type_name<T>().substr(0, 5) == "std::";

/// The shape of a value that is one array of numbers, data(). A new value gets its shape before its numbers are copied
/// or received into it. The shape is written as it lies in memory. This header specialises it for vectors and strings,
/// eigen.hpp for dense matrices.
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
inline constexpr bool is_array = requires {
  sizeof(array_shape<T>);
};

template <class T>
segment array_in(const T& value) {
  return {const_cast<void*>(static_cast<const void*>(value.data())),
          static_cast<std::size_t>(value.size()) * sizeof(*value.data())};
}

/// Whether a type can be serialised. cereal accepts std::vector<X> for any X and fails deep inside, so this also checks
/// the parameters of the standard library's templates.
template <class T>
constexpr bool is_serializable();

template <class T>
struct parts_serializable : std::true_type {};
template <template <class...> class Template, class... Parts>
  requires(is_std<Template<Parts...>>)
struct parts_serializable<Template<Parts...>>
    : std::bool_constant<(
          (std::is_empty_v<Parts> || std::is_abstract_v<Parts> || is_serializable<std::remove_const_t<Parts>>()) &&
          ...)> {};  // a pointer to an abstract class is allowed

template <class T, std::size_t N>
struct parts_serializable<std::array<T, N>> : std::bool_constant<is_serializable<T>()> {};

template <class T>
constexpr bool is_serializable() {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || is_array<T>) {
    return true;
  } else if constexpr (std::is_pointer_v<T> || std::is_reference_v<T> || std::is_abstract_v<T>) {
    return false;
  } else if constexpr (std::is_empty_v<T> && std::is_aggregate_v<T>) {  // a lambda is no aggregate, and no value
    return true;
  } else if constexpr (!parts_serializable<T>::value) {
    return false;
  } else {
    return cereal::traits::is_output_serializable<T, writer>::value &&
           cereal::traits::is_input_serializable<T, reader>::value;
  }
}

/// Whether a type can be copied. The standard library claims this for std::vector<std::unique_ptr<X>>, so this also
/// checks the parameters of its templates, except of pointers that share their object.
template <class T>
inline constexpr bool is_copyable = std::is_copy_constructible_v<T>;
template <template <class...> class Template, class... Parts>
  requires(is_std<Template<Parts...>> && !requires { typename Template<Parts...>::element_type; })
inline constexpr bool is_copyable<Template<Parts...>> =
    std::is_copy_constructible_v<Template<Parts...>> && ((std::is_empty_v<Parts> || is_copyable<Parts>)&&...);

/// Whether values of a type are copied as bytes, without an archive: numbers and enumerations.
template <class T>
inline constexpr bool is_plain = [] {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return alignof(T) <= 8;
  } else {
    return false;
  }
}();

/// Whether a type is valid only on its own rank; specialised for such types.
template <class T>
inline constexpr bool stays_on_its_rank = false;

// --- the mistakes: in a value that is to be sent

template <class T>
struct stays_here {
  static_assert(base::never<T>,
                "manta: a promise cannot be sent: it is completed on the rank that made it; send its future");
};
template <class T>
struct not_copyable {
  static_assert(
      base::never<T>,
      "manta: an argument is copied; pass the value, or make an actor of what cannot be copied (so is a result)");
};
template <class T>
struct not_serialisable {
  static_assert(
      base::never<T>,
      "manta: this type cannot be serialised: give it a serialize() function that cereal finds, or include the "
      "header <cereal/types/...> of the standard type it uses (<manta/eigen.hpp> for Eigen's)");
};
template <class T>
struct no_default_constructor {
  static_assert(
      base::never<T>,
      "manta: this type has no default constructor, and a rank that receives a value reads it into a new one: add "
      "T() (a private one will do, with `friend class cereal::access`)");
};

/// Converts to anything. Compilers choose a constructor before they check the access to it: {} becomes a T if T has any
/// default constructor, and `found` is then valid only if this constructor may be called.
struct anything {};
template <class T>
std::true_type found_constructor(T, int);
template <class T>
std::false_type found_constructor(anything, long);

/// Whether T has a default constructor, which may be private, for cereal alone.
template <class T>
constexpr bool has_default_constructor() {
  if constexpr (std::is_default_constructible_v<T>) {
    return true;
  } else if constexpr (std::is_aggregate_v<T>) {
    return false;
  } else if constexpr (requires { found_constructor<T>({}, 0); }) {
    return decltype(found_constructor<T>({}, 0))::value;
  } else {
    return true;
  }
}

/// Checks the constructor of each part of a std template: cereal constructs the parts itself, so it must be public.
template <class T>
constexpr auto mistake_in_construction();
template <class T>
struct mistake_in_parts {
  using type = base::no_mistake;
};
template <class Part>
constexpr auto mistake_in_part() {
  if constexpr (std::is_empty_v<Part> || std::is_abstract_v<Part>) {
    return base::no_mistake();
  } else if constexpr (!std::is_default_constructible_v<Part>) {
    return base::mistake<no_default_constructor, Part>();
  } else {
    return mistake_in_construction<Part>();
  }
}
template <template <class...> class Template, class... Parts>
  requires(is_std<Template<Parts...>> && !requires { typename Template<Parts...>::element_type; })
struct mistake_in_parts<Template<Parts...>> {
  using type = decltype(base::first_mistake(mistake_in_part<std::remove_const_t<Parts>>()...));
};
template <class T>
constexpr auto mistake_in_construction() {
  using in_parts = typename mistake_in_parts<T>::type;
  if constexpr (in_parts::found) {
    return in_parts();
  } else if constexpr (!has_default_constructor<T>()) {
    return base::mistake<no_default_constructor, T>();
  } else {
    return base::no_mistake();
  }
}

template <class T>
constexpr auto mistake_in_value() {
  if constexpr (stays_on_its_rank<T>) {
    return base::mistake<stays_here, T>();
  } else if constexpr (!is_serializable<T>()) {
    if constexpr (is_copyable<T>) {
      return base::mistake<not_serialisable, T>();
    } else {
      return base::mistake<not_copyable, T>();
    }
  } else {
    return mistake_in_construction<T>();
  }
}

}  // namespace manta::wire
