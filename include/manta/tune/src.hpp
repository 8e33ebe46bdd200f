// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of tune, compiled once in the compiled mode (base/config.hpp). manta/src.hpp includes this file. A
// build that defines MANTA_SOURCES_APART compiles this file and src_eigen.hpp as sources of their own instead.
#pragma once

#ifndef MANTA_COMPILED
#error "manta/tune/src.hpp belongs to the compiled mode: compile every unit of the program with -DMANTA_COMPILED"
#endif
#define MANTA_SOURCE

#if __has_include(<nlohmann/json.hpp>)

#include "manta/tune/asha.ipp"
#include "manta/tune/bohb.ipp"
#include "manta/tune/checkpoint.ipp"
#include "manta/tune/checkpoint_files.ipp"
#include "manta/tune/checkpoint_store.ipp"
#include "manta/tune/conductor.ipp"
#include "manta/tune/config.ipp"
#include "manta/tune/continuation.ipp"
#include "manta/tune/course.ipp"
#include "manta/tune/cube.ipp"
#include "manta/tune/domain.ipp"
#include "manta/tune/experiment.ipp"
#include "manta/tune/experiment_check.ipp"
#include "manta/tune/fanova.ipp"
#include "manta/tune/front.ipp"
#include "manta/tune/halving.ipp"
#include "manta/tune/history.ipp"
#include "manta/tune/index.ipp"
#include "manta/tune/journal.ipp"
#include "manta/tune/kernels.ipp"
#include "manta/tune/known.ipp"
#include "manta/tune/math.ipp"
#include "manta/tune/median_stopping.ipp"
#include "manta/tune/metrics.ipp"
#include "manta/tune/nsga2.ipp"
#include "manta/tune/objective.ipp"
#include "manta/tune/outcome.ipp"
#include "manta/tune/output/files.ipp"
#include "manta/tune/output/html.ipp"
#include "manta/tune/output/output.ipp"
#include "manta/tune/output/summary.ipp"
#include "manta/tune/output/table.ipp"
#include "manta/tune/output/tensorboard.ipp"
#include "manta/tune/patience_stopping.ipp"
#include "manta/tune/pbt.ipp"
#include "manta/tune/percentile_stopping.ipp"
#include "manta/tune/places.ipp"
#include "manta/tune/points.ipp"
#include "manta/tune/proposals.ipp"
#include "manta/tune/random.ipp"
#include "manta/tune/random_search.ipp"
#include "manta/tune/ranking.ipp"
#include "manta/tune/repeated_runner.ipp"
#include "manta/tune/repeats.ipp"
#include "manta/tune/results.ipp"
#include "manta/tune/rules.ipp"
#include "manta/tune/run.ipp"
#include "manta/tune/runner.ipp"
#include "manta/tune/runner_handle.ipp"
#include "manta/tune/scheduler.ipp"
#include "manta/tune/scheduling.ipp"
#include "manta/tune/sobol.ipp"
#include "manta/tune/space.ipp"
#include "manta/tune/stop_reason.ipp"
#include "manta/tune/stopping.ipp"
#include "manta/tune/study.ipp"
#include "manta/tune/study_log.ipp"
#include "manta/tune/study_outputs.ipp"
#include "manta/tune/tpe.ipp"
#include "manta/tune/trainable.ipp"
#include "manta/tune/training.ipp"
#include "manta/tune/trial.ipp"
#include "manta/tune/trial_record.ipp"
#include "manta/tune/value.ipp"
#include "manta/tune/wilcoxon_stopping.ipp"

namespace manta::tune {
MANTA_PROVIDES_SOURCE(one_source_of_this_program_has_to_include_manta_src_hpp_and_to_find_nlohmann_json);
}

#endif

#ifndef MANTA_SOURCES_APART
#include "manta/tune/src_eigen.hpp"
#endif
