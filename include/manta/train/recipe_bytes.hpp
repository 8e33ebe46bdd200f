// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A recipe as bytes, by cereal. Its members are looked at one by one, so that a member which cannot be sent is one
// sentence of the compiler and not cereal's list of all that it has tried.
#pragma once

#include <cereal/archives/binary.hpp>
#include <istream>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "manta/output/bytes.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

/// Whether cereal finds functions for the type and, of a container, for what it contains.
template <class T>
constexpr bool can_be_sent() {
  constexpr bool by_itself = cereal::traits::is_output_serializable<T, cereal::BinaryOutputArchive>::value &&
                             cereal::traits::is_input_serializable<T, cereal::BinaryInputArchive>::value;
  if constexpr (!by_itself) {
    return std::is_empty_v<T>;
  } else if constexpr (requires { typename T::mapped_type; }) {
    return can_be_sent<typename T::mapped_type>() && can_be_sent<std::remove_const_t<typename T::key_type>>();
  } else if constexpr (requires(const T& t) {
                         typename T::value_type;
                         t.begin();
                       }) {
    return can_be_sent<typename T::value_type>();
  } else {
    return true;
  }
}

/// The archive that a recipe's serialize() gets.
template <class Archive>
class member_wise {
 public:
  using is_saving = typename Archive::is_saving;
  using is_loading = typename Archive::is_loading;

  explicit member_wise(Archive& archive) : archive_(archive) {}
  template <class... T>
  member_wise& operator()(T&&... members) {
    constexpr bool are_sent = is_loading::value || (is_sent<T> && ...);  // said once, when the recipe is written
    static_assert(are_sent,
                  "manta: train: a member of the recipe cannot be sent to the workers: give its class a serialize() "
                  "function, or include the <cereal/types/...> header of its type");
    (one(members), ...);
    return *this;
  }

 private:
  template <class T>
  static std::type_identity<std::remove_cvref_t<T>> type_of(const cereal::NameValuePair<T>& named);
  template <class T>
  static std::type_identity<T> type_of(const T& member);
  template <class T>
  static constexpr bool is_sent = can_be_sent<typename decltype(type_of(std::declval<T>()))::type>();

  template <class T>
  void one(T& member) {
    if constexpr (is_sent<T&>) archive_(member);
  }

  Archive& archive_;
};

/// Whether the recipe has the member function serialize().
template <class R>
concept has_serialize = requires(R& r, member_wise<cereal::BinaryOutputArchive>& archive) {
  r.serialize(archive);
};

template <class R>
std::string recipe_bytes(const R& r) {
  if constexpr (has_serialize<R>) {
    std::string bytes;
    output::detail::string_sink sink(bytes);
    std::ostream stream(&sink);
    cereal::BinaryOutputArchive archive(stream);
    member_wise<cereal::BinaryOutputArchive> members(archive);
    const_cast<R&>(r).serialize(members);  // which changes nothing when it saves, as cereal asks for
    return bytes;
  } else {
    return output::pack(r);
  }
}

template <class R>
void read_recipe(const std::string& bytes, R& r) {
  if constexpr (has_serialize<R>) {
    output::detail::view_source source(bytes);
    std::istream stream(&source);
    cereal::BinaryInputArchive archive(stream);
    member_wise<cereal::BinaryInputArchive> members(archive);
    r.serialize(members);
  } else {
    output::unpack(bytes, r);
  }
}

}  // namespace manta::train::detail
