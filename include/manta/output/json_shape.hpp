// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a C++ type appears in JSON: which standard types become which JSON values, and how the `serialize`, `save` and
// `load` functions that cereal knows are found for all others. Nothing here includes Eigen: matrices are recognised by
// what they have.
#pragma once

#include <cereal/cereal.hpp>

#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace manta::output::detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_pointer_to_one = false;
template <class T>
inline constexpr bool is_pointer_to_one<std::unique_ptr<T>> = true;
template <class T>
inline constexpr bool is_pointer_to_one<std::shared_ptr<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
template <class T>
inline constexpr bool is_array_of = false;
template <class T, std::size_t N>
inline constexpr bool is_array_of<std::array<T, N>> = true;

template <class T>
concept text = std::is_convertible_v<const T&, std::string_view>;
/// A pair or tuple; a std::array is a range.
template <class T>
concept tuple_like = requires {
  std::tuple_size<T>::value;
}
&&!is_array_of<T>;
/// A dense matrix or vector of Eigen.
template <class T>
concept matrix = requires(T& m) {
  typename T::Scalar;
  m.rows();
  m.cols();
  m(0, 0);
  m.resize(1, 1);
  {T::ColsAtCompileTime + 0};
};
template <class T>
concept map_like = requires(T& m) {
  typename T::mapped_type;
  typename T::key_type;
  m.begin();
};
template <class T>
concept range_like = !map_like<T> && !text<T> && !matrix<T> && requires(T & r) {
  typename T::value_type;
  r.begin();
  r.end();
  r.size();
};

template <class T>
struct is_name_value : std::false_type {};
template <class T>
struct is_name_value<cereal::NameValuePair<T>> : std::true_type {};
template <class T>
struct is_base_of_value : std::false_type {};
template <class T>
struct is_base_of_value<cereal::base_class<T>> : std::true_type {};
template <class T>
struct is_base_of_value<cereal::virtual_base_class<T>> : std::true_type {};
template <class T>
struct is_size_tag : std::false_type {};
template <class T>
struct is_size_tag<cereal::SizeTag<T>> : std::true_type {};

template <class T>
struct no_json {
  static_assert(!std::is_same_v<T, T>,
                "manta: this type has no form in JSON: give it a serialize() function that cereal finds, with "
                "CEREAL_NVP(member) for each member that is to have its name");
};

/// Calls what cereal would call to save or load `value`.
template <class Archive, class T>
void serialize_members(Archive& archive, T& value) {
  namespace traits = cereal::traits;
  using V = std::remove_const_t<T>;
  V& mutable_value = const_cast<V&>(value);  // serialize() serves both directions, and only looks when it saves
  if constexpr (traits::has_member_serialize<V, Archive>::value) {
    cereal::access::member_serialize(archive, mutable_value);
  } else if constexpr (traits::has_non_member_serialize<V, Archive>::value) {
    CEREAL_SERIALIZE_FUNCTION_NAME(archive, mutable_value);
  } else if constexpr (traits::has_member_versioned_serialize<V, Archive>::value) {
    cereal::access::member_serialize(archive, mutable_value, cereal::detail::Version<V>::version);
  } else if constexpr (traits::has_non_member_versioned_serialize<V, Archive>::value) {
    CEREAL_SERIALIZE_FUNCTION_NAME(archive, mutable_value, cereal::detail::Version<V>::version);
  } else if constexpr (Archive::is_saving::value && traits::has_member_save<V, Archive>::value) {
    cereal::access::member_save(archive, value);
  } else if constexpr (Archive::is_saving::value && traits::has_non_member_save<V, Archive>::value) {
    CEREAL_SAVE_FUNCTION_NAME(archive, value);
  } else if constexpr (Archive::is_loading::value && traits::has_member_load<V, Archive>::value) {
    cereal::access::member_load(archive, mutable_value);
  } else if constexpr (Archive::is_loading::value && traits::has_non_member_load<V, Archive>::value) {
    CEREAL_LOAD_FUNCTION_NAME(archive, mutable_value);
  } else if constexpr (!std::is_empty_v<V>) {
    (void)no_json<V>();
  }
}

}  // namespace manta::output::detail
