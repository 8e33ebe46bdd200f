// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a run tells people of itself (report/): while it runs and at its end, rank 0 asks all ranks for their reports
// and writes what the settings ask for. Each rank answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/base/text.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/account/rank_report.hpp"
#include "manta/exec/account/standstill.hpp"
#include "manta/exec/rank/engine_options.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/survey.hpp"
#include "manta/report/run_state.hpp"
#include "manta/report/statistics.hpp"
#include "manta/report/status.hpp"

namespace manta::report {
class live_texts;
}

namespace manta::exec {

class seeing {
 public:
  /// Nothing is asked for.
  MANTA_DECL explicit seeing(rank_parts& all);
  MANTA_DECL ~seeing();  ///< Writes nothing: end_run does.

  /// Takes the settings; on rank 0, looks whether the files can be written, and throws if not.
  MANTA_DECL void configure(const engine_options& options);
  /// A run begins: nothing has been counted.
  MANTA_DECL void begin_run();
  /// Rank 0: everything has ended, the other ranks still answer. Writes the files and the last line. Waits.
  MANTA_DECL void end_run();
  /// Rank 0, at the top level or from the helper: writes what is due.
  void look() {
    if ((++looks_ & every_look_) == 0) look_closely();
  }
  /// As look(), whatever was looked at before.
  MANTA_DECL void look_closely();
  /// How long may pass between two looks while a task runs; below 0: nothing is written until somebody asks.
  MANTA_DECL std::int64_t pause_ns() const;
  /// Rank 0 asks for the report or the situation of this rank; or this is rank 0, and another one asks for the state.
  MANTA_DECL void on_ask(const ask_message& m);
  /// SIGUSR2 has come: rank 0 tells the state.
  MANTA_DECL void on_signal();
  /// The run has to end early: rank 0 tells the state in which it is now.
  MANTA_DECL void note_end();
  /// Rank 0: tells the state, and looks around until that is done.
  MANTA_DECL void tell_state(const char* why);
  /// Rank 0: the state of the run in words. Waits.
  MANTA_DECL std::string state_now();

  /// Rank 0: texts are made from now on when they are wanted there. Null: no more.
  MANTA_DECL void show_in(report::live_texts* live);
  bool is_shown() const { return live_ != nullptr; }
  /// Rank 0: the statistics of the run so far. Waits.
  MANTA_DECL statistics statistics_now();
  /// Rank 0: a stretch of the run begins. Returns its number, for end_phase.
  MANTA_DECL std::size_t begin_phase(std::string name);
  MANTA_DECL void end_phase(std::size_t number);  ///< The stretch ends now.
  const std::vector<phase_statistics>& phases() const { return phases_; }

 private:
  struct outputs;

  enum reason : std::uint32_t { signal, watchdog };  // why a rank asks for the state

  static std::string text_of(reason why, rank_id rank) {
    return why == signal ? "asked for by SIGUSR2"
                         : base::text("before the watchdog ends a task of rank {}", rank.number());
  }
  void ask_for_state(reason why);  ///< Has rank 0 tell the state soon.
  /// Rank 0: the state is to be told soon.
  void want_state(const std::string& why) {
    if (why_state_.empty()) why_state_ = why;
    looks_ = every_look_;
  }
  void begin_state();     ///< Asks all ranks what they do.
  void on_hung_task();    ///< A task of this rank is about to be ended: has the state told before.
  bool has_told() const;  ///< After on_hung_task: has this rank said what it does?
  /// The report of this rank, now.
  MANTA_DECL wire::buffer own_report(report_detail detail);
  bool owner_is_in_user_code() const;          ///< The helper asks.
  void finish_surveys();                       ///< Waits for what is under way, and ends it.
  static void tell(const std::string& block);  ///< Writes to standard error at once.
  void tell_state_if_due();                    ///< Begins to ask for the state, or writes it when all have answered.
  void watch_progress();                       ///< Tells the state once when nothing has ended for long.
  void take_numbers();                         ///< Ends a complete survey of the numbers of tasks.
  bool writes() const;                         ///< Is anything written or shown before the end?
  report::run_state finish_state(const std::string& why);  ///< Ends the complete survey for the state.
  bool wants_live(unsigned kind) const;                    ///< Does somebody want this live text?
  void write_and_show(const statistics& now);              ///< Writes the files that are due, and what is shown live.
  report::run_status status(bool is_over);                 ///< Counts what is unfinished.
  double seconds() const;                                  ///< Since the begin of the run.
  void integrate_waiting(std::uint64_t now);               ///< Adds up how long tasks wait for room.
  statistics collect();                     ///< Ends a complete survey, and makes the statistics of its answers.
  void add_numbers(report::run_status& s);  ///< Adds up what is known of the tasks of all ranks.
  void finish_counting(bool is_over);       ///< Ends the complete survey of numbers, and writes how far the run is.
  void ask_if_due();                        ///< Begins a survey for the files, or writes them when it is complete.

  rank_parts& all_;
  std::unique_ptr<outputs> outputs_;  // null: nothing is asked for, or this is not rank 0
  survey survey_;
  survey situations_;
  survey counting_;
  base::vector<report::task_numbers> numbers_;           // by rank, as they were told last
  report::live_texts* live_ = nullptr;                   // null: nobody shows the run
  report::rank_situation own_situation_;                 // rank 0: when the others were asked
  std::uint64_t situations_told_ = 0, told_before_ = 0;  // how often this rank has said what it does
  std::string why_state_;                                // why the state is to be told; empty: it is not
  std::int64_t state_told_ns_ = 0;                       // when it was told last
  standstill standstill_;
  static constexpr unsigned every_look_ = 63;  // then the next look is a close one
  bool has_ended_ = true;                      // no run, or its end: nothing more is asked
  unsigned looks_ = 0;
  std::uint64_t begin_ticks_ = 0, looked_ticks_ = 0;
  double began_ = 0;          // seconds since 1970
  double ready_seconds_ = 0;  // for which tasks have waited for room, of all tasks together
  std::vector<phase_statistics> phases_;
};

}  // namespace manta::exec
