// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What computes the gradients of bc and marwil: on the learner's rank, or as actors on others. A batch is divided into
// pieces of a fixed size, whose gradients are added in their order, so the number of workers changes no bit.
#pragma once

#include <cereal/types/vector.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "manta/eigen.hpp"
#include "manta/rl/offline/episodes.hpp"
#include "manta/rl/policies/policy.hpp"

namespace manta::rl::detail {

/// The steps of all episodes as a policy reads them, a column each.
struct imitated_steps {
  nn::matrix<float> observations;  ///< features, unfiltered
  nn::matrix<float> actions;       ///< as the distribution keeps them
  action_masks masks;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(observations, actions, masks);
  }
};
/// Throws manta::error if the policy's distribution, a class of the program's own, does not keep actions as the
/// environment takes them.
MANTA_DECL imitated_steps steps_to_imitate(const episodes& data, const own_distribution& own);

/// How a step counts.
struct imitation_rule {
  double beta = 0;     ///< beta of the exponential of the advantage; 0: all steps count alike, and no value is learnt
  double value = 0;    ///< the weight of the value's loss
  double entropy = 0;  ///< the weight of the entropy
  double most = 20;    ///< the largest weight of a step
  template <class Archive>
  void serialize(Archive& archive) {
    archive(beta, value, entropy, most);
  }
};

/// A piece of a batch.
struct imitation_piece {
  std::vector<int> columns;
  std::vector<float> returns;  ///< returns of these; empty without values
  double divisor = 1;          ///< the steps of the batch
  double scale = 1;            ///< scale of advantages: the root of the mean of their squares
  template <class Archive>
  void serialize(Archive& archive) {
    archive(columns, returns, divisor, scale);
  }
};

/// Its gradients, of all parameters in the order of policy::weights, and sums over its steps.
struct imitation_gradient {
  std::vector<float> numbers;
  double log_probability = 0, value_loss = 0, entropy = 0, weight = 0, squared_advantage = 0;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(numbers, log_probability, value_loss, entropy, weight, squared_advantage);
  }
};

class imitation_worker {
 public:
  imitation_worker() = default;
  MANTA_DECL imitation_worker(const any_environment& e, const model_options& m, const imitation_rule& rule,
                              const imitated_steps& steps);
  /// The gradients of these pieces, in their order.
  MANTA_DECL std::vector<imitation_gradient> gradients(const policy::weights& w,
                                                       const std::vector<imitation_piece>& pieces);

 private:
  imitation_gradient gradient(const imitation_piece& p);
  void choose(const std::vector<int>& columns);
  /// Writes the weights of the steps, and the gradient of the values' loss.
  std::vector<float> learn_values(const imitation_piece& p, imitation_gradient& g);

  imitation_rule rule_;
  std::shared_ptr<const imitated_steps> steps_;
  policy policy_;
  std::shared_ptr<const distribution> distribution_;
  normaliser filter_;
  nn::matrix<float> raw_, observations_, actions_, allowed_, by_outputs_, by_values_;
  action_masks masks_;
};

}  // namespace manta::rl::detail

#ifndef MANTA_COMPILED
#include "manta/rl/offline/imitation_worker.ipp"
#endif
