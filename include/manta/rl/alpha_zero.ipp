// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <chrono>

#include "manta/base/text.hpp"
#include "manta/manta.hpp"
#include "manta/output/bytes.hpp"
#include "manta/rl/alpha_zero.hpp"
#include "manta/rl/base/rank_0.hpp"
#include "manta/rl/base/sentences.hpp"

namespace manta::rl {

namespace detail {

inline position_learner_options told_by_alpha_zero(const any_game& g, const alpha_zero_options& o) {
  require_searchable("alpha_zero", g);
  require_sense(o);
  require_one(".workers", o.workers);
  require_one(".games", o.games);
  require_one(".batch", o.batch);
  require_one(".replay_size", o.replay_size);
  if (!(o.temperature > 0))
    throw error(base::text("manta: rl: .temperature is {}; it has to be positive", o.temperature));
  return {o.seed, o.rate, o.weight_decay, o.clip_norm, o.model, o.begin_with};
}

inline search_options search_of(const alpha_zero_options& o) {
  return {.simulations = o.simulations,
          .exploration = o.exploration,
          .look_ahead = o.look_ahead,
          .noise = o.noise,
          .noise_alpha = o.noise_alpha};
}

}  // namespace detail

MANTA_DECL alpha_zero::alpha_zero(const any_game& g, const alpha_zero_options& o)
    : algorithm("alpha_zero", against(g), o.seed),
      game_(g),
      told_(o),
      learner_("alpha_zero", environment_, detail::told_by_alpha_zero(g, o)),
      memory_(environment_.observations().features(), environment_.actions().as_discrete()->n,
              static_cast<std::size_t>(o.replay_size)) {
  (void)planner(g, detail::search_of(o));  // throws where the options of the search make no sense
}

MANTA_DECL void alpha_zero::iterate(report& r) {
  auto begin = std::chrono::steady_clock::now();
  std::size_t count = 0;
  std::vector<episode> episodes;
  for (detail::games_played& part : play_games()) {
    count += part.found.size();
    memory_.add(part.found);
    std::ranges::move(part.episodes, std::back_inserter(episodes));
  }
  for (episode& e : episodes) e.ended = iteration();
  learner_.count_steps(count);
  count_steps(count);
  count_episodes(std::move(episodes));
  r.sample_seconds = detail::since(begin);
  begin = std::chrono::steady_clock::now();
  learn(count, r);
  r.learn_seconds = detail::since(begin);
}

/// Tasks, of which as many are under way as there are workers. Their number depends on that of the games alone.
inline std::vector<detail::games_played> alpha_zero::play_games() {
  detail::let_rank_0_work(told_.workers);
  const detail::self_play_setting how{game_, detail::search_of(told_), told_.drawn_moves, told_.temperature, seed_};
  const auto setting = put(how);
  const auto net = put(learner_.network());  // once to each node
  const std::uint64_t first = iteration() * static_cast<std::uint64_t>(told_.games);
  const auto parts = detail::shares(told_.games, (told_.games + 31) / 32);
  std::vector<future<detail::games_played>> calls;
  const auto start = [&] {
    const auto& [begin, count] = parts[calls.size()];
    calls.push_back(async<detail::play_itself>(setting, net, first + static_cast<std::uint64_t>(begin), count));
  };
  while (calls.size() < std::min(parts.size(), static_cast<std::size_t>(told_.workers))) start();
  return detail::values_of(parts.size(), [&](std::size_t i) {
    calls[i].wait();
    if (calls.size() < parts.size()) start();
    return detail::sentence(calls[i]);
  });
}

inline void alpha_zero::learn(std::size_t positions, report& r) {
  const int count = std::max(1, static_cast<int>(static_cast<double>(positions) * told_.reuse / told_.batch));
  rl::positions batch;
  batch.resize(environment_.observations().features(), environment_.actions().as_discrete()->n,
               static_cast<std::size_t>(told_.batch));
  std::map<std::string, double> figures;
  for (int i = 0; i < count; ++i) {
    memory_.draw(random(seed_, updates_++, 53), batch);
    learner_.learn(batch, figures);
  }
  for (const auto& [name, sum] : figures) r.learner[name] = sum / count;
}

MANTA_DECL std::string alpha_zero::state() { return output::pack(learner_.state(), memory_.state(), updates_); }

MANTA_DECL void alpha_zero::restore(const std::string& bytes, start_of_episodes) {
  std::string learner, memory;
  std::uint64_t updates = 0;
  output::unpack(bytes, learner, memory, updates);
  learner_.restore(learner);
  memory_.restore(memory);
  updates_ = updates;
}

}  // namespace manta::rl
