// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/offline/film.hpp"
#include "manta/rl/offline/record.hpp"

namespace manta::rl {

namespace detail {

/// The kind of picture of an environment, which is known by its class and the arguments of that.
inline std::string picture_of(const any_environment& e) {
  constexpr std::array<std::pair<const char*, const char*>, 11> kinds = {{
      {"CartPole-v1", "cart_pole"},
      {"Acrobot-v1", "acrobot"},
      {"MountainCar-v0", "mountain_car"},
      {"MountainCarContinuous-v0", "mountain_car_continuous"},
      {"Pendulum-v1", "pendulum"},
      {"LunarLander-v3", "lunar_lander"},
      {"LunarLanderContinuous-v3", "lunar_lander"},
      {"Catch-v0", "catch_ball"},
      {"FrozenLake-v1", "frozen_lake"},
      {"MinAtar/Breakout-v0", "breakout"},
      {"MinAtar/Breakout-v1", "breakout"},
  }};
  const std::vector<std::string> there = environment_names();
  std::string names;
  for (const auto& [name, kind] : kinds) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    if (std::ranges::find(there, name) != there.end() && any_environment(name).makes_as(e)) return kind;
  }
  throw error(
      base::text("manta: rl: film: there are no pictures of {}; there are of {}. frames() of an algorithm has "
                 "episodes as text",
                 e.name(), names));
}

/// Numbers as a JavaScript array.
template <class Number>
std::string array_text(const Number* numbers, std::size_t count) {
  std::string out = "[";
  char text[32];
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(text, sizeof text, "%s%.5g", i > 0 ? "," : "", static_cast<double>(numbers[i]));
    out += text;
  }
  return out + "]";
}
inline std::string columns_text(const nn::matrix<float>& m) {
  std::string out = "[";
  for (Eigen::Index i = 0; i < m.cols(); ++i)
    out += (i > 0 ? "," : "") + array_text(m.col(i).data(), static_cast<std::size_t>(m.rows()));
  return out + "]";
}

inline film_content content_of(const any_environment& e, const recorded_episode& r, const film_options& o) {
  return {.kind = picture_of(e),
          .title = o.title.empty() ? e.name() : o.title,
          .end = r.terminated ? "terminated" : "truncated",
          .rewards = array_text(r.rewards.data(), r.steps()),
          .actions = columns_text(r.actions),
          .states = columns_text(r.observations)};
}

}  // namespace detail

MANTA_DECL void film(const std::string& path, const any_environment& e, const trained_policy& p,
                     const film_options& o) {
  (void)detail::picture_of(e);
  detail::write_film(path,
                     detail::content_of(e, detail::one_recorded(e, p, {.seed = o.seed, .explore = o.explore}), o));
}
MANTA_DECL void film(const std::string& path, const any_environment& e, const own_player& p, const film_options& o) {
  (void)detail::picture_of(e);
  detail::write_film(path, detail::content_of(e, detail::one_recorded(e, p, {.seed = o.seed}), o));
}
MANTA_DECL void film(const std::string& path, const episodes& data, std::size_t number, const film_options& o) {
  detail::write_film(path, detail::content_of(data.environment(), data[number], o));
}

}  // namespace manta::rl
