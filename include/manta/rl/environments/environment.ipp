// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <map>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/worlds/classic.hpp"

namespace manta::rl {

namespace detail {

inline manta::detail::class_table<environment_class>& environment_classes() {
  static manta::detail::class_table<environment_class> all;
  return all;
}
MANTA_DECL bool register_environment_class(const char* mangled, environment_class c) {
  environment_classes().add(mangled, c);
  return true;
}

inline std::map<std::string, any_environment>& named_environments() {
  static std::map<std::string, any_environment> all = classic_environments();
  return all;
}

MANTA_DECL void check_size(std::size_t got, std::size_t expected) {
  if (got != expected)
    throw error(base::text("an observation has {} numbers; observation_space() says {}", got, expected));
}

MANTA_DECL void write_parts(const dict_values& value, const space& of, std::span<float> to) {
  const dict& d = *of.as_dict();
  for (const auto& [name, numbers] : value) {
    if (!d.parts.contains(name))
      throw error(base::text("an observation has the part \"{}\"; observation_space() is {}", name, of.text()));
  }
  for (const auto& [name, part] : d.parts) {
    const auto found = value.find(name);
    if (found == value.end())
      throw error(base::text("an observation has no part \"{}\"; observation_space() is {}", name, of.text()));
    const auto size = static_cast<std::size_t>(part.size());
    if (found->second.size() != size)
      throw error(base::text("the part \"{}\" of an observation has {} numbers; observation_space() says {}", name,
                             found->second.size(), size));
    std::copy(found->second.begin(), found->second.end(), to.begin());
    to = to.subspan(size);
  }
}

MANTA_DECL dict_values parts_by_name(std::span<const float> value, const space& of) {
  dict_values all;
  for (const auto& [name, part] : of.as_dict()->parts) {
    const std::span<const float> its = value.first(static_cast<std::size_t>(part.size()));
    all[name].assign(its.begin(), its.end());
    value = value.subspan(its.size());
  }
  return all;
}

}  // namespace detail

MANTA_DECL any_environment::any_environment(const std::string& name) {
  const auto& all = detail::named_environments();
  const auto found = all.find(name);
  if (found == all.end()) {
    const std::string advice =
        name.starts_with("LunarLander")
            ? "#include <manta/rl/lunar_lander.hpp> adds it, and the program links with -lbox2d"
            : base::text(
                  "there are {}. Give a name to one of your own by rl::register_environment, or pass "
                  "rl::environment<E>(), or rl::gymnasium(\"{}\") for one of Python's Gymnasium",
                  detail::names_text(all), name);
    throw error(base::text("manta: rl: there is no environment \"{}\"; {}", name, advice));
  }
  *this = found->second;
  name_ = name;
}
MANTA_DECL any_environment::any_environment(const char* name) : any_environment(std::string(name)) {}

MANTA_DECL any_environment::any_environment(constructed&& its) : constructed(std::move(its)) {
  const detail::environment_face face = class_in(detail::environment_classes(), "environment").describe(arguments_);
  observations_ = face.observations;
  actions_ = face.actions;
  if (face.has_mask) mask_size_ = detail::mask_size(actions_);
  if (face.takes_one_number && actions_.size() != 1)
    throw error(
        base::text("manta: rl: {}: an action of {} has {} numbers, and step(action) takes one; let it take an "
                   "Eigen::VectorXf, a std::vector<float> or a std::vector<int>",
                   name_, actions_.text(), actions_.size()));
}

MANTA_DECL std::unique_ptr<simulation> any_environment::make() const {
  return class_in(detail::environment_classes(), "environment").make(arguments_);
}

MANTA_DECL void register_environment(const std::string& name, const any_environment& e) {
  detail::named_environments()[name] = e.with_name(name);
}
MANTA_DECL std::vector<std::string> environment_names() { return detail::names_in(detail::named_environments()); }

}  // namespace manta::rl
