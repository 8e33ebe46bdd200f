// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// AlphaZero (Silver et al., 2017): a search plays against itself by a network, and the network learns what the search
// found. For games of two seats that act in turn, whose results sum up to 0. Opt-in: include this header.
//
//   rl::alpha_zero a("Connect4", {.workers = 4, .seed = 1, .simulations = 50});
//   for (int i = 0; i < 100; ++i) std::cout << a.train() << '\n';
//   std::cout << rl::play("Connect4", a.trained(100), rl::game_policy(), 200) << '\n';     // against chance
//   a.save("checkpoint");
#pragma once

#include <memory>
#include <string>

#include "manta/rl/algorithms/named_algorithm.hpp"
#include "manta/rl/games.hpp"
#include "manta/rl/learning/algorithm.hpp"
#include "manta/rl/planning/position_learner.hpp"
#include "manta/rl/planning/self_play.hpp"

namespace manta::rl {

struct alpha_zero_options {
  int workers = 1;  ///< parts of self-play under way at a time, on any ranks; the result does not depend on it
  std::uint64_t seed = 0;
  int games = 128;          ///< games of an iteration; each 32 of them are a task
  int simulations = 25;     ///< simulations of the search of each move
  double exploration = 2;   ///< how much the prior counts in the search against the values found
  bool look_ahead = false;  ///< whether, in self-play, a choice at a new leaf that ends the game is known at once
  double spread = 0.25;  ///< spread of trained(simulations): the part of equal shares in the prior of the first choices
  double noise = 0.25;   ///< the part of random numbers in the prior of a search's first choices
  double noise_alpha = 1;  ///< parameter of their Dirichlet distribution; smaller for games of many choices
  double temperature = 1;  ///< temperature of the first moves, which are drawn; later ones are the best
  int drawn_moves = 10;
  int replay_size = 30'000;  ///< number of positions that the learner remembers
  int batch = 128;           ///< positions of a step of the learner
  double reuse = 4;          ///< how often the learner sees a position, in the mean
  double rate = 1e-3;        ///< learning rate of Adam
  double weight_decay = 1e-4;
  double clip_norm = 10;
  model_options model = {.hidden = {64, 64}};
  trained_policy begin_with = {};  ///< the policy of an alpha_zero to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(games), CEREAL_NVP(simulations), CEREAL_NVP(exploration),
            CEREAL_NVP(look_ahead), CEREAL_NVP(spread), CEREAL_NVP(noise), CEREAL_NVP(noise_alpha),
            CEREAL_NVP(temperature), CEREAL_NVP(drawn_moves), CEREAL_NVP(replay_size), CEREAL_NVP(batch),
            CEREAL_NVP(reuse), CEREAL_NVP(rate), CEREAL_NVP(weight_decay), CEREAL_NVP(clip_norm), CEREAL_NVP(model));
  }
};

/// A report counts positions as steps and games as episodes; returns are those of seat 0. evaluate(), act() and
/// frames() use the network without a search, against chance; rl::play() has matches.
class alpha_zero final : public algorithm {
 public:
  using options = alpha_zero_options;

  /// Throws manta::error if a search cannot play the game, or if the options make no sense.
  MANTA_DECL explicit alpha_zero(const any_game& g, const alpha_zero_options& o = {});

  using algorithm::trained;
  /// The policy of this moment that searches, as a value.
  [[nodiscard]] planner trained(int simulations) const {
    return {game_,
            learner_.network(),
            {.simulations = simulations, .exploration = told_.exploration, .spread = told_.spread}};
  }
  [[nodiscard]] const any_game& game() const { return game_; }

 protected:
  MANTA_DECL void iterate(report& r) override;
  [[nodiscard]] const learner& learned() const override { return learner_; }
  [[nodiscard]] MANTA_DECL std::string state() override;
  MANTA_DECL void restore(const std::string& bytes, start_of_episodes episodes) override;

 private:
  /// The games of this iteration.
  [[nodiscard]] std::vector<detail::games_played> play_games();
  void learn(std::size_t positions, report& r);

  any_game game_;
  alpha_zero_options told_;
  position_learner learner_;
  position_memory memory_;
  std::uint64_t updates_ = 0;
};

namespace detail {

/// By name it learns in the game of an environment that rl::against(game) has made.
template <>
struct named_algorithm<alpha_zero> {
  static std::unique_ptr<algorithm> make(const any_environment& e, const named_options& values) {
    return std::make_unique<alpha_zero>(game_of_against(e, "alpha_zero"), options_from<alpha_zero_options>(values));
  }
  static named_options options() { return defaults_of<alpha_zero_options>(); }
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/alpha_zero.ipp"
#endif
