// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <limits>
#include <numeric>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/seats/joint.hpp"
#include "manta/rl/seats/opened_environment.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL joint_layout::joint_layout(const any_game& g, int of_whole) : whole(of_whole) {
  for (int i = 0; i < g.seats().size(); ++i) {
    const discrete* const d = g.seats()[i].actions.as_discrete();
    if (d == nullptr)
      throw error(
          base::text("manta: rl: a joint action needs a choice of each seat; the actions of seat {} of {} are "
                     "{}: use rl::multi, whose policies act in any space",
                     i, g.name(), g.seats()[i].actions.text()));
    features.push_back(g.seats()[i].observations.features());
    choices.push_back(d->n + 1);
  }
}

MANTA_DECL int joint_layout::all_features() const { return std::accumulate(features.begin(), features.end(), 0); }

MANTA_DECL all_seats::all_seats(any_game g, int whole)
    : game_(std::move(g)), layout_(game_, whole), live_(game_), seen_(static_cast<std::size_t>(layout_.size())) {}

MANTA_DECL box all_seats::observation_space() const {
  constexpr float any = std::numeric_limits<float>::infinity();
  const auto size = static_cast<std::size_t>(layout_.size());
  return {std::vector<float>(size, -any), std::vector<float>(size, any)};
}

MANTA_DECL multi_discrete all_seats::action_space() const {
  multi_discrete m{layout_.choices};
  for (int i = 0; i < layout_.seats(); ++i) m.start.push_back(game_.seats()[i].actions.as_discrete()->start);
  return m;
}

inline const std::vector<float>& all_seats::look() {
  float* to = seen_.data();
  for (int i = 0; i < layout_.seats(); ++i) {
    if (live_.has_seen(i)) game_.seats()[i].observations.flatten(live_.observation(i), to);
    to += layout_.features[static_cast<std::size_t>(i)];
  }
  for (int i = 0; i < layout_.seats(); ++i) *to++ = can_choose(i) ? 1.f : 0.f;
  const std::span<const float> whole = live_.whole();
  if (std::ssize(whole) != layout_.whole)
    throw error(
        base::text("state() was given {} numbers, and {} when the game began first; a state has as many each "
                   "time, from reset() on",
                   whole.size(), layout_.whole));
  std::ranges::copy(whole, to);
  return seen_;
}

MANTA_DECL std::vector<float> all_seats::reset(random& numbers) {
  std::ranges::fill(seen_, 0.f);
  live_.begin(random(numbers.bits(), 0, 32));
  return look();
}

MANTA_DECL rl::step<std::vector<float>> all_seats::step(std::span<const float> action) {
  for (int i = 0; i < layout_.seats(); ++i) {
    if (live_.acts(i)) live_.choose(i, action.subspan(static_cast<std::size_t>(i), 1));
  }
  live_.step();
  double reward = 0;
  for (int i = 0; i < layout_.seats(); ++i) reward += live_.reward(i);
  return {look(), reward / layout_.seats(), live_.is_over() && !live_.is_truncated(), live_.is_truncated()};
}

MANTA_DECL std::vector<unsigned char> all_seats::action_mask() const {
  std::vector<unsigned char> all;
  for (int i = 0; i < layout_.seats(); ++i) {
    const bool chooses = can_choose(i);
    if (chooses) {
      all.insert(all.end(), live_.mask(i).begin(), live_.mask(i).end());
    } else {
      all.insert(all.end(), live_.mask(i).size(), 0);
    }
    all.push_back(chooses ? 0 : 1);
  }
  return all;
}

MANTA_DECL any_game game_of_joint(const any_environment& e, const std::string& algorithm) {
  const opened_environment<all_seats, any_game, int> opened(e);
  if (!opened.is_right())
    throw error(
        base::text("manta: rl: {} learns in games, whose seats it knows; {} is an environment of one seat: "
                   "give a game, rl::environment<E>() of a class with seats(), or rl::joint(..)",
                   algorithm, e.name()));
  return std::get<any_game>(opened.arguments());
}

MANTA_DECL joint_layout layout_of_joint(const any_game& g) {
  const joint_layout without_whole(g, 0);  // whether it can be one
  live_game first(g);
  first.begin(random(0));
  return {g, static_cast<int>(first.whole().size())};
}

}  // namespace detail

MANTA_DECL any_environment joint(const any_game& g) {
  return environment<detail::all_seats>(g, detail::layout_of_joint(g).whole).with_name(g.name());
}

}  // namespace manta::rl
