// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <tuple>

#include "manta/rl/multi/seat_tally.hpp"
#include "manta/rl/policies/evaluation.hpp"

namespace manta::rl::detail {

inline void seat_tally::count(counted& to, episode e) const {
  ++to.episodes;
  to.steps += e.length;
  to.last.push_back(std::move(e));
  if (keep_ > 0 && to.last.size() > keep_) to.last.pop_front();
}

MANTA_DECL void seat_tally::count(std::vector<multi_episode> ended, const std::vector<std::string>& names) {
  std::ranges::sort(ended, {}, [](const multi_episode& e) { return std::tuple(e.ended, e.environment); });
  for (const multi_episode& e : ended) {
    for (const multi_episode::seat_result& s : e.seats) {
      if (s.turns > 0)  // who never acted has no return
        count(policies_[names[static_cast<std::size_t>(s.policy)]],
              {.total = s.total, .length = s.turns, .ended = e.ended, .environment = e.environment});
    }
    count(games_, {.length = e.length, .ended = e.ended, .environment = e.environment, .figures = e.figures});
  }
}

MANTA_DECL void seat_tally::write(multi_report& r) const {
  report games;
  summarise({games_.last.begin(), games_.last.end()}, games);
  r.episodes = games_.episodes;
  r.mean_length = games.mean_length;
  r.figures = games.figures;
  for (const auto& [name, c] : policies_) {
    report& its = r.policies[name];
    summarise({c.last.begin(), c.last.end()}, its);
    its.iteration = r.iteration;
    its.episodes = c.episodes;
    if (its.steps == 0) its.steps = c.steps;
  }
}

}  // namespace manta::rl::detail
