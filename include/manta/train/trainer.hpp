// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A trainer: data-parallel training of a recipe (recipe.hpp) by workers, which are the members of a gang.
//
//   train::trainer trainer(fashion{.rate = 3e-4f}, {.workers = 4, .batch = 256, .seed = 1});
//   for (int epoch = 0; epoch < 5; ++epoch) {
//     train::summary t = trainer.train(), v = trainer.validate();
//     std::cout << t.loss << ' ' << v["accuracy"] << '\n';
//   }
//   trainer.save("checkpoint");
//   nn::network<float> net = trainer.model();
//   trainer.fit({.epochs = 20, .maximise = "accuracy", .patience = 3, .checkpoint = "checkpoint"});  // all in one
//   (fit.hpp)
//
// Any number of trainers may exist: those that are not at work give their ranks to the one that is. The result does not
// depend on the number of workers, but for the rounding of sums, and is the same bits from run to run.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <typeinfo>

#include "manta/base/demangle.hpp"
#include "manta/base/text.hpp"
#include "manta/base/unknown_options.hpp"
#include "manta/output/bytes.hpp"
#include "manta/train/evaluation.hpp"
#include "manta/train/fit.hpp"
#include "manta/train/learner_of.hpp"
#include "manta/train/options.hpp"
#include "manta/train/rate_finder.hpp"
#include "manta/train/state.hpp"
#include "manta/train/summary.hpp"

namespace manta::train {

/// The steps to the end of the epoch.
inline constexpr std::uint64_t whole_epoch = std::numeric_limits<std::uint64_t>::max();

namespace detail {

/// A trainer without the recipe's type (trainer_core.hpp).
class any_trainer {
 public:
  virtual ~any_trainer() = default;
  virtual summary train(std::uint64_t steps) = 0;
  virtual summary validate() = 0;
  virtual history fit(const fit_options& o, bool validates) = 0;
  [[nodiscard]] virtual train::state state() = 0;
  virtual void restore(const train::state& s, settings hold) = 0;
  virtual void save(const std::string& path) = 0;
  virtual void load(const std::string& path, settings hold) = 0;
  [[nodiscard]] virtual std::string model() = 0;
  [[nodiscard]] virtual train::columns columns() const = 0;
  virtual void rate(double r) = 0;
};

MANTA_DECL std::unique_ptr<any_trainer> start_trainer(learner_name what, const options& o);
/// Throws if the recipe sets the rate itself, in each step.
MANTA_DECL void require_own_rate(bool recipe_has_schedule, const std::string& reason);
/// Reads the state in a checkpoint of a trainer. Throws if the file cannot be read.
MANTA_DECL state read_checkpoint(const std::string& path);

}  // namespace detail

/// `Recipe` has the members that recipe.hpp lists.
template <class Recipe>
class trainer {
 public:
  using model_type = typename detail::model_of<Recipe>::type;

  /// Starts the workers, which make model and data; waits. Throws manta::unschedulable if there are too few ranks, and
  /// manta::error if a recipe cannot be trained: without data, with a batch larger than the data, with models or data
  /// that differ between workers, or with a network that ends with what its loss has already.
  explicit trainer(const Recipe& r, const options& o = {}) : recipe_(r) {
    if constexpr (detail::require_recipe<Recipe>()) {
      std::string bytes = detail::recipe_bytes(r);
      core_ = detail::start_trainer(detail::learner_of<Recipe>::name(std::move(bytes)), o);
    }
  }
  trainer() = delete;  // manta: train: a trainer is made of a recipe: trainer(recipe, {.workers = 2})
  template <std::size_t N>
  trainer(const Recipe&, base::unknown_options<N>) = delete;  // manta: train::options has no such name, or other types
  template <class Other>
    requires(!std::is_convertible_v<const Other&, options>)
  trainer(const Recipe&, const Other&)  // manta: options are given by name: trainer(recipe, {.workers = 2})
  = delete;

  /// An epoch, or what is left of it, or fewer steps; waits. Under manta-run, when the rank of a worker dies, the call
  /// goes on with the ranks that are left, from what the other workers hold in memory: the step under way is made
  /// again, or all local steps since the workers met, and no sample is left out or taken twice. If no worker is left,
  /// the call goes on from the last state that the trainer has: the one from the start of the call or, with a single
  /// worker, a more recent one that the worker has sent. Throws manta::rank_lost if four workers have died in one step,
  /// and manta::error, with the number of the batch and what is wrong with it, if loss or gradients become NaN or
  /// infinite: the step is not made then, and the parameters are those before it.
  summary train(std::uint64_t steps = whole_epoch) { return core_->train(steps); }
  /// The mean over the validation data; waits.
  summary validate() { return core_->validate(); }

