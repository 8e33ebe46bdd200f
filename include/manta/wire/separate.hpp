// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values with shared pointers. A copy of such a value shares the objects behind its pointers with the original, so that
// a task which writes through one would change the values of other tasks: on one rank, but not on several, where values
// are encoded. Values are therefore separated where they are stored and where a task gets one of its own.
#pragma once

#include <memory>
#include <utility>

#include "manta/wire/function_table.hpp"
#include "manta/wire/traits.hpp"

namespace manta::wire {

/// Whether values of this type are known to hold no shared pointers. False for classes of the program.
template <class T>
inline constexpr bool holds_no_pointers = std::is_arithmetic_v<T> || std::is_enum_v<T> || is_array<T>;
template <template <class...> class Template, class... Parts>
  requires(is_std<Template<Parts...>> && !is_array<Template<Parts...>> &&
           !requires { typename Template<Parts...>::element_type; })
inline constexpr bool holds_no_pointers<Template<Parts...>> =
    ((std::is_empty_v<Parts> || holds_no_pointers<std::remove_const_t<Parts>>)&&...);
template <class T, std::size_t N>
inline constexpr bool holds_no_pointers<std::array<T, N>> = holds_no_pointers<T>;

/// Whether values of this type may hold shared pointers: then the program includes <cereal/types/memory.hpp>, without
/// which cereal cannot write them.
template <class T>
constexpr bool may_hold_pointers() {
  if constexpr (holds_no_pointers<T> || !is_serializable<T>()) {
    return false;
  } else {
    return cereal::traits::is_output_serializable<std::shared_ptr<typename only_with<int, T>::type>, writer>::value;
  }
}

/// Makes a T from `value`, with objects of its own behind its shared pointers. A value that cannot be encoded is copied
/// or moved as it is: it fails where it has to be sent.
template <class T, class V>
T separate(V&& value) {
  if constexpr (!may_hold_pointers<T>() || !std::is_same_v<std::remove_cvref_t<V>, T>) {
    return T(std::forward<V>(value));
  } else {
    buffer bytes;
    sink out(bytes);
    bool is_encoded = false;
    try {
      encode(static_cast<const T&>(value), out);
      is_encoded = true;
    } catch (...) {
    }
    if (!is_encoded || (!out.holds_pointers() && !out.holds_references())) return T(std::forward<V>(value));
    source in(bytes.data(), bytes.size());
    const std::unique_ptr<T> own(decode<T>(in));
    return T(std::move(*own));
  }
}

}  // namespace manta::wire
