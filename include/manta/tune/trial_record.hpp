// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What is known of one trial: the row that stays of it when it has ended, and
// the states it goes through.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "manta/tune/metrics.hpp"
#include "manta/tune/outcome.hpp"
#include "manta/tune/searcher.hpp"
#include "manta/tune/source.hpp"

namespace manta::tune {

/// Why a trial did not go on.
enum class cause : std::uint8_t {
  failure,     ///< it threw, was silent too long, ...: counts against its retries
  crash,       ///< it took its rank with it: counts as well, and twice is enough
  lost,        ///< its rank died, of what is not known: does not count, but four times are enough
  interrupted  ///< ended with the whole experiment
};
MANTA_DECL const char* name_of(cause c);

enum class status : std::uint8_t {
  waiting,  ///< waits to be started again after a failure
  running,
  paused,    ///< holds a checkpoint and no place
  complete,  ///< ended by itself or by reaching what it was to reach
  stopped,   ///< ended by the scheduler, a rule, or the end of the experiment
  failed
};
MANTA_DECL const char* name_of(status s);

/// A stretch of time in which a trial ran, in seconds since the experiment's begin.
struct stretch {
  double begin = 0, end = 0;
  int rank = -1;  ///< its rank; of a gang, its first member's; -1: nobody has told
};

struct trial_record {
  trial_number id = 0;
  status state = status::running;
  config parameters;  ///< parameters with which the best value was reported; before a report, those it began with
  config changed;     ///< its present configuration, if a scheduler has changed it; else empty
  double at = 0;      ///< time of the last report
  std::uint64_t iteration = 0;  ///< reports of this line of training, checkpoints it continued from included
  double loss = infinity;       ///< loss of the last report; negated if the metric is maximised
  double best_loss = infinity;  ///< that of the best report; of several objectives, the last one
  double best_at = 0;
  std::uint64_t averaged = 0;               ///< reports in best_loss, if that is their mean
  metrics last, best;                       ///< all that was reported with the last value, and with the one that counts
  std::vector<double> best_losses;          ///< those of all objectives, if there are several
  std::vector<double> excess, best_excess;  ///< amounts by which each constraint is broken; not positive: it is kept
  int failures = 0;                         ///< that count against its retries
  int crashes = 0, ranks_lost = 0;  ///< ranks that it took with it; that died while they ran it, of what is not known
  int starts = 0;                   ///< lines of training begun or gone on with
  std::string why;                  ///< it ended, or failed last
  double began = 0, seconds = 0;    ///< since the experiment's begin; run time
  double wall = 0;                  ///< time of its last event, in seconds since 1970
  std::vector<stretch> ran;         ///< when and where: more than one if it was paused, failed, or became another
  std::uint64_t checkpoint = 0;     ///< iteration of the last one on disk
  std::string checkpoint_file;
  std::uint64_t best_checkpoint = 0;
  std::string best_checkpoint_file;
  std::string host;                ///< the machine of the rank on which it ran last
  named_list<std::string> notes;   ///< notes by trial::note
  std::vector<std::string> files;  ///< files that trial::attach has put into the trial's folder
  curve losses;

  bool ended() const { return state >= status::complete; }
  /// By the report that counts.
  double violation() const { return violation_of(best_excess); }
  bool is_feasible() const { return violation() <= 0; }
  /// What searchers are told.
  MANTA_DECL outcome result() const;
  /// The trial in one line, for people: trial 12, complete: {"lr":0.1} has loss 0.25, accuracy 0.9 after 27 reports
  MANTA_DECL std::string text() const;
  template <class Stream>
    requires requires(Stream& s, const std::string& t) { s.setf(s.flags()), s << t; }
  friend Stream& operator<<(Stream& out, const trial_record& t) {
    out << t.text();
    return out;
  }
  const config& runs_with() const { return changed.empty() ? parameters : changed; }
};

namespace detail {
/// The numbers of trials in each state, as in "3 running, 116 complete"; empty if there are none. `running` is the word
/// for running trials.
MANTA_DECL std::string states_text(const std::vector<trial_record>& all, const char* running = "running");
}  // namespace detail

}  // namespace manta::tune

#ifndef MANTA_COMPILED
#include "manta/tune/trial_record.ipp"
#endif
