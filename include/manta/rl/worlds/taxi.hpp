// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Taxi (Dietterich, 2000), as Gymnasium's Taxi-v3: fetch a passenger at one of four places and bring him to another.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "manta/rl/base/random.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/environments/space.hpp"

namespace manta::rl {

/// Observation: ((row * 5 + column) * 5 + passenger) * 4 + destination; the places are R, G, Y, B, and 4 for a
/// passenger in the taxi. Actions: south, north, east, west, pick up, drop off. -1 for each step, -10 for a pick up or
/// drop off that is not possible, 20 for the passenger brought to his destination.
class taxi {
 public:
  static discrete observation_space() { return {500}; }
  static discrete action_space() { return {6}; }

  taxi() = default;
  /// Begins at this state.
  explicit taxi(int state)
      : row_(state / 100), column_(state / 20 % 5), passenger_(state / 4 % 5), destination_(state % 4) {}

  int reset(random& numbers) {
    row_ = numbers.index(5);
    column_ = numbers.index(5);
    passenger_ = numbers.index(4);
    destination_ = (passenger_ + 1 + numbers.index(3)) % 4;
    return state();
  }
  rl::step<int> step(int action) {
    double reward = -1;
    bool done = false;
    if (action == 0) row_ = std::min(row_ + 1, 4);
    if (action == 1) row_ = std::max(row_ - 1, 0);
    if (action == 2 && open(column_)) ++column_;
    if (action == 3 && open(column_ - 1)) --column_;
    if (action == 4) reward = pick_up();
    if (action == 5) {
      reward = drop_off();
      done = reward == 20;
    }
    return {state(), reward, done};
  }
  /// Which actions change something.
  [[nodiscard]] std::array<bool, 6> legal_actions() const {
    const int here = place();
    return {row_<4, row_> 0, open(column_), open(column_ - 1), passenger_ < 4 && here == passenger_,
            passenger_ == 4 && here >= 0};
  }
  /// The map, with the taxi as t, or T when the passenger is in it.
  [[nodiscard]] std::string text() const {
    std::string s = "+---------+\n|R: | : :G|\n| : | : : |\n| : : : : |\n| | : | : |\n|Y| : |B: |\n+---------+\n";
    s[static_cast<std::size_t>((row_ + 1) * 12 + 2 * column_ + 1)] = passenger_ == 4 ? 'T' : 't';
    const std::string names = "RGYB";
    s += passenger_ == 4 ? "passenger in the taxi"
                         : std::string("passenger at ") + names[static_cast<std::size_t>(passenger_)];
    return s + ", wants to " + names[static_cast<std::size_t>(destination_)] + '\n';
  }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(row_, column_, passenger_, destination_);
  }

 private:
  [[nodiscard]] int state() const { return ((row_ * 5 + column_) * 5 + passenger_) * 4 + destination_; }
  /// Is there no wall between this column and the next one, in the taxi's row?
  [[nodiscard]] bool open(int column) const {
    if (column < 0 || column > 3) return false;
    return row_ < 2 ? column != 1 : row_ == 2 || (column != 0 && column != 2);
  }
  /// R, G, Y or B, if the taxi is there; else -1.
  [[nodiscard]] int place() const {
    const std::array<int, 4> places = {0, 4, 20, 23};
    const auto found = std::find(places.begin(), places.end(), row_ * 5 + column_);
    return found == places.end() ? -1 : static_cast<int>(found - places.begin());
  }
  double pick_up() {
    if (passenger_ == 4 || place() != passenger_) return -10;
    passenger_ = 4;
    return -1;
  }
  double drop_off() {
    const int here = place();
    if (passenger_ != 4 || here < 0) return -10;
    passenger_ = here;
    return here == destination_ ? 20 : -1;
  }

  int row_ = 0, column_ = 0, passenger_ = 0, destination_ = 1;
};

}  // namespace manta::rl
