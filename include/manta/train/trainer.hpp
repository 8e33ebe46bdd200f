// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A trainer: data-parallel training of a recipe (learner.hpp) by workers, which are the members of a gang.
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

#include <chrono>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <typeinfo>
#include <vector>

#include "manta/actor.hpp"
#include "manta/base/demangle.hpp"
#include "manta/output/saved_state.hpp"
#include "manta/train/fit.hpp"
#include "manta/train/learner.hpp"
#include "manta/train/options.hpp"
#include "manta/train/state.hpp"
#include "manta/train/summary.hpp"
#include "manta/train/worker.hpp"

namespace manta::train {

/// The steps to the end of the epoch.
inline constexpr std::uint64_t whole_epoch = std::numeric_limits<std::uint64_t>::max();

namespace detail {
class fit_bar;

/// The trainer without the recipe's type. Its workers hold their ranks. Where another trainer of this process needs
/// these, a trainer that is not at work parks: it keeps its state and lets its workers end, and starts new ones at its
/// next use.
class trainer_core {
 public:
  MANTA_DECL trainer_core(learner_name what, const options& o);
  trainer_core(const trainer_core&) = delete;
  trainer_core& operator=(const trainer_core&) = delete;
  MANTA_DECL ~trainer_core();

  MANTA_DECL summary train(std::uint64_t steps);
  MANTA_DECL summary validate();
  MANTA_DECL history fit(const fit_options& o, bool validates);
  [[nodiscard]] MANTA_DECL train::state state();
  MANTA_DECL void restore(const train::state& s);
  MANTA_DECL void save(const std::string& path);
  MANTA_DECL void load(const std::string& path);
  [[nodiscard]] MANTA_DECL std::string model();
  MANTA_DECL void rate(double r);

 private:
  /// At most `steps` steps, added to what the pass gave before. After a death the workers that are left make those that
  /// are missing.
  pass_result train_some(std::uint64_t steps, pass_result before = {});
  /// A piece of it, after which the trainer has the state, in a job that goes on when ranks die.
  void train_piece(std::uint64_t steps);
  /// The steps between two states, in an epoch of this number of samples.
  [[nodiscard]] std::uint64_t piece_of_epoch(std::uint64_t samples) const;
  /// What is left of the epoch, in pieces between which the bar moves and the end of the run is noticed.
  summary train_epoch(const fit_options& o, fit_bar& bar, const std::function<void()>& save_checkpoint);
  /// A few samples, whose metrics are those that each epoch will have.
  summary glance();
  /// Throws if no epoch has what early stopping looks at.
  void check_watched(const fit_options& o);
  /// The state with the epochs of fit.
  [[nodiscard]] train::state state_with(const history& h);
  history load_with_history(const std::string& path);
  [[nodiscard]] static train::state read(const std::string& path);
  static void write(const train::state& s, const std::string& path);
  /// Starts the workers if there are none, from the parked state if there is one.
  void wake();
  void start_workers();
  void park();
  /// After the death of a worker's rank: the next use starts workers on the ranks that are left, from what the other
  /// workers have reached, else from the last good state.
  void bury();
  /// Throws: one worker after the other dies at the same place.
  [[noreturn]] void give_up() const;
  /// Remembers the state, in a job that goes on when ranks die.
  void remember();
  /// Has other trainers park until there are ranks enough.
  void make_room();
  template <class Call>
  auto call(Call&& c);

