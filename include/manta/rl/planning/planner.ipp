// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/planning/planner.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL void require_searchable(const std::string& who, const any_game& g) {
  const rl::seats& s = g.seats();
  const auto refuse = [&](const std::string& what) {
    throw error(base::text("manta: rl: {} cannot play {}: {}", who, g.name(), what));
  };
  if (s.size() != 2) refuse(base::text("it needs two seats, and there are {}", s.size()));
  if (!s.are_alike()) refuse("both seats have to have the same observations and actions");
  if (s[0].actions.as_discrete() == nullptr)
    refuse(base::text("it needs discrete actions, and they are {}", s[0].actions.text()));
  if (!live_game(g).can_be_copied())
    refuse("it copies the game, whose class has neither a copy constructor nor serialize");
}

inline void check_search(const search_options& o) {
  if (o.simulations < 1)
    throw error(base::text("manta: rl: .simulations is {}; a search needs at least one", o.simulations));
  require_sense("exploration", o.exploration);
  if (!(o.spread >= 0 && o.spread <= 1))
    throw error(base::text("manta: rl: .spread is {}; it has to be from 0 to 1", o.spread));
  if (!(o.noise >= 0 && o.noise <= 1))
    throw error(base::text("manta: rl: .noise is {}; it has to be from 0 to 1", o.noise));
  if (!(o.noise_alpha > 0))
    throw error(base::text("manta: rl: .noise_alpha is {}; it has to be positive", o.noise_alpha));
}

}  // namespace detail

MANTA_DECL planner::planner(const any_game& g, const search_options& o) : game_(g), options_(o) {
  detail::check_search(o);
  detail::require_searchable("a search", g);
}

MANTA_DECL planner::planner(const any_game& g, nn::network<float> net, const search_options& o) : planner(g, o) {
  net_ = std::move(net);
  has_network_ = true;
  if (o.rollouts)
    throw error("manta: rl: .rollouts asks for games by chance, and there is a network; leave out one of both");
}

MANTA_DECL std::vector<searched> planner::search(std::span<const live_game* const> positions,
                                                 std::span<const random> numbers) {
  const std::size_t count = positions.size();
  while (trees_.all.size() < count) trees_.all.emplace_back(game_, options_);
  std::vector<std::size_t> running(count), waiting;
  for (std::size_t i = 0; i < count; ++i) {
    trees_.all[i].begin(*positions[i], numbers[i]);
    running[i] = i;
  }
  while (!running.empty()) {
    waiting.clear();
    for (const std::size_t i : running) {
      if (trees_.all[i].advance()) waiting.push_back(i);
    }
    if (!waiting.empty()) ask_network(waiting);
    running.swap(waiting);
  }
  std::vector<searched> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(trees_.all[i].result());
  return found;
}

inline void planner::ask_network(std::span<const std::size_t> waiting) {
  const seat& s = game_.seats()[0];
  const auto columns = static_cast<Eigen::Index>(waiting.size());
  if (has_network_) {
    features_.resize(s.observations.features(), columns);
    for (Eigen::Index k = 0; k < columns; ++k)
      trees_.all[waiting[static_cast<std::size_t>(k)]].read_leaf(features_.col(k).data());
    outputs_ = forward_(net_, features_);
    if (!detail::all_finite({outputs_.data(), static_cast<std::size_t>(outputs_.size())}))
      detail::fail_diverged("the outputs of the network are");
  } else {
    outputs_.setZero(s.actions.as_discrete()->n + 1, columns);
  }
  for (Eigen::Index k = 0; k < columns; ++k)
    trees_.all[waiting[static_cast<std::size_t>(k)]].take(
        {outputs_.col(k).data(), static_cast<std::size_t>(outputs_.rows())});
}

MANTA_DECL std::vector<int> planner::answer(const std::vector<std::vector<int>>& moves) {
  std::vector<live_game> games;
  std::vector<const live_game*> open;
  for (const std::vector<int>& its : moves) {
    live_game& g = games.emplace_back(game_);
    g.begin(random(0), games.size() - 1);
    for (const int move : its) g.play(move);
  }
  for (const live_game& g : games) {
    if (!g.is_over()) open.push_back(&g);
  }
  const std::vector<searched> found = search(open, std::vector<random>(open.size()));
  std::vector<int> best;
  std::size_t next = 0;
  for (const live_game& g : games) best.push_back(g.is_over() ? -1 : first_action() + found[next++].best);
  return best;
}

}  // namespace manta::rl
