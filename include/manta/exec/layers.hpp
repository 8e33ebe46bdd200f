// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The parts of an engine, in the order in which they are built: a part is given
// those that stand above it here, and hooks for what stands below.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/account/actor_times.hpp"
#include "manta/exec/account/task_counts.hpp"
#include "manta/exec/account/task_trace.hpp"
#include "manta/exec/account/time_account.hpp"
#include "manta/exec/deaths.hpp"
#include "manta/exec/duties.hpp"
#include "manta/exec/ending.hpp"
#include "manta/exec/home/actor_calls.hpp"
#include "manta/exec/home/home.hpp"
#include "manta/exec/home/named_actors.hpp"
#include "manta/exec/home/orphans.hpp"
#include "manta/exec/home/tickets.hpp"
#include "manta/exec/isolation/isolated_calls.hpp"
#include "manta/exec/keeping.hpp"
#include "manta/exec/loop/helper.hpp"
#include "manta/exec/loop/leaving.hpp"
#include "manta/exec/loop/loop.hpp"
#include "manta/exec/loop/questions.hpp"
#include "manta/exec/loop/quiet_watch.hpp"
#include "manta/exec/loop/thread_watch.hpp"
#include "manta/exec/loop/waiting.hpp"
#include "manta/exec/rank/network.hpp"
#include "manta/exec/seeing.hpp"
#include "manta/exec/state/early_messages.hpp"
#include "manta/exec/state/throttle.hpp"
#include "manta/exec/tracing.hpp"
#include "manta/exec/value/context.hpp"
#include "manta/exec/value/foreign_drops.hpp"
#include "manta/exec/value/journaling.hpp"
#include "manta/exec/value/lineage.hpp"
#include "manta/exec/value/made_values.hpp"
#include "manta/exec/value/recovery.hpp"
#include "manta/exec/work/actor_host.hpp"
#include "manta/exec/work/gang_guard.hpp"
#include "manta/exec/work/gangs.hpp"
#include "manta/net/lifeline.hpp"

namespace manta::exec {

/// What the parts call of what is built after them: hooks.ipp.
struct part_hooks {
  exec::references::hooks references;
  exec::completion::hooks completion;
  exec::supply::hooks supply;
  exec::fetches::hooks fetches;
  exec::attempts::hooks attempts;
  exec::recovery::hooks recovery;
  exec::runner::hooks runner;
  exec::executor::hooks executor;
  exec::actor_host::hooks actors;
  exec::tasks_ahead::hooks ahead;
  exec::placement::hooks placement;
  exec::lost_tasks::hooks lost;
  exec::tickets::hooks tickets;
  exec::named_actors::hooks named;
  exec::actor_calls::hooks calls;
  exec::home::hooks home;
  exec::rank_loop::hooks loop;
  exec::quiet_watch::hooks quiet;
  exec::questions::hooks questions;
  exec::helper::duties helper, watching_helper;  ///< hooks of a helper beside other ranks, and of one that is alone
  exec::isolated_calls::hooks isolated;
  void (*rouse)(void* rank);  ///< Wakes the helper.
};

/// What a rank has: its network, its stores, and what it knows of all ranks.
struct rank_stores {
  /// Collective.
  MANTA_DECL rank_stores(const network::origin& from, const part_hooks& hooks);

  exec::network net;
  rank_id rank;
  std::uint32_t size;
  exec::post post;
  biased_lock lock;
  store::ledger ledger;  // before the graph, whose nodes it knows
  graph::task_graph graph;
  graph::offers world;
  base::list<std::uint64_t> sees;  // by rank: its list of devices; 0: nobody else sees them. Only with spares
  membership members;
  failure_writer failures;
  graph::scheduler* scheduler = nullptr;  // rank 0
  net::lifeline* lifeline = nullptr;      // null: deaths end the job
  std::uint64_t seed = 0;
};

/// Where this rank is in its run, and what it works on.
struct run_state {
  /// Submitters wait that have more than `max_queued` unfinished tasks.
  MANTA_DECL run_state(rank_stores& rank, std::size_t max_queued, const part_hooks& hooks);