  learner_name what_;
  options options_;
  actor<worker> workers_;
  bool has_workers_ = false, is_busy_ = false, was_started_ = false;
  bool lost_a_rank_ = false;
  train::state parked_;
  std::vector<int> ranks_;  ///< of the workers that were started last
  std::uint64_t number_ = std::uint64_t{std::random_device{}()} << 32U | std::random_device{}();
  /// After the last call that changed it, or the last step that a death has left, in a job that goes on when ranks die.
  train::state good_;
  pass_result before_;       ///< of the pass under way: what it gave up to good_
  std::uint64_t piece_ = 1;  ///< steps that take much longer than a state's way to the trainer
  std::chrono::steady_clock::time_point good_since_;
  std::uint64_t last_use_ = 0;
};

/// Null only after a mistake that the compiler has reported.
template <class Recipe>
std::unique_ptr<trainer_core> start_trainer(const Recipe& r, const options& o) {
  if constexpr (require_recipe<Recipe>()) return std::make_unique<trainer_core>(learner_of<Recipe>::name(r), o);
  return nullptr;
}
}  // namespace detail

/// `Recipe` has the members that learner.hpp lists.
template <class Recipe>
class trainer {
 public:
  using model_type = typename detail::model_of<Recipe>::type;

  /// Starts the workers, which make model and data; waits. Throws manta::unschedulable if there are too few ranks, and
  /// manta::error if a recipe cannot be trained: without data, with a batch larger than the data, or with models that
  /// differ between workers.
  explicit trainer(const Recipe& r, const options& o = {}) : core_(detail::start_trainer(r, o)) {}

  /// An epoch, or what is left of it, or fewer steps; waits. Under manta-run, when the rank of a worker dies, the call
  /// goes on with the ranks that are left, from what the other workers hold in memory: the step under way is made
  /// again, or all local steps since the workers met, and no sample is left out or taken twice. If no worker is left,
  /// the call goes on from the last state that the trainer has: that at the begin of the call, or of a worker alone one
  /// of a little while ago. Throws manta::rank_lost if four workers have died in one step, and manta::error with the
  /// number of the batch if the loss becomes NaN or infinite; the parameters are those before that step then.
  summary train(std::uint64_t steps = whole_epoch) { return core_->train(steps); }
  /// The mean over the validation data; waits.
  summary validate() { return core_->validate(); }

  /// Trains epoch by epoch, with validation, until the options say that it is enough; waits. Files that cannot be
  /// written are refused before the first step. Errors as those of train, load and save, and manta::cancelled if the
  /// run has to end before (a checkpoint is written first).
  history fit(const fit_options& o) {
    return core_->fit(
        o, requires(const Recipe& r) { r.validation_data(); });
  }

  /// Sets the optimiser's rate, from the next step on; a recipe's learning_rate() sets it again in each step.
  void rate(double r) { core_->rate(r); }

  /// Everything that is needed to go on, as a value.
  [[nodiscard]] train::state state() const { return core_->state(); }
  /// Goes on from there, also with another number of workers: with the same number bit for bit. Throws manta::error,
  /// and changes nothing, if the state is of another architecture.
  void restore(const train::state& s) { core_->restore(s); }
  /// Writes the state to a file, at once or not at all: if the disk is full, the file that was there is intact.
  void save(const std::string& path) const { core_->save(path); }
  /// As restore, from a file.
  void load(const std::string& path) { core_->load(path); }

  /// A copy of the model as it is now.
  [[nodiscard]] model_type model() const {
    model_type m;
    output::unpack(core_->model(), m);
    return m;
  }

 private:
  std::unique_ptr<detail::trainer_core> core_;
};

/// The model in a state of a trainer. `Model`: the recipe's type of it.
template <nn::module Model>
Model model_in(const state& s) {
  Model m;
  try {
    output::unpack(s.learner, m);
  } catch (const std::exception& e) {
    throw error("manta: train: the state is of the model " + s.model + ", and cannot be read as " +
                base::demangle(typeid(Model).name()) + ", which has to be the recipe's type of it: " + e.what());
  }
  return m;
}

/// The model in a checkpoint of a trainer, without a trainer. `Model`: the recipe's type of it.
template <nn::module Model>
Model load_model(const std::string& path) {
  state s;
  output::unpack(output::read_state(path, "train"), s);
  return model_in<Model>(s);
}

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/trainer.ipp"

#include "manta/train/fit.ipp"
#endif
