// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Seats, and the table at which they sit: what a game reads of those that act, and what it lets them see. A game is an
// environment with several seats (game.hpp).
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "manta/rl/environments/environment_class.hpp"

namespace manta::rl {

MANTA_REQUIRES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_or_manta_rl_src_games_hpp);

/// A place from which somebody acts in a game.
struct seat {
  std::string name;
  space observations, actions;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, observations, actions);
  }
};

/// All seats of a game: {{"buyer", observations, actions}, {"seller", ..}}, or {2, observations, actions} for seats
/// that are alike, whose names are "0", "1", ..
class seats {
 public:
  seats() = default;
  seats(std::initializer_list<seat> all) : all_(all) {}
  seats(std::vector<seat> all) : all_(std::move(all)) {}
  MANTA_DECL seats(int count, const space& observations, const space& actions);

  [[nodiscard]] int size() const { return static_cast<int>(all_.size()); }
  const seat& operator[](int i) const { return all_[static_cast<std::size_t>(i)]; }
  /// Whether all have the same spaces.
  [[nodiscard]] MANTA_DECL bool are_alike() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(all_);
  }

 private:
  std::vector<seat> all_;
};

/// Numbers from 0 to 1 as an image, of which a network reads channels, height and width in this order: the
/// board of a game.
MANTA_DECL box planes_of(int channels, int height, int width);

namespace detail {

/// A bit for each seat that acts, and for each that has ended: what a copy of a game needs besides its object.
struct game_status {
  std::uint64_t acting = 0, ended = 0;
  std::uint64_t steps = 0;
  bool is_over = false, is_truncated = false;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(acting, ended, steps, is_over, is_truncated);
  }
};
inline constexpr int most_seats = 64;
inline std::uint64_t bit_of(int seat) { return std::uint64_t(1) << static_cast<unsigned>(seat); }

/// What lies before a seat.
struct place_at_table {
  std::vector<float> observation;
  std::vector<unsigned char> mask;
  std::vector<float> action;
  double reward = 0, total = 0;  ///< rewards of this step, and since the episode began
  template <class Archive>
  void serialize(Archive& archive) {
    archive(observation, mask, action, reward, total);
  }
};

struct table_state {
  game_status status;
  std::uint64_t acted = 0;   ///< seats that have acted in the step that is being made
  std::uint64_t masked = 0;  ///< whose masks this step has set
  bool begins = false;       ///< reset() is running
  std::uint64_t seen = 0;    ///< seats to which this step has shown something
  std::uint64_t cut = 0;     ///< seats for which this step has cut the episode off
  bool is_blind = false;     ///< nobody reads observations and masks of this step
  std::vector<place_at_table> places;
  std::vector<float> whole;  ///< the state of the whole, where the game tells it
};

}  // namespace detail

/// The table as the class of a game has it, in reset() and step(). What a game does wrong here is a manta::error with
/// game, episode, step and seat.
class table {
 public:
  explicit table(detail::table_state& s) : s_(s) {}

  [[nodiscard]] int seats() const { return static_cast<int>(s_.places.size()); }
  /// Whether the seat has acted in this step: those act to which the step before, or reset(), has shown something.
  [[nodiscard]] bool acted(int seat) const { return (s_.acted & detail::bit_of(seat)) != 0; }
  /// The action of a seat that has acted: its choice where its actions are discrete.
  [[nodiscard]] int action(int seat) const { return static_cast<int>(numbers(seat)[0]); }
  /// All numbers of the action.
  [[nodiscard]] MANTA_DECL std::span<const float> numbers(int seat) const;

  /// The seat acts next, and sees this: an observation of its space, as an environment gives it, or a function that
  /// gives one, which is called where somebody looks: a search looks at few of the states that it tries.
  template <class Observation>
  void see(int seat, const Observation& o) {
    const std::span<float> seen = seen_by(seat);
    if constexpr (std::is_invocable_v<const Observation&>) {
      if (!s_.is_blind) write_seen(o(), seen);
    } else if (!s_.is_blind) {
      write_seen(o, seen);
    }
  }
  /// Which choices the seat has that acts next: a range of bool, or of 0 and 1, one for each choice, or a function that
  /// gives one. Without this call all are allowed.
  template <class Mask>
  void allow(int seat, const Mask& mask) {
    const std::span<unsigned char> allowed = mask_of(seat);
    if constexpr (std::is_invocable_v<const Mask&>) {
      if (!s_.is_blind) write_allowed(mask(), allowed);
    } else if (!s_.is_blind) {
      write_allowed(mask, allowed);
    }
  }
  /// Adds to the reward of a seat in this step, whether it has acted or not.
  MANTA_DECL void reward(int seat, double reward);
  MANTA_DECL void reward_all(double reward);
  /// The episode has ended for all seats.
  void end() { s_.status.is_over = true; }
  /// The episode has ended for this seat: it acts no more, and has no more rewards after this step.
  MANTA_DECL void end(int seat);
  /// The episode is cut off for all, though it could go on. A seat that this step has shown something has
  /// seen the last state.
  void truncate() { s_.status.is_over = s_.status.is_truncated = true; }
  /// The episode is cut off for this seat: it acts no more.
  MANTA_DECL void truncate(int seat);

  /// The state of the whole, for critics that know more than the seats see (rl/multi.hpp): as many numbers each time,
  /// in reset() first. It stays until the next call.
  template <class State>
  void state(const State& numbers) {
    static_assert(detail::readable_observation<State>,
                  "manta: rl: table::state(numbers) takes an Eigen vector, a std::array or a std::vector of numbers, "
                  "or a number");
    if constexpr (detail::readable_observation<State>) {
      if (s_.is_blind) return;
      if constexpr (detail::array_of_numbers<State>) {
        detail::write_observation(numbers, whole(static_cast<std::size_t>(numbers.size())));
      } else if constexpr (detail::number_like<State>) {
        detail::write_observation(numbers, whole(1));
      } else {
        state(numbers.eval());
      }
    }
  }

 private:
  template <class Observation>
  static void write_seen(const Observation& o, std::span<float> to) {
    static_assert(detail::readable_observation<Observation>,
                  "manta: rl: table::see(seat, observation) takes an Eigen vector, a std::array or a std::vector of "
                  "numbers, a number, or a function that gives one of these");
    if constexpr (detail::readable_observation<Observation>) detail::write_observation(o, to);
  }
  template <class Mask>
  static void write_allowed(const Mask& mask, std::span<unsigned char> to) {
    static_assert(
        detail::mask_range<const Mask>,
        "manta: rl: table::allow(seat, mask) takes a range of bool, or of 0 and 1, or a function that gives one");
    if constexpr (detail::mask_range<const Mask>) detail::write_mask(mask, to);
  }
  MANTA_DECL void require(int seat, const char* call) const;
  MANTA_DECL std::span<float> seen_by(int seat);
  MANTA_DECL std::span<unsigned char> mask_of(int seat);
  /// Room for the state of the whole. Throws if the episode's first one had another size.
  MANTA_DECL std::span<float> whole(std::size_t size);
  detail::table_state& s_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/seats/table.ipp"
#endif
