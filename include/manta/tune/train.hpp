// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Joins tune and train: a recipe (train/recipe.hpp) as a trial of a search. The parameters of the space are members of
// the recipe, by the names that its serialize gives them.
//
//   auto best = tune::run<train::trial<fashion>>({{"rate", tune::loguniform(1e-4, 1e-1)}},
//                                                {.maximise = "accuracy", .trials = 30, .scheduler =
//                                                tune::asha()}).best();
#pragma once

#include "manta/train.hpp"
#include "manta/train/worker.hpp"
#include "manta/tune/configured.hpp"
#include "manta/tune/metrics.hpp"
#include "manta/tune/random.hpp"
#include "manta/tune/trainable.hpp"

namespace manta::train {

namespace detail {

/// What trials of one worker and of several have in common.
template <class Recipe>
class recipe_trial {
  static_assert(recipe<Recipe>,
                "manta: train: a recipe needs model(), optimizer(), loss() and training_data(), all const; a "
                "train::trainer of it says which one is missing");

 public:
  tune::metrics step() {
    const summary t = summary_of(worker_->train(whole_epoch), 0);
    tune::metrics m;
    summary shown = t;
    if constexpr (requires { recipe_.validation_data(); }) shown = summary_of(worker_->validate_together(), 0);
    m.set("loss", shown.loss);
    for (const auto& [name, value] : shown.metrics) m.set(name, value);
    m.set("train_loss", t.loss);
    return m;
  }

  /// With .repeats of the experiment, each run but the first has another seed than the recipe's options say.
  void repeat(int k) { repeat_ = k; }
  [[nodiscard]] state save() const { return worker_->save(); }
  /// Takes parameters and moments, and keeps the settings of this trial's optimiser: PBT changes them.
  void load(const state& s) { worker_->restore(s, taken::moments); }
  [[nodiscard]] bool done() const {
    if constexpr (requires { recipe_.epochs(); })
      return worker_->epoch() >= static_cast<std::uint64_t>(recipe_.epochs());
    return false;
  }

 protected:
  /// The recipe with these members, trained by these workers.
  void begin(const team& workers, const tune::config& c) {
    recipe_ = {};
    tune::configure(recipe_, c, "the recipe");
    train::options o;
    if constexpr (requires { recipe_.options(); }) o = recipe_.options();
    o.workers = workers.size();
    if (repeat_ > 0) o.seed = tune::random(o.seed, static_cast<std::uint64_t>(repeat_)).bits();
    worker_ = std::make_unique<worker>(workers, learner_of<Recipe>::name(recipe_bytes(recipe_)), o);
    worker_->open();
  }

 private:
  Recipe recipe_{};
  int repeat_ = 0;
  std::unique_ptr<worker> worker_;
};

}  // namespace detail

/// One trial trains a recipe by one worker, on the rank of the trial. Each report is an epoch: the metrics of the
/// validation data ("loss", "accuracy", ..), and "train_loss"; without validation data those of the training. The
/// recipe may have `train::options options() const` (batch, seed, ..) and `int epochs() const`, after which the trial
/// ends by itself.
template <class Recipe>
class trial : public detail::recipe_trial<Recipe> {
 public:
  void setup(const tune::config& c) { this->begin(detail::alone(), c); }
};

/// As `trial`, by several workers together: each trial is a gang of as many ranks as .ranks of the experiment says.
///
///   tune::run<train::gang_trial<fashion>>(space, {.maximise = "accuracy", .trials = 30, .ranks = 4});
template <class Recipe>
class gang_trial : public detail::recipe_trial<Recipe> {
 public:
  void setup(team workers, const tune::config& c) { this->begin(workers, c); }
};

}  // namespace manta::train
