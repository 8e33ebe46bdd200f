// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Evolution strategies (Salimans et al., 2017): a policy is moved towards random changes of its parameters that give
// larger returns. Only returns and weights of changes travel; of a large network the policy too, once to each rank.
#pragma once

#include <vector>

#include "manta/rl/evolution/evolution.hpp"

namespace manta::rl {

struct es_options {
  int workers = 1;  ///< tasks at a time, on any ranks; the result does not depend on their number
  std::uint64_t seed = 0;
  int pairs = 16;  ///< random changes of an iteration; each is tried forwards and backwards, for one episode each
  double deviation = 0.1;              ///< deviation of a random change
  double rate = 0.05;                  ///< learning rate of Adam
  double decay = 0.005;                ///< weight decay
  bool normalise_observations = true;  ///< scaled by a running filter
  model_options model = {.hidden = {16}};
  trained_policy begin_with = {};  ///< the policy of an es to begin with instead of random numbers

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(workers), CEREAL_NVP(seed), CEREAL_NVP(pairs), CEREAL_NVP(deviation), CEREAL_NVP(rate),
            CEREAL_NVP(decay), CEREAL_NVP(normalise_observations), CEREAL_NVP(model));
  }
};

/// Returns as ranks between -1/2 and 1/2, so that their size does not matter; equal returns have equal ranks.
MANTA_DECL std::vector<float> centred_ranks(const std::vector<double>& returns);

class es final : public evolution {
 public:
  using options = es_options;

  MANTA_DECL explicit es(const any_environment& e, const es_options& o = {});

 protected:
  [[nodiscard]] MANTA_DECL std::vector<float> weigh(const std::vector<double>& returns) const override;
};

}  // namespace manta::rl

#ifndef MANTA_COMPILED
#include "manta/rl/evolution/es.ipp"
#endif
