// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The places of an experiment: the runners on ranks, and the orders that they get. Part of the conductor.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "manta/tune/experiment.hpp"
#include "manta/tune/runner_handle.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune::detail {

/// A runner, and what it does. One that is placed has at any time one call under way, or is idle.
struct place {
  using clock = std::chrono::steady_clock;

  std::unique_ptr<runner_handle> who;
  future<whereabouts> greeting;
  std::vector<future<void>> work;
  future<answers> call;  ///< under way
  bool placed = false, idle = false, gone = false;
  bool has_begun = false;  ///< the trial: it has answered
  int rank = -1;           ///< its rank; of a gang, its first
  std::string host;        ///< the machine of that rank
  std::optional<trial_number> trial;
  clock::time_point heard;
};

/// Places are added when others are lost, and none is removed before the end, so that their numbers stay.
class places {
 public:
  places(const experiment& e, body_name what, bool gang) : options_(e), what_(std::move(what)), gang_(gang) {}

  std::size_t size() const { return all_.size(); }
  place& operator[](std::size_t i) { return all_[i]; }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

  /// The number of ranks, or gangs of ranks, that run trials.
  MANTA_DECL std::size_t possible() const;
  /// Begins to construct one more runner.
  MANTA_DECL void add();
  /// Gives a runner its order, to which it answers by a notice.
  MANTA_DECL void tell(std::size_t i, order o);
  /// Whether a runner still has to answer.
  MANTA_DECL bool is_under_way() const;
  /// Whether a runner works on another rank than runner i.
  MANTA_DECL bool has_other_rank(std::size_t i) const;

  /// Gives a runner up: it ends when its trial reports.
  MANTA_DECL void abandon(place& p);
  /// Called after an exception: makes trials end at their next report, and waits a while for that.
  MANTA_DECL void stop_trials();
  /// Ends all runners.
  MANTA_DECL void close();

 private:
  const experiment& options_;
  body_name what_;
  bool gang_;
  std::vector<place> all_;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/places.ipp"
#endif
