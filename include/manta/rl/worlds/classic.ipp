// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of classic.hpp. Constants and order of operations are those of Gymnasium, so that trajectories agree.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "manta/rl/worlds/breakout.hpp"
#include "manta/rl/worlds/classic.hpp"
#include "manta/rl/worlds/taxi.hpp"

namespace manta::rl {

namespace detail {
inline float narrow(double x) { return static_cast<float>(x); }
/// A box with bounds of equal size on both sides.
template <std::size_t N>
box symmetric(const std::array<double, N>& bounds) {
  box b;
  for (double x : bounds) {
    b.low.push_back(narrow(-x));
    b.high.push_back(narrow(x));
  }
  return b;
}
inline constexpr double unbounded = std::numeric_limits<float>::max();
}  // namespace detail

MANTA_DECL box cart_pole::observation_space() {
  return detail::symmetric(std::array{4.8, detail::unbounded, 24 * std::numbers::pi / 180, detail::unbounded});
}
MANTA_DECL std::array<float, 4> cart_pole::reset(random& random) {
  for (double* s : {&x, &v, &angle, &spin}) *s = random.uniform(-0.05, 0.05);
  return {detail::narrow(x), detail::narrow(v), detail::narrow(angle), detail::narrow(spin)};
}
MANTA_DECL rl::step<std::array<float, 4>> cart_pole::step(int action) {
  const double push = action == 1 ? force : -force, mass = cart_mass + pole_mass, moment = pole_mass * half_length;
  const double cosine = std::cos(angle), sine = std::sin(angle);
  const double temporary = (push + moment * spin * spin * sine) / mass;
  const double turn =
      (gravity * sine - cosine * temporary) / (half_length * (4.0 / 3.0 - pole_mass * cosine * cosine / mass));
  const double acceleration = temporary - moment * turn * cosine / mass;
  x += interval * v;
  v += interval * acceleration;
  angle += interval * spin;
  spin += interval * turn;
  const bool fell = std::abs(x) > 2.4 || std::abs(angle) > 12 * 2 * std::numbers::pi / 360;
  return {{detail::narrow(x), detail::narrow(v), detail::narrow(angle), detail::narrow(spin)}, 1, fell, false};
}
MANTA_DECL std::string cart_pole::text() const {
  // 41 columns stand for the track from -2.4 to 2.4; the pole's top leans by its angle.
  const auto column = [](double at) { return std::clamp(static_cast<int>(std::lround((at + 2.4) / 4.8 * 40)), 0, 40); };
  std::string top(41, ' '), middle(41, ' '), track(41, '-');
  const char pole = angle > 0.03 ? '/' : angle < -0.03 ? '\\' : '|';
  top[static_cast<std::size_t>(column(x + 0.4 * std::sin(angle) * 10 * half_length))] = 'o';
  middle[static_cast<std::size_t>(column(x + 0.2 * std::sin(angle) * 10 * half_length))] = pole;
  track[static_cast<std::size_t>(column(x))] = '#';
  return top + "\n" + middle + "\n" + track + "\n";
}

MANTA_DECL box acrobot::observation_space() {
  return detail::symmetric(std::array{1.0, 1.0, 1.0, 1.0, 4 * std::numbers::pi, 9 * std::numbers::pi});
}
MANTA_DECL std::array<float, 6> acrobot::reset(random& random) {
  for (double& s : state) s = random.uniform(-0.1, 0.1);
  return observation();
}
MANTA_DECL std::array<float, 6> acrobot::observation() const {
  return {detail::narrow(std::cos(state[0])), detail::narrow(std::sin(state[0])), detail::narrow(std::cos(state[1])),
          detail::narrow(std::sin(state[1])), detail::narrow(state[2]),           detail::narrow(state[3])};
}
MANTA_DECL rl::step<std::array<float, 6>> acrobot::step(int action) {
  constexpr double pi = std::numbers::pi, g = 9.8, centre = 0.5;  // links of length, mass and moment 1
  const double torque = action - 1;
  using vector = std::array<double, 4>;
  const auto slope = [&](const vector& s) -> vector {
    const double cosine = std::cos(s[1]), sine = std::sin(s[1]);
    const double d1 = centre * centre + (1 + centre * centre + 2 * centre * cosine) + 2;
    const double d2 = centre * centre + centre * cosine + 1;
    const double phi2 = centre * g * std::cos(s[0] + s[1] - pi / 2);
    const double phi1 = -centre * s[3] * s[3] * sine - 2 * centre * s[3] * s[2] * sine +
                        (centre + 1) * g * std::cos(s[0] - pi / 2) + phi2;
    const double second =
        (torque + d2 / d1 * phi1 - centre * s[2] * s[2] * sine - phi2) / (centre * centre + 1 - d2 * d2 / d1);
    return {s[2], s[3], -(d2 * second + phi1) / d1, second};
  };
  const auto moved = [](const vector& s, double h, const vector& k) {
    return vector{s[0] + h * k[0], s[1] + h * k[1], s[2] + h * k[2], s[3] + h * k[3]};
  };
  constexpr double h = 0.2;  // one step of Runge and Kutta's fourth order
  const vector k1 = slope(state), k2 = slope(moved(state, h / 2, k1)), k3 = slope(moved(state, h / 2, k2)),
               k4 = slope(moved(state, h, k3));
  for (std::size_t i = 0; i < 4; ++i) state[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  for (std::size_t i = 0; i < 2; ++i) {
    while (state[i] > pi) state[i] -= 2 * pi;
    while (state[i] < -pi) state[i] += 2 * pi;
  }
  state[2] = std::clamp(state[2], -4 * pi, 4 * pi);
  state[3] = std::clamp(state[3], -9 * pi, 9 * pi);
  const bool is_up = -std::cos(state[0]) - std::cos(state[1] + state[0]) > 1;
  return {observation(), is_up ? 0. : -1., is_up, false};
}

MANTA_DECL std::string acrobot::text() const {
  // The bar +, the joint o and the tip x, seen from the side, with the line that the tip has to pass.
  std::array<std::string, 9> rows;
  rows.fill(std::string(17, ' '));
  rows[2].assign(17, '-');
  const auto put = [&](double x, double y, char c) {
    rows[static_cast<std::size_t>(std::lround(4 - 2 * y))][static_cast<std::size_t>(std::lround(8 + 4 * x))] = c;
  };
  const double x = std::sin(state[0]), y = -std::cos(state[0]), both = state[0] + state[1];
  put(0, 0, '+');
  put(x, y, 'o');
  put(x + std::sin(both), y - std::cos(both), 'x');
  std::string all;
  for (const std::string& r : rows) all += r + '\n';
  return all;
}

namespace detail {
/// The valley as a line from -1.2 to 0.6, with the car C and the goal F.
inline std::string valley(double car, double goal) {
  std::string line(37, '_');
  const auto column = [](double x) { return static_cast<std::size_t>(std::lround((x + 1.2) * 20)); };
  line[column(goal)] = 'F';
  line[column(car)] = 'C';
  return line + '\n';
}
}  // namespace detail
MANTA_DECL std::string mountain_car::text() const { return detail::valley(x, 0.5); }
MANTA_DECL std::string mountain_car_continuous::text() const { return detail::valley(x, 0.45); }

MANTA_DECL box mountain_car::observation_space() { return {{-1.2f, -0.07f}, {0.6f, 0.07f}}; }
MANTA_DECL std::array<float, 2> mountain_car::reset(random& random) {
  x = random.uniform(-0.6, -0.4);
  v = 0;
  return {detail::narrow(x), 0.f};
}
MANTA_DECL rl::step<std::array<float, 2>> mountain_car::step(int action) {
  v = std::clamp(v + (action - 1) * 0.001 + std::cos(3 * x) * -0.0025, -0.07, 0.07);
  x = std::clamp(x + v, -1.2, 0.6);
  if (x == -1.2 && v < 0) v = 0;
  return {{detail::narrow(x), detail::narrow(v)}, -1, x >= 0.5 && v >= 0, false};
}

MANTA_DECL box mountain_car_continuous::observation_space() { return {{-1.2f, -0.07f}, {0.6f, 0.07f}}; }
MANTA_DECL std::array<float, 2> mountain_car_continuous::reset(random& random) {
  x = random.uniform(-0.6, -0.4);
  v = 0;
  return {detail::narrow(x), 0.f};
}
MANTA_DECL rl::step<std::array<float, 2>> mountain_car_continuous::step(float action) {
  const double push = static_cast<double>(action), force = std::clamp(push, -1.0, 1.0);
  v = std::clamp(v + force * 0.0015 - 0.0025 * std::cos(3 * x), -0.07, 0.07);
  x = std::clamp(x + v, -1.2, 0.6);
  if (x == -1.2 && v < 0) v = 0;
  const bool is_there = x >= 0.45 && v >= 0;
  return {{detail::narrow(x), detail::narrow(v)}, (is_there ? 100 : 0) - push * push * 0.1, is_there, false};
}

MANTA_DECL box pendulum::observation_space() { return detail::symmetric(std::array{1.0, 1.0, 8.0}); }
MANTA_DECL std::array<float, 3> pendulum::reset(random& random) {
  angle = random.uniform(-std::numbers::pi, std::numbers::pi);
  spin = random.uniform(-1, 1);
  return observation();
}
MANTA_DECL std::array<float, 3> pendulum::observation() const {
  return {detail::narrow(std::cos(angle)), detail::narrow(std::sin(angle)), detail::narrow(spin)};
}
MANTA_DECL rl::step<std::array<float, 3>> pendulum::step(float action) {
  constexpr double pi = std::numbers::pi;
  const double torque = std::clamp(static_cast<double>(action), -2.0, 2.0);
  const double shifted = std::fmod(angle + pi, 2 * pi), normal = (shifted < 0 ? shifted + 2 * pi : shifted) - pi;
  const double cost = normal * normal + 0.1 * spin * spin + 0.001 * torque * torque;
  spin = std::clamp(spin + (15 * std::sin(angle) + 3 * torque) * 0.05, -8.0, 8.0);
  angle += spin * 0.05;
  return {observation(), -cost, false, false};
}

MANTA_DECL std::string pendulum::text() const {
  // Where the tip is on a line below the axis: o above it, u below.
  std::string line(41, ' ');
  line[20] = '|';
  line[static_cast<std::size_t>(std::lround(20 - 20 * std::sin(angle)))] = std::cos(angle) > 0 ? 'o' : 'u';
  return line + '\n';
}

MANTA_DECL box catch_ball::observation_space() {
  return {std::vector<float>(50, 0.f), std::vector<float>(50, 1.f), {1, rows, columns}};
}
MANTA_DECL std::array<float, 50> catch_ball::reset(random& random) {
  ball_row = 0;
  ball_column = random.index(columns);
  paddle = columns / 2;
  return board();
}
MANTA_DECL std::array<float, 50> catch_ball::board() const {
  std::array<float, 50> b{};
  b[static_cast<std::size_t>(ball_row * columns + ball_column)] = 1;
  b[static_cast<std::size_t>((rows - 1) * columns + paddle)] = 1;
  return b;
}
MANTA_DECL rl::step<std::array<float, 50>> catch_ball::step(int action) {
  paddle = std::clamp(paddle + action - 1, 0, columns - 1);
  ++ball_row;
  const bool is_down = ball_row == rows - 1;
  return {board(), !is_down ? 0. : paddle == ball_column ? 1. : -1., is_down, false};
}

MANTA_DECL std::string catch_ball::text() const {
  std::string all;
  for (int row = 0; row < rows; ++row) {
    std::string line(columns, '.');
    if (row == rows - 1) line[static_cast<std::size_t>(paddle)] = '=';
    if (row == ball_row) line[static_cast<std::size_t>(ball_column)] = 'o';
    all += line + '\n';
  }
  return all;
}

MANTA_DECL std::string frozen_lake::text() const {
  std::string map = "SFFF\nFHFH\nFFFH\nHFFG\n";
  map[static_cast<std::size_t>(at / 4 * 5 + at % 4)] = '*';
  return map;
}
MANTA_DECL int frozen_lake::reset(random& random) {
  numbers = rl::random(random.bits());
  return at = 0;
}
MANTA_DECL rl::step<int> frozen_lake::step(int action) {
  // It slips to either side as often as it goes where it was told: left, down, right, up.
  const int direction = (action + numbers.index(3) + 3) % 4;
  int row = at / 4, column = at % 4;
  if (direction == 0) column = std::max(0, column - 1);
  if (direction == 1) row = std::min(3, row + 1);
  if (direction == 2) column = std::min(3, column + 1);
  if (direction == 3) row = std::max(0, row - 1);
  at = 4 * row + column;
  const char field = "SFFFFHFHFFFHHFFG"[at];
  return {at, field == 'G' ? 1. : 0., field == 'G' || field == 'H', false};
}

MANTA_DECL std::map<std::string, any_environment> detail::classic_environments() {
  return {{"CartPole-v1", environment<cart_pole>().with_time_limit(500)},
          {"Acrobot-v1", environment<acrobot>().with_time_limit(500)},
          {"MountainCar-v0", environment<mountain_car>().with_time_limit(200)},
          {"MountainCarContinuous-v0", environment<mountain_car_continuous>().with_time_limit(999)},
          {"Pendulum-v1", environment<pendulum>().with_time_limit(200)},
          {"Catch-v0", environment<catch_ball>()},
          {"FrozenLake-v1", environment<frozen_lake>().with_time_limit(100)},
          {"Taxi-v3", environment<taxi>().with_time_limit(200)},
          {"MinAtar/Breakout-v0", environment<breakout>(true)},
          {"MinAtar/Breakout-v1", environment<breakout>(false)}};
}

}  // namespace manta::rl
