// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// New settings for the objects of a deployment: the value that their class's method `reconfigure` takes.
#pragma once

#include <cereal/types/string.hpp>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/serve/source.hpp"
#include "manta/signature.hpp"

namespace manta::serve::detail {

/// A value for `reconfigure` of the user's class, on its way to the replicas.
struct settings {
  std::string type;  ///< as typeid names it; empty: there are none
  std::string bytes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(type, bytes);
  }
};

/// Says that `reconfigure` takes another type, or, if that is empty, that there is no such method. Types are as
/// typeid names them.
[[noreturn]] MANTA_DECL void refuse_settings(const std::string& taken, const std::string& given);

template <class C>
concept reconfigurable = requires {
  &C::reconfigure;
};
template <class List>
struct only_parameter {
  static_assert(!std::is_same_v<List, List>,
                "manta: serve: `reconfigure` of a deployed class takes one parameter, the new settings");
};
template <class P>
struct only_parameter<manta::detail::list<P>> {
  using type = std::remove_cvref_t<P>;
};

/// Calls `reconfigure` of the object.
template <class C>
void apply_settings(C& object, const settings& s) {
  if constexpr (reconfigurable<C>) {
    using P = typename only_parameter<typename manta::detail::signature<decltype(&C::reconfigure)>::parameters>::type;
    if (s.type != typeid(P).name()) refuse_settings(typeid(P).name(), s.type);
    P value{};
    output::unpack(s.bytes, value);
    object.reconfigure(value);
  } else {
    refuse_settings("", s.type);
  }
}

}  // namespace manta::serve::detail

#ifndef MANTA_COMPILED
#include "manta/serve/settings.ipp"
#endif
