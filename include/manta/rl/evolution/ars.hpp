// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Augmented random search (Mania, Guy, Recht, 2018): a linear policy is moved along those of its random changes that
// gave the largest returns, each times the difference of its two returns. V2 filters observations, V1 does not
// (.normalise_observations); with .top = .pairs all changes count, as in V1-t and V2-t without t.
#pragma once

#include <vector>

#include "manta/rl/evolution/evolution.hpp"

namespace manta::rl {

struct ars_options {
  int workers = 1;  ///< tasks at a time, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int pairs = 16;  ///< random changes of an iteration; each is tried forwards and backwards, for one episode each
  int top = 8;     ///< pairs that count: those with the largest of their two returns
  double deviation = 0.05;             ///< deviation of a random change
  double rate = 0.02;                  ///< rate of a step, in deviations of the returns that count
  bool normalise_observations = true;  ///< scaled by a running filter
  model_options model = {.hidden = {}};
  trained_policy begin_with = {};  ///< the policy of an ars to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(pairs), CEREAL_NVP(top), CEREAL_NVP(deviation),
            CEREAL_NVP(rate), CEREAL_NVP(normalise_observations), CEREAL_NVP(model));
  }
};

/// The weight of each change from the returns, forwards and backwards in turn: the difference of its two returns
/// over their deviation and `top`, for the `top` changes with the largest returns; 0 for others, and where all
/// returns are equal.
MANTA_DECL std::vector<float> top_weights(const std::vector<double>& returns, int top);

class ars final : public evolution {
 public:
  using options = ars_options;

  MANTA_DECL explicit ars(const any_environment& e, const ars_options& o = {});

 protected:
  [[nodiscard]] MANTA_DECL std::vector<float> weigh(const std::vector<double>& returns) const override;

 private:
  ars_options options_;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/evolution/ars.ipp"
#endif
