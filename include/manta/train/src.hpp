// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of train, data-parallel training, compiled once in the compiled mode (base/config.hpp). manta/src.hpp
// includes this file. A build that defines MANTA_SOURCES_APART compiles this file as a source of its own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/train/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<Eigen/Core>)

#include "manta/nn.hpp"
#include "manta/train/augment.ipp"
#include "manta/train/chunked_sums.ipp"
#include "manta/train/columns.ipp"
#include "manta/train/csv.ipp"
#include "manta/train/csv_rows.ipp"
#include "manta/train/epoch_order.ipp"
#include "manta/train/evaluation.ipp"
#include "manta/train/exchange.ipp"
#include "manta/train/group_sums.ipp"
#include "manta/train/learner.ipp"
#include "manta/train/opening.ipp"
#include "manta/train/pass.ipp"
#include "manta/train/picture_folder.ipp"
#include "manta/train/rate_finder.ipp"
#include "manta/train/read_ahead.ipp"
#include "manta/train/readers.ipp"
#include "manta/train/samples.ipp"
#include "manta/train/scores.ipp"
#include "manta/train/shards.ipp"
#include "manta/train/shared_data.ipp"
#include "manta/train/shared_pass.ipp"
#include "manta/train/source.hpp"
#include "manta/train/split.ipp"
#include "manta/train/step_check.ipp"
#include "manta/train/summary.ipp"
#include "manta/train/survivor.ipp"
#include "manta/train/told.ipp"
#include "manta/train/told_lines.ipp"
#include "manta/train/trainer_core.ipp"
#include "manta/train/weighting.ipp"
#include "manta/train/worker.ipp"
#include "manta/train/worker_clocks.ipp"
// After trainer_core.ipp.
#include "manta/train/fit.ipp"
#include "manta/train/fit_log.ipp"

namespace manta::train {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_Eigen);
template void random_crop(std::span<float>, const nn::shape&, int, draws&, float);
template void random_crop(std::span<double>, const nn::shape&, int, draws&, double);
template void random_flip(std::span<float>, const nn::shape&, draws&, double);
template void random_flip(std::span<double>, const nn::shape&, draws&, double);
}  // namespace manta::train

#endif
