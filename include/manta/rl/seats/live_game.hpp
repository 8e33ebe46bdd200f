// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A game at work, for programs that play by themselves, and for classes that look ahead:
//
//   rl::live_game g("Connect4");
//   for (g.begin(rl::random(1)); !g.is_over(); g.play(ask_somebody(g.mover()))) std::cout << g.text();
//   std::cout << g.total(0) << '\n';
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/rl/seats/game.hpp"

namespace manta::rl {

/// A copy goes on by itself.
class live_game {
 public:
  live_game() = default;
  MANTA_DECL explicit live_game(const any_game& g);
  MANTA_DECL live_game(const live_game& other);
  MANTA_DECL live_game& operator=(const live_game& other);
  live_game(live_game&&) noexcept = default;
  live_game& operator=(live_game&&) noexcept = default;
  ~live_game() = default;

  /// Begins an episode. The numbers are for the messages.
  MANTA_DECL void begin(random numbers, std::uint64_t number = 0, std::uint64_t episode = 0);

  /// Whether the seat acts next.
  [[nodiscard]] bool acts(int seat) const { return (table_.status.acting & detail::bit_of(seat)) != 0; }
  /// Whether the last step, or begin(), has shown the seat something: it acts next, or has seen the end.
  [[nodiscard]] bool has_seen(int seat) const { return (table_.seen & detail::bit_of(seat)) != 0; }
  /// Whether the episode has ended for the seat, and whether that was in the last step, by being cut off.
  [[nodiscard]] bool has_ended(int seat) const {
    return is_over() || (table_.status.ended & detail::bit_of(seat)) != 0;
  }
  [[nodiscard]] bool is_cut_off(int seat) const {
    return (table_.cut & detail::bit_of(seat)) != 0 ||
           (is_truncated() && (table_.status.ended & detail::bit_of(seat)) == 0);
  }
  /// The first seat that acts next; -1 at the end.
  [[nodiscard]] MANTA_DECL int mover() const;
  /// Whether more than one seat acts next.
  [[nodiscard]] bool is_simultaneous() const { return (table_.status.acting & (table_.status.acting - 1)) != 0; }
  /// What a seat sees that acts next, as the game gives it.
  [[nodiscard]] std::span<const float> observation(int seat) const { return place(seat).observation; }
  /// The state of the whole; no numbers where the game does not tell it (table::state).
  [[nodiscard]] std::span<const float> whole() const { return table_.whole; }
  /// Which choices it has; no numbers where its actions are no choices.
  [[nodiscard]] mask_view mask(int seat) const { return place(seat).mask; }

  /// The action of a seat that acts next. Throws manta::error if it is not in the space, or not allowed.
  MANTA_DECL void choose(int seat, std::span<const float> action);
  /// One step, for which all that act have chosen. Throws manta::error, with game, episode and step, for
  /// what the game does wrong.
  MANTA_DECL void step();
  /// Where one seat acts, and its actions are discrete: its choice and the step.
  MANTA_DECL void play(int action);

  /// The reward of the last step, and the sum of the episode until now.
  [[nodiscard]] double reward(int seat) const { return place(seat).reward; }
  [[nodiscard]] double total(int seat) const { return place(seat).total; }
  [[nodiscard]] bool is_over() const { return table_.status.is_over; }
  /// The episode has been cut off.
  [[nodiscard]] bool is_truncated() const { return table_.status.is_truncated; }
  [[nodiscard]] std::uint64_t steps() const { return table_.status.steps; }
  [[nodiscard]] const any_game& game() const { return kind_; }
  [[nodiscard]] std::string text() const { return object_->text(); }
  /// The game's own figures of the episode that has ended; none where its class has no figures().
  [[nodiscard]] std::map<std::string, double> figures() const { return object_->figures(); }

  [[nodiscard]] bool can_be_saved() const { return object_->can_be_saved(); }
  [[nodiscard]] bool can_be_copied() const { return object_->can_be_copied() || object_->can_be_saved(); }
  /// All that is needed to go on. Throws manta::error if the class has no serialize.
  [[nodiscard]] MANTA_DECL std::string save() const;
  MANTA_DECL void load(const std::string& bytes);

  /// A state to come back to, which costs less than a copy of the whole: without what lies on the table. From there,
  /// play() is all that can be done, and it takes any choice: allowed ones are those of the time when it was kept.
  struct kept_state {
    std::unique_ptr<game_object> object;
    detail::game_status status;
  };
  MANTA_DECL void keep(kept_state& to) const;
  MANTA_DECL void return_to(const kept_state& from);
  /// play() in a state that was returned to.
  MANTA_DECL void play_from_kept(int action);
  /// Both, and whether the episode has ended. If it has not, the table is not looked at, and nothing can be done but to
  /// return to a state.
  MANTA_DECL bool ends_by(const kept_state& from, int action);

  /// Throws manta::error with game, episode and step.
  [[noreturn]] MANTA_DECL void fail(const std::string& what) const;

 private:
  [[nodiscard]] const detail::place_at_table& place(int seat) const {
    return table_.places[static_cast<std::size_t>(seat)];
  }
  /// Calls f, which calls the object, and adds to an error where it happened.
  template <class F>
  void guarded(const char* call, F&& f);
  void require_choice(int seat, std::span<const float> action) const;
  /// The object's step.
  void make_step();
  /// Whether the episode has ended.
  bool note_end();
  /// What step() and reset() have left on the table.
  void look();
  void check_who_acts() const;
  void copy_object(const game_object& from, std::unique_ptr<game_object>& to) const;

  any_game kind_;
  std::unique_ptr<game_object> object_;
  detail::table_state table_;
  std::uint64_t number_ = 0, episode_ = 0;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/live_game.ipp"
#endif
