// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Parts of an evaluation, which are tasks, and how they are joined. For evaluation.ipp and player.ipp alone: what
// includes evaluation.hpp does not compile it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/error.hpp"
#include "manta/rl/base/report.hpp"
#include "manta/rl/environments/vector_environment.hpp"

namespace manta::rl::detail {

inline constexpr std::uint64_t evaluation_purpose = 0x65766c7561746521U;  ///< sets its random numbers apart

/// What a part of an evaluation gave.
struct evaluated {
  std::vector<episode> episodes;
  double seconds = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(episodes, seconds);
  }
};

/// The first episodes of the environments first, .., first + count - 1. `actions` gives those
/// for a vector_environment.
template <class Actions>
evaluated play(const any_environment& e, std::uint64_t seed, int first, int count, Actions&& actions) {
  constexpr int longest = 100'000;  // steps of an episode, where no limit is given
  const auto begin = std::chrono::steady_clock::now();
  vector_environment environments(e, seed ^ evaluation_purpose, first, count);
  environments.play_once();
  environments.reset();
  evaluated out;
  for (int step = 0; environments.playing() > 0; ++step) {
    if (step == longest && e.time_limit() == 0) environments.fail_endless(longest);
    environments.step(actions(environments));
  }
  out.episodes = environments.take_episodes();
  out.seconds = since(begin);
  return out;
}

/// The report of all parts.
MANTA_DECL report join_evaluation(const std::vector<evaluated>& parts, std::uint64_t iteration);

/// Divides episodes into parts of at most `columns` of them, whatever the number of ranks: start(first, count) gives
/// the future of one.
template <class Start>
future<report> in_parts(int episodes, int columns, std::uint64_t iteration, Start&& start) {
  if (episodes < 1) throw error("manta: rl: evaluate needs at least one episode");
  std::vector<future<evaluated>> parts;
  for (const auto& [first, count] : shares(episodes, (episodes + columns - 1) / columns))
    parts.push_back(start(first, count));
  return async<join_evaluation>(parts, iteration);
}

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/policies/evaluation.ipp"
#endif
