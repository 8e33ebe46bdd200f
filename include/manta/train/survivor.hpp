// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the workers of a training hold in memory when the rank of one of them dies. MPI has no team without the dead
// member, so all of them end, and new ones start on the ranks that are left. Each that ends leaves in its rank's memory
// how far the training has come. The trainer takes what the furthest has left, and the new workers go on from there.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "manta/train/pass.hpp"
#include "manta/train/source.hpp"
#include "manta/train/state.hpp"

namespace manta::train::detail {

struct survivor {
  state at;          ///< after the last complete step
  pass_result pass;  ///< what the call of train under way gave up to there, over all workers
  std::chrono::steady_clock::time_point since = {};  ///< time of that moment, by the clock of the worker's rank
  double seconds = 0;                                ///< seconds from then until the trainer has asked
  template <class Archive>
  void serialize(Archive& archive) {
    archive(at, pass, seconds);
  }
};

/// Keeps `s` in the memory of this rank, for the training of this number.
MANTA_DECL void leave_survivor(std::uint64_t training, survivor s);
MANTA_DECL void forget_survivor(std::uint64_t training);

/// Asks these ranks, and waits until the workers there have ended. Gives what the furthest has left, if it is beyond
/// `known`; then these ranks keep nothing of this training. Members may be one step apart: a step is complete for a
/// member that has received what all have sent.
MANTA_DECL std::optional<survivor> furthest_survivor(const std::vector<int>& ranks, std::uint64_t training,
                                                     const state& known);

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/survivor.ipp"
#endif
