// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/number.hpp"
#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/require.hpp"
#include "manta/rl/multi/seat_actor.hpp"

namespace manta::rl::detail {

MANTA_DECL void even_columns::set(std::span<const seat_place> seats) {
  std::ranges::fill(used_, 0);
  of_.clear();
  blocks_ = 0;
  for (const seat_place& p : seats) {
    const int block = used_[static_cast<std::size_t>(p.lane)]++;
    blocks_ = std::max(blocks_, block + 1);
    of_.push_back(block * block_ + place_ + p.lane);
  }
}

/// Random numbers of a seat's action: those of a game's first seat are those of an environment of one seat.
inline random numbers_of_action(std::uint64_t seed, const seat_lanes& l, seat_place p, std::uint64_t step) {
  return random(seed, l.number(p.lane) + (static_cast<std::uint64_t>(p.seat) << 32U), (std::uint64_t(1) << 63U) + step);
}

// --- one that learns

MANTA_DECL learning_actor::learning_actor(const seated_policy& p, const seat_lanes& l, std::uint64_t seed, int central)
    : seed_(seed),
      features_(p.spaces.observations().features()),
      central_(central),
      mask_size_(choices_of(p.spaces.actions()).empty() ? 0 : rl::detail::mask_size(p.spaces.actions())),
      is_own_distribution_(static_cast<bool>(p.model.distribution)),
      distribution_(make_distribution(p.spaces.actions(), p.model.distribution)),
      collection_(p.collection ? p.collection.make() : nullptr),
      policy_(p.spaces.observations(), p.spaces.actions(), p.model, p.seed, central),
      columns_(l),
      sent_(static_cast<std::size_t>(p.spaces.actions().size())) {}

MANTA_DECL void learning_actor::set(const policy::weights& w) {
  policy_.set(w);
  filter_.set(policy_.filter());
}

MANTA_DECL void learning_actor::read_values(std::size_t count) {
  const auto v = critic_(policy_.critic(), filtered_);
  values_.resize(count);
  for (std::size_t k = 0; k < count; ++k) values_[k] = v(0, columns_[k]);
}

MANTA_DECL void learning_actor::choose(seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step) {
  values(seats, [&](std::size_t k, float* to) { l.write(seats[k], central_, to); });
  if (central_ > 0) for_actor_ = filtered_.topRows(features_);
  outputs_ = actor_(policy_.actor(), central_ > 0 ? for_actor_ : filtered_);
  actions_.resize(distribution_->size(), std::ssize(seats));
  log_probabilities_.resize(seats.size());
  draw(l, seats, step);
}

inline void learning_actor::draw(seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step) {
  const float* const spread = policy_.spread().data();
  for (std::size_t k = 0; k < seats.size(); ++k) {
    live_game& game = l.game(seats[k].lane);
    float* const o = outputs_.col(columns_[k]).data();
    if (!all_finite({o, static_cast<std::size_t>(outputs_.rows())}))
      game.fail(base::text("seat {}: the outputs of the policy's network are {}", seats[k].seat, divergence()));
    float* const action = actions_.col(static_cast<Eigen::Index>(k)).data();
    forbid(game.mask(seats[k].seat), o);
    random numbers = numbers_of_action(seed_, l, seats[k], step);
    distribution_->sample(o, spread, numbers, action);
    distribution_->to_environment(action, sent_.data());
    log_probabilities_[k] = distribution_->log_probability(o, spread, action);
    if (is_own_distribution_ && !base::is_finite(log_probabilities_[k]))
      game.fail(base::text("seat {}: the distribution gave an action with the logarithm of probability {}",
                           seats[k].seat, log_probabilities_[k]));
    game.choose(seats[k].seat, sent_);
  }
}

// --- those that do not learn

/// A policy that was trained.
class frozen_actor final : public seat_actor {
 public:
  frozen_actor(const frozen_policy& p, const seat_lanes& l, std::uint64_t seed)
      : acting_(p.trained().acting()),
        draws_(p.explores() && acting_.choice().by == action_choice::drawing::distribution),
        seed_(seed),
        columns_(l) {}

