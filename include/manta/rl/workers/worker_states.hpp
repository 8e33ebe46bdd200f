// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The workers of an algorithm: how they start, and their states environment by environment, so that another number of
// workers can go on with them. A worker has
//
//   std::vector<std::string> state() const;                   // one for each of its environments
//   void restore(const std::vector<std::string>& states);
//   bool begin_at(std::uint64_t step);                        // begins episodes, as of this step
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/async.hpp"
#include "manta/base/text.hpp"
#include "manta/rl/base/rank_0.hpp"
#include "manta/rl/base/sentences.hpp"
#include "manta/rl/environments/vector_environment.hpp"

namespace manta::rl::detail {

/// Starts workers, each with its share of the environments, or games; `more` are the last arguments of their
/// constructor. When a rank dies, its worker goes on elsewhere from its last state; who has made the
/// call makes it again.
template <class Worker, class Kind, class... More>
std::vector<actor<Worker>> start_workers(const Kind& e, std::uint64_t seed, int environments, int workers,
                                         const More&... more) {
  let_rank_0_work(workers);
  std::vector<actor<Worker>> all;
  for (const auto& [first, count] : shares(environments, workers))
    all.push_back(spawn<Worker>({.spread = true, .restarts = 1000, .checkpoint_every = 1, .at_least_once = true}, e,
                                seed, first, count, more...));
  return all;
}

/// The states of all environments in their order. Waits.
template <class Worker>
std::vector<std::string> states_of(const std::vector<actor<Worker>>& workers) {
  std::vector<std::string> all;
  for (std::vector<std::string>& part : answers(workers, [](const auto& w) { return async<&Worker::state>(w); }))
    all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  return all;
}

/// Gives them to workers that have begun with `shares` of as many environments. Waits.
template <class Worker>
void restore_states(const std::vector<actor<Worker>>& workers, const std::vector<std::string>& states) {
  const auto parts = shares(static_cast<int>(states.size()), static_cast<int>(workers.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto from = states.begin() + parts[i].first;
    const std::vector<std::string> part(from, from + parts[i].second);
    const auto call = [&] { return async<&Worker::restore>(workers[i], part); };
    answer(call(), call);
  }
}

/// Lets new workers begin episodes at this step of each environment. Waits.
template <class Worker>
void begin_at(const std::vector<actor<Worker>>& workers, std::uint64_t step) {
  answers(workers, [&](const auto& w) { return async<&Worker::begin_at>(w, step); });
}

/// Throws if a checkpoint has another number of environments.
inline void require_environments(std::size_t saved, int mine) {
  if (saved != static_cast<std::size_t>(mine))
    throw error(base::text("manta: rl: the checkpoint has {} environments; .environments is {}. Nothing was changed",
                           saved, mine));
}

}  // namespace manta::rl::detail
