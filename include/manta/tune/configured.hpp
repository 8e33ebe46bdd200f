// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Sets members of a serialisable class from a configuration: what trials of train and rl have in common.
#pragma once

#include <string>
#include <type_traits>

#include "manta/output/members.hpp"
#include "manta/tune/config.hpp"

namespace manta::tune {

/// Sets the members that the configuration names, by the names that serialize gives them (CEREAL_NVP). Throws if a
/// parameter is no named member, and lists those.
template <class T>
void configure(T& object, const config& c, const std::string& what) {
  std::string names;
  std::size_t set = 0;
  output::visit_members(object, [&](const std::string& name, auto& member) {
    using type = std::remove_reference_t<decltype(member)>;
    names += (names.empty() ? "" : ", ") + name;
    if constexpr (std::is_arithmetic_v<type> || std::is_enum_v<type> || std::is_same_v<type, std::string> ||
                  detail::is_list<type> || detail::object_or_vector<type>) {
      if (!c.contains(name)) return;
      member = c.get<type>(name);
      ++set;
    }
  });
  if (set != c.size())
    throw error("manta: tune: the configuration " + c.text() + " has parameters that the serialize of " + what +
                " does not name with CEREAL_NVP; it names " + (names.empty() ? "none" : names));
}

}  // namespace manta::tune
