// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A worker: one member of the gang that trains. It holds a copy of the model, runs its share of each batch, and
// exchanges gradients with the other members. The trainer calls all members together.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "manta/team.hpp"
#include "manta/train/epoch_order.hpp"
#include "manta/train/exchange.hpp"
#include "manta/train/group_sums.hpp"
#include "manta/train/learner.hpp"
#include "manta/train/local_steps.hpp"
#include "manta/train/options.hpp"
#include "manta/train/pass.hpp"
#include "manta/train/shared_data.hpp"
#include "manta/train/shared_pass.hpp"
#include "manta/train/state.hpp"
#include "manta/train/survivor.hpp"

namespace manta::train::detail {

/// What the trainer learns when the workers are ready.
struct opened {
  int rank = 0;
  std::string optimizer;  ///< its kind; this and the following of the first member alone
  told_settings told;
  train::columns columns;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(rank, optimizer, told, columns);
  }
};

class worker {
 public:
  /// training: a number that the workers of one trainer have in common; 0: after a death nothing is left for others.
  MANTA_DECL worker(team members, const learner_name& what, const options& o, std::uint64_t training = 0);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  /// If another member has died in or after a call of train, leaves for its successor what the training has reached.
  /// The learner's arrays stay if MPI may still write to them.
  MANTA_DECL ~worker();

  /// Collective: makes the model, and the data unless they are shared, and checks that all members have the same.
  /// Throws the same error on all.
  MANTA_DECL per_rank<opened> open(const shared_data& shared = {});
  /// Collective: at most `steps` steps, to the end of the epoch at most. All members give the same: what the pass gave
  /// in earlier calls, and in this one.
  MANTA_DECL pass_result train(std::uint64_t steps, const pass_result& before = {});
  /// Collective, as save and model are: all members first agree on what they hold. This member's share of
  /// the validation data.
  MANTA_DECL per_rank<pass_result> validate();
  /// Collective: all validation data. All members give the same, and throw the same.
  [[nodiscard]] MANTA_DECL pass_result validate_together();
  /// What the model gives for the first samples of the validation data, or else of the training data: the metrics that
  /// each epoch will have. Changes nothing.
  [[nodiscard]] MANTA_DECL pass_result glance();

  /// The first member's.
  [[nodiscard]] MANTA_DECL state save();
  /// Throws, and changes nothing, if the state is of another architecture, or if all of the optimiser is wanted and it
  /// is of another kind.
  MANTA_DECL void restore(const state& s, taken what);
  [[nodiscard]] MANTA_DECL std::string model();
  MANTA_DECL void rate(double r);
  [[nodiscard]] std::uint64_t epoch() const { return at_.epoch; }

 private:
  /// How far the training is.
  struct position {
    std::uint64_t epoch = 0, sample = 0, step = 0;
  };
  void make_order();
  /// Once an epoch, and after a restore: has tasks begin to read what this worker takes.
  void plan_reading();
  /// One step over a batch. Collective.
  void step(const range& batch);
  /// One step with this member's share alone, without communication until the members meet.
  void local_step(const range& batch);
  /// Sets the recipe's rate for the step, and says what is read next.
  void start_step(const range& batch);
  [[nodiscard]] std::vector<sample_part> parts_of(const range& batch) const;
  [[nodiscard]] nn::pass pass_of(const range& batch) const;
  /// The weight of the samples in the loss. Throws if it is not above 0.
  [[nodiscard]] double weight_of(std::span<const std::uint64_t> samples);
  /// Throws: the step over these samples was not made.
  [[noreturn]] void refuse_step(const std::string& what, std::span<const std::uint64_t> samples);
  /// The step over `batch` is complete.
  void count_step(const range& batch);
  /// What is wrong with the loss or the gradients of the step under way, in words; "" if they are finite.
  [[nodiscard]] std::string what_is_not_finite(double loss);
  /// Where the step under way stands, for messages.
  [[nodiscard]] std::string place_of_step() const;
  /// Throws if the steps from this one on have made parameters that are not finite.
  void check_parameters(std::uint64_t first_step);

  /// Running means are those at the last mark again: a step that was begun and cannot be made has changed them.
  void mark();
  void go_back_to_mark();
  /// Collective: all get the learner of the first member that has no problem, and throw the first problem.
  void recover(std::string problem);
  /// Collective: all members hold the same, which is what a state has. At the end of an epoch, and
  /// before anybody looks.
  void agree();
  /// Collective: after local steps all members get the means of parameters and moments.
  void meet();
  /// As it is, without an agreement with others.
  [[nodiscard]] state state_here() const;
  /// What the training has reached for all members; without steps where that is what the trainer knows.
  [[nodiscard]] survivor reached();

  team team_;
  exchange exchange_;
  options options_;
  std::unique_ptr<learner> learner_;
  epoch_order order_;
  shared_pass pass_;
  group_sums group_;
  local_steps local_;
  std::uint64_t seed_, training_;
  std::uint64_t sizes_[2] = {0, 0};  ///< sizes of the training data and of the validation data, as they were at first
  told_settings told_;
  position at_;
  std::vector<double> marked_;  ///< buffers
  bool has_order_ = false, is_planned_ = false;
  bool is_agreed_ = true;            ///< since the last step
  std::string late_problem_;         ///< problem of this member in the last step, after the others had made it
  std::optional<double> last_loss_;  ///< loss of the step before, for messages
  std::vector<double> numbers_;      ///< numbers of a step, for sums over the members
  pass_result result_;               ///< result of the pass that the last call of train went on with, over all members
  bool is_in_step_ = false, has_trained_ = false;        ///< has_trained_: the trainer may not know yet how far
  std::chrono::steady_clock::time_point last_complete_;  ///< the end of the last step
};

/// A team of one, which no call of MPI concerns: for a worker outside a gang.
MANTA_DECL team alone();

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/worker.ipp"
#endif
