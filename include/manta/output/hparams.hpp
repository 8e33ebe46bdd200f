// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Events of TensorBoard's plug-in HParams, which shows hyper-parameters beside the metrics of many runs: an event for
// the experiment, in the folder above the runs, and in each run's folder one at its begin and one at its end.
//
//   output::tensorboard top("search"), run("search/0");
//   top.write_event(hparams::experiment_event(now, {{.name = "rate", .low = 0, .high = 1}}, {"loss"}));
//   run.write_event(hparams::begin_event(now, {{"rate", 0.1}}));
//   run.write_event(hparams::end_event(now, true));
#pragma once

#include <string>
#include <vector>

#include "manta/output/row.hpp"
#include "manta/output/source.hpp"

namespace manta::output::hparams {

/// A hyper-parameter and where it may lie: an interval of numbers, or one of these options.
struct parameter {
  std::string name;
  std::vector<cell> options = {};  ///< all of one kind, else shown as texts; empty: a number from `low` to `high`
  double low = 1, high = 0;        ///< low > high: anywhere
};

/// `wall_time`: in seconds since 1970. `metrics`: names of scalars in the runs.
MANTA_DECL std::string experiment_event(double wall_time, const std::vector<parameter>& parameters,
                                        const std::vector<std::string>& metrics);
MANTA_DECL std::string begin_event(double wall_time, row values);
MANTA_DECL std::string end_event(double wall_time, bool is_success);

}  // namespace manta::output::hparams

#ifndef MANTA_COMPILED
#include "manta/output/hparams.ipp"
#endif
