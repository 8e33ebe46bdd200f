// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A worker of a training of several policies: an actor with a share of the games. It lets all policies act, and gives a
// fragment for each one that learns. Fragments have as many steps as the policy had turns; a turn whose next one has
// not come goes into a later fragment.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "manta/rl/multi/seat_actor.hpp"
#include "manta/rl/multi/seat_line.hpp"
#include "manta/rl/workers/call_history.hpp"

namespace manta::rl {

/// What a call gives: a fragment for each policy that learns, in their order, and the episodes that have ended.
struct multi_fragment {
  std::vector<fragment> of_policies;
  std::vector<multi_episode> episodes;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(of_policies, episodes);
  }
};

namespace detail {

/// How the fragments of a call are made: by `steps` steps of each game. of_policies is in the order
/// of the policies that learn.
struct multi_rollout {
  int steps = 0;
  std::uint64_t from = call_history::any_step;  ///< see rollout
  std::vector<rollout> of_policies;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(steps, from, of_policies);
  }
};

class multi_worker {
 public:
  multi_worker() = default;
  MANTA_DECL multi_worker(const any_game& g, std::uint64_t seed, int first, int count);
  /// weights: of the policies that learn, in their order.
  MANTA_DECL multi_fragment run(const multi_setting& s, const std::vector<policy::weights>& weights,
                                const multi_rollout& how);
  /// All that each game needs to go on. Throws if its class has no serialize.
  [[nodiscard]] MANTA_DECL std::vector<std::string> state() const;
  MANTA_DECL void restore(const std::vector<std::string>& states);
  /// Lets the next call begin episodes, as if each game had taken that many steps. Returns true.
  MANTA_DECL bool begin_at(std::uint64_t step);

  /// For a restart after the death of the rank: games that cannot be saved begin new episodes.
  template <class Archive>
  void save(Archive& archive) const {
    archive(kind_, seed_, lanes_.first(), lanes_.size(), history_);
  }
  template <class Archive>
  void load(Archive& archive) {
    any_game kind;
    std::uint64_t seed = 0;
    int first = 0, count = 0;
    call_history history;
    archive(kind, seed, first, count, history);
    *this = multi_worker(kind, seed, first, count);
    if (!history.now().empty()) restore(history.now());
    history_ = std::move(history);
  }

 private:
  /// What is kept of a seat from one fragment to the next.
  struct seat_state {
    std::map<int, seat_line> lines;  ///< lines by policy
    double gain = 0;                 ///< the discounted sum of rewards of the episode under way
    bool has_acted = false;          ///< whether it has acted in this episode
    template <class Archive>
    void serialize(Archive& archive) {
      archive(lines, gain, has_acted);
    }
  };
  /// A policy that learns, in one call.
  struct pupil {
    int number;
    learning_actor* actor;
    rollout how;
    std::vector<moments> seen, gains;  ///< moments by game
    std::vector<seat_place> cut;       ///< whose episodes the last step has cut off
  };

  void begin(const multi_setting& s, const std::vector<policy::weights>& weights, const multi_rollout& how);
  void set_policies(const multi_setting& s);
  /// Values of what was seen before this call's weights.
  void value_open_steps(pupil& p);
  void note_actions(pupil& p);
  /// After the games' step: what came of it.
  void note_rewards(pupil& p, seat_place at);
  void value_cut_states(pupil& p);
  void end_episodes(std::vector<multi_episode>& ended);
  fragment take_fragment(pupil& p);
  void value_next_states(pupil& p);
  [[nodiscard]] seat_state& at(seat_place p) {
    return seats_[static_cast<std::size_t>(p.lane * lanes_.seats() + p.seat)];
  }
  /// Calls f(place, line) for all lines of a policy, game after game and seat after seat.
  template <class F>
  void each_line(const pupil& p, F&& f);

  any_game kind_;
  std::uint64_t seed_ = 0;
  seat_lanes lanes_;
  seat_actors actors_;
  std::uint64_t version_ = 0;  ///< version of the setting that the actors are of; 0: none yet
  std::vector<seat_state> seats_;
  std::vector<pupil> pupils_;
  std::uint64_t steps_ = 0;
  bool has_begun_ = false;
  call_history history_;
};

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/multi/multi_worker.ipp"
#endif
