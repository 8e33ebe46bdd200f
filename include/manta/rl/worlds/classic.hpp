// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The classic control problems, exact to the equations of Gymnasium's (each names its paper), and small grid worlds.
#pragma once

#include <array>
#include <map>
#include <string>

#include "manta/rl/environments/environment.hpp"

namespace manta::rl {

/// A pole on a cart, to be kept upright (Barto, Sutton, Anderson, 1983). The constants may be changed.
struct cart_pole {
  double gravity = 9.8, cart_mass = 1, pole_mass = 0.1, half_length = 0.5, force = 10, interval = 0.02;

  MANTA_DECL static box observation_space();
  static discrete action_space() { return {2}; }
  MANTA_DECL std::array<float, 4> reset(random& random);
  MANTA_DECL rl::step<std::array<float, 4>> step(int action);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(gravity, cart_mass, pole_mass, half_length, force, interval, x, v, angle, spin);
  }

  double x = 0, v = 0, angle = 0, spin = 0;
};

/// Two joints, of which the second has a motor; the tip is to swing above a line (Sutton, 1996).
struct acrobot {
  MANTA_DECL static box observation_space();
  static discrete action_space() { return {3}; }
  MANTA_DECL std::array<float, 6> reset(random& random);
  MANTA_DECL rl::step<std::array<float, 6>> step(int action);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(state);
  }

  std::array<double, 4> state{};

 private:
  [[nodiscard]] std::array<float, 6> observation() const;
};

/// A car too weak for the hill has to swing itself up (Moore, 1990).
struct mountain_car {
  MANTA_DECL static box observation_space();
  static discrete action_space() { return {3}; }
  MANTA_DECL std::array<float, 2> reset(random& random);
  MANTA_DECL rl::step<std::array<float, 2>> step(int action);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(x, v);
  }

  double x = 0, v = 0;
};

/// MountainCar with a force in [-1, 1], and a reward that costs force.
struct mountain_car_continuous {
  MANTA_DECL static box observation_space();
  static box action_space() { return {{-1.f}, {1.f}}; }
  MANTA_DECL std::array<float, 2> reset(random& random);
  MANTA_DECL rl::step<std::array<float, 2>> step(float action);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(x, v);
  }

  double x = 0, v = 0;
};

/// A pendulum to be swung up and held by a weak motor.
struct pendulum {
  MANTA_DECL static box observation_space();
  static box action_space() { return {{-2.f}, {2.f}}; }
  MANTA_DECL std::array<float, 3> reset(random& random);
  MANTA_DECL rl::step<std::array<float, 3>> step(float action);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(angle, spin);
  }

  double angle = 0, spin = 0;

 private:
  [[nodiscard]] std::array<float, 3> observation() const;
};

/// A ball falls through ten rows of five columns; a paddle at the bottom has to catch it (bsuite's Catch).
struct catch_ball {
  static constexpr int rows = 10, columns = 5;

  MANTA_DECL static box observation_space();
  static discrete action_space() { return {3}; }
  MANTA_DECL std::array<float, 50> reset(random& random);
  MANTA_DECL rl::step<std::array<float, 50>> step(int action);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(ball_row, ball_column, paddle);
  }

  int ball_row = 0, ball_column = 0, paddle = 0;

 private:
  [[nodiscard]] std::array<float, 50> board() const;
};

/// A walk over slippery ice from the start to the goal, without falling into a hole: the map of four by four.
struct frozen_lake {
  static discrete observation_space() { return {16}; }
  static discrete action_space() { return {4}; }
  MANTA_DECL int reset(random& random);
  MANTA_DECL rl::step<int> step(int action);
  [[nodiscard]] MANTA_DECL std::string text() const;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, numbers);
  }

  int at = 0;
  random numbers;
};

namespace detail {
/// By the names and with the time limits of Gymnasium.
MANTA_DECL std::map<std::string, any_environment> classic_environments();
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/worlds/classic.ipp"
#endif
