// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/multi/multi_setting.hpp"

namespace manta::rl::detail {

MANTA_DECL bool fits(const seated_policy& p, const seat& s) {
  if (!p.learns && p.frozen.player()) return true;
  const space& seen = p.learns ? p.spaces.observations() : p.frozen.trained().observations();
  const space& done = p.learns ? p.spaces.actions() : p.frozen.trained().actions();
  return seen.features() == s.observations.features() && done == s.actions;
}

MANTA_DECL seat_order::seat_order(const any_game& g, const multi_setting& s)
    : seats_(g.seats()), map_(s.map ? s.map.make() : nullptr) {
  for (const seated_policy& p : s.policies) {
    names_.push_back(p.name);
    can_take_.emplace_back();
    for (int i = 0; i < seats_.size(); ++i) can_take_.back().push_back(fits(p, seats_[i]));
  }
}

inline std::string seat_order::name_for(int seat, std::uint64_t episode) const {
  if (map_) return (*map_)(seat, episode);
  const std::string& own = seats_[seat].name;
  return std::ranges::find(names_, own) == names_.end() && names_.size() == 1 ? names_.front() : own;
}

MANTA_DECL int seat_order::policy_of(int seat, std::uint64_t episode) const {
  const std::string name = name_for(seat, episode);
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) {
    std::string all;
    for (const std::string& n : names_) all += (all.empty() ? "\"" : ", \"") + n + '"';
    throw error(map_ ? base::text("the map gives seat {} the policy \"{}\"; there are {}", seat, name, all)
                     : base::text("no policy has the name of seat {}, \"{}\"; there are {}. Give .map, "
                                  "rl::own<by_seat>(), which says who acts from which seat",
                                  seat, name, all));
  }
  const auto number = static_cast<std::size_t>(found - names_.begin());
  if (!can_take_[number][static_cast<std::size_t>(seat)])
    throw error(
        base::text("the policy \"{}\" cannot act from seat {}, which sees {} and acts in {}: its spaces are others",
                   name, seat, seats_[seat].observations.text(), seats_[seat].actions.text()));
  return static_cast<int>(number);
}

}  // namespace manta::rl::detail
