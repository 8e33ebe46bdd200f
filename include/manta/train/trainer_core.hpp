// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A trainer without the recipe's type: it calls the workers, keeps what a death must not cost, and
// runs whole trainings.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "manta/actor.hpp"
#include "manta/train/shared_data.hpp"
#include "manta/train/trainer.hpp"
#include "manta/train/worker.hpp"

namespace manta::train::detail {

class fit_bar;
class kept_states;

/// Its workers hold their ranks. Where another trainer of this process needs these, a trainer that is not at work
/// parks: it keeps its state and lets its workers end, and starts new ones at its next use.
class trainer_core final : public any_trainer {
 public:
  MANTA_DECL trainer_core(learner_name what, const options& o);
  trainer_core(const trainer_core&) = delete;
  trainer_core& operator=(const trainer_core&) = delete;
  MANTA_DECL ~trainer_core() override;

  MANTA_DECL summary train(std::uint64_t steps) override;
  MANTA_DECL summary validate() override;
  MANTA_DECL history fit(const fit_options& o, bool validates) override;
  [[nodiscard]] MANTA_DECL train::state state() override;
  MANTA_DECL void restore(const train::state& s, settings hold) override;
  MANTA_DECL void save(const std::string& path) override;
  MANTA_DECL void load(const std::string& path, settings hold) override;
  [[nodiscard]] MANTA_DECL std::string model() override;
  [[nodiscard]] train::columns columns() const override { return opened_.columns; }
  MANTA_DECL void rate(double r) override;

 private:
  /// At most `steps` steps, added to what the pass gave before. After a death the workers that are left make those
  /// that are missing.
  pass_result train_some(std::uint64_t steps, pass_result before = {});
  /// A piece of it, after which the trainer has the state, in a job that goes on when ranks die.
  void train_piece(std::uint64_t steps);
  /// The steps between two states, in an epoch of this number of samples.
  [[nodiscard]] std::uint64_t piece_of_epoch(std::uint64_t samples) const;
  /// What is left of the epoch, in pieces between which the bar moves, callbacks are called and the end of the run is
  /// noticed. Nothing if a callback ends the training before the epoch is complete; h.ended says which.
  std::optional<summary> train_epoch(const fit_options& o, fit_bar& bar, history& h,
                                     const std::function<void()>& save_checkpoint);
  void keep_states(const fit_options& o, const history& h, const kept_states& kept, train::state& best);
  /// A few samples, whose metrics are those that each epoch will have.
  summary glance();
  /// Throws if no epoch has what early stopping looks at.
  void check_watched(const fit_options& o);
  /// The state with the epochs of fit.
  [[nodiscard]] train::state state_with(const history& h);
  /// Goes on from the checkpoint of fit, if it is there and wanted.
  history go_on_from(const fit_options& o);
  /// Throws if all epochs are made, but by a recipe or with options that said something else.
  void check_finished(const fit_options& o, const history& h) const;

  /// As restore; gives the names of the settings that differ from the state's.
  std::vector<std::string> restore_from(const train::state& s, settings hold, const std::string& name);
  /// Starts the workers if there are none, from the parked state if there is one.
  void wake();
  void start_workers();
  void park();
  /// After the death of a worker's rank: the next use starts workers on the ranks that are left, from what the other
  /// workers have reached, else from the last good state.
  void bury();
  /// Throws: one worker after the other dies at the same place.
  [[noreturn]] void give_up() const;
  /// Throws: no ranks can be the workers.
  [[noreturn]] void refuse_workers() const;
  /// Remembers the state, in a job that goes on when ranks die.
  void remember();
  /// Has other trainers park until there are ranks enough.
  void make_room();
  template <class Call>
  auto call(Call&& c);

  learner_name what_;
  options options_;
  shared_data data_;
  actor<worker> workers_;
  bool has_workers_ = false, is_busy_ = false, was_started_ = false;
  train::state parked_;
  opened opened_;                      ///< the first worker's answer when it was opened
  std::vector<std::string> differed_;  ///< settings that were others in the state from which the training went on
  std::vector<int> ranks_;             ///< ranks of the workers that were started last
  std::uint64_t number_ = std::uint64_t{std::random_device{}()} << 32U | std::random_device{}();
  /// After the last call that changed it, or the last step that a death has left, in a job that goes on when ranks die.
  train::state good_;
  pass_result before_;       ///< result of the pass under way: what it gave up to good_
  std::uint64_t piece_ = 1;  ///< steps that take much longer than a state's way to the trainer
  std::chrono::steady_clock::time_point good_since_;
  std::uint64_t last_use_ = 0;
};

}  // namespace manta::train::detail
