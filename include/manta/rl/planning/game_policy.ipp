// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/planning/game_policy.hpp"

namespace manta::rl {

MANTA_DECL void game_policy::require(const any_game& g) const {
  if (planner_.game() && !planner_.game().makes_as(g))
    throw error(base::text("manta: rl: a search of {} cannot play {}", planner_.game().call(), g.call()));
  if (!trained_) return;
  for (int i = 0; i < g.seats().size(); ++i) {
    const seat& s = g.seats()[i];
    if (trained_.observations().features() != s.observations.features() || !(trained_.actions() == s.actions))
      throw error(
          base::text("manta: rl: a policy that was trained in {} cannot play {}: it takes {} and acts in {}; seat {} "
                     "has {} and {}",
                     trained_.environment(), g.name(), trained_.observations().text(), trained_.actions().text(), i,
                     s.observations.text(), s.actions.text()));
  }
  if (trained_.remembers())
    throw error("manta: rl: a policy with a memory (.lstm, .attention) cannot play in games; train one without");
}

namespace detail {

MANTA_DECL void game_policy_at_work::choose(std::span<const turn> turns) {
  if (turns.empty()) return;
  if (policy_.trained()) return choose_by_network(turns);
  if (planner_.game()) return choose_by_search(turns);
  for (const turn& t : turns) choose_alone(t);
}

inline void game_policy_at_work::choose_by_network(std::span<const turn> turns) {
  acting_policy acting = policy_.trained().acting();
  nn::matrix<float> features(policy_.trained().observations().features(), std::ssize(turns));
  action_masks masks;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const turn& t = turns[i];
    const auto column = static_cast<Eigen::Index>(i);
    t.game->game().seats()[t.seat].observations.flatten(t.game->observation(t.seat), features.col(column).data());
    const mask_view its = t.game->mask(t.seat);
    if (masks.rows() == 0 && !its.empty()) masks.setOnes(std::ssize(its), features.cols());
    for (std::size_t a = 0; a < its.size(); ++a) masks(static_cast<Eigen::Index>(a), column) = its[a];
  }
  // Each column has numbers of its own, so each is drawn by itself.
  if (policy_.explores()) {
    for (Eigen::Index i = 0; i < features.cols(); ++i) {
      const turn& t = turns[static_cast<std::size_t>(i)];
      const acting_policy::draw numbers{t.numbers->bits(), 0, 0};
      const action_masks its = masks.rows() > 0 ? action_masks(masks.col(i)) : action_masks();
      const nn::matrix<float>& a = acting.actions(features.col(i), its, &numbers);
      t.game->choose(t.seat, {a.data(), static_cast<std::size_t>(a.rows())});
    }
    return;
  }
  const nn::matrix<float>& actions = acting.actions(features, masks);
  for (std::size_t i = 0; i < turns.size(); ++i)
    turns[i].game->choose(turns[i].seat,
                          {actions.col(static_cast<Eigen::Index>(i)).data(), static_cast<std::size_t>(actions.rows())});
}

inline void game_policy_at_work::choose_by_search(std::span<const turn> turns) {
  std::vector<const live_game*> positions;
  std::vector<random> numbers;
  for (const turn& t : turns) {
    positions.push_back(t.game);
    numbers.emplace_back(t.numbers->bits());
  }
  const std::vector<searched> found = planner_.search(positions, numbers);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const auto action = static_cast<float>(planner_.first_action() + found[i].best);
    turns[i].game->choose(turns[i].seat, {&action, 1});
  }
}

inline void game_policy_at_work::choose_alone(const turn& t) {
  if (policy_.own() && players_.size() <= t.lane) players_.resize(t.lane + 1);
  if (policy_.own() && !players_[t.lane]) players_[t.lane] = policy_.own().make();
  std::vector<float> action(static_cast<std::size_t>(t.game->game().seats()[t.seat].actions.size()));
  try {
    act_by(policy_.own() ? players_[t.lane].get() : nullptr, *t.game, t.seat, *t.numbers, action);
  } catch (const std::exception& e) {
    t.game->fail(base::text("{} throws: {}", policy_.own().name(), e.what()));
  }
  t.game->choose(t.seat, action);
}

}  // namespace detail

}  // namespace manta::rl
