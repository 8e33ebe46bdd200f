// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank does next, on which stack. A stack that waits polls where it stands as
// long as there is nothing to run; when there is, it is left as it is, and the
// service loop runs on a pooled stack until what the first one waits for is there.
// The order at the top level is always: poll, run, pump.
//
// After a task, turns.hpp says whose turn it is. A waiter that runs the tasks it waits for on its own stack makes way
// between them as soon as somebody else can go on.
#pragma once

#include <cstdint>

#include "manta/base/clock.hpp"
#include "manta/base/config.hpp"
#include "manta/exec/account/time_account.hpp"
#include "manta/exec/home/home.hpp"
#include "manta/exec/rank/stack.hpp"
#include "manta/exec/state/silence.hpp"
#include "manta/exec/state/waiters.hpp"
#include "manta/exec/work/gang_guard.hpp"

namespace manta::exec {

class rank_loop {
 public:
  /// The parts that it uses.
  struct parts {
    biased_lock& lock;
    current_task& running;
    const started_list& started;
    run_phase& phase;
    exec::turns& turns;
    exec::pace& pace;
    exec::time_account& time_account;
    exec::waiters& waiters;
    graph::node_list& local;
    graph::scheduler* const& scheduler;  ///< null but on rank 0
    exec::attempts& attempts;
    exec::executor& executor;
    actor_host& actors;
    exec::gang_guard& gang_guard;
    exec::placement& placement;
    exec::home& home;
  };
  /// What others do, each with `rank` first.
  struct hooks {
    void* rank;
    bool (*progress)(void* rank);           ///< Receives, does what is due, ends what is over. True if anything came.
    void (*look_for_deadlock)(void* rank);  ///< Rank 0 is idle.
    void (*serve_others)(void* rank);       ///< A task takes long: others get what they need from this rank.
  };

  rank_loop(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  // --- a run

  void begin_run(stack_pool& stacks) {  ///< The stacks belong to the caller.
    stacks_ = &stacks;
    silence_.end();
  }
  void end_run() { stacks_ = nullptr; }
  static void service_entry(void* self) { static_cast<rank_loop*>(self)->service(); }  ///< A pooled stack begins.

  // --- waits, which run other tasks meanwhile

  /// Waits until the record is over.
  MANTA_DECL void wait(wait_record& record);
  /// Runs a task of this rank, which is queued here, on the stack of its waiter; then others may have their turn.
  void run_inline(node& n);
  /// Is there room on this stack for one more task?
  bool has_room() const { return stacks_->room() > stacks_->stack_bytes() / 2; }
  /// Receives what is there and runs at most one task elsewhere: what polling `ready()` in a loop needs.
  MANTA_DECL void step();
  /// Has the task that runs on this stack to stop? Receives what is there, now and then: a task that asks in a loop
  /// keeps the helper away, so it has to do the helper's work itself.
  MANTA_DECL bool stop_requested();

  // --- what there is to do

  /// Runs a call or a task. False if none can begin.
  bool run_next() { return run_call() || run_task(); }
  bool progress() { return others_.progress(others_.rank); }  ///< Receives and does what is due. True if anything came.
  bool runnable() const { return has_tasks() || below_.actors.has_work(); }  ///< Can a task or call begin?
  bool somebody_can_go_on() const { return below_.turns.stacks_can_go_on() || runnable(); }

  // --- what rank 0 knows of this rank

  /// Every task that was started here and has not ended waits; idle, those too that were sent ahead. Rank 0 counts with
  /// what it was told last, and sends more to a rank on which all wait. Sends a message if that has changed.
  void report_blocked(std::uint32_t blocked, bool own_work, bool in_call = false);
  const blocked_message& reported() const { return reported_; }  ///< The last message to rank 0 of this kind.
  /// A call or task takes longer than was thought: rank 0 is told. The task may have waited when it was last told.
  void report_long_task();
  void report_memory() {  ///< Tells rank 0 if memory for values has become short, or is not any more.
    if (own_.ledger.memory().is_short() == (reported_.is_short != 0)) return;
    report_blocked(reported_.tasks, reported_.own_work != 0, reported_.in_call != 0);
  }
  /// Does rank 0 know all that it needs to send more? This rank is idle.
  bool has_reported() const { return reported_.in_call == 0 && reported_.tasks == below_.executor.waiting(); }
  silence& idle_time() { return silence_; }

 private:
  void service();                   ///< The loop of a pooled stack. Does not return.
  void leave_stack(context* next);  ///< Goes on with `next`, or if that is null with the service loop.
  /// The waiter makes way for stacks and calls that can go on, and goes on after them.
  void let_others_go_first();
  bool run_call();  ///< Runs a call of an actor, if it is the turn of one: somebody waits for it.
  /// Runs the next task; false if there is none. The newest one made here goes first, so that memory follows depth and
  /// not breadth; then what was sent here, in order. Of eight tasks one is the oldest, or tasks that make tasks would
  /// starve what was sent here.
  bool run_task();
  bool run_oldest();  ///< Runs the task that has waited longest of those that run_task takes last.
  /// Runs what `turns` keeps this turn for. Stacks that poll each other would keep all others from their turns. A stack
  /// that made way is older work than any task that has not started, and goes on in turn.
  bool run_kept_turn();
  static std::uint64_t ticks_between_looks();  ///< A rank with tasks looks around at least so often.
  void look_around(bool late);                 ///< Makes progress between two tasks.
  /// The task that has the thread, or the driver, waits from now on, and others may run.
  void pause(running_task& task, std::uint64_t now) {
    below_.time_account.pause(task, below_.running.is_driver(), now);
  }
  /// It goes on.
  void go_on(running_task& task) {
    below_.running.resume(task);
    below_.time_account.resume(task, below_.running.is_driver(), base::ticks());
  }
  void end_silence();       ///< Something has come, or can run.
  rank_state idle_state();  ///< Why this rank has nothing to do.
  void idle();              ///< Nothing came and nothing can run: does by silence.hpp what is left to do.
  bool has_tasks() const { return !below_.local.empty() || below_.executor.has_work(); }
  void report_started() { report_blocked(below_.executor.started(), !below_.local.empty()); }

  static constexpr unsigned turns_of_own_work = 8;  ///< so long, of a microsecond, a rank that polls counts as busy

  const rank_context own_;
  const parts below_;
  const hooks others_;
  stack_pool* stacks_ = nullptr;  // during a run
  silence silence_;
  blocked_message reported_{};
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/loop/loop.ipp"
#endif
