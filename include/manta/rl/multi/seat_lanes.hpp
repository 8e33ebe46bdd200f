// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Games beside each other, each with who acts from its seats in the present episode, and with what each seat has seen
// last as networks read it.
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manta/rl/environments/hang_watch.hpp"
#include "manta/rl/multi/multi_setting.hpp"
#include "manta/rl/seats/live_game.hpp"

namespace manta::rl {

/// An episode of a game that has ended.
struct multi_episode {
  struct seat_result {
    int policy = 0;    ///< the number of the policy, in the order in which they were given
    double total = 0;  ///< the sum of the seat's rewards
    std::uint64_t turns = 0;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(policy, total, turns);
    }
  };
  std::uint64_t length = 0;  ///< length in steps of the game
  std::uint64_t ended = 0;   ///< the step of the training, counted in its environment, at which it ended
  std::uint64_t environment = 0;
  std::vector<seat_result> seats;
  std::map<std::string, double> figures;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(length, ended, environment, seats, figures);
  }
};

namespace detail {

/// A seat of one of the games.
struct seat_place {
  int lane = 0, seat = 0;
};

class seat_lanes {
 public:
  seat_lanes() = default;
  /// Random numbers follow from the seed, a game's number (first, .., first + count - 1) and its episodes' numbers.
  MANTA_DECL seat_lanes(const any_game& g, std::uint64_t seed, int first, int count);
  /// From now on, for episodes that begin.
  MANTA_DECL void sit_by(const multi_setting& s);

  [[nodiscard]] int size() const { return static_cast<int>(lanes_.size()); }
  [[nodiscard]] int seats() const { return kind_.seats().size(); }
  [[nodiscard]] int first() const { return first_; }
  [[nodiscard]] const any_game& kind() const { return kind_; }
  [[nodiscard]] live_game& game(int lane) { return at(lane).game; }
  [[nodiscard]] const live_game& game(int lane) const { return at(lane).game; }
  [[nodiscard]] std::uint64_t number(int lane) const { return static_cast<std::uint64_t>(first_ + lane); }
  [[nodiscard]] int policy_of(seat_place p) const { return at(p.lane).seats[static_cast<std::size_t>(p.seat)].policy; }

  /// Begins the present episode in each, or in one.
  void begin() {
    for (int i = 0; i < size(); ++i) begin(i);
  }
  MANTA_DECL void begin(int lane);
  /// Begins the next episode.
  void go_on(int lane) {
    ++at(lane).episode;
    begin(lane);
  }
  /// A step, for which all that act have chosen.
  MANTA_DECL void step(int lane);
  /// What there is to say of an episode that has ended.
  [[nodiscard]] MANTA_DECL multi_episode result(int lane) const;
  /// Writes what the seat has seen last, and behind it `central` numbers of the state of the whole: as the game tells
  /// it, or what all seats have seen last.
  MANTA_DECL void write(seat_place p, int central, float* to) const;
  [[nodiscard]] int features(int seat) const { return kind_.seats()[seat].observations.features(); }

  [[nodiscard]] bool can_be_saved() const { return lanes_.front().game.can_be_saved(); }
  [[nodiscard]] MANTA_DECL std::string save(int lane) const;
  MANTA_DECL void load(int lane, const std::string& bytes);

 private:
  struct one_game {
    live_game game;
    std::uint64_t episode = 0, all_steps = 0;
    std::vector<multi_episode::seat_result> seats;
    std::vector<float> seen;   ///< features of all seats, one after the other
    std::vector<float> whole;  ///< as the game tells it; empty where it does not
  };
  [[nodiscard]] one_game& at(int i) { return lanes_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const one_game& at(int i) const { return lanes_[static_cast<std::size_t>(i)]; }
  /// Calls f, which calls the game, under the eye of the thread that looks for games that hang.
  template <class F>
  void watched(const one_game& l, const char* call, F&& f);
  /// Keeps what seats have been shown.
  void look(one_game& l);

  any_game kind_;
  std::uint64_t seed_ = 0;
  int first_ = 0, environments_ = 0;
  seat_order order_;
  std::vector<std::size_t> begin_of_;  ///< where the features of a seat begin
  std::vector<one_game> lanes_;
  std::unique_ptr<workplace> workplace_;
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/multi/seat_lanes.ipp"
#endif
