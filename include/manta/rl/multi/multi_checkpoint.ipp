// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The checkpoints of multi.hpp.
#pragma once

#include "manta/base/text.hpp"
#include "manta/output/bytes.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/rl/multi.hpp"
#include "manta/rl/multi/multi_setup.ipp"
#include "manta/rl/workers/worker_states.hpp"

namespace manta::rl {

/// The state of a training.
struct multi::saved {
  any_game game;
  std::string description;  ///< of the policies that the options name
  std::uint64_t seed = 0, iteration = 0, steps = 0;
  detail::multi_setting setting;
  std::vector<std::string> learners;  ///< by policy
  std::vector<char> masked;
  detail::seat_tally tally;
  std::vector<std::string> games;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(game, description, seed, iteration, steps, setting, learners, masked, tally, games);
  }
};

inline std::string multi::description() const {
  std::string text = told_.central_values ? base::text("central values of {} numbers, ", setting_.central) : "";
  for (std::size_t i = 0; i < told_.policies.size(); ++i) {
    const detail::seated_policy& p = setting_.policies[i];
    text += base::text("{}\"{}\" {}", i == 0 ? "" : ", ", p.name,
                       learners_[i] ? learners_[i]->description() : p.frozen.description());
  }
  return text;
}

MANTA_DECL std::string multi::save_to_bytes() {
  saved all{game_, description(), seed_, iteration_, steps_, setting_, {}, masked_, tally_, {}};
  all.setting.version = 0;  // which says nothing beyond this process
  for (const auto& l : learners_) all.learners.push_back(l ? l->state() : std::string());
  all.games = detail::states_of(workers_);
  return output::pack(all);
}

MANTA_DECL void multi::load_from_bytes(const std::string& bytes, const load_options& o) {
  saved all;
  try {
    output::unpack(bytes, all);
  } catch (const std::exception& e) {
    throw error(base::text("manta: rl: the checkpoint cannot be read: {}", e.what()));
  }
  const auto refuse = [](const std::string& its, const std::string& mine) {
    throw error(
        base::text("manta: rl: the checkpoint is of {}; this training's are {}. Nothing was changed", its, mine));
  };
  if (o.episodes == go_on) {
    if (!all.game.makes_as(game_)) refuse("the game " + all.game.call(), game_.call());
    detail::require_environments(all.games.size(), told_.environments);
  }
  if (all.description != description()) refuse("the policies " + all.description, description());
  for (std::size_t i = 0; i < learners_.size() && i < all.learners.size(); ++i) {
    if (learners_[i]) learners_[i]->restore(all.learners[i]);
  }
  const std::uint64_t version = setting_.version;
  setting_.policies = std::move(all.setting.policies);
  setting_.map = all.setting.map;
  setting_.version = version;
  learners_.resize(setting_.policies.size());
  masked_ = std::move(all.masked);
  if (o.episodes == go_on) seed_ = all.seed;
  iteration_ = all.iteration;
  steps_ = all.steps;
  tally_ = std::move(all.tally);
  put_setting();
  start_workers();
  if (o.episodes == go_on) {
    detail::restore_states(workers_, all.games);
  } else {
    tally_.forget_last();
    detail::begin_at(workers_, steps_ / static_cast<std::uint64_t>(told_.environments));
  }
}

MANTA_DECL void multi::save(const std::string& path) { output::write_state(path, "multi", save_to_bytes()); }
MANTA_DECL void multi::load(const std::string& path, const load_options& o) {
  load_from_bytes(output::read_state(path, "multi"), o);
}

}  // namespace manta::rl
