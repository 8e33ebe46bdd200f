// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// LunarLander, as Gymnasium's LunarLander-v3 without wind, on Box2D. Opt-in: include this header, link with -lbox2d
// (Debian: libbox2d-dev). It registers the names "LunarLander-v3" and "LunarLanderContinuous-v3".
//
// Gymnasium uses another version of Box2D, so that single trajectories differ, and their statistics do not.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <utility>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl {

MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_rl_src_box2d_hpp_and_to_find_Box2D);

namespace detail {

/// The lander above a piece of the moon, as a world of Box2D.
class moon {
 public:
  using observation = std::array<float, 8>;

  MANTA_DECL moon();
  MANTA_DECL moon(moon&&) noexcept;
  MANTA_DECL moon& operator=(moon&&) noexcept;
  MANTA_DECL ~moon();

  MANTA_DECL observation begin(random& numbers);
  /// One fiftieth of a second. `main`: the power of the engine below, 0 for off; `side`: that of the engines at the
  /// sides, negative for the left one.
  MANTA_DECL rl::step<observation> move(double main, double side);
  [[nodiscard]] MANTA_DECL std::string text() const;

  static box space() {
    constexpr float any = std::numeric_limits<float>::infinity();
    return {{-any, -any, -any, -any, -any, -any, 0, 0}, {any, any, any, any, any, any, 1, 1}};
  }

 private:
  struct world;
  std::unique_ptr<world> world_;
};

}  // namespace detail

/// Observation: the place and the velocity, each x and y, the angle and its velocity, whether the left and the
/// right leg touch the ground. Actions: nothing, fire the left engine, the main engine, the right engine. Its state
/// cannot be saved.
class lunar_lander {
 public:
  static box observation_space() { return detail::moon::space(); }
  static discrete action_space() { return {4}; }

  detail::moon::observation reset(random& numbers) { return moon_.begin(numbers); }
  rl::step<detail::moon::observation> step(int action) {
    return moon_.move(action == 2 ? 1 : 0, action == 1 ? -1 : action == 3 ? 1 : 0);
  }
  [[nodiscard]] std::string text() const { return moon_.text(); }

 private:
  detail::moon moon_;
};

/// As lunar_lander, with two numbers within [-1, 1] as the action. The first one drives the main engine, from half its
/// power at 0 to all of it at 1; below 0 it is off. The second one drives those at the sides where it is beyond 0.5.
class lunar_lander_continuous {
 public:
  static box observation_space() { return detail::moon::space(); }
  static box action_space() { return {{-1.f, -1.f}, {1.f, 1.f}}; }

  detail::moon::observation reset(random& numbers) { return moon_.begin(numbers); }
  rl::step<detail::moon::observation> step(const Eigen::VectorXf& action) {
    const double main = std::clamp(static_cast<double>(action[0]), -1.0, 1.0);
    const double side = std::clamp(static_cast<double>(action[1]), -1.0, 1.0);
    return moon_.move(main > 0 ? (main + 1) / 2 : 0, side > 0.5 || side < -0.5 ? side : 0);
  }
  [[nodiscard]] std::string text() const { return moon_.text(); }

 private:
  detail::moon moon_;
};

namespace detail {
inline const bool lunar_lander_is_registered = [] {
  register_environment("LunarLander-v3", environment<lunar_lander>().with_time_limit(1000));
  register_environment("LunarLanderContinuous-v3", environment<lunar_lander_continuous>().with_time_limit(1000));
  return true;
}();
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/lunar_lander.ipp"
#endif
