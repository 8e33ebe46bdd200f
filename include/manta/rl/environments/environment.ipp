// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of environment.hpp.
#pragma once

#include <map>

#include "manta/error.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/worlds/classic.hpp"

namespace manta::rl {

namespace detail {

inline std::map<std::string, environment_class>& environment_classes() {
  static std::map<std::string, environment_class> all;
  return all;
}
MANTA_DECL bool register_environment_class(const char* mangled, environment_class c) {
  environment_classes()[mangled] = c;
  return true;
}

inline std::map<std::string, any_environment>& named_environments() {
  static std::map<std::string, any_environment> all = classic_environments();
  return all;
}

MANTA_DECL void check_size(std::size_t got, std::size_t expected) {
  if (got != expected)
    throw error("an observation has " + std::to_string(got) + " numbers; observation_space() says " +
                std::to_string(expected));
}

}  // namespace detail

MANTA_DECL any_environment::any_environment(const std::string& name) {
  const auto& all = detail::named_environments();
  const auto found = all.find(name);
  if (found == all.end()) {
    std::string names;
    for (const auto& [known, e] : all) names += (names.empty() ? "" : ", ") + known;
    const std::string advice =
        name.starts_with("LunarLander")
            ? "#include <manta/rl/lunar_lander.hpp> adds it, and the program links with -lbox2d"
            : "there are " + names + ". Give a name to one of your own by rl::register_environment, or pass " +
                  "rl::environment<E>(), or rl::gymnasium(\"" + name + "\") for one of Python's Gymnasium";
    throw error("manta: rl: there is no environment \"" + name + "\"; " + advice);
  }
  *this = found->second;
  name_ = name;
}
MANTA_DECL any_environment::any_environment(const char* name) : any_environment(std::string(name)) {}

MANTA_DECL any_environment::any_environment(std::string name, const char* mangled, std::string arguments)
    : name_(std::move(name)), mangled_(mangled), arguments_(std::move(arguments)) {
  const detail::environment_face face = detail::environment_classes().at(mangled_).describe(arguments_);
  observations_ = face.observations;
  actions_ = face.actions;
  if (face.has_mask) mask_size_ = detail::mask_size(actions_);
}

MANTA_DECL std::unique_ptr<detail::simulation> any_environment::make() const {
  const auto& all = detail::environment_classes();
  const auto found = all.find(mangled_);
  if (found == all.end())
    throw error("manta: rl: this rank's program does not have the environment " + name_ +
                ": start the same program on all ranks");
  return found->second.make(arguments_);
}

MANTA_DECL void register_environment(const std::string& name, const any_environment& e) {
  detail::named_environments()[name] = e.with_name(name);
}
MANTA_DECL std::vector<std::string> environment_names() {
  std::vector<std::string> names;
  for (const auto& [name, e] : detail::named_environments()) names.push_back(name);
  return names;
}

}  // namespace manta::rl
