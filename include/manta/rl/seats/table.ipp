// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/seats/table.hpp"

namespace manta::rl {

MANTA_DECL seats::seats(int count, const space& observations, const space& actions) {
  for (int i = 0; i < count; ++i) all_.push_back({std::to_string(i), observations, actions});
}

MANTA_DECL bool seats::are_alike() const {
  return std::ranges::all_of(all_, [&](const seat& s) {
    return s.observations == all_.front().observations && s.actions == all_.front().actions;
  });
}

MANTA_DECL box planes_of(int channels, int height, int width) {
  const auto n =
      static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  return {std::vector<float>(n, 0.f), std::vector<float>(n, 1.f), {channels, height, width}};
}

MANTA_DECL void table::require(int seat, const char* call) const {
  if (seat < 0 || seat >= seats())
    throw error(base::text("{} was called for seat {}; there are {} seats, from 0", call, seat, seats()));
  if ((s_.status.ended & detail::bit_of(seat)) != 0)
    throw error(base::text("{} was called for seat {}, for which the episode has ended", call, seat));
}

MANTA_DECL std::span<const float> table::numbers(int seat) const {
  require(seat, "action()");
  if (!acted(seat))
    throw error(
        base::text("action({}) was asked for, and seat {} has not acted: only those act that have seen "
                   "something, by see(seat, observation), in the step before",
                   seat, seat));
  return s_.places[static_cast<std::size_t>(seat)].action;
}

MANTA_DECL std::span<float> table::seen_by(int seat) {
  require(seat, "see()");
  s_.status.acting |= detail::bit_of(seat);
  return s_.places[static_cast<std::size_t>(seat)].observation;
}

MANTA_DECL std::span<unsigned char> table::mask_of(int seat) {
  require(seat, "allow()");
  s_.masked |= detail::bit_of(seat);
  return s_.places[static_cast<std::size_t>(seat)].mask;
}

MANTA_DECL void table::reward(int seat, double reward) {
  require(seat, "reward()");
  if (s_.begins)
    throw error(
        base::text("reset() gives seat {} a reward, which nobody can have earned yet; give it in step()", seat));
  detail::place_at_table& p = s_.places[static_cast<std::size_t>(seat)];
  p.reward += reward;
  if (!detail::is_reward(p.reward)) throw error(base::text("seat {}: {}", seat, detail::mistake_in_reward(p.reward)));
}
MANTA_DECL void table::reward_all(double its) {
  for (int i = 0; i < seats(); ++i) {
    if ((s_.status.ended & detail::bit_of(i)) == 0) reward(i, its);
  }
}

MANTA_DECL void table::end(int seat) {
  require(seat, "end()");
  s_.status.ended |= detail::bit_of(seat);
}
MANTA_DECL void table::truncate(int seat) {
  require(seat, "truncate()");
  s_.status.ended |= detail::bit_of(seat);
  s_.cut |= detail::bit_of(seat);
}

MANTA_DECL std::span<float> table::whole(std::size_t size) {
  if (!s_.whole.empty() && s_.whole.size() != size)
    throw error(base::text("state() was given {} numbers, and {} before; a state has as many each time", size,
                           s_.whole.size()));
  s_.whole.resize(size);
  return s_.whole;
}

}  // namespace manta::rl
