// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Local SGD: what a worker keeps between two meetings, in which it makes steps of its own. A worker that has a problem
// makes no further step, but counts them, so that it meets the others when they meet.
#pragma once

#include <string>
#include <utility>

#include "manta/train/pass.hpp"
#include "manta/train/problem.hpp"
#include "manta/train/source.hpp"
#include "manta/train/survivor.hpp"

namespace manta::train::detail {

class local_steps {
 public:
  /// The steps between two meetings; 0: the workers make all steps together.
  explicit local_steps(int average_every) : average_every_(average_every) {}

  [[nodiscard]] bool are_made() const { return average_every_ > 0; }
  /// Runs a step, unless this worker has a problem. What it throws is this worker's problem.
  template <class F>
  void attempt(F&& f) {
    if (problem_.empty()) problem_ = problem_of(std::forward<F>(f));
  }
  [[nodiscard]] bool has_problem() const { return !problem_.empty(); }
  /// Notes a step, and what its samples gave; true: it is time to meet.
  bool count(const sums& mine) {
    unshared_.add(mine);
    return ++since_met_ == average_every_;
  }
  [[nodiscard]] bool have_met() const { return since_met_ == 0; }
  /// What the samples have given since the last call, of this worker alone.
  [[nodiscard]] sums take_sums() { return std::exchange(unshared_, {}); }

  /// The workers meet: gives this worker's problem, and begins to count anew.
  [[nodiscard]] std::string meet() {
    since_met_ = 0;
    return std::exchange(problem_, {});
  }
  /// Drops all: the workers go on from a state.
  void forget() { *this = local_steps(average_every_); }

  survivor met;  ///< what the training had reached when the workers met last in this call

 private:
  int average_every_, since_met_ = 0;
  std::string problem_;
  sums unshared_;
};

}  // namespace manta::train::detail
