// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an experiment is told: what to optimise, how to search, when to stop,
// what a trial needs, what is kept. Every member has a default but the metric.
#pragma once

#include <chrono>
#include <functional>
#include <map>

#include "manta/isolate.hpp"
#include "manta/tune/known.hpp"
#include "manta/tune/objective.hpp"
#include "manta/tune/output/files.hpp"
#include "manta/tune/output/html.hpp"
#include "manta/tune/output/tensorboard.hpp"
#include "manta/tune/random_search.hpp"
#include "manta/tune/scheduler.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/stopping.hpp"

namespace manta::tune {

/// Which checkpoints are made without a scheduler asking for them, and which are kept.
struct checkpoint_options {
  std::size_t every = 0;  ///< reports; 0: only when a trial is paused or others may continue from it
  bool at_end = false;    ///< functions: as of the last report
  // What stays on disk (with a folder); what a trial would go on from is never removed.
  std::size_t keep = 1;          ///< number of checkpoints kept of each trial, the last ones; 0: all
  std::size_t keep_best = 1;     ///< number of its best checkpoints kept besides
  std::string minimise = {};     ///< the best by this metric instead of the experiment's
  std::string maximise = {};     ///< or by this one
  std::size_t budget_bytes = 0;  ///< bytes of all trials together; the worst ended trials lose theirs first; 0: any

  MANTA_DECL ~checkpoint_options();
};

/// JSON lines, CSV, the decision log, TensorBoard's event files and the HTML report.
MANTA_DECL std::vector<any_output> default_outputs();

struct experiment {
  metric_names minimise = {};               ///< the metric, or several of them
  metric_names maximise = {};               ///< likewise; with both, or several, the results are those of a front
  std::vector<constraint> subject_to = {};  ///< conditions on the best trial, and on all trials
  /// What is the value of a trial: its best report, or the mean of its reports, with which it can be the best one when
  /// it is complete. Searchers and schedulers see the mean so far, those schedulers excepted that
  /// compare report by report.
  counted counts = counted::best_report;
  std::size_t trials = 1;  ///< times the combinations of grids in the space; 0: until something stops it
  /// Runs of each configuration, which are one trial: each has a trial::seed() of its own, and the reports of the trial
  /// are their means, beside the standard errors of these.
  int repeats = 1;
  any_searcher searcher = random_search();
  any_scheduler scheduler = fifo();
  std::vector<config> first = {};  ///< evaluated before what the searcher suggests; what they do not name is drawn
  std::vector<known_result> known = {};        ///< that searchers learn from, without running them: known_results(path)
  std::vector<stop_rule> stop = {};            ///< rules that end a trial
  std::vector<experiment_rule> stop_all = {};  ///< rules that end the experiment
  std::string clock = {};                      ///< the metric that schedulers and rules count by; empty: reports

  int cpus = 1;  ///< cpus of each trial, as in task_options
  double gpus = 0;
  std::map<std::string, double> resources = {};
  int ranks = 0;                ///< a trial is a gang of these: it takes manta::team first; 0: no gang
  std::size_t concurrency = 0;  ///< trials at once; 0: as many as there are ranks for

  int retries = 0;  ///< retries of a trial that failed, from its last checkpoint
  /// Without a report it has failed. If it is not isolated, its rank is lost to the experiment until it reports.
  std::chrono::duration<double> silence = std::chrono::duration<double>::max();
  isolate_option isolate = {};  ///< trials run in a child process of their rank, which may crash and hang
  checkpoint_options checkpoints = {};

  std::string folder = {};  ///< folder of the journal, checkpoints and outputs; empty: nothing is written
  bool fresh = false;       ///< an earlier run in the folder is replaced, not continued
  bool best_may_fail =
      false;  ///< a trial that has failed, by NaN or otherwise, may be the best one with what it reported before
  bool retry_failed = false;  ///< when continuing: trials that failed are started again
  std::uint64_t seed = 1;
  std::vector<any_output> outputs = default_outputs();  ///< written if there is a folder
  /// Called in the driver after each trial that has ended in this run of the program.
  std::function<void(const trial_record&)> after_trial = {};
  bool show = true;  ///< a table of the trials on the terminal; a line now and then in a batch log
  std::string name = "experiment";
};

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/experiment.ipp"
#endif
