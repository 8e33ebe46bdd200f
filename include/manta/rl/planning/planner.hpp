// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What acts in a game by a search: with the network of an algorithm, or without one.
//
//   rl::planner p = algorithm.trained(200);                                  // of rl::alpha_zero
//   rl::planner q("Connect4", {.simulations = 1000, .rollouts = true});      // games by chance instead of a network
//   g.play(p.act(g));                                                        // g: an rl::live_game
//   std::vector<int> best = p.answer({{3, 3, 4}});                           // after these moves; for serve::deploy
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/rl/planning/search_tree.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl {

/// A value that can be copied, sent and saved.
class planner {
 public:
  planner() = default;
  /// Without a network all choices are alike beforehand. Throws manta::error unless the game has two seats with the
  /// same spaces and discrete actions, and can be copied.
  MANTA_DECL explicit planner(const any_game& g, const search_options& o = {});
  /// net: reads a seat's observation, and has an output for each action and one whose tanh is the value.
  MANTA_DECL planner(const any_game& g, nn::network<float> net, const search_options& o = {});

  /// What the search finds in each position, in which leaves of all positions meet the network at once. Only noise and
  /// rollouts draw numbers, those of each position. Throws manta::error if a position has ended.
  MANTA_DECL std::vector<searched> search(std::span<const live_game* const> positions, std::span<const random> numbers);
  searched search(const live_game& position, const random& numbers = random()) {
    const live_game* const one = &position;
    return std::move(search({&one, 1}, {&numbers, 1}).front());
  }
  /// The best action.
  int act(const live_game& position, const random& numbers = random()) {
    return first_action() + search(position, numbers).best;
  }
  /// The best action after each of these sequences of moves from the beginning; -1 where they have ended the game.
  /// Throws manta::error if a move is not allowed. For games that begin alike each time.
  MANTA_DECL std::vector<int> answer(const std::vector<std::vector<int>>& moves);

  [[nodiscard]] const any_game& game() const { return game_; }
  [[nodiscard]] const search_options& options() const { return options_; }
  [[nodiscard]] const nn::network<float>& network() const { return net_; }
  /// The number of the first action of the space.
  [[nodiscard]] int first_action() const { return game_.seats()[0].actions.as_discrete()->start; }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(game_, net_, has_network_, options_);
  }

 private:
  /// The memory of searches, which a copy makes anew.
  struct kept_trees {
    std::vector<detail::search_tree> all;
    kept_trees() = default;
    kept_trees(const kept_trees&) {}
    kept_trees& operator=(const kept_trees&) {
      all.clear();
      return *this;
    }
    kept_trees(kept_trees&&) = default;
    kept_trees& operator=(kept_trees&&) = default;
    ~kept_trees() = default;
  };
  /// Trees that wait for the network; it answers them.
  void ask_network(std::span<const std::size_t> waiting);

  any_game game_;
  nn::network<float> net_;
  bool has_network_ = false;
  search_options options_;
  detail::even_forward forward_;
  kept_trees trees_;
  nn::matrix<float> features_, outputs_;
};

namespace detail {
/// Throws manta::error, which begins with the caller's name, unless a search can play the game.
MANTA_DECL void require_searchable(const std::string& who, const any_game& g);
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/planning/planner.ipp"
#endif
