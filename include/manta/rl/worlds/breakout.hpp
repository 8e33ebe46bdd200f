// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Breakout of MinAtar (Young, Tian, 2019): ten by ten cells, a ball, a paddle, three rows of bricks.
#pragma once

#include <algorithm>
#include <array>
#include <cereal/types/array.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "manta/rl/base/random.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

/// Observation: an image of 10 x 10 with the channels paddle, ball, where the ball was, bricks. Actions: of MinAtar's
/// six (nothing, left, up, right, down, fire), of which only left and right do something; or nothing, left, right. 1
/// for each brick. With the probability `sticky` the former action is repeated, whatever the new one is.
class breakout {
 public:
  using image = std::array<float, 400>;
  static constexpr int size = 10;

  explicit breakout(bool six_actions = true, double sticky = 0.1) : six_actions_(six_actions), sticky_(sticky) {}

  static box observation_space() {
    return {std::vector<float>(400, 0.f), std::vector<float>(400, 1.f), {4, size, size}};
  }
  [[nodiscard]] discrete action_space() const { return {six_actions_ ? 6 : 3}; }

  image reset(random& numbers) {
    numbers_ = random(numbers.bits());
    const bool right = numbers_.index(2) == 1;
    x_ = last_x_ = right ? 9 : 0;
    y_ = last_y_ = 3;
    direction_ = right ? 3 : 2;
    paddle_ = 4;
    last_action_ = 0;
    struck_ = false;
    lay_bricks();
    return observation();
  }

  rl::step<image> step(int action) {
    if (y_ == 9) return {observation(), 0, true};
    if (sticky_ > 0 && numbers_.uniform() < sticky_) action = last_action_;
    last_action_ = action;
    const int right = six_actions_ ? 3 : 2;
    if (action == 1) paddle_ = std::max(0, paddle_ - 1);
    if (action == right) paddle_ = std::min(9, paddle_ + 1);
    bool lost = false;
    const double reward = move_ball(lost);
    return {observation(), reward, lost};
  }

  [[nodiscard]] std::string text() const {
    std::string s;
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        s += x == x_ && y == y_ ? 'o' : y == 9 && x == paddle_ ? '=' : bricks_[cell(x, y)] != 0 ? '#' : '.';
      }
      s += '\n';
    }
    return s;
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(x_, y_, last_x_, last_y_, direction_, paddle_, last_action_, struck_, bricks_, numbers_);
  }

 private:
  static std::size_t cell(int x, int y) { return static_cast<std::size_t>(y * size + x); }
  void lay_bricks() {
    bricks_.fill(0);
    std::fill_n(bricks_.begin() + size, 3 * size, std::uint8_t{1});
  }
  /// Directions: 0 up left, 1 up right, 2 down right, 3 down left.
  void turn_at_side() { direction_ ^= 1; }
  void turn_up_or_down() { direction_ = 3 - direction_; }
  void turn_back() { direction_ ^= 2; }

  /// The order of the cases is MinAtar's.
  double move_ball(bool& lost) {
    last_x_ = x_;
    last_y_ = y_;
    int x = x_ + (direction_ == 1 || direction_ == 2 ? 1 : -1), y = y_ + (direction_ >= 2 ? 1 : -1);
    double reward = 0;
    bool strikes = false;
    if (x < 0 || x > 9) {
      x = std::clamp(x, 0, 9);
      turn_at_side();
    }
    if (y < 0) {
      y = 0;
      turn_up_or_down();
    } else if (bricks_[cell(x, y)] != 0) {
      strikes = true;
      if (!struck_) {  // a ball that comes out of a brick passes the next one
        reward = 1;
        struck_ = true;
        bricks_[cell(x, y)] = 0;
        y = last_y_;
        turn_up_or_down();
      }
    } else if (y == 9) {
      if (std::count(bricks_.begin(), bricks_.end(), std::uint8_t{0}) == size * size) lay_bricks();
      if (x_ == paddle_) {
        turn_up_or_down();
        y = last_y_;
      } else if (x == paddle_) {
        turn_back();
        y = last_y_;
      } else {
        lost = true;
      }
    }
    if (!strikes) struck_ = false;
    x_ = x;
    y_ = y;
    return reward;
  }

  [[nodiscard]] image observation() const {
    image o{};
    o[cell(paddle_, 9)] = 1;
    o[100 + cell(x_, y_)] = 1;
    o[200 + cell(last_x_, last_y_)] = 1;
    std::copy(bricks_.begin(), bricks_.end(), o.begin() + 300);
    return o;
  }

  bool six_actions_;
  double sticky_;
  int x_ = 0, y_ = 3, last_x_ = 0, last_y_ = 3, direction_ = 2, paddle_ = 4, last_action_ = 0;
  bool struck_ = false;
  std::array<std::uint8_t, 100> bricks_{};
  random numbers_;
};

}  // namespace manta::rl
