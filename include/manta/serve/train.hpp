// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins serve and train: the checkpoint of a trainer, or of a search over a recipe, behind a queue in one line.
//
//   auto d = serve::deploy_checkpoint({.name = "digits", .max_batch = 32}, "checkpoint");
//   auto e = serve::deploy_checkpoint({.name = "digits"}, results.best_checkpoint());  // of tune::run<train::trial<R>>
#pragma once

#include <string>

#include "manta/serve/nn.hpp"
#include "manta/train.hpp"

namespace manta::serve {

/// A deployment of the nn::network<float> in a file that trainer::save has written. Throws manta::error if it
/// cannot be read.
inline deployment<std::vector<float>(std::vector<float>)> deploy_checkpoint(const options& o, const std::string& path) {
  return deploy_network(o, train::load_model<nn::network<float>>(path));
}

/// Deploys the network in a checkpoint of a trial, train::trial<Recipe>: anything that has `unpack(train::state&)`.
template <class Checkpoint>
  requires requires(const Checkpoint& c, train::state& s) { c.unpack(s); }
deployment<std::vector<float>(std::vector<float>)> deploy_checkpoint(const options& o, const Checkpoint& best) {
  train::state s;
  best.unpack(s);
  return deploy_network(o, train::model_in<nn::network<float>>(s));
}

}  // namespace manta::serve
