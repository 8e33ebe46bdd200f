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
#include <utility>
#include <vector>

#include "manta/team.hpp"
#include "manta/train/exchange.hpp"
#include "manta/train/group_sums.hpp"
#include "manta/train/learner.hpp"
#include "manta/train/options.hpp"
#include "manta/train/pass.hpp"
#include "manta/train/state.hpp"
#include "manta/train/survivor.hpp"

namespace manta::train::detail {

/// Places [first, second) in the order of the samples.
using range = std::pair<std::uint64_t, std::uint64_t>;

class worker {
 public:
  /// training: a number that the workers of one trainer have in common; 0: after a death nothing is left for others.
  MANTA_DECL worker(team members, const learner_name& what, const options& o, std::uint64_t training = 0);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  /// If another member has died in or after a call of train, leaves for its successor what the training has reached.
  /// The learner's arrays stay if MPI may still write to them.
  MANTA_DECL ~worker();

  /// Collective: makes model and data, and checks that all members have the same. Throws the same error on all. Gives
  /// the members' ranks.
  MANTA_DECL per_rank<int> open();
  /// Collective: at most `steps` steps, to the end of the epoch at most. All members give the same: what the pass gave
  /// in earlier calls, and in this one.
  MANTA_DECL pass_result train(std::uint64_t steps, const pass_result& before = {});
  /// Collective, as save and model are: all members first agree on what they hold. This member's share of the
  /// validation data.
  MANTA_DECL per_rank<pass_result> validate();
  /// Collective: all validation data. All members give the same, and throw the same.
  [[nodiscard]] MANTA_DECL pass_result validate_together();
  /// What the model gives for the first samples of the validation data, or else of the training data: the metrics that
  /// each epoch will have. Changes nothing.
  [[nodiscard]] MANTA_DECL pass_result glance();

  /// The first member's.
  [[nodiscard]] MANTA_DECL state save();
  /// Throws, and changes nothing, if the state is of another architecture. `own_settings`: the optimiser keeps its rate
  /// and other settings, and takes the moments alone.
  MANTA_DECL void restore(const state& s, bool own_settings);
  [[nodiscard]] MANTA_DECL std::string model();
  MANTA_DECL void rate(double r);
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

 private:
  /// Once an epoch, and after a restore: has tasks begin to read what this worker takes up to `last`.
  void plan_reading(std::uint64_t last);
  /// One step over the samples [sample_, end) of this epoch's order. Collective.
  void step(std::uint64_t end);
  /// One step with this member's share alone, without communication until the members meet.
  void local_step(std::uint64_t end);
  /// The step up to `end` is complete.
  void count_step(std::uint64_t end);
  /// Collective: adds what the local steps gave.
  void share_sums();
  /// Collective: all members hold the same, which is what a state has. At the end of an epoch, and before anybody
  /// looks.
  void agree();
  /// Collective: after local steps all members get the means of parameters and moments.
  void meet();
  /// Sets rate and gradients for the step up to `end`; returns the numbers of its samples.
  std::span<const std::uint64_t> start_step(std::uint64_t end);
  void check_loss(double loss) const;
  /// As it is, without an agreement with others.
  [[nodiscard]] state state_here() const;
  /// What the training has reached for all members; without steps where that is what the trainer knows.
  [[nodiscard]] survivor reached();
  /// This member's share of a batch. e: exchanges the gradients, or null.
  sums forward_and_back(const range& share, nn::pass pass, double divisor, exchange* e);
  void make_order();
  /// Collective: sums of batch norm over all members.
  void sum_statistics(std::span<double> numbers);

  team team_;
  exchange exchange_;
  options options_;
  std::unique_ptr<learner> learner_;
  std::uint64_t seed_, epoch_ = 0, sample_ = 0, step_ = 0;
  std::uint64_t samples_in_backward_ = 0;  ///< of the pass under way; 0: it is a forward pass
  std::vector<std::uint64_t> order_;       ///< of the epoch under way; empty: to be made
  int local_steps_ = 0;                    ///< since the members met
  bool is_planned_ = false;                ///< what tasks read ahead in this epoch
  bool is_agreed_ = true;                  ///< since the last step
  std::string problem_;                    ///< of this member, in local steps
  std::optional<double> last_loss_;        ///< of the step before, for messages
  std::vector<double> numbers_;            ///< of a step, for sums over the members
  group_sums group_;
  pass_result pass_;  ///< of the pass that the last call of train went on with, over all members
  sums unshared_;     ///< of local steps, of this member alone
  survivor met_;      ///< local steps: when the members met last in this call
  std::uint64_t training_;
  bool is_in_step_ = false, has_trained_ = false;        ///< has_trained_: the trainer may not know yet how far
  std::chrono::steady_clock::time_point last_complete_;  ///< the end of the last step
};

/// A team of one, which no call of MPI concerns: for a worker outside a gang.
MANTA_DECL team alone();

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/worker.ipp"
#endif
