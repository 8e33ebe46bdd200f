// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/planning/dirichlet.hpp"
#include "manta/rl/planning/search_tree.hpp"

namespace manta::rl::detail {

MANTA_DECL search_tree::search_tree(const any_game& g, const search_options& o)
    : kind_(g),
      options_(o),
      actions_(g.seats()[0].actions.as_discrete()->n),
      first_action_(g.seats()[0].actions.as_discrete()->start),
      live_(g),
      ahead_(g) {
  states_.resize(static_cast<std::size_t>(o.simulations) + 1);
}

MANTA_DECL void search_tree::begin(const live_game& position, random numbers) {
  if (position.is_over()) throw error(base::text("manta: rl: a search in {} was begun after the end", kind_.name()));
  live_ = position;
  numbers_ = numbers;
  nodes_.assign(1, node());
  nodes_.reserve(static_cast<std::size_t>((options_.simulations + 1) * actions_ + 1));
  kept_ = leaf_ = simulations_ = 0;
}

MANTA_DECL bool search_tree::advance() {
  if (nodes_[0].visits == 0) {
    if (!options_.rollouts) return true;
    expand({});
    back_up(0, result_by_chance());
  }
  while (simulations_ < options_.simulations && !nodes_[0].is_proven) {
    int at = 0;
    while (nodes_[static_cast<std::size_t>(at)].children > 0 && !nodes_[static_cast<std::size_t>(at)].is_proven)
      at = most_promising(nodes_[static_cast<std::size_t>(at)]);
    ++simulations_;
    const bool is_known = nodes_[static_cast<std::size_t>(at)].is_proven;
    if (is_known || !enter(at)) {
      back_up(at, static_cast<double>(nodes_[static_cast<std::size_t>(at)].proven));
      continue;
    }
    leaf_ = at;
    if (!options_.rollouts) return true;
    expand({});
    back_up(at, result_by_chance());
  }
  return false;
}

inline double search_tree::value_for(const node& n, int seat, double otherwise) {
  const double sign = seat == 0 ? 1 : -1;
  if (n.is_proven) return sign * static_cast<double>(n.proven);
  return n.visits > 0 ? sign * n.sum / n.visits : otherwise;
}

/// A choice that was not tried counts as much as the position in all. Choices that lose for certain are left aside.
inline int search_tree::most_promising(const node& n) const {
  const double factor = options_.exploration * std::sqrt(static_cast<double>(n.visits));
  const double unknown = value_for(n, n.mover, 0);
  int best = n.first_child;
  double highest = -1e300;
  for (int c = n.first_child; c < n.first_child + n.children; ++c) {
    const node& child = nodes_[static_cast<std::size_t>(c)];
    const double value = value_for(child, n.mover, unknown);
    if (child.is_proven && value <= -1) continue;
    const double score = value + factor * static_cast<double>(child.prior) / (1 + child.visits);
    if (score > highest) {
      highest = score;
      best = c;
    }
  }
  return best;
}

inline bool search_tree::enter(int leaf) {
  node& n = nodes_[static_cast<std::size_t>(leaf)];
  live_.return_to(states_[static_cast<std::size_t>(nodes_[static_cast<std::size_t>(n.parent)].kept)]);
  live_.play_from_kept(n.action + first_action_);
  if (live_.is_over()) {
    n.proven = static_cast<float>(outcome(live_));
    n.is_proven = !live_.is_truncated();
    return false;
  }
  if (live_.is_simultaneous())
    live_.fail("several seats act at once; a search needs a game in which seats act in turn");
  if (live_.reward(0) != 0 || live_.reward(1) != 0)
    live_.fail("there is a reward before the end; a search needs games that give all of it in the last step");
  return true;
}

/// The result for seat 0 at the end.
inline double search_tree::outcome(const live_game& g) {
  const double first = g.reward(0), second = g.reward(1);
  if (std::abs(first + second) > 1e-6 || std::abs(first) > 1 + 1e-6)
    g.fail(base::text("the seats have won {} and {}; a search needs results from -1 to 1 that sum up to 0", first,
                      second));
  return first;
}

inline double search_tree::result_by_chance() {
  while (!live_.is_over()) {
    const mask_view allowed = live_.mask(live_.mover());
    live_.play_from_kept(pick(allowed, numbers_) + first_action_);
  }
  return outcome(live_);
}

MANTA_DECL void search_tree::read_leaf(float* features) const {
  const int seat = live_.mover();
  kind_.seats()[seat].observations.flatten(live_.observation(seat), features);
}

/// Gives the leaf its children, with the softmax of the outputs over those that are allowed; without outputs all alike.
inline void search_tree::expand(std::span<const float> outputs) {
  const int seat = live_.mover(), first = static_cast<int>(nodes_.size());
  const mask_view allowed = live_.mask(seat);
  float highest = -1e30f, sum = 0;
  for (std::size_t a = 0; a < allowed.size(); ++a) {
    if (allowed[a] != 0 && !outputs.empty()) highest = std::max(highest, outputs[a]);
  }
  for (std::size_t a = 0; a < allowed.size(); ++a) {
    if (allowed[a] == 0) continue;
    node child;
    child.parent = leaf_;
    child.action = static_cast<int>(a);
    child.prior = outputs.empty() ? 1.f : std::exp(outputs[a] - highest);
    sum += child.prior;
    nodes_.push_back(child);
  }
  node& n = nodes_[static_cast<std::size_t>(leaf_)];
  n.mover = seat;
  n.first_child = first;
  n.children = static_cast<int>(nodes_.size()) - first;
  for (int c = first; c < first + n.children; ++c) nodes_[static_cast<std::size_t>(c)].prior /= sum;
  n.kept = kept_;
  live_.keep(states_[static_cast<std::size_t>(kept_++)]);
  if (leaf_ == 0) mix_noise(n);
  if (options_.look_ahead) look_at_ends(n);
}

inline void search_tree::mix_noise(node& root) {
  const auto mix = [&](double part, auto share) {
    for (int c = 0; c < root.children; ++c) {
      float& prior = nodes_[static_cast<std::size_t>(root.first_child + c)].prior;
      prior = static_cast<float>((1 - part) * static_cast<double>(prior) + part * share(c));
    }
  };
  if (options_.spread > 0) mix(options_.spread, [&](int) { return 1. / root.children; });
  if (options_.noise == 0) return;
  weights_.resize(static_cast<std::size_t>(root.children));
  draw_dirichlet(options_.noise_alpha, numbers_, weights_);
  mix(options_.noise, [&](int c) { return static_cast<double>(weights_[static_cast<std::size_t>(c)]); });
}

/// The children of a node that was expanded which end the game, and with that perhaps the node's result.
inline void search_tree::look_at_ends(node& n) {
  for (int c = n.first_child; c < n.first_child + n.children; ++c) {
    node& child = nodes_[static_cast<std::size_t>(c)];
    if (!ahead_.ends_by(states_[static_cast<std::size_t>(n.kept)], child.action + first_action_)) continue;
    if (ahead_.is_truncated()) continue;
    child.proven = static_cast<float>(outcome(ahead_));
    child.is_proven = true;
  }
  prove(n);
}

MANTA_DECL void search_tree::take(std::span<const float> outputs) {
  const int seat = live_.mover();
  expand(outputs);
  const double value = std::tanh(static_cast<double>(outputs[static_cast<std::size_t>(actions_)]));
  back_up(leaf_, seat == 0 ? value : -value);
}

inline void search_tree::back_up(int from, double value) {
  bool proves = nodes_[static_cast<std::size_t>(from)].is_proven;
  for (int at = from; at >= 0;) {
    node& n = nodes_[static_cast<std::size_t>(at)];
    ++n.visits;
    if (at != from) proves = proves && prove(n);
    if (proves) value = static_cast<double>(n.proven);
    n.sum += value;
    at = n.parent;
  }
}

inline bool search_tree::prove(node& n) const {
  double best = -2;
  bool are_all_proven = true;
  for (int c = n.first_child; c < n.first_child + n.children; ++c) {
    const node& child = nodes_[static_cast<std::size_t>(c)];
    if (child.is_proven) best = std::max(best, value_for(child, n.mover, 0));
    are_all_proven = are_all_proven && child.is_proven;
  }
  n.is_proven = are_all_proven || best >= 1;
  if (n.is_proven) n.proven = static_cast<float>(n.mover == 0 ? best : -best);
  return n.is_proven;
}

/// The choice that was tried most, of those that are as good as is known for certain, and not of those that lose.
inline int search_tree::best_child() const {
  const node& root = nodes_[0];
  int best = root.first_child;
  double highest = -1;
  for (int c = root.first_child; c < root.first_child + root.children; ++c) {
    const node& child = nodes_[static_cast<std::size_t>(c)];
    // Where numbers of visits are equal, the prior decides, which is at most 1.
    const double visits = child.visits + static_cast<double>(child.prior) / 2;
    const double score = visits + (is_out_of_question(child) ? 0 : options_.simulations + 1);
    if (score > highest) {
      highest = score;
      best = c;
    }
  }
  return best;
}

/// Whether a choice is worse for certain than another one, or may be.
inline bool search_tree::is_out_of_question(const node& child) const {
  const node& root = nodes_[0];
  const double value = value_for(child, root.mover, 0);
  if (root.is_proven) return !child.is_proven || value < value_for(root, root.mover, 0);
  return child.is_proven && value <= -1;
}

/// The shares of visits, without those of choices that are worse for certain than the best one.
inline void search_tree::fill_policy(searched& s) const {
  const node& root = nodes_[0];
  float sum = 0;
  for (int c = root.first_child; c < root.first_child + root.children; ++c) {
    const node& child = nodes_[static_cast<std::size_t>(c)];
    const float share = is_out_of_question(child) ? 0.f : static_cast<float>(child.visits);
    s.policy[static_cast<std::size_t>(child.action)] = share;
    sum += share;
  }
  if (sum == 0) s.policy[static_cast<std::size_t>(s.best)] = sum = 1;
  for (float& share : s.policy) share /= sum;
}

MANTA_DECL searched search_tree::result() const {
  const node& root = nodes_[0];
  const auto count = static_cast<std::size_t>(actions_);
  searched s{std::vector<int>(count), std::vector<float>(count), std::vector<float>(count)};
  for (int c = root.first_child; c < root.first_child + root.children; ++c) {
    const node& child = nodes_[static_cast<std::size_t>(c)];
    const auto a = static_cast<std::size_t>(child.action);
    s.visits[a] = child.visits;
    s.values[a] = static_cast<float>(value_for(child, root.mover, 0));
  }
  s.value = static_cast<float>(value_for(root, root.mover, 0));
  s.is_proven = root.is_proven;
  s.best = nodes_[static_cast<std::size_t>(best_child())].action;
  fill_policy(s);
  return s;
}

}  // namespace manta::rl::detail
