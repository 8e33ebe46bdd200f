// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What plays a seat of a game, as a value: chance, a policy that was trained, one that searches, or a class of the
// program's own.
#pragma once

#include <cereal/types/memory.hpp>
#include <memory>
#include <span>
#include <vector>

#include "manta/rl/planning/planner.hpp"
#include "manta/rl/policies/trained_policy.hpp"
#include "manta/rl/seats/seat_player.hpp"

namespace manta::rl {

class game_policy {
 public:
  /// Any action that is allowed, each as probable as the others.
  game_policy() = default;
  game_policy(trained_policy p, const act_options& how = {}) : trained_(std::move(p)), explores_(how.explore) {}
  game_policy(planner p) : planner_(std::move(p)) {}
  game_policy(own_seat_player p) : own_(std::move(p)) {}
  template <class C, class... Args>
  game_policy(const own_value<C, Args...>& p) : own_(p) {}

  /// Throws manta::error if it cannot play the game.
  MANTA_DECL void require(const any_game& g) const;
  [[nodiscard]] const trained_policy& trained() const { return trained_; }
  [[nodiscard]] const planner& search() const { return planner_; }
  [[nodiscard]] const own_seat_player& own() const { return own_; }
  [[nodiscard]] bool explores() const { return explores_; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(trained_, planner_, own_, explores_);
  }

 private:
  trained_policy trained_;  ///< one of these three is there at most
  planner planner_;
  own_seat_player own_;
  bool explores_ = false;
};

namespace detail {

/// A policy at work in several games, one seat in each.
class game_policy_at_work {
 public:
  explicit game_policy_at_work(const game_policy& p) : policy_(p), planner_(p.search()) {}

  /// Where somebody has to act.
  struct turn {
    live_game* game;
    int seat;
    random* numbers;
    std::size_t lane;  ///< the number of the game, of which a player of the program's own keeps what it wants
  };
  /// Chooses in all of them.
  MANTA_DECL void choose(std::span<const turn> turns);

 private:
  void choose_by_network(std::span<const turn> turns);
  void choose_by_search(std::span<const turn> turns);
  void choose_alone(const turn& t);

  game_policy policy_;
  planner planner_;
  std::vector<std::unique_ptr<seat_player>> players_;
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/planning/game_policy.ipp"
#endif
