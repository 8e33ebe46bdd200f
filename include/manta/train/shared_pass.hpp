// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A pass of all workers over a batch, forward and backward, with the collectives in it: the sums of batch norm over all
// workers, and the exchange of gradients. One rule holds for all of them: a worker that has a problem, or no samples,
// makes the calls that the others make, in their order, with zeros. So nobody waits for it inside MPI, and at the end
// of the step all throw what went wrong.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "manta/train/epoch_order.hpp"
#include "manta/train/exchange.hpp"
#include "manta/train/learner.hpp"
#include "manta/train/problem.hpp"
#include "manta/train/source.hpp"
#include "manta/train/step_clock.hpp"

namespace manta::train::detail {

class shared_pass {
 public:
  /// Refers to both, which live longer.
  shared_pass(exchange& e, learner& l) : exchange_(e), learner_(l) {}

  /// Begins the pass of a step: zeroes the gradients.
  MANTA_DECL void begin();
  /// Runs f, unless there is a problem already. What it throws is this worker's problem, and the step will not be made.
  template <class F>
  void attempt(F&& f) {
    if (!has_problem()) problem_ = problem_of(std::forward<F>(f));
  }
  /// Collective: runs the samples of each part through the model, and exchanges the gradients. `divisor` is the weight
  /// of the whole batch. Gives what this worker's samples gave.
  MANTA_DECL sums run(const std::vector<sample_part>& parts, nn::pass pass, double divisor);
  /// Without the other workers: no sums over workers, and no exchange. Throws.
  MANTA_DECL sums run_alone(const std::vector<sample_part>& parts, nn::pass pass, double divisor);

  /// Measures the step; begins with the pass.
  [[nodiscard]] step_clock& clock() { return clock_; }
  [[nodiscard]] bool has_problem() const { return !problem_.empty(); }
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  /// Thrown in the middle of a pass of a worker when it learns that another one has a problem.
  struct other_has_problem {};
  sums forward_and_back(const std::vector<sample_part>& parts, nn::pass& pass, double divisor,
                        const nn::gradients_ready& ready);
  /// Makes the collectives of the pass that this worker has not made.
  void make_the_rest(nn::pass& pass);
  /// The sum of batch norm over all workers.
  void sum_statistics(std::span<double> numbers);

  exchange& exchange_;
  learner& learner_;
  step_clock clock_;
  std::string problem_;
  bool is_without_samples_ = false;        ///< the worker goes on with zeros
  std::uint64_t samples_in_backward_ = 0;  ///< samples in backward of the part under way; 0: it is in forward
  std::size_t sum_number_ = 0;             ///< number of the sum under way in this pass over the model
  std::vector<std::vector<double>> sums_;  ///< results of the sums of the pass, for a second run through the model
  std::size_t sums_made_ = 0;
};

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/shared_pass.ipp"
#endif
