// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A worker of evolution strategies: an actor that tries random changes of a policy's parameters, each forwards and
// backwards for an episode. A change is the numbers of a random stream, so that only its number and what it returned
// travel; and the worker takes the learner's steps itself, by the weights of the changes.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "manta/nn/network.hpp"
#include "manta/nn/optimizer.hpp"
#include "manta/rl/environments/vector_environment.hpp"
#include "manta/rl/policies/distribution.hpp"
#include "manta/rl/policies/filter.hpp"

namespace manta::rl {

/// How parameters move: by the optimiser's step along scale * (the sum of changes times their weights) +
/// decay * parameters.
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

namespace detail {

/// What a worker is made from.
struct evolution_setting {
  any_environment environment;
  nn::network<float> net;     ///< network of which the layers count
  own_distribution own = {};  ///< distribution of which the best actions count
  double deviation = 0;       ///< deviation of changes
  std::uint64_t seed = 0;
  int moments_every = 1;  ///< how many pairs share one that gives moments of its observations

  template <class Archive>
  void serialize(Archive& archive) {
    archive(environment, net, own, deviation, seed, moments_every);
  }
};

/// The policy of an iteration.
struct evolution_policy {
  std::vector<float> parameters;
  normaliser filter;
  evolution_rule rule;  ///< empty where updates do not travel
  std::uint64_t iteration = ~std::uint64_t(0);

  template <class Archive>
  void serialize(Archive& archive) {
    archive(parameters, filter, rule, iteration);
  }
};

/// What makes the policy of an iteration of that of the iteration before.
struct evolution_update {
  std::vector<float> weights;  ///< weights of the changes
  normaliser filter;
  std::uint64_t iteration = 0;
  std::uint64_t hash = 0;  ///< hash of the parameters that come out

  template <class Archive>
  void serialize(Archive& archive) {
    archive(weights, filter, iteration, hash);
  }
};

/// What a worker sends back of its pairs.
struct evolution_trials {
  bool is_there = false;             ///< false: the worker does not have the policy before, and there is nothing else
  std::vector<double> returns = {};  ///< forwards and backwards in turn
  std::vector<std::uint32_t> lengths = {};  ///< likewise
  std::vector<moments> seen = {};           ///< moments of the pairs that give them, in their order

  template <class Archive>
  void serialize(Archive& archive) {
    archive(is_there, returns, lengths, seen);
  }
};

class evolution_worker {
 public:
  evolution_worker() = default;
  MANTA_DECL explicit evolution_worker(const evolution_setting& s);

  /// Trials of the pairs first, .., first + count - 1 of the policy's iteration.
  MANTA_DECL evolution_trials try_with(const evolution_policy& p, int first, int count);
  /// Trials of these pairs of the policy that the update makes of the one before.
  MANTA_DECL evolution_trials try_after(const evolution_update& u, int first, int count);
  /// The weighted sum of the changes first, .. of an iteration.
  MANTA_DECL std::vector<float> sum(std::uint64_t iteration, int first, const std::vector<float>& weights);

 private:
  evolution_trials tried(int first, int count);
  /// An episode of the changed policy. seen: null, or moments that its observations are added to.
  episode play(int pair, moments* seen);

  evolution_setting setting_;
  evolution_policy policy_;
  std::unique_ptr<distribution> distribution_;
  vector_environment environment_;  ///< one
  nn::matrix<float> filtered_, allowed_, sent_;
};

/// The random change of this number: normal numbers, the same wherever they are asked for.
MANTA_DECL void draw_change(std::uint64_t seed, std::uint64_t iteration, int pair, std::span<float> to);
/// The weighted sum of the changes first, ..
MANTA_DECL std::vector<float> sum_changes(std::uint64_t seed, std::uint64_t iteration, int first,
                                          const std::vector<float>& weights, std::size_t parameters);
MANTA_DECL std::uint64_t hash_of(std::span<const float> parameters);

}  // namespace detail

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/evolution/evolution_worker.ipp"
#endif
