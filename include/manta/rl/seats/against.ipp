// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/seats/against.hpp"
#include "manta/rl/seats/opened_environment.hpp"

namespace manta::rl {

namespace detail {

MANTA_DECL one_seat::one_seat(any_game g, own_seat_player rivals)
    : game_(std::move(g)), rivals_(std::move(rivals)), live_(game_) {
  begin_players();
}

inline void one_seat::begin_players() {
  players_.clear();
  for (int i = 0; i < game_.seats().size(); ++i) players_.push_back(rivals_ ? rivals_.make() : nullptr);
}

inline void one_seat::choose_for_rivals() {
  for (int i = 0; i < game_.seats().size(); ++i) {
    if (i == seat_ || !live_.acts(i)) continue;
    std::vector<float> action(static_cast<std::size_t>(action_space().size()));
    act_by(players_[static_cast<std::size_t>(i)].get(), live_, i, numbers_, action);
    live_.choose(i, action);
  }
}

inline double one_seat::let_rivals_play() {
  double reward = 0;
  while (!live_.is_over() && !live_.acts(seat_)) {
    choose_for_rivals();
    live_.step();
    reward += live_.reward(seat_);
  }
  return reward;
}

inline std::vector<float> one_seat::seen() const {
  const std::span<const float> o = live_.observation(seat_);
  return {o.begin(), o.end()};
}

MANTA_DECL std::vector<float> one_seat::reset(random& numbers) {
  numbers_ = random(numbers.bits(), 0, 31);
  begin_players();
  for (int tries = 0; tries < 100; ++tries) {
    seat_ = numbers_.index(game_.seats().size());
    live_.begin(random(numbers_.bits(), 0, 32));
    let_rivals_play();
    if (!live_.is_over()) return seen();
  }
  throw error(base::text("seat {} of the game has not acted in 100 episodes", seat_));
}

MANTA_DECL rl::step<std::vector<float>> one_seat::step(std::span<const float> action) {
  live_.choose(seat_, action);
  choose_for_rivals();
  live_.step();
  double reward = live_.reward(seat_);
  reward += let_rivals_play();
  return {seen(), reward, live_.is_over() && !live_.is_truncated(), live_.is_truncated()};
}

MANTA_DECL std::string one_seat::state() const { return output::pack(live_.save(), seat_, numbers_); }
MANTA_DECL void one_seat::set_state(const std::string& bytes) {
  std::string live;
  output::unpack(bytes, live, seat_, numbers_);
  live_.load(live);
}

MANTA_DECL any_game game_of_against(const any_environment& e, const std::string& algorithm) {
  const opened_environment<one_seat, any_game, own_seat_player> opened(e);
  if (!opened.is_right() || std::get<own_seat_player>(opened.arguments()))
    throw error(base::text(
        "manta: rl: {} learns in games, where it plays against itself; {} is an environment of one seat: give "
        "a game, rl::environment<E>() of a class with seats(), or rl::against(..) without a rival",
        algorithm, e.name()));
  return std::get<any_game>(opened.arguments());
}

}  // namespace detail

MANTA_DECL any_environment against(const any_game& g, const own_seat_player& rivals) {
  if (!g.seats().are_alike())
    throw error(
        base::text("manta: rl: the seats of {} have different spaces, and against() plays from any of them; "
                   "let all have the same, or use an algorithm for several policies",
                   g.name()));
  return environment<detail::one_seat>(g, rivals).with_name(g.name() + " against " +
                                                            (rivals ? rivals.name() : std::string("chance")));
}

}  // namespace manta::rl
