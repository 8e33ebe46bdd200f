// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data that the workers share. A task reads the samples of a recipe once and gives them as one array, which lies once
// in the memory of each node; all workers of the node look at it. Data that are small and quickly read each worker
// makes itself, and so it does with data that depend on the rank: these differ from worker to worker, which the workers
// find when they compare them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "manta/future.hpp"
#include "manta/train/learner.hpp"
#include "manta/train/source.hpp"

namespace manta::train::detail {

/// Training data and validation data together are shared from this size on, or where reading them takes so long.
inline constexpr std::size_t least_shared_bytes = std::size_t{16} << 20;
inline constexpr double least_shared_seconds = 0.5;

/// The array: the sizes of both parts, then each as samples::write_shared writes it. A size of 0: the data are not
/// here, and each worker makes them itself.
using shared_block = std::vector<unsigned char>;

struct shared_data {
  future<shared_block> block;  ///< empty: nothing is shared

  template <class Archive>
  void save(Archive& archive) const {
    archive(block.valid());
    if (block.valid()) archive(block);
  }
  template <class Archive>
  void load(Archive& archive) {
    bool is_there = false;
    archive(is_there);
    if (is_there) archive(block);
  }
};

/// Starts the task that reads the data of the recipe, unless they are of a class that cannot be shared.
MANTA_DECL shared_data start_reading(const learner_name& what);
/// Gives the learner the data that are in the block, and has it read the others itself. Waits for the block.
MANTA_DECL void read_data(learner& l, const shared_data& shared);
/// Lets go of shared data, but keeps those that the learner has read itself.
MANTA_DECL void let_go_of_shared_data(learner& l);

}  // namespace manta::train::detail

#ifndef MANTA_COMPILED
#include "manta/train/shared_data.ipp"
#endif
