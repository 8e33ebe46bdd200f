// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins tune and train: a recipe (train/learner.hpp) as a trial of a search. The parameters of the space are members of
// the recipe, by the names that its serialize gives them.
//
//   auto best = tune::run<train::trial<fashion>>({{"rate", tune::loguniform(1e-4, 1e-1)}},
//                                                {.maximise = "accuracy", .trials = 30, .scheduler =
//                                                tune::asha()}).best();
#pragma once

#include "manta/train.hpp"
#include "manta/tune/configured.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/trainable.hpp"

namespace manta::train {

/// One trial trains a recipe by one worker, on the rank of the trial. Each report is an epoch: the metrics of the
/// validation data ("loss", "accuracy", ..), and "train_loss"; without validation data those of the training. The
/// recipe may have `train::options options() const` (batch, seed, ..) and `int epochs() const`, after which the trial
/// ends by itself.
template <class Recipe>
class trial {
  static_assert(recipe<Recipe>,
                "manta: train: a recipe needs model(), optimizer(), loss() and training_data(), all const; a "
                "train::trainer of it says which one is missing");

 public:
  void setup(const tune::config& c) {
    recipe_ = {};
    tune::configure(recipe_, c, "the recipe");
    train::options o;
    if constexpr (requires { recipe_.options(); }) o = recipe_.options();
    o.workers = 1;
    worker_ = std::make_unique<detail::worker>(detail::alone(), detail::learner_of<Recipe>::name(recipe_), o);
    worker_->open();
  }

  tune::metrics step() {
    const summary t = detail::summary_of(worker_->train(whole_epoch), 0);
    tune::metrics m;
    summary shown = t;
    if constexpr (requires { recipe_.validation_data(); })
      shown = detail::summary_of(detail::joined(worker_->validate()), 0);
    m.set("loss", shown.loss);
    for (const auto& [name, value] : shown.metrics) m.set(name, value);
    m.set("train_loss", t.loss);
    return m;
  }

  [[nodiscard]] state save() const { return worker_->save(); }
  /// Takes parameters and moments, and keeps the settings of this trial's optimiser: PBT changes them.
  void load(const state& s) { worker_->restore(s, true); }
  [[nodiscard]] bool done() const {
    if constexpr (requires { recipe_.epochs(); })
      return worker_->epoch() >= static_cast<std::uint64_t>(recipe_.epochs());
    return false;
  }

 private:
  Recipe recipe_{};
  std::unique_ptr<detail::worker> worker_;
};

}  // namespace manta::train
