// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Plays episodes and keeps them in a file, for algorithms that learn from files.
//
//   rl::record("expert.episodes", "CartPole-v1", expert.trained(), {.episodes = 200, .seed = 1, .explore = true});
//   rl::record("swing.npz", "MountainCar-v0", rl::own<swing>(), {.episodes = 50});    // a player of the program's own
//
// Episodes are played by tasks on any ranks, and have the same bits for any number of them. manta's own file, of any
// name but .npz, grows episode by episode. The same call again plays only what the file lacks: after a kill it goes on,
// and the file is in the end the same as without the kill. Another policy, seed or environment with the same spaces
// adds its episodes behind those that are there. A file of numpy's, .npz, is written at the end, at once.
#pragma once

#include <cstdint>
#include <string>

#include "manta/rl/base/report.hpp"
#include "manta/rl/offline/episodes.hpp"
#include "manta/rl/policies/player.hpp"
#include "manta/rl/policies/trained_policy.hpp"

namespace manta::rl {

struct record_options {
  int episodes = 100;      ///< episodes of this policy and this seed that the file has in the end
  std::uint64_t seed = 0;  ///< names the episodes; they are none of those of a training or an evaluation
  bool explore = false;    ///< actions are drawn as in training; else the best ones are taken
};

/// Waits. Reports the steps and returns of these episodes, those included that the file had. Throws manta::error with
/// environment, episode and step for what the environment does wrong, and with the file's name if it cannot be written
/// or has episodes of other spaces; what was recorded before stays in the file.
MANTA_DECL report record(const std::string& path, const any_environment& e, const trained_policy& p,
                         const record_options& o = {});
/// Records the episodes of a player of the program's own, which draws from its own random numbers; `explore` means
/// nothing to it. How probable its actions are is not known.
MANTA_DECL report record(const std::string& path, const any_environment& e, const own_player& p,
                         const record_options& o = {});

namespace detail {
/// The first episode that a recording with these options has, without a file.
MANTA_DECL recorded_episode one_recorded(const any_environment& e, const trained_policy& p, const record_options& o);
MANTA_DECL recorded_episode one_recorded(const any_environment& e, const own_player& p, const record_options& o);
}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/offline/record.ipp"
#endif
