// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Whether anything still goes on. An idle rank 0 asks all ranks in waves whether
// they are quiet (waves.hpp). When nothing goes on and nothing will, the run or its
// phase is over, or the run has to end early, or all that wait wait for each other:
// then their waits fail with a report of who waits for what.
//
// look waits for the ranks' reports of a deadlock; no other function waits.
#pragma once

#include <cstdint>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/exec/home/named_actors.hpp"
#include "manta/exec/home/orphans.hpp"
#include "manta/exec/loop/loop.hpp"
#include "manta/exec/rank/waves.hpp"
#include "manta/exec/value/foreign_drops.hpp"

namespace manta::exec {

class quiet_watch {
 public:
  /// The parts that it uses.
  struct parts {
    run_phase& phase;
    exec::waiters& waiters;
    const late_tasks& late;
    exec::departure& departure;
    graph::scheduler* const& scheduler;  ///< null but on rank 0
    const exec::fetches& fetches;
    const exec::attempts& attempts;
    const exec::executor& executor;
    const actor_host& actors;
    const exec::gangs& gangs;
    const named_actors& named;
    const exec::unobserved& unobserved;
    exec::placement& placement;
    const exec::foreign_drops& foreign_drops;
    const exec::orphans& orphans;
    rank_loop& loop;
  };
  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    void (*tell_state)(void* rank);  ///< Nothing can go on: the state of the run is told. Waits.
  };

  quiet_watch(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  // --- rank 0

  /// Idle: begins a wave if one is due. If a complete one finds that nothing goes on, ends the run or its phase, or has
  /// the run end early, or declares a deadlock.
  void look();
  void hasten() { waves_.hasten(); }  ///< The driver has returned: the next wave is due at once.
  /// Had any rank actors or unobserved failures when the last wave found that nothing goes on?
  bool has_found_kept() const { return waves_.all().keeps != 0; }
  void rank_died() { waves_.give_up(); }                                          ///< A rank will not answer.
  void on_answer(const probe_message& m) { waves_.add(m.wave, m.tally); }         ///< A rank answers a wave.
  void on_report(std::string_view waits) { below_.waiters.report().add(waits); }  ///< A rank says what waits there.

  // --- every rank

  void on_probe(rank_id from, const probe_message& m) {  ///< Rank 0 asks whether this rank is quiet.
    own_.post.send(from, message::probe_answer, probe_message{m.wave, tally(is_quiet())});
  }
  void describe_waits();  ///< Rank 0 asks what waits here. Sends the answer.

 private:
  bool is_quiet() const;                    ///< Is nothing left to do here, nothing under way and nothing due?
  waves::tally tally(bool is_quiet) const;  ///< This rank's answer in a wave.
  void begin_wave();                        ///< Asks all ranks.
  /// Has the waits of all ranks fail, with a report. Waits for what they say.
  void declare_deadlock();
  bool collect_reports();             ///< False if a rank has died meanwhile: there is something to do again.
  std::string deadlock_text() const;  ///< The report.

  const rank_context own_;
  const parts below_;
  const hooks others_;
  waves waves_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/loop/quiet_watch.ipp"
#endif
