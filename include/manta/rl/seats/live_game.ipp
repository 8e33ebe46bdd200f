// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/error.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/seats/live_game.hpp"

namespace manta::rl {

MANTA_DECL live_game::live_game(const any_game& g) : kind_(g), object_(g.make()) {
  for (int i = 0; i < g.seats().size(); ++i) {
    const seat& s = g.seats()[i];
    detail::place_at_table p;
    p.observation.resize(static_cast<std::size_t>(s.observations.size()));
    p.action.resize(static_cast<std::size_t>(s.actions.size()));
    if (!detail::choices_of(s.actions).empty()) p.mask.resize(static_cast<std::size_t>(detail::mask_size(s.actions)));
    table_.places.push_back(std::move(p));
  }
}

MANTA_DECL live_game::live_game(const live_game& other)
    : kind_(other.kind_), table_(other.table_), number_(other.number_), episode_(other.episode_) {
  if (other.object_) copy_object(*other.object_, object_);
}
MANTA_DECL live_game& live_game::operator=(const live_game& other) {
  if (this == &other) return *this;
  if (kind_.makes_as(other.kind_)) {
    if (!other.object_) object_.reset();
  } else {
    kind_ = other.kind_;
    object_.reset();
  }
  table_ = other.table_;
  number_ = other.number_;
  episode_ = other.episode_;
  if (other.object_) copy_object(*other.object_, object_);
  return *this;
}

inline void live_game::copy_object(const game_object& from, std::unique_ptr<game_object>& to) const {
  if (from.can_be_copied()) {
    if (to) {
      to->become(from);
    } else {
      to = from.clone();
    }
    return;
  }
  if (!from.can_be_saved())
    throw error(base::text("manta: rl: the game {} cannot be copied: give its class a copy constructor, or serialize",
                           kind_.name()));
  if (!to) to = kind_.make();
  to->load(from.save());
}

MANTA_DECL void live_game::fail(const std::string& what) const {
  throw error(base::text("manta: rl: game {} ({}), episode {}, step {}: {}", number_, kind_.name(), episode_,
                         table_.status.steps, what));
}

template <class F>
void live_game::guarded(const char* call, F&& f) {
  try {
    f();
  } catch (const std::exception& e) {
    fail(e.what());
  } catch (...) {
    fail(base::text("{} has thrown what is no std::exception", call));
  }
}

MANTA_DECL void live_game::begin(random numbers, std::uint64_t number, std::uint64_t episode) {
  number_ = number;
  episode_ = episode;
  table_.status = {};
  table_.acted = table_.masked = table_.cut = 0;
  table_.whole.clear();
  for (detail::place_at_table& p : table_.places) p.reward = p.total = 0;
  table_.begins = true;
  table t(table_);
  guarded("reset()", [&] { object_->reset(numbers, t); });
  table_.begins = false;
  table_.seen = table_.status.acting;
  if (table_.status.is_over) fail("reset() has ended the episode; step() ends one");
  look();
}

MANTA_DECL int live_game::mover() const {
  return table_.status.acting == 0 ? -1 : std::countr_zero(table_.status.acting);
}

inline void live_game::require_choice(int seat, std::span<const float> action) const {
  if (seat < 0 || seat >= kind_.seats().size() || !acts(seat))
    fail(base::text("an action was given for seat {}, which does not act now", seat));
  const space& s = kind_.seats()[seat].actions;
  if (std::ssize(action) != s.size() || !s.contains(action))
    fail(base::text("seat {} took the action {}; its actions are {}", seat, detail::text_of(action), s.text()));
  if (!place(seat).mask.empty() && !detail::is_allowed(s, place(seat).mask, action))
    fail(base::text("seat {} took the action {}, which its mask does not allow", seat, detail::text_of(action)));
}

MANTA_DECL void live_game::choose(int seat, std::span<const float> action) {
  require_choice(seat, action);
  std::ranges::copy(action, table_.places[static_cast<std::size_t>(seat)].action.begin());
}

MANTA_DECL void live_game::step() {
  if (is_over()) fail("the episode has ended; begin() starts the next one");
  make_step();
  look();
}

inline void live_game::make_step() {
  table_.acted = std::exchange(table_.status.acting, 0);
  table_.masked = table_.cut = 0;
  for (detail::place_at_table& p : table_.places) p.reward = 0;
  table t(table_);
  guarded("step()", [&] { object_->step(t); });
  table_.seen = table_.status.acting;
  for (detail::place_at_table& p : table_.places) p.total += p.reward;
  ++table_.status.steps;
}

MANTA_DECL void live_game::play(int action) {
  const auto number = static_cast<float>(action);
  choose(mover(), {&number, 1});
  step();
}

MANTA_DECL void live_game::play_from_kept(int action) {
  table_.places[static_cast<std::size_t>(mover())].action[0] = static_cast<float>(action);
  step();
}

MANTA_DECL bool live_game::ends_by(const kept_state& from, int action) {
  return_to(from);
  table_.places[static_cast<std::size_t>(mover())].action[0] = static_cast<float>(action);
  table_.is_blind = true;
  make_step();
  table_.is_blind = false;
  return note_end();
}

inline bool live_game::note_end() {
  detail::game_status& now = table_.status;
  now.acting &= ~now.ended;
  if (std::popcount(now.ended) == kind_.seats().size()) now.is_over = true;
  const int limit = kind_.time_limit();
  if (!now.is_over && limit > 0 && now.steps >= static_cast<std::uint64_t>(limit))
    now.is_over = now.is_truncated = true;
  if (now.is_over) now.acting = 0;
  return now.is_over;
}

inline void live_game::look() {
  // A seat that sees a state in which the episode is cut off has a mask too, for the state has a value.
  for (std::uint64_t rest = table_.seen & ~table_.masked; rest != 0; rest &= rest - 1) {
    auto& mask = table_.places[static_cast<std::size_t>(std::countr_zero(rest))].mask;
    std::ranges::fill(mask, static_cast<unsigned char>(1));
  }
  if (!std::ranges::all_of(table_.whole, [](float x) { return std::isfinite(x); }))
    fail(base::text("state() was given {}, in which a number is not finite", detail::text_of(table_.whole)));
  if (!note_end()) check_who_acts();
}

inline void live_game::check_who_acts() const {
  const std::uint64_t acting = table_.status.acting;
  if (acting == 0)
    fail("no seat acts next, and the episode has not ended: call see(seat, observation) for who acts, or end()");
  for (std::uint64_t rest = acting; rest != 0; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const seat& s = kind_.seats()[i];
    const detail::place_at_table& p = place(i);
    if (!s.observations.contains(p.observation))
      fail(base::text("seat {} sees {}, which is not in its space of observations, {}", i,
                      detail::text_of(p.observation), s.observations.text()));
    if ((table_.masked & detail::bit_of(i)) == 0) continue;
    if (s.actions.as_discrete() != nullptr && std::ranges::find(p.mask, 1) != p.mask.end()) continue;
    try {
      detail::check_mask(s.actions, p.mask);
    } catch (const error& e) {
      fail(base::text("seat {}: {}", i, e.what()));
    }
  }
  if ((table_.masked & ~acting) != 0)
    fail(base::text("allow() was called for seat {}, which does not act next: it has seen nothing",
                    std::countr_zero(table_.masked & ~acting)));
}

MANTA_DECL std::string live_game::save() const {
  if (!object_->can_be_saved())
    throw error(
        base::text("manta: rl: the game {} has no serialize, so it cannot be saved; give its class a "
                   "serialize of its state",
                   kind_.name()));
  return output::pack(object_->save(), table_.status, table_.places, number_, episode_);
}
MANTA_DECL void live_game::load(const std::string& bytes) {
  std::string object;
  output::unpack(bytes, object, table_.status, table_.places, number_, episode_);
  object_->load(object);
}

MANTA_DECL void live_game::keep(kept_state& to) const {
  copy_object(*object_, to.object);
  to.status = table_.status;
}
MANTA_DECL void live_game::return_to(const kept_state& from) {
  copy_object(*from.object, object_);
  table_.status = from.status;
}

}  // namespace manta::rl
