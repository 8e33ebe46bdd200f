// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <string>

#include "manta/base/clock.hpp"
#include "manta/base/text.hpp"
#include "manta/exec/loop/quiet_watch.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

MANTA_DECL bool quiet_watch::is_quiet() const {
  const bool has_waits_to_end =
      below_.waiters.any_timed() || below_.waiters.any_with_descriptor() || below_.waiters.has_news_of_stops();
  const bool has_attempts = below_.attempts.has_timers() || below_.attempts.has_to_judge();
  return below_.phase.is_resting() && !below_.loop.somebody_can_go_on() && below_.executor.is_quiet() &&
         below_.fetches.is_quiet() && own_.net.bulk_outstanding() == 0 && !has_waits_to_end && !has_attempts &&
         !below_.phase.has_to_drop() && below_.gangs.are_quiet() &&
         below_.loop.has_reported() &&  // or rank 0 may have tasks that it would send if it knew
         below_.foreign_drops.empty() && below_.orphans.is_quiet();
}

MANTA_DECL waves::tally quiet_watch::tally(bool is_quiet) const {
  waves::tally t{};
  t.sent = own_.post.sent(own_.members);
  t.received = own_.post.received(own_.members);
  t.busy = !is_quiet;
  t.waits = below_.waiters.unfinished();
  t.late = below_.late.count();
  t.keeps = !below_.actors.empty() || below_.named.has_detached() || below_.unobserved.count() != 0;
  return t;
}

MANTA_DECL void quiet_watch::look() {
  if (own_.rank != 0 || below_.waiters.empty()) return;
  below_.phase.set_resting(true);
  const bool quiet_here = is_quiet();
  below_.phase.set_resting(false);
  // No more than the spins of a rank that shares its core: each of its later turns may sleep for long.
  constexpr unsigned worth_a_clock_reading = 20;
  silence& idle = below_.loop.idle_time();
  if (!waves_.is_under_way()) {
    if (!quiet_here) return waves_.put_off();
    if (own_.size > 1 && (idle.turns() < worth_a_clock_reading || !waves_.is_due(base::now_ns()))) return;
    begin_wave();
  }
  if (!waves_.is_complete()) return;
  const waves::verdict found = waves_.conclude(tally(quiet_here));
  if (found == waves::verdict::balanced) idle.set_turns(worth_a_clock_reading);
  if (found != waves::verdict::stable) return;
  const waves::tally& all = waves_.all();
  if (all.waits == 0 && all.late == 0) return below_.waiters.end_last();  // the run is over
  if (below_.scheduler->stop_keeping_free()) return below_.placement.place_and_ask();
  if (all.late == 0) return declare_deadlock();
  below_.departure.ask(base::text("{}, and the {} tasks that could be started would take longer",
                                  below_.departure.end_text(), all.late));
}

MANTA_DECL void quiet_watch::begin_wave() {
  const std::uint64_t wave = waves_.begin(own_.size - 1 - own_.members.deaths());
  own_.post.send_to_others(message::probe, probe_message{wave, {}});
  own_.net.pump(true);
}

MANTA_DECL void quiet_watch::declare_deadlock() {
  const std::uint32_t deaths_before = own_.members.deaths();
  others_.tell_state(others_.rank);
  if (own_.members.deaths() != deaths_before || !collect_reports()) return;
  const std::string text = deadlock_text();
  own_.post.send_to_others(message::fail_waits, index_message{0, 0}, text.data(), text.size());
  // The driver, if it has returned, is not told.
  if (below_.waiters.is_last_under_way()) std::fprintf(stderr, "%s\n", text.c_str());
  below_.waiters.fail_all(text);
}

MANTA_DECL bool quiet_watch::collect_reports() {
  deadlock_report& report = below_.waiters.report();
  report.begin(own_.size - 1 - own_.members.deaths(), below_.waiters.describe(own_.rank));
  const std::uint32_t deaths_before = own_.members.deaths();
  own_.post.send_to_others(message::report, index_message{0, 0});
  while (!report.is_complete()) {
    own_.net.pump(true);
    below_.loop.progress();
    if (own_.members.deaths() != deaths_before) return false;
  }
  return true;
}

MANTA_DECL std::string quiet_watch::deadlock_text() const {
  std::string text =
      "manta: deadlock: nothing runs, nothing can run, and these wait: " + below_.waiters.report().who_waits();
  while (text.ends_with(' ')) text.pop_back();
  if (below_.scheduler->waiting() != 0) {
    text += base::text("; {} tasks wait for resources that actors, reservations or waiting tasks hold",
                       below_.scheduler->waiting());
  }
  if (const graph::reservation* r = below_.scheduler->held().first_pending()) {
    text += base::text("; a reservation of rank {} is not met: {}", r->home_rank, graph::describe(r->wanted));
  }
  return text + ". Break the cycle, or free what is held";
}

MANTA_DECL void quiet_watch::describe_waits() {
  const std::string text = below_.waiters.describe(own_.rank);
  own_.post.send(0, message::report_answer, index_message{0, 0}, text.data(), text.size());
}

}  // namespace manta::exec
