// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The scheduler of a course. When a call of it throws, the experiment stops, and it is not called any more.
#pragma once

#include <string>
#include <vector>

#include "manta/tune/experiment.hpp"
#include "manta/tune/source.hpp"
#include "manta/tune/stop_reason.hpp"
#include "manta/tune/trial_record.hpp"

namespace manta::tune::detail {

class scheduling {
 public:
  explicit scheduling(stop_reason& stop) : stop_(stop) {}
  scheduling(const scheduling&) = delete;
  scheduling& operator=(const scheduling&) = delete;
  MANTA_DECL void begin(const experiment& e, const space& where, std::size_t limit);
  const std::type_info& type() const { return scheduler_->type(); }

  void resize(std::size_t limit) { scheduler_->resize(limit); }
  MANTA_DECL action next(bool may_add);
  MANTA_DECL void add(trial_number t, const config& c);
  /// `so_far` is the loss of the trial with all that it has reported.
  MANTA_DECL verdict report(const trial_record& r, double so_far);
  /// The trial is over, whatever happened; `how` says whether it has come to its end.
  MANTA_DECL void remove(trial_number t, status how);
  MANTA_DECL double silent_until(trial_number t);
  MANTA_DECL std::vector<trial_number> take_dropped();
  /// Whether the trial, the record of which is null if there is none, may be resumed. If not, the scheduler has made a
  /// mistake, and the experiment stops.
  MANTA_DECL bool may_resume(trial_number t, const trial_record* r);

  /// Notes that trials keep no state, as one has shown that had to save it. Returns what happens to them, for people.
  MANTA_DECL std::string nothing_kept();
  bool keeps_nothing() const { return keeps_nothing_; }
  /// Whether it may end trials before their end: it is not fifo.
  bool stops_trials() const { return type() != typeid(fifo); }
  /// A line for people about options that do not fit each other (before the first trial), or do not fit what happened.
  MANTA_DECL std::string remark(const std::vector<trial_record>& all) const;

 private:
  template <class Call>
  auto guarded(Call call) {
    return stop_.guarded("the scheduler", call);
  }

  stop_reason& stop_;
  any_scheduler scheduler_;
  bool keeps_nothing_ = false;
};

}  // namespace manta::tune::detail

#ifndef MANTA_COMPILED
#include "manta/tune/scheduling.ipp"
#endif
