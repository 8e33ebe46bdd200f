// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Data-parallel training: a recipe's model, trained by ranks together. examples/18_train.md has the tour.
//
//   train::trainer trainer(fashion{.rate = 3e-4f}, {.workers = 4, .batch = 256});
//   train::summary t = trainer.train(), v = trainer.validate();
#pragma once

#include "manta/nn.hpp"
#include "manta/train/data_parallel.hpp"
#include "manta/train/parameter_server.hpp"
#include "manta/train/read_ahead.hpp"
#include "manta/train/readers.hpp"
#include "manta/train/samples.hpp"
#include "manta/train/scores.hpp"
#include "manta/train/shards.hpp"
#include "manta/train/split.hpp"
#include "manta/train/trainer.hpp"
#include "manta/train/weighting.hpp"
