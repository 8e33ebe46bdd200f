// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/train/told.hpp"
#include "manta/train/told_lines.hpp"

namespace manta::train::detail {

inline const std::string* find_setting(const told_settings& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == name; });
  return found == all.end() ? nullptr : &found->second;
}

MANTA_DECL told_difference compare_told(const state& s, const told_settings& told, std::uint64_t seed, settings hold,
                                        const std::string& name) {
  told_difference d;
  d.recipe_holds = hold == settings::recipe;
  for (const auto& [setting, here] : told) {
    const std::string* const there = find_setting(s.told, setting);
    if (there && *there != here && setting.starts_with(optimizer_settings))
      d.recipe_holds = hold != settings::checkpoint;
  }
  std::vector<std::pair<std::string, std::string>> said;  // values there and here
  const auto say = [&](const std::string& setting, const std::string& there, const std::string& here, bool own) {
    d.names.push_back(setting);
    if (setting == whole_recipe)
      return d.lines.push_back(base::text("manta: train: {}: the recipe is another one", name));
    const bool is_digest = there.starts_with('#');
    d.lines.push_back(base::text("manta: train: {}: the {} is {} there and {} in this program; {} holds", name, setting,
                                 is_digest ? "one" : there, is_digest ? "another" : here,
                                 is_digest ? "this program's"
                                 : own     ? here
                                           : there));
    said.emplace_back(there, here);
  };
  for (const auto& [setting, here] : told) {
    const std::string* const there = find_setting(s.told, setting);
    if (!there || *there == here) continue;
    const bool is_member = setting.starts_with(member_settings) || setting == whole_recipe;
    // The lines of an optimiser's settings tell of the members that set them, and those of members of the recipe.
    const bool is_said = std::ranges::count(said, std::pair(*there, here)) > 0;
    if (is_member && (is_said || (setting == whole_recipe && !d.lines.empty()))) continue;
    say(setting, *there, here, !setting.starts_with(optimizer_settings) || d.recipe_holds);
  }
  if (s.seed != seed) say("seed", base::text("{}", s.seed), base::text("{}", seed), false);
  return d;
}

}  // namespace manta::train::detail
