// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a pass over data gave, weighted by samples over all workers.
#pragma once

#include <cereal/types/map.hpp>
#include <cereal/types/string.hpp>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>

#include "manta/train/source.hpp"

namespace manta::train {

/// Where the time of a training pass went, in seconds of the first worker.
struct phases {
  double reading = 0;   ///< taking samples from the data
  double passes = 0;    ///< forward and backward, and the exchange of gradients that goes on meanwhile
  double exchange = 0;  ///< waiting for sums over the workers
  double update = 0;    ///< the optimiser's steps

  template <class Archive>
  void serialize(Archive& archive) {
    archive(reading, passes, exchange, update);
  }
};

struct summary {
  double loss = 0;            ///< the mean over the samples; of a training pass: as each batch was met, before its step
  std::uint64_t epoch = 0;    ///< epochs that are complete
  std::uint64_t step = 0;     ///< steps of the optimiser since the beginning
  std::uint64_t samples = 0;  ///< samples of this pass
  double seconds = 0;         ///< seconds of this pass
  double rate = 0;            ///< the optimiser's, at the end
  double gradient_norm = 0;   ///< mean of the gradients' norm over the steps of a training pass, before `.clip`
  train::phases phases = {};  ///< phases of a training pass
  int deaths = 0;             ///< times that the death of a worker's rank has interrupted this pass
  double seconds_lost = 0;    ///< seconds lost by these deaths, until the other workers went on
  std::map<std::string, double> metrics = {};  ///< "accuracy" where targets are classes, and the recipe's own

  /// "loss" or a metric. Throws if there is none of that name, and lists those that there are.
  MANTA_DECL double operator[](std::string_view name) const;
  /// What operator[] takes: "loss, accuracy".
  [[nodiscard]] MANTA_DECL std::string names() const;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(loss, epoch, step, samples, seconds, rate, gradient_norm, phases, deaths, seconds_lost, metrics);
  }
};

/// One line: "epoch 3: loss 0.412, accuracy 0.853, 60000 samples in 1.2 s", of an evaluation without the epoch. After
/// deaths also ", of which 1 death of a worker cost 0.02 s".
MANTA_DECL std::ostream& operator<<(std::ostream& out, const summary& s);

}  // namespace manta::train

#ifndef MANTA_COMPILED
#include "manta/train/summary.ipp"
#endif
