// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a trainer is told besides the recipe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/actor.hpp"
#include "manta/train/source.hpp"
#include "manta/train/wire.hpp"

namespace manta::train {

struct options {
  int workers = 1;            ///< ranks that train together; rank 0 is one of them only where no other is left
  int batch = 32;             ///< samples of a step, over all workers together
  std::uint64_t seed = 0;     ///< seed of initial parameters, shuffles, dropout
  int accumulate = 1;         ///< parts in which each worker runs its share of a batch, to need less memory
  double clip = 0;            ///< the largest norm of the gradients; 0: any
  bool shuffle = true;        ///< an order of its own for each epoch, which follows from seed and epoch alone
  bool drop_last = false;     ///< leave out the last batch of an epoch if it is not full
  int cpus = 1;               ///< cores of each worker
  double gpus = 0;            ///< devices of each worker
  quantities resources = {};  ///< named amounts of each worker
  std::size_t bucket_bytes = std::size_t(1) << 20U;  ///< gradients are exchanged in parts of at most this size
  wire exchange = wire::as_is;                       ///< train::bfloat16: gradients travel in half the bytes
  /// k > 0: local SGD. Each worker makes k steps with the gradients of its own share, then parameters and moments of
  /// the optimiser become their means over the workers, and likewise at the end of an epoch and before anybody looks at
  /// them (validate, save, model). The result depends on the number of workers then.
  int average_every = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(workers, batch, seed, accumulate, clip, shuffle, drop_last, bucket_bytes, exchange, average_every);
  }
};

}  // namespace manta::train