  void choose(seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step) override {
    columns_.set(seats);
    const space& actions = acting_.environment().actions();
    const Eigen::Index choices = choices_of(actions).empty() ? 0 : mask_size(actions);
    seen_.setZero(acting_.environment().observations().features(), columns_.width());
    masks_.setOnes(choices, columns_.width());
    for (std::size_t k = 0; k < seats.size(); ++k) {
      l.write(seats[k], 0, seen_.col(columns_[k]).data());
      const mask_view m = l.game(seats[k].lane).mask(seats[k].seat);
      if (choices > 0) std::ranges::copy(m, masks_.col(columns_[k]).data());
    }
    for (int b = 0; b < columns_.blocks(); ++b) choose_in_block(b, l, seats, step);
  }

 private:
  void choose_in_block(int b, seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step) {
    const Eigen::Index from = b * columns_.block(), count = columns_.block();
    const acting_policy::draw numbers{seed_ + static_cast<std::uint64_t>(b), columns_.first(l), step};
    const nn::matrix<float>& chosen =
        acting_.actions(seen_.middleCols(from, count), masks_.middleCols(from, count), draws_ ? &numbers : nullptr);
    for (std::size_t k = 0; k < seats.size(); ++k) {
      const Eigen::Index column = columns_[k] - from;
      if (column < 0 || column >= count) continue;
      l.game(seats[k].lane).choose(seats[k].seat, {chosen.col(column).data(), static_cast<std::size_t>(chosen.rows())});
    }
  }

  acting_policy acting_;
  bool draws_;
  std::uint64_t seed_;
  even_columns columns_;
  nn::matrix<float> seen_;
  action_masks masks_;
};

/// Objects of the program's own class.
class player_actor final : public seat_actor {
 public:
  player_actor(const own_seat_player& kind, const seat_lanes& l, std::uint64_t seed)
      : kind_(kind), seed_(seed), players_(static_cast<std::size_t>(l.size() * l.seats())), seats_(l.seats()) {}

  void choose(seat_lanes& l, std::span<const seat_place> seats, std::uint64_t step) override {
    for (const seat_place& p : seats) {
      live_game& game = l.game(p.lane);
      auto& player = players_[static_cast<std::size_t>(p.lane * seats_ + p.seat)];
      if (!player) player = kind_.make();
      std::vector<float> action(static_cast<std::size_t>(game.game().seats()[p.seat].actions.size()));
      random numbers = numbers_of_action(seed_, l, p, step);
      try {
        player->act(game, p.seat, numbers, action);
      } catch (const std::exception& e) {
        game.fail(base::text("{} throws: {}", kind_.name(), e.what()));
      }
      game.choose(p.seat, action);
    }
  }
  void begin(int lane) override {
    for (int seat = 0; seat < seats_; ++seat) players_[static_cast<std::size_t>(lane * seats_ + seat)].reset();
  }

 private:
  own_seat_player kind_;
  std::uint64_t seed_;
  std::vector<std::unique_ptr<seat_player>> players_;  ///< players by game and seat
  int seats_;
};

// --- all of them

MANTA_DECL seat_actors make_actors(const multi_setting& s, const seat_lanes& l, std::uint64_t seed) {
  seat_actors actors;
  for (const seated_policy& p : s.policies) {
    const int number = static_cast<int>(actors.all.size());
    // A policy that does not learn has random numbers of its own: else it would draw as the one does whose copy it is.
    const std::uint64_t own_seed = base::mix(seed ^ (static_cast<std::uint64_t>(number) << 40U) ^ 0x66726f7a656eU);
    if (p.learns) {
      auto learning = std::make_unique<learning_actor>(p, l, seed, s.central);
      actors.learning[number] = learning.get();
      actors.all.push_back(std::move(learning));
    } else if (p.frozen.player()) {
      actors.all.push_back(std::make_unique<player_actor>(p.frozen.player(), l, own_seed));
    } else {
      actors.all.push_back(std::make_unique<frozen_actor>(p.frozen, l, own_seed));
    }
  }
  return actors;
}

MANTA_DECL void seat_actors::choose(seat_lanes& l, std::uint64_t step) {
  places_.resize(all.size());
  for (auto& p : places_) p.clear();
  for (int lane = 0; lane < l.size(); ++lane) {
    for (int seat = 0; seat < l.seats(); ++seat) {
      if (l.game(lane).acts(seat)) places_[static_cast<std::size_t>(l.policy_of({lane, seat}))].push_back({lane, seat});
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!places_[i].empty()) all[i]->choose(l, places_[i], step);
  }
}

}  // namespace manta::rl::detail
