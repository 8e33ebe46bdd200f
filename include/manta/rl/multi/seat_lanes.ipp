// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/multi/seat_lanes.hpp"

namespace manta::rl::detail {

MANTA_DECL seat_lanes::seat_lanes(const any_game& g, std::uint64_t seed, int first, int count)
    : kind_(g), seed_(seed), first_(first), workplace_(std::make_unique<workplace>(g.name())) {
  std::size_t all = 0;
  for (int i = 0; i < seats(); ++i) {
    begin_of_.push_back(all);
    all += static_cast<std::size_t>(features(i));
  }
  for (int i = 0; i < count; ++i) {
    lanes_.emplace_back();
    lanes_.back().game = live_game(g);
    lanes_.back().seats.resize(static_cast<std::size_t>(seats()));
    lanes_.back().seen.resize(all);
  }
}

MANTA_DECL void seat_lanes::sit_by(const multi_setting& s) {
  order_ = seat_order(kind_, s);
  environments_ = s.environments;
}

template <class F>
void seat_lanes::watched(const one_game& l, const char* call, F&& f) {
  workplace_->enter(call, static_cast<std::uint64_t>(first_ + (&l - lanes_.data())), l.episode, l.game.steps());
  try {
    f();
  } catch (...) {
    workplace_->leave();
    throw;
  }
  workplace_->leave();
}

MANTA_DECL void seat_lanes::begin(int i) {
  one_game& l = at(i);
  std::ranges::fill(l.seen, 0.f);
  watched(l, "reset()", [&] { l.game.begin(random(seed_, number(i), l.episode), number(i), l.episode); });
  l.whole.assign(l.game.whole().begin(), l.game.whole().end());
  look(l);
  const std::uint64_t of_all = l.episode * static_cast<std::uint64_t>(environments_) + number(i);
  try {
    for (int seat = 0; seat < seats(); ++seat)
      l.seats[static_cast<std::size_t>(seat)] = {order_.policy_of(seat, of_all)};
  } catch (const std::exception& e) {
    l.game.fail(e.what());
  }
}

MANTA_DECL void seat_lanes::step(int i) {
  one_game& l = at(i);
  for (int seat = 0; seat < seats(); ++seat) l.seats[static_cast<std::size_t>(seat)].turns += l.game.acts(seat);
  watched(l, "step()", [&] { l.game.step(); });
  ++l.all_steps;
  if (!l.game.whole().empty()) {
    if (l.whole.empty()) l.game.fail("state() is called in step() first; reset() gives the first state");
    l.whole.assign(l.game.whole().begin(), l.game.whole().end());
  }
  look(l);
}

inline void seat_lanes::look(one_game& l) {
  for (int seat = 0; seat < seats(); ++seat) {
    if (!l.game.has_seen(seat)) continue;
    const space& s = kind_.seats()[seat].observations;
    if (!l.game.acts(seat) && !s.contains(l.game.observation(seat)))  // what those see that act next is checked already
      l.game.fail(base::text("seat {} sees {}, which is not in its space of observations, {}", seat,
                             text_of(l.game.observation(seat)), s.text()));
    s.flatten(l.game.observation(seat), l.seen.data() + begin_of_[static_cast<std::size_t>(seat)]);
  }
}

MANTA_DECL multi_episode seat_lanes::result(int i) const {
  const one_game& l = at(i);
  multi_episode e{l.game.steps(), l.all_steps, number(i), l.seats, l.game.figures()};
  for (int seat = 0; seat < seats(); ++seat) e.seats[static_cast<std::size_t>(seat)].total = l.game.total(seat);
  return e;
}

MANTA_DECL void seat_lanes::write(seat_place p, int central, float* to) const {
  const one_game& l = at(p.lane);
  const auto own = l.seen.begin() + static_cast<std::ptrdiff_t>(begin_of_[static_cast<std::size_t>(p.seat)]);
  to = std::copy_n(own, features(p.seat), to);
  if (central == 0) return;
  const std::vector<float>& whole = l.whole.empty() ? l.seen : l.whole;
  if (std::ssize(whole) != central)
    l.game.fail(
        base::text("state() was given {} numbers, and {} when the training began; a state has as many each "
                   "time, from reset() on",
                   l.whole.size(), central));
  std::ranges::copy(whole, to);
}

MANTA_DECL std::string seat_lanes::save(int i) const {
  const one_game& l = at(i);
  return output::pack(l.game.save(), l.episode, l.all_steps, l.seats, l.seen, l.whole);
}
MANTA_DECL void seat_lanes::load(int i, const std::string& bytes) {
  one_game& l = at(i);
  std::string game;
  output::unpack(bytes, game, l.episode, l.all_steps, l.seats, l.seen, l.whole);
  l.game.load(game);
}

}  // namespace manta::rl::detail
