// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A run that has to end before its work is done: the allocation ends soon, or a
// signal has asked for it. Nothing more is started: what has not begun, and what
// is submitted from then on, fails with `cancelled`; what runs sees
// stop_requested(); calls of actors still go through, so that the driver can
// save what they hold.
//
// A task that is known to take longer than the time that is left is not begun
// either, but set aside: there may be others that fit. When nothing else is
// left to do, the end has come.
#pragma once

#include <cmath>
#include <ctime>

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::set_end(const engine_options& options) {
  if (options.end_time == 0) return;
  departure_.set_end(options.end_time, options.end_margin, static_cast<std::int64_t>(std::time(nullptr)), base::ticks(),
                     1e9 / base::nanoseconds_per_tick());
}

/// At the top level: must_leave().
MANTA_DECL void engine::look_for_end() {
  const std::string why = departure_.reason(base::end_signals::came());
  if (rank_ != 0) {
    departure_.leave(why);  // until rank 0 says so
    return post_.send(0, message::leave, index_message{0, 0}, why.data(), why.size());
  }
  std::fprintf(stderr, "manta: %s: nothing more is started, and what runs is asked to stop\n", why.c_str());
  for (std::uint32_t r = 1; r < size_; ++r) post_.send(r, message::leave, index_message{0, 0}, why.data(), why.size());
  leave(why);
}

MANTA_DECL void engine::leave(const std::string& why) {
  departure_.leave(why);
  stopping_ = true;
  drop_asked_ = true;
}

// --- tasks that would take too long

MANTA_DECL double engine::time_left_ns() const {
  return static_cast<double>(base::nanoseconds_of(departure_.ticks_left(base::ticks())));
}

/// For a task that is about to run here. Short ones always fit: some take less time than to look at the clock.
MANTA_DECL bool engine::is_too_long(const node& n) const {
  constexpr double short_ns = 1e7;
  const double expected = durations_.expected(n);
  return expected > short_ns && expected > time_left_ns();
}

MANTA_DECL void engine::set_aside(node& n) {
  if (n.has(node::timed)) stop_timer(n);
  late_.push_back(n);
}

MANTA_DECL std::string engine::explain_late(const node& n) const {
  const auto seconds = [](double ns) { return std::to_string(std::llround(ns * 1e-9)) + " s"; };
  const double expected = scheduler_ == nullptr ? durations_.expected(n)
                                                : std::max(durations_.expected(n), scheduler_->expected(n));
  return "is not started: it takes about " + seconds(expected) + ", and in " + seconds(time_left_ns()) +
         " the run has to end: " + departure_.end_text();
}

/// Rank 0: nothing goes on any more but what was set aside.
MANTA_DECL void engine::leave_early() {
  departure_.ask(departure_.end_text() + ", and the " + std::to_string(waves_.all().late) +
                 " tasks that could be started would take longer");
}

MANTA_DECL store::failure_ptr engine::leaving_failure() const {
  store::failure f;
  f.kind = store::failure::kind::cancelled;
  f.message = "the task was not started, because the run has to end: " + departure_.why();
  return store::share(std::move(f));
}

}  // namespace manta::exec
