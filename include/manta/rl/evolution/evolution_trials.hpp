// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What evolution.hpp does by tasks: trials of random changes, and sums of them. A rank keeps the policy that it worked
// with. Of a small network the next one follows from the weights of the changes, which are all that travels; a rank
// that does not have the policy before says so, and gets the whole one.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/future.hpp"
#include "manta/nn/network.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/rl/environments/environment.hpp"
#include "manta/rl/evolution/fetched_once.hpp"
#include "manta/rl/policies/distribution.hpp"
#include "manta/rl/policies/filter.hpp"

namespace manta::rl::detail {

/// What tasks need and does not change: sent once to each rank.
struct evolution_setting {
  std::string algorithm;  ///< for messages
  any_environment environment;
  nn::network<float> net;  ///< of which the layers count
  own_distribution own;    ///< of which the best actions count
  double deviation = 0;
  std::uint64_t seed = 0;
  int moments_every = 1;  ///< how many pairs share one that gives moments of its observations

  template <class Archive>
  void serialize(Archive& archive) {
    archive(algorithm, environment, net, own, deviation, seed, moments_every);
  }
};

/// How parameters move: by the optimiser's step along scale * (the sum of changes times their weights) + decay *
/// parameters.
struct evolution_rule {
  nn::optimizer optimizer;
  double scale = 1, decay = 0;

  /// Returns the norm of what the optimiser got. Overwrites the sum by it.
  MANTA_DECL double move(std::span<float> parameters, std::vector<float>& sum);
  template <class Archive>
  void serialize(Archive& archive) {
    archive(optimizer, scale, decay);
  }
};

/// The policy of an iteration: likewise once to each rank that has no other way to it.
struct evolution_policy {
  fetched_once<evolution_setting> setting;
  std::vector<float> parameters;
  normaliser filter;
  std::uint64_t iteration = 0;
  evolution_rule rule;                                    ///< empty where updates do not travel
  std::uint64_t key = 0;                                  ///< that of the setting
  std::shared_ptr<const evolution_setting> settled = {};  ///< the setting on this rank

  /// Gets the setting and lets go of its handle.
  MANTA_DECL void settle();
  template <class Archive>
  void serialize(Archive& archive) {
    archive(setting, parameters, filter, iteration, rule);
  }
};

/// What makes the policy of an iteration of that of the iteration before.
struct evolution_update {
  std::uint64_t key = 0;  ///< that of the setting
  std::uint64_t iteration = 0;
  std::uint64_t hash = 0;      ///< of the parameters that come out
  std::vector<float> weights;  ///< of the changes
  normaliser filter;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(key, iteration, hash, weights, filter);
  }
};

/// What a task sends back of its pairs. Returns and lengths travel as shorter numbers where these have the same value.
struct evolution_trials {
  bool is_there = false;             ///< false: the rank does not have the policy before, and there is nothing else
  int rank = -1;                     ///< that one
  std::vector<double> returns = {};  ///< forwards and backwards in turn
  std::vector<std::uint32_t> lengths = {};  ///< likewise
  std::vector<moments> seen = {};           ///< of the pairs that give them, in their order

  [[nodiscard]] MANTA_DECL bool are_short() const;
  template <class Archive>
  void save(Archive& archive) const {
    const std::uint8_t form = !is_there ? 2 : are_short() ? 1 : 0;
    archive(form);
    if (!is_there) archive(rank);
    if (form == 1) {
      archive(std::vector<float>(returns.begin(), returns.end()),
              std::vector<std::uint16_t>(lengths.begin(), lengths.end()), seen);
    } else if (form == 0) {
      archive(returns, lengths, seen);
    }
  }
  template <class Archive>
  void load(Archive& archive) {
    std::uint8_t form = 0;
    archive(form);
    is_there = form != 2;
    if (!is_there) archive(rank);
    if (form == 1) {
      std::vector<float> r;
      std::vector<std::uint16_t> l;
      archive(r, l, seen);
      returns.assign(r.begin(), r.end());
      lengths.assign(l.begin(), l.end());
    } else if (form == 0) {
      archive(returns, lengths, seen);
    }
  }
};

/// The random change of this number: normal numbers, the same wherever they are asked for.
MANTA_DECL void draw_change(std::uint64_t seed, std::uint64_t iteration, int pair, std::span<float> to);
/// The weighted sum of the changes first, ... of an iteration.
MANTA_DECL std::vector<float> sum_changes(const evolution_setting& s, std::uint64_t iteration, int first,
                                          const std::vector<float>& weights);
MANTA_DECL std::uint64_t hash_of(std::span<const float> parameters);

/// Tasks: trials of the pairs first, .., first + count - 1, with a policy, or with that which an update makes.
MANTA_DECL evolution_trials try_pairs(future<evolution_policy> policy, std::uint64_t key, int first, int count);
MANTA_DECL evolution_trials try_pairs_after(const evolution_update& update, int first, int count);
/// A task: the weighted sum of the changes first, ... as sum_changes.
MANTA_DECL std::vector<float> sum_pairs(future<evolution_policy> policy, std::uint64_t key, int first,
                                        const std::vector<float>& weights);
/// A task: joins two of these sums.
MANTA_DECL std::vector<float> add_sums(std::vector<float> a, const std::vector<float>& b);

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/evolution/evolution_trials.ipp"
#endif