  current_task running;
  started_list started;
  graph::node_list local;  // tasks made here that may start, newest last
  late_tasks late;
  exec::staging staging;  // received tasks with inputs
  tasks_elsewhere elsewhere;
  exec::turns turns;
  exec::pace pace;
  exec::waiters waiters;
  exec::throttle throttle;
  early_messages early;
  run_phase phase;
  exec::departure departure;
  exec::unobserved unobserved;
  task_trace trace;
  exec::time_account time_account;
  task_counts counts;
  exec::actor_times actor_times;
};

/// Values, and the records of the tasks that make them.
struct value_layer {
  /// Gives each part what it needs.
  MANTA_DECL value_layer(rank_stores& rank, run_state& run, const part_hooks& hooks);

  exec::lineage lineage;
  exec::journaling journaling;
  references refs;
  rank_context own;
  exec::completion completion;
  task_records records;
  exec::supply supply;
  exec::fetches fetches;
  exec::attempts attempts;
  exec::recovery recovery;
  exec::foreign_drops foreign_drops;
  made_values made;
};

/// What runs on this rank, and rank 0's decisions about what runs where.
struct work_layer {
  /// Gives each part what it needs.
  MANTA_DECL work_layer(rank_stores& rank, run_state& run, value_layer& values, const part_hooks& hooks);

  exec::runner runner;
  exec::executor executor;
  actor_host actors;
  exec::gangs gangs;
  exec::gang_guard gang_guard;
  tasks_ahead ahead;
  exec::placement placement;
};

/// The tasks, calls and actors of which this rank is the home, and what it asks other ranks.
struct home_layer {
  /// Gives each part what it needs.
  MANTA_DECL home_layer(rank_stores& rank, run_state& run, value_layer& values, work_layer& work,
                        const part_hooks& hooks);

  exec::withdrawal withdrawal;
  lost_tasks lost;
  exec::tickets tickets;
  named_actors named;
  actor_calls calls;
  exec::home home;
  exec::orphans orphans;
};

/// What the rank's own thread does next, and what others do for it.
struct loop_layer {
  /// Gives each part what it needs.
  MANTA_DECL loop_layer(rank_stores& rank, run_state& run, value_layer& values, work_layer& work, home_layer& homes,
                        const part_hooks& hooks);

  rank_loop loop;
  exec::waiting waiting;
  quiet_watch quiet;
  exec::questions questions;
  exec::helper helper;
  thread_watch watch;
  isolated_calls isolated;
  exec::leaving leaving;
};

/// All parts of a rank. The last six concern all of them, each in one written order.
struct rank_parts {
  /// Collective. Submitters wait that have more than `max_queued` unfinished tasks.
  MANTA_DECL rank_parts(const network::origin& from, std::size_t max_queued);
  /// For tests: with these hooks in the place of those of hooks_of. Their first argument is this object.
  MANTA_DECL rank_parts(const network::origin& from, std::size_t max_queued, const part_hooks& hooks);
  rank_parts(const rank_parts&) = delete;
  rank_parts& operator=(const rank_parts&) = delete;

  /// A run begins: the calling thread runs its tasks, and has the lock from now on.
  MANTA_DECL void begin_run();
  /// Messages that came before the run began are handled, and so are all that come.
  MANTA_DECL void handle_early();

  rank_stores rank;
  run_state run;
  value_layer values;
  work_layer work;
  home_layer homes;
  loop_layer loops;
  exec::ending ending;
  exec::deaths deaths;
  exec::duties duties;
  exec::seeing seeing;
  exec::tracing tracing;
  exec::keeping keeping;
};

/// What the parts are given of those that are built after them.
MANTA_DECL part_hooks hooks_of(rank_parts& all);

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/deaths.ipp"
#include "manta/exec/duties.ipp"
#include "manta/exec/ending.ipp"
#include "manta/exec/hooks.ipp"
#include "manta/exec/keeping.ipp"
#include "manta/exec/layers.ipp"
#include "manta/exec/seeing.ipp"
#include "manta/exec/situation.ipp"
#include "manta/exec/survey.ipp"
#include "manta/exec/tracing.ipp"
#endif
