// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a recipe says of a training, as texts by name, so that a state and a recipe that disagree can say so.
#pragma once

#include <cereal/archives/binary.hpp>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "manta/nn/optimizer.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/members.hpp"
#include "manta/train/recipe_bytes.hpp"
#include "manta/train/source.hpp"
#include "manta/train/state.hpp"

namespace manta::train::detail {

/// A digest of bytes, for values that have no short text.
MANTA_DECL std::string digest_text(const std::string& bytes);
MANTA_DECL std::string number_text(double number);

/// A setting in words, or a digest of it.
template <class T>
std::string setting_text(const T& value) {
  if constexpr (requires {
                  { value.describe() } -> std::convertible_to<std::string>;
                }) {
    return value.describe();
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number_text(static_cast<double>(value));
  } else if constexpr (std::is_convertible_v<const T&, std::string>) {
    return value;
  } else if constexpr (can_be_sent<T>()) {
    return digest_text(output::pack(value));
  } else {
    return typeid(T).name();
  }
}

/// How the names of settings begin: those of the optimiser, of which the recipe's or a state's may hold, and those of
/// the recipe's members.
inline constexpr const char* optimizer_settings = "optimiser's ";
inline constexpr const char* member_settings = "recipe's ";
inline constexpr const char* whole_recipe = "recipe";

/// Adds a setting, whose name begins with `kind`.
MANTA_DECL void tell(told_settings& all, const char* kind, const std::string& name, std::string text);
/// Adds the settings of one of nn's optimisers.
MANTA_DECL void tell_settings(const nn::optimizer& o, told_settings& all);

/// The settings of a recipe. The last one stands for all of it; the members before it are those that serialize names.
template <class R>
told_settings told_by(const R& r) {
  told_settings all;
  const auto optimizer = r.optimizer();
  if constexpr (std::is_convertible_v<decltype(optimizer), const nn::optimizer&>) {
    tell_settings(optimizer, all);
  } else if constexpr (requires { optimizer.settings().front().second; }) {
    for (const auto& [name, value] : optimizer.settings()) tell(all, optimizer_settings, name, setting_text(value));
  } else {
    tell(all, optimizer_settings, "settings", setting_text(optimizer));
  }
  tell(all, "", "loss", setting_text(r.loss()));
  if constexpr (has_serialize<R>)
    output::visit_members(const_cast<R&>(r), [&](const std::string& name, const auto& value) {  // changes nothing
      tell(all, member_settings, name, setting_text(value));
    });
  tell(all, "", whole_recipe, digest_text(recipe_bytes(r)));
  return all;
}

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/told.ipp"
#endif
