// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A game as an environment of one seat that acts for all of them: for a team whose seats are told what to do by one
// policy, or by several whose values are learnt together (rl/qmix.hpp).
//
//   rl::ppo algorithm(rl::joint(rl::environment<pursuit>()), {.seed = 1});
//
// An observation has the features of what each seat has seen last, then a 1 for each seat that acts now and a 0
// for each that does not, then the state of the whole where the game tells it (table::state). An action is a
// choice for each seat, and a seat's last one is to wait, which those take that do not act. The reward is the
// mean of those of all seats.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/seats/live_game.hpp"

namespace manta::rl {

namespace detail {

/// Where the numbers of each seat stand in observations and in masks.
struct joint_layout {
  std::vector<int> features, choices;  ///< by seat; the last choice is to wait
  int whole = 0;                       ///< numbers of the state of the whole

  joint_layout() = default;
  MANTA_DECL joint_layout(const any_game& g, int whole);
  [[nodiscard]] int seats() const { return static_cast<int>(features.size()); }
  [[nodiscard]] MANTA_DECL int all_features() const;
  /// All numbers of an observation.
  [[nodiscard]] int size() const { return all_features() + seats() + whole; }
};

class all_seats {
 public:
  all_seats() = default;
  MANTA_DECL all_seats(any_game g, int whole);

  [[nodiscard]] MANTA_DECL box observation_space() const;
  [[nodiscard]] MANTA_DECL multi_discrete action_space() const;
  MANTA_DECL std::vector<float> reset(random& numbers);
  MANTA_DECL rl::step<std::vector<float>> step(std::span<const float> action);
  [[nodiscard]] MANTA_DECL std::vector<unsigned char> action_mask() const;
  [[nodiscard]] std::string text() const { return live_.text(); }
  [[nodiscard]] std::map<std::string, double> figures() const { return live_.figures(); }

  [[nodiscard]] bool can_be_saved() const { return live_.can_be_saved(); }
  template <class Archive>
  void save(Archive& archive) const {
    archive(live_.save(), seen_);
  }
  template <class Archive>
  void load(Archive& archive) {
    std::string live;
    archive(live, seen_);
    live_.load(live);
  }

 private:
  /// Keeps what the seats have been shown, and returns the observation.
  const std::vector<float>& look();
  /// Whether the seat has choices in the present state, or would have them if it were not cut off.
  [[nodiscard]] bool can_choose(int seat) const {
    return live_.acts(seat) || (live_.is_truncated() && live_.has_seen(seat));
  }

  any_game game_;
  joint_layout layout_;
  live_game live_;
  std::vector<float> seen_;  ///< the last observation
};

/// The game of an environment that joint() has made. Throws manta::error, which names the algorithm, for another one.
MANTA_DECL any_game game_of_joint(const any_environment& e, const std::string& algorithm);
/// How observations and masks of joint(g) are made up.
MANTA_DECL joint_layout layout_of_joint(const any_game& g);

}  // namespace detail

/// The actions of all seats have to be discrete; else throws manta::error.
MANTA_DECL any_environment joint(const any_game& g);

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/joint.ipp"
#endif