  /// The mean of loss and metrics over other data, such as a test set, by tasks on all ranks (evaluation.hpp); waits.
  [[nodiscard]] summary evaluate(const samples& data) const { return train::evaluate(recipe_, model(), data); }
  /// What the model gives for each sample, outputs x samples, by tasks on all ranks; waits. scores.hpp says how
  /// good that is.
  [[nodiscard]] auto predict(const samples& data) const { return train::predict(model(), data); }
  /// Predictions for samples without targets: a matrix of features x samples.
  template <class X>
    requires requires { typename X::Scalar; }
  [[nodiscard]] auto predict(const X& x) const {
    using number = typename model_type::scalar;
    return train::predict(model(), nn::matrix<number>(x.template cast<number>()));
  }

  template <class X>
    requires(!requires { typename X::Scalar; } && !std::is_convertible_v<const X&, samples>)
  void predict(const X&) const = delete;  // manta: train: predict takes samples, or a matrix, features x samples
  template <class... Others>
    requires(sizeof...(Others) != 1)
  void predict(const Others&...) const = delete;  // manta: train: predict takes samples, or a matrix alone
  template <class... Others>
    requires(sizeof...(Others) != 1)
  void evaluate(const Others&...) const = delete;  // manta: train: evaluate takes samples: evaluate({x, labels})

  /// Trains epoch by epoch, with validation, until the options say that it is enough; waits. Files that cannot be
  /// written are refused before the first step. Errors as those of train, load and save, and manta::cancelled if the
  /// run has to end before (a checkpoint is written first).
  history fit(const fit_options& o) {
    if (o.plateau) detail::require_own_rate(has_schedule, "fit with .plateau lowers it");
    return core_->fit(
        o, requires(const Recipe& r) { r.validation_data(); });
  }
  template <std::size_t N>
  history fit(base::unknown_options<N>) = delete;  // manta: train::fit_options has no such name, or other types
  template <class... Others>
  history fit(int, const Others&...) = delete;  // manta: options are given by name: fit({.epochs = 10})

  /// Looks for a good rate (rate_finder.hpp); waits. The training is afterwards where it was before. Throws if the
  /// recipe has learning_rate(), or if no step can be made.
  rate_curve find_rate(const rate_search& search = {}) {
    detail::require_own_rate(has_schedule, "find_rate tries others");
    return detail::find_rate(*core_, search);
  }

  /// Sets the optimiser's rate, from the next step on; a recipe's learning_rate() sets it again in each step.
  void rate(double r) { core_->rate(r); }

  /// Everything that is needed to go on, as a value.
  [[nodiscard]] train::state state() const { return core_->state(); }
  /// Goes on from there, also with another number of workers: with the same number bit for bit. Where the recipe says
  /// otherwise than the state, a line on standard error names both and what holds. Throws manta::error, and changes
  /// nothing, if the state is of another architecture or kind of optimiser.
  void restore(const train::state& s, settings hold = settings::latest) { core_->restore(s, hold); }
  /// Writes the state to a file, at once or not at all: if the disk is full, the file that was there is intact.
  void save(const std::string& path) const { core_->save(path); }
  /// As restore, from a file.
  void load(const std::string& path, settings hold = settings::latest) { core_->load(path, hold); }

  /// A copy of the model as it is now, which predicts: it is not in training mode. If the optimiser keeps means of the
  /// parameters (.ema), the copy has those, as validate() does.
  [[nodiscard]] model_type model() const {
    model_type m;
    output::unpack(core_->model(), m);
    return detail::in_use(std::move(m));
  }
  /// What the columns of the training data's table are: names, words of the classes, and statistics by which a sample
  /// has to be normalised before a prediction. Empty for other data.
  [[nodiscard]] train::columns columns() const { return core_->columns(); }

 private:
  static constexpr bool has_schedule = requires(const Recipe& r) { r.learning_rate(1.); };

  Recipe recipe_;
  std::unique_ptr<detail::any_trainer> core_;
};

/// The model in a state of a trainer, which predicts: as trainer::model gives it. `Model`: the recipe's type of it.
template <nn::module Model>
Model model_in(const state& s) {
  Model m;
  try {
    if (nn::optimizer o; o.is_named(s.optimizer)) {
      output::unpack(s.learner, m, o);
      const auto averages = o.averages<typename Model::scalar>();
      std::ranges::copy(averages, m.parameters().begin());
    } else {
      output::unpack(s.learner, m);
    }
  } catch (const std::exception& e) {
    throw error(base::text(
        "manta: train: the state is of the model {}, and cannot be read as {}, which has to be the recipe's type of "
        "it: {}",
        s.model, base::demangle(typeid(Model).name()), e.what()));
  }
  return detail::in_use(std::move(m));
}

/// The model in a checkpoint of a trainer, without a trainer. `Model`: the recipe's type of it.
template <class Model>
Model load_model(const std::string& path) {
  constexpr bool is_module = nn::module<Model>;
  static_assert(is_module,
                "manta: train: load_model gives the network of a recipe: train::load_model<nn::network<float>>(path)");
  if constexpr (is_module) return model_in<Model>(detail::read_checkpoint(path));
}
/// What a checkpoint says of the columns of its training data's table.
inline columns load_columns(const std::string& path) { return detail::read_checkpoint(path).columns; }

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/trainer_core.ipp"

#include "manta/train/fit.ipp"
#include "manta/train/rate_finder.ipp"
#endif
