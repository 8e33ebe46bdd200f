// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The whole state of a training as a value: it can be sent, kept, and put into another trainer of the same recipe.
#pragma once

#include <cereal/types/string.hpp>
#include <cstdint>
#include <string>

#include "manta/train/source.hpp"

namespace manta::train {

struct state {
  std::string model;         ///< the architecture in words
  std::uint64_t seed = 0;    ///< of shuffles and of what is drawn in passes
  std::uint64_t epoch = 0;   ///< complete epochs
  std::uint64_t sample = 0;  ///< samples of the epoch under way that were taken
  std::uint64_t step = 0;    ///< steps of the optimiser since the beginning
  std::string learner;       ///< model and optimiser, by cereal
  std::string history;       ///< the epochs of trainer::fit, by cereal; empty elsewhere

  template <class Archive>
  void serialize(Archive& archive) {
    archive(model, seed, epoch, sample, step, learner, history);
  }
};

}  // namespace manta::train
