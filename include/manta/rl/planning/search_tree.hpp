// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A search in one position of a game of two seats that act in turn and whose rewards sum up to 0: the most promising
// leaf is looked at next (PUCT; Silver et al., 2017, as AlphaZero does it), and positions whose result is known, with
// all that follows from them, are looked at no more (MCTS-Solver; Winands et al., 2008).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "manta/rl/seats/live_game.hpp"

namespace manta::rl {

/// How a search goes.
struct search_options {
  int simulations = 25;    ///< leaves that are looked at
  double exploration = 2;  ///< how much the prior counts against the values found
  double spread = 0;       ///< the part of equal shares in the prior of the first choices, so that all are tried
  bool look_ahead = true;  ///< whether, at a new leaf, each choice that ends the game is known at once
  double noise = 0;        ///< the part of random numbers in the prior of the first choices
  double noise_alpha = 1;  ///< parameter of their Dirichlet distribution: the smaller, the more they differ
  bool rollouts = false;   ///< without a network: a leaf's value is how one game by chance ends; else 0

  template <class Archive>
  void serialize(Archive& archive) {
    archive(simulations, exploration, spread, look_ahead, noise, noise_alpha, rollouts);
  }
};

/// What a search has found for the seat that acts. All vectors have a number for each action of its space.
struct searched {
  std::vector<int> visits;    ///< simulations that began with this action
  std::vector<float> policy;  ///< how good the actions are as shares, which sum up to 1; 0 for what is not allowed
  std::vector<float> values;  ///< the result to be expected, from -1 to 1; 0 for what was not looked at
  float value = 0;            ///< value of the position
  bool is_proven = false;     ///< the value is the result, if both seats play on without mistakes
  int best = 0;               ///< the best action's number, from 0
};

namespace detail {

class search_tree {
 public:
  MANTA_DECL search_tree(const any_game& g, const search_options& o);

  /// A new search. Throws manta::error where the position has ended.
  MANTA_DECL void begin(const live_game& position, random numbers);
  /// Makes simulations until a leaf needs the network: true. False at the end of the search.
  MANTA_DECL bool advance();
  /// Writes the features of the leaf.
  MANTA_DECL void read_leaf(float* features) const;
  /// The network's outputs for the leaf: the logarithm of a weight for each action, and a number whose tanh is the
  /// value for the seat that acts.
  MANTA_DECL void take(std::span<const float> outputs);
  [[nodiscard]] MANTA_DECL searched result() const;

 private:
  /// Values are those of seat 0.
  struct node {
    int parent = -1, action = 0;
    int first_child = -1, children = 0;
    int kept = -1;   ///< the number of its state; of one that was expanded
    int mover = -1;  ///< likewise
    int visits = 0;
    float prior = 1, proven = 0;
    bool is_proven = false;
    double sum = 0;
  };

  /// The value of a node for a seat. `otherwise`: of one that was not looked at.
  [[nodiscard]] static double value_for(const node& n, int seat, double otherwise);
  [[nodiscard]] int most_promising(const node& n) const;
  /// Plays to a new leaf. False if the episode ends there, which gives its value.
  bool enter(int leaf);
  void expand(std::span<const float> outputs);
  void mix_noise(node& root);
  void look_at_ends(node& n);
  void back_up(int from, double value);
  /// Whether the result of a node follows from those of its children, which it then has.
  bool prove(node& n) const;
  [[nodiscard]] double result_by_chance();
  [[nodiscard]] static double outcome(const live_game& g);
  void fill_policy(searched& s) const;
  [[nodiscard]] bool is_out_of_question(const node& child) const;
  [[nodiscard]] int best_child() const;

  any_game kind_;
  search_options options_;
  int actions_, first_action_;
  live_game live_;   ///< the game at the leaf
  live_game ahead_;  ///< beyond it
  random numbers_;
  std::vector<node> nodes_;
  std::vector<live_game::kept_state> states_;  ///< states of nodes that were expanded; their memory is used again
  int kept_ = 0, leaf_ = 0, simulations_ = 0;
  std::vector<float> weights_;
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/planning/search_tree.ipp"
#endif
