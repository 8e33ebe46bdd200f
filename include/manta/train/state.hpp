// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The whole state of a training as a value: it can be sent, kept, and put into another trainer of the same recipe.
#pragma once

#include <cereal/types/string.hpp>
#include <cereal/types/utility.hpp>
#include <cereal/types/vector.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "manta/train/columns.hpp"
#include "manta/train/source.hpp"

namespace manta::train {

/// What a training was told, by name: the optimiser's settings, the loss, sizes of data, the recipe's members. Two
/// trainings that were told the same have equal lists.
using told_settings = std::vector<std::pair<std::string, std::string>>;

struct state {
  std::string model;         ///< the architecture in words
  std::string optimizer;     ///< its kind: "adam"
  told_settings told;        ///< settings of recipe and options at the begin or the last continuation
  std::uint64_t seed = 0;    ///< seed of shuffles and of what is drawn in passes
  std::uint64_t epoch = 0;   ///< complete epochs
  std::uint64_t sample = 0;  ///< samples of the epoch under way that were taken
  std::uint64_t size = 0;    ///< samples of the training data
  std::uint64_t step = 0;    ///< steps of the optimiser since the beginning
  std::string learner;       ///< model and optimiser, by cereal
  std::string history;       ///< the epochs of trainer::fit, by cereal; empty elsewhere
  train::columns columns;    ///< columns of the table from which the training data came; empty for other data

  template <class Archive>
  void serialize(Archive& archive) {
    archive(model, optimizer, told, seed, epoch, sample, size, step, learner, history, columns);
  }
};

/// Which settings hold when a training goes on from a state, where the recipe says others than the state has. The
/// settings of the optimiser can be taken from either; those of the data and the loss are always the recipe's.
enum class settings {
  latest,      ///< the recipe's where they differ from those with which the state was written, else the state's
  recipe,      ///< the recipe's
  checkpoint,  ///< the state's
};

}  // namespace manta::train
