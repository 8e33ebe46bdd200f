// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Several policies that learn in one game, each from the seats that a map gives it: agents that work together, that
// play against each other, or that come and go. Opt-in: include this header.
//
//   rl::multi training(rl::environment<pursuit>(), {.workers = 4, .seed = 1,
//       .policies = {{"walker", rl::ppo_options{.rate = 1e-3}}, {"rival", rl::frozen("rival.policy")}},
//       .map = rl::own<by_seat>()});                        // std::string operator()(int seat, std::uint64_t episode)
//   while (training.train()["walker"].mean_return < 7.5) {}
//   training.trained("walker").save("walker.policy");
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/actor.hpp"
#include "manta/rl/base/multi_report.hpp"
#include "manta/rl/games.hpp"
#include "manta/rl/learning/algorithm.hpp"
#include "manta/rl/multi/multi_policy.hpp"
#include "manta/rl/multi/multi_worker.hpp"
#include "manta/rl/multi/policy_map.hpp"
#include "manta/rl/multi/seat_tally.hpp"
#include "manta/rl/seats/together.hpp"

namespace manta::rl {

struct multi_options {
  int workers = 1;  ///< actors that let policies act, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int environments = 8;  ///< games of all workers together
  int fragment = 256;    ///< steps of each game in an iteration
  /// By name: {{"walker", rl::ppo_options{}}, {"rival", rl::frozen("rival.policy")}}.
  std::vector<std::pair<std::string, multi_policy>> policies = {};
  /// Which policy acts from which seat: rl::own<by_seat>(). Without it, the policy that has the name of the seat, or
  /// the only one there is.
  own_policy_map map = {};
  /// Critics read the state of the whole besides their seat's observation, as in MAPPO (Yu et al., 2022): what the game
  /// tells by table::state(numbers), or else what all seats have seen last. Policies act by their own observations.
  bool central_values = false;
};

class multi {
 public:
  using options = multi_options;

  /// Starts the workers. Throws manta::error if the options make no sense.
  MANTA_DECL explicit multi(const any_game& g, const multi_options& o);
  multi(const multi&) = delete;
  multi& operator=(const multi&) = delete;
  MANTA_DECL ~multi();

  /// One iteration: workers let all policies act, and those that learn do so; waits. Throws manta::error with game,
  /// episode, step and seat for what a game does wrong, and with the policy if one diverges; the text
  /// says in which iteration.
  MANTA_DECL multi_report train();
  /// Plays this many episodes on seeds that training does not use, by tasks on any ranks; waits. Policies that learn
  /// take their best actions, unless the options say otherwise: .explore and .seed. The result is the same for any
  /// number of ranks.
  MANTA_DECL multi_report evaluate(int episodes, const evaluate_options& o = {}) const;

  /// A policy of this moment as a value: to act, for rl::play(), to be saved and served.
  [[nodiscard]] MANTA_DECL trained_policy trained(const std::string& policy) const;
  /// Adds a copy of a policy as it is now, which learns no more. Returns its name, "walker-1", "walker-2", ..: the map
  /// may give it seats.
  MANTA_DECL std::string snapshot(const std::string& policy);
  /// From now on, in episodes that begin.
  MANTA_DECL void map(own_policy_map m);
  /// The names of all policies, those of snapshots last.
  [[nodiscard]] MANTA_DECL std::vector<std::string> names() const;

  /// Writes everything that is needed to go on to a file, at once or not at all. Throws if the game's
  /// class has no serialize.
  MANTA_DECL void save(const std::string& path);
  /// Goes on from there, with any number of workers and equal options bit for bit; snapshots and the map are those of
  /// the file. Throws manta::error, and changes nothing, if the file is of another game, or of
  /// other policies or networks.
  MANTA_DECL void load(const std::string& path, const load_options& o = {});
  /// What save writes and load reads, as bytes in memory.
  [[nodiscard]] MANTA_DECL std::string save_to_bytes();
  MANTA_DECL void load_from_bytes(const std::string& bytes, const load_options& o = {});

  [[nodiscard]] const any_game& game() const { return game_; }

 private:
  struct saved;
  void add_policies();
  void start_workers();
  void put_setting();
  /// The policies that learn, with their numbers.
  template <class F>
  void each_learner(F&& f) const;
  [[nodiscard]] std::size_t number_of(const std::string& policy) const;
  std::vector<multi_fragment> gather();
  void learn(std::vector<multi_fragment> parts, multi_report& r);
  void iterate(multi_report& r);
  [[nodiscard]] std::string description() const;

  any_game game_;
  multi_options told_;
  std::uint64_t seed_;
  detail::multi_setting setting_;
  future<detail::multi_setting> put_;
  std::vector<std::unique_ptr<policy_learner>> learners_;  ///< learners by policy; none where it does not learn
  std::vector<char> masked_;                               ///< whether a choice was ever forbidden to each policy
  std::vector<actor<detail::multi_worker>> workers_;
  std::uint64_t iteration_ = 0, steps_ = 0;
  detail::seat_tally tally_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/multi.ipp"
#endif
