// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Describes in JSON Schema (as OpenAPI 3 has it) what json_reader reads into a type: the `serialize` function of a
// fresh value says which members there are.
#pragma once

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "manta/output/json_shape.hpp"
#include "manta/output/json_view.hpp"
#include "manta/output/source_json.hpp"

namespace manta::output {

/// An output archive that writes the members' types instead of their values.
class json_schema_writer {
 public:
  using is_saving = std::true_type;
  using is_loading = std::false_type;

  /// Called by `serialize` functions.
  template <class... T>
  json_schema_writer& operator()(T&&... values) {
    (item(values), ...);
    return *this;
  }
  template <class T>
  json_schema_writer& operator&(T&& value) {
    item(value);
    return *this;
  }
  template <class T>
  json_schema_writer& operator<<(T&& value) {
    item(value);
    return *this;
  }

  template <class T>
  std::string of() {
    using namespace detail;
    if constexpr (std::is_same_v<T, bool>) {
      return R"({"type":"boolean"})";
    } else if constexpr (std::is_enum_v<T>) {
      return of<std::underlying_type_t<T>>();
    } else if constexpr (std::is_floating_point_v<T>) {
      return R"({"type":"number"})";
    } else if constexpr (std::is_unsigned_v<T>) {
      return R"({"type":"integer","minimum":0})";
    } else if constexpr (std::is_integral_v<T>) {
      return R"({"type":"integer"})";
    } else if constexpr (text<T>) {
      return R"({"type":"string"})";
    } else if constexpr (is_optional<T>) {
      return of<typename T::value_type>();
    } else if constexpr (is_complex<T>) {
      return R"({"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2})";
    } else if constexpr (matrix<T>) {
      constexpr bool is_vector = T::ColsAtCompileTime == 1 || T::RowsAtCompileTime == 1;
      const std::string row = array_of(of<typename T::Scalar>());
      return is_vector ? row : array_of(row);
    } else if constexpr (map_like<T>) {
      if constexpr (!text<typename T::key_type>) return R"({"type":"array"})";
      return R"({"type":"object","additionalProperties":)" + of<typename T::mapped_type>() + "}";
    } else if constexpr (range_like<T>) {
      return array_of(of<std::remove_cvref_t<typename T::value_type>>());
    } else if constexpr (tuple_like<T> || is_variant<T> || is_pointer_to_one<T> || std::is_void_v<T> ||
                         !std::is_default_constructible_v<T>) {
      return "{}";
    } else {
      return of_class<T>();
    }
  }

 private:
  struct members {
    std::string properties, required;
    bool named = false;
  };
  static std::string array_of(const std::string& items) { return R"({"type":"array","items":)" + items + "}"; }

  template <class T>
  void item(const T& value) {
    if constexpr (detail::is_name_value<T>::value) {
      using V = std::remove_cvref_t<decltype(value.value)>;
      const std::string comma = members_.properties.empty() ? "" : ",";
      const std::string name = std::string("\"") + value.name + "\"";
      const std::string type = of<V>();
      members_.named = true;
      members_.properties += comma + name + ":" + type;
      if (!detail::is_optional<V>) members_.required += (members_.required.empty() ? "" : ",") + name;
    } else if constexpr (detail::is_base_of_value<T>::value) {
      detail::serialize_members(*this, *value.base_ptr);
    }
  }

  template <class T>
  std::string of_class() {
    constexpr int deepest = 8;  // a type may hold others of its own
    if (depth_ == deepest) return "{}";
    ++depth_;
    const members outer = std::exchange(members_, {});
    T value{};
    detail::serialize_members(*this, value);
    const members mine = std::exchange(members_, outer);
    --depth_;
    if (!mine.named) return R"({"type":"array"})";
    return R"({"type":"object","properties":{)" + mine.properties + R"(},"required":[)" + mine.required + "]}";
  }

  members members_;
  int depth_ = 0;
};

/// The JSON Schema of a type, without spaces.
template <class T>
std::string json_schema() {
  return json_schema_writer().of<T>();
}

namespace detail {
template <class T>
constexpr int depth_of();
template <class>
inline constexpr int depth_in_tuple = deepest_json;
template <class... T>
inline constexpr int depth_in_tuple<std::tuple<T...>> = std::max({0, depth_of<std::remove_cvref_t<T>>()...});
template <class A, class B>
inline constexpr int depth_in_tuple<std::pair<A, B>> = depth_in_tuple<std::tuple<A, B>>;

template <class T>
constexpr int depth_of() {
  if constexpr (std::is_arithmetic_v<T> || text<T>) {
    return 0;
  } else if constexpr (is_optional<T>) {
    return depth_of<typename T::value_type>();
  } else if constexpr (matrix<T>) {
    return T::ColsAtCompileTime == 1 || T::RowsAtCompileTime == 1 ? 1 : 2;
  } else if constexpr (range_like<T>) {
    return std::min(deepest_json, 1 + depth_of<std::remove_cvref_t<typename T::value_type>>());
  } else {
    return std::min(deepest_json, 1 + depth_in_tuple<T>);
  }
}
}  // namespace detail

/// How deep arrays and objects may be nested in a value of this type; deepest_json for classes.
template <class T>
inline constexpr int json_depth = detail::depth_of<T>();

}  // namespace manta::output
