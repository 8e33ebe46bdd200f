// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Evaluations: a policy takes its best actions in episodes of its own. They are divided into parts whose number depends
// on that of the episodes alone, and each part is a task, so that any number of ranks comes to the same result.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manta/async.hpp"
#include "manta/future.hpp"
#include "manta/nn/network.hpp"
#include "manta/rl/distribution.hpp"
#include "manta/rl/environment.hpp"
#include "manta/rl/filter.hpp"
#include "manta/rl/policy.hpp"
#include "manta/rl/report.hpp"
#include "manta/rl/vector_environment.hpp"

namespace manta::rl::detail {

/// What takes a policy's best actions, as a value that tasks can have. The outputs of the network are those that the
/// distribution of the environment's actions reads, after tanh if they are squashed.
class best_policy {
 public:
  best_policy() = default;
  MANTA_DECL best_policy(const any_environment& e, nn::network<float> net, moments filter, own_distribution own = {},
                         bool is_squashed = false);

  /// The best action for each column of unfiltered observations, as the environment takes it, of those that are
  /// allowed. A policy with a memory takes them for the next step of the same episodes; those that have ended are of no
  /// interest. Throws manta::error if the network's outputs are not finite.
  MANTA_DECL const nn::matrix<float>& actions(const nn::matrix<float>& observations, const masks& m);
  /// Likewise for the present states of environments; an error says in which one it happened.
  const nn::matrix<float>& actions(const vector_environment& e) {
    read(e.observations());
    e.require_finite(outputs_);
    return choose(e.masks());
  }
  /// Other episodes begin.
  void forget() { forward_.forget(); }
  [[nodiscard]] const any_environment& environment() const { return environment_; }
  [[nodiscard]] bool remembers() const { return net_.state_size() > 0; }
  /// What is remembered of the episodes, `count` of them, a column each; no rows without a memory.
  [[nodiscard]] nn::matrix<float> memories(Eigen::Index count) const { return forward_.states(net_, count); }
  void set_memories(const nn::matrix<float>& m) { forward_.set_states(net_, m); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(environment_, net_, filter_, own_distribution_, is_squashed_);
  }

 private:
  /// The network's outputs for unfiltered observations.
  MANTA_DECL void read(const nn::matrix<float>& observations);
  /// The best actions by the outputs.
  MANTA_DECL const nn::matrix<float>& choose(const masks& m);

  any_environment environment_;
  nn::network<float> net_;
  moments filter_;
  own_distribution own_distribution_;
  bool is_squashed_ = false;
  even_forward forward_;
  std::shared_ptr<const distribution> distribution_;  ///< made with the normaliser, by the first call
  normaliser normaliser_;
  nn::matrix<float> filtered_, outputs_, actions_;
};

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

/// The first episodes of the environments first, .., first + count - 1. `actions` gives those for a
/// vector_environment.
template <class Actions>
evaluated play(const any_environment& e, std::uint64_t seed, int first, int count, Actions&& actions) {
  constexpr int longest = 100'000;  // steps of an episode in an environment without an end
  const auto begin = std::chrono::steady_clock::now();
  vector_environment environments(e, seed ^ evaluation_purpose, first, count);
  environments.reset();
  evaluated out;
  std::vector<char> has_ended(static_cast<std::size_t>(count));
  for (int step = 0; step < longest && out.episodes.size() < has_ended.size(); ++step) {
    environments.step(actions(environments));
    for (episode& ended : environments.take_episodes()) {
      if (!std::exchange(has_ended[ended.environment - static_cast<std::uint64_t>(first)], 1))
        out.episodes.push_back(std::move(ended));
    }
  }
  if (const auto endless = std::ranges::find(has_ended, 0); endless != has_ended.end())
    environments.fail(endless - has_ended.begin(),
                      "the episode has not ended, and an evaluation has no return of it; give the environment a limit, "
                      "such as rl::environment<E>().with_time_limit(1000)");
  out.seconds = since(begin);
  return out;
}

/// The report of all parts.
MANTA_DECL report join_evaluation(const std::vector<evaluated>& parts, std::uint64_t iteration);

/// Divides episodes into parts, whose number depends on that of the episodes alone: start(first, count) gives the
/// future of one.
template <class Start>
future<report> in_parts(int episodes, std::uint64_t iteration, Start&& start) {
  if (episodes < 1) throw error("manta: rl: evaluate needs at least one episode");
  constexpr int columns = 32;  // of one forward pass, of which a smaller one is no faster
  std::vector<future<evaluated>> parts;
  for (const auto& [first, count] : shares(episodes, (episodes + columns - 1) / columns))
    parts.push_back(start(first, count));
  return async<join_evaluation>(parts, iteration);
}

/// Runs these episodes by tasks, on seeds that training does not use. The report counts their steps; its seconds are
/// those of all ranks together.
MANTA_DECL future<report> start_evaluation(const future<best_policy>& policy, std::uint64_t seed, int episodes,
                                           std::uint64_t iteration);

/// The first of these episodes as texts, one for each state; none where the environment has no text().
MANTA_DECL std::vector<std::string> draw_episode(best_policy policy, std::uint64_t seed, int longest);

/// Returns and lengths of episodes.
MANTA_DECL void summarise(const std::vector<episode>& episodes, report& r);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/evaluation.ipp"
#endif
