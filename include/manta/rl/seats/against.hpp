// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A game as an environment of one seat: the others are played by somebody who learns nothing. So any algorithm learns
// to play against a player of the program's own.
//
//   rl::ppo algorithm(rl::against("Connect4", rl::own<left_most>()), {.seed = 1});
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/seats/seat_player.hpp"

namespace manta::rl {

namespace detail {

/// Each episode is one from a seat that is drawn.
class one_seat {
 public:
  one_seat() = default;
  MANTA_DECL one_seat(any_game g, own_seat_player rivals);

  [[nodiscard]] const space& observation_space() const { return game_.seats()[0].observations; }
  [[nodiscard]] const space& action_space() const { return game_.seats()[0].actions; }
  MANTA_DECL std::vector<float> reset(random& numbers);
  MANTA_DECL rl::step<std::vector<float>> step(std::span<const float> action);
  [[nodiscard]] mask_view action_mask() const { return live_.mask(seat_); }
  [[nodiscard]] bool has_action_mask() const { return !choices_of(action_space()).empty(); }
  [[nodiscard]] std::string text() const { return live_.text(); }

  [[nodiscard]] bool can_be_saved() const { return live_.can_be_saved(); }
  [[nodiscard]] MANTA_DECL std::string state() const;
  MANTA_DECL void set_state(const std::string& bytes);
  template <class Archive>
  void save(Archive& archive) const {
    archive(state());
  }
  template <class Archive>
  void load(Archive& archive) {
    std::string bytes;
    archive(bytes);
    set_state(bytes);
  }

 private:
  void begin_players();
  /// The actions of the others who act now.
  void choose_for_rivals();
  /// Steps of the others until the seat acts, or the end; its rewards.
  double let_rivals_play();
  [[nodiscard]] std::vector<float> seen() const;

  any_game game_;
  own_seat_player rivals_;
  live_game live_;
  std::vector<std::unique_ptr<seat_player>> players_;  ///< one for each seat, where there is a class
  int seat_ = 0;
  random numbers_;
};

/// The game of an environment that against() has made with rivals by chance. Throws manta::error, which names the
/// algorithm, for another one.
MANTA_DECL any_game game_of_against(const any_environment& e, const std::string& algorithm);

}  // namespace detail

/// The others take any allowed action by chance where there is no class. All seats need the same spaces; else throws
/// manta::error.
MANTA_DECL any_environment against(const any_game& g, const own_seat_player& rivals = {});

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/against.ipp"
#endif
