// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The stacks of a rank that wait: which they are, what ends their waits beside the
// ends of nodes (time, a descriptor, a task that is asked to stop, a deadlock), and
// how long the rank may sleep for them. On each rank one wait is the last: it ends with the run.
//
// A stack whose wait is over is given to state/turns.hpp; this part switches to none.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "manta/base/config.hpp"
#include "manta/base/error.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/descriptor_bell.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/exec/rank/network.hpp"
#include "manta/exec/rank/waits.hpp"
#include "manta/exec/state/deadlock_report.hpp"
#include "manta/exec/state/pace.hpp"
#include "manta/exec/state/turns.hpp"
#include "manta/report/run_state.hpp"

namespace manta::exec {

class waiters {
 public:
  /// `ring(rank)` is called from another thread, when a descriptor of a wait is readable.
  waiters(network& net, turns& next, pace& time, void (*ring)(void* rank), void* rank)
      : net_(net), turns_(next), pace_(time), ring_(ring), rank_(rank) {}

  bool empty() const { return waits_.empty(); }
  bool any_timed() const { return waits_.timed() != 0; }                      ///< Has any wait a time limit?
  bool any_with_descriptor() const { return waits_.with_descriptor() != 0; }  ///< Can a descriptor end any wait?
  void add(wait_record& record) { waits_.add(record); }                       ///< A wait begins.
  void remove(wait_record& record) { waits_.remove(record); }                 ///< A wait is over.
  /// Has the stack that waits go on in turn.
  void wake(wait_record& record) {
    if (record.parked == nullptr || record.queued) return;
    record.queued = true;
    turns_.add(record.parked);
    pace_.hurry();
  }

  /// Wakes the waits whose time is up, in the order of their deadlines.
  void check_deadlines(std::int64_t now);
  /// Ends the waits whose descriptors are readable; true if there is one.
  bool check_descriptors();
  /// A task of this rank has been asked to stop. Waits that look for that end in the next check_stops.
  void note_stop() {
    ++stops_;
    has_news_of_stops_ = waits_.looking_for_stops() != 0;
  }
  /// The number of times that a task of this rank has been asked to stop.
  std::uint64_t stops() const { return stops_; }
  bool has_news_of_stops() const { return has_news_of_stops_; }  ///< Has check_stops something to look at?
  /// Ends the waits that look for tasks that are asked to stop, after note_stop.
  void check_stops();
  /// Nobody waits for the descriptor any more.
  void forget_descriptor(int descriptor) {
    if (bell_ != nullptr) bell_->disarm(descriptor);
  }
  /// How long a rank may sleep, in nanoseconds. What comes from this node ends a sleep; for what comes from others, or
  /// is to happen at a certain time, the sleep has to be short. `has_timers`: timers of tasks run.
  std::int64_t longest_sleep(bool has_timers) const {
    if (has_timers || any_timed()) return 1'000'000;
    return until_message_ns();
  }
  /// As longest_sleep, for the rank's own thread: where only waits with time limits are to end at a certain time, it
  /// is known when.
  std::int64_t sleep_until_deadline(bool has_timers, std::int64_t now) const;
  /// Sleeps until a message comes or a descriptor is readable, at most `ns`.
  void sleep(std::int64_t ns);

  // --- the last wait

  /// The wait that ends with the run begins, and is over when this object goes.
  class last_wait {
   public:
    explicit last_wait(waiters& all) : waiters_(all) {
      record.remaining = 1;
      waiters_.last_ = &record;
    }
    ~last_wait() { waiters_.last_ = nullptr; }
    last_wait(const last_wait&) = delete;
    last_wait& operator=(const last_wait&) = delete;
    wait_record record;

   private:
    waiters& waiters_;
  };
  bool is_last_under_way() const { return last_ != nullptr; }
  /// The run is over: the last wait ends, if it has begun.
  void end_last() {
    if (last_ == nullptr) return;
    last_->remaining = 0;
    wake(*last_);
  }

  // --- deadlocks

  deadlock_report& report() { return report_; }
  /// The number of waits, but for the last, that are not over.
  std::uint32_t unfinished() const;
  /// These waits in words; empty if there is none.
  std::string describe(rank_id here) const;
  /// The first of them, at most this number, with the functions in which they wait. `by_helper`: the calling thread is
  /// not the rank's own, which is in user code.
  base::vector<report::waiting_task> waits_now(std::size_t most, bool by_helper) const;
  /// All waits but the last in words, also those that are over: for a rank whose thread stands in a lock.
  std::string describe_all() const;
  /// All waits but the last throw `deadlock` with this text.
  void fail_all(const std::string& text);
  void throw_if_deadlocked(const wait_record& record) const {
    if (record.failed) throw deadlock(report_.text());
  }

 private:
  std::int64_t until_message_ns() const { return net_.is_woken_by_all() ? 20'000'000 : 5'000'000; }
  static std::string describe(const wait_record& record);  ///< Says which task waits, and for what.

  network& net_;
  turns& turns_;
  pace& pace_;
  void (*ring_)(void*);
  void* rank_;
  wait_list waits_;
  std::uint64_t stops_ = 0;
  bool has_news_of_stops_ = false;  // a wait is to end for a stop
  wait_record* last_ = nullptr;
  std::unique_ptr<descriptor_bell> bell_;  // once this rank has slept beside a descriptor
  deadlock_report report_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/state/waiters.ipp"
#endif
