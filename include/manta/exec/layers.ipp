// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which part is given which.
#pragma once

#include "manta/base/hash.hpp"
#include "manta/base/launcher.hpp"
#include "manta/exec/handlers.hpp"
#include "manta/exec/layers.hpp"

namespace manta::exec {

MANTA_DECL rank_stores::rank_stores(const network::origin& from, const part_hooks& hooks)
    : net(from),
      rank(static_cast<std::uint32_t>(net.rank())),
      size(static_cast<std::uint32_t>(net.size())),
      post(net, size),
      lock(hooks.rouse, hooks.helper.rank),
      world(size),
      members(size),
      failures(rank, members) {}

MANTA_DECL run_state::run_state(rank_stores& rank, std::size_t max_queued, const part_hooks& hooks)
    : running(base::launcher::get().page()),
      local(rank.graph.nodes),
      late(rank.graph.nodes),
      waiters(rank.net, turns, pace, hooks.rouse, hooks.helper.rank),
      throttle(max_queued),
      time_account(trace) {}

MANTA_DECL value_layer::value_layer(rank_stores& r, run_state& run, const part_hooks& hooks)
    : refs(r.rank, r.graph, r.post, r.members, {r.ledger, lineage, journaling, run.unobserved}, hooks.references),
      own{r.rank, r.size, r.net, r.graph, r.ledger, r.post, r.members, r.failures, refs, run.counts, run.trace},
      completion(own, run.waiters, hooks.completion),
      records(own, run.staging, completion),
      supply(own, completion, hooks.supply),
      fetches(own, completion, supply, lineage, hooks.fetches),
      attempts(own, completion, run.phase, r.lock, hooks.attempts),
      recovery(own, lineage, records, completion, fetches, hooks.recovery),
      foreign_drops(r.graph.nodes, hooks.rouse, hooks.helper.rank),
      made(own, completion, run.running) {}

MANTA_DECL work_layer::work_layer(rank_stores& r, run_state& run, value_layer& v, const part_hooks& hooks)
    : runner({r.lock, r.ledger, r.failures, run.running, run.started, run.pace, run.time_account, run.late,
              run.departure, v.journaling},
             hooks.runner),
      executor(v.own, {r.lock, runner, run.staging, v.records, v.fetches, v.supply, v.journaling}, hooks.executor),
      actors(v.own,
             {r.lock, runner, run.running, run.started, run.waiters, v.records, executor, run.unobserved, v.journaling,
              run.phase, run.pace, run.time_account, run.actor_times},
             hooks.actors),
      gangs(v.own, {r.lock, runner, run.started, v.records, executor, actors, v.journaling}),
      gang_guard(v.own,
                 {run.running, run.phase, run.waiters, executor, actors, gangs, r.world, r.scheduler, r.lifeline}),
      ahead(v.own, {v.records, run.elsewhere, v.supply, r.scheduler}, hooks.ahead),
      placement(v.own,
                {r.world, r.scheduler, v.records, v.completion, v.supply, v.attempts, executor, ahead, run.elsewhere,
                 run.late, run.departure},
                hooks.placement) {}

MANTA_DECL home_layer::home_layer(rank_stores& r, run_state& run, value_layer& v, work_layer& work,
                                  const part_hooks& hooks)
    : withdrawal(v.own, {r.lock, run.running, run.started, run.waiters, run.local, run.late, run.phase, run.departure,
                         run.elsewhere, v.records, v.completion, v.fetches, work.executor, work.actors, work.gangs,
                         work.placement}),
      lost(v.own,
           {r.members, run.elsewhere, v.records, v.completion, v.fetches, v.attempts, v.recovery, work.placement},
           hooks.lost),
      tickets(v.own, v.completion, v.recovery, hooks.tickets),
      named(v.own, {run.running, tickets, v.records, v.fetches, withdrawal}, hooks.named),
      calls(v.own,
            {run.running, run.throttle, run.pace, run.elsewhere, v.records, v.completion, v.fetches, withdrawal, named,
             v.attempts},
            hooks.calls),
      home(v.own,
           {.lock = r.lock,
            .running = run.running,
            .phase = run.phase,
            .departure = run.departure,
            .throttle = run.throttle,
            .local = run.local,
            .late = run.late,
            .scheduler = r.scheduler,
            .elsewhere = run.elsewhere,
            .journaling = v.journaling,
            .runner = work.runner,
            .records = v.records,
            .completion = v.completion,
            .fetches = v.fetches,
            .attempts = v.attempts,
            .recovery = v.recovery,
            .executor = work.executor,
            .actors = work.actors,
            .calls = calls,
            .ahead = work.ahead,
            .placement = work.placement,
            .withdrawal = withdrawal,
            .lost = lost},
           hooks.home),
      orphans(v.own, {work.actors, work.executor}) {}

MANTA_DECL loop_layer::loop_layer(rank_stores& r, run_state& run, value_layer& v, work_layer& work, home_layer& homes,
                                  const part_hooks& hooks)
    : loop(v.own,
           {r.lock, run.running, run.started, run.phase, run.turns, run.pace, run.time_account, run.waiters, run.local,
            r.scheduler, v.attempts, work.executor, work.actors, work.gang_guard, work.placement, homes.home},
           hooks.loop),
      waiting(v.own, {run.phase, run.pace, run.waiters, run.local, v.fetches, run.throttle, homes.home, loop}),
      quiet(
          v.own,
          {run.phase, run.waiters, run.late, run.departure, r.scheduler, v.fetches, v.attempts, work.executor,
           work.actors, work.gangs, homes.named, run.unobserved, work.placement, v.foreign_drops, homes.orphans, loop},
          hooks.quiet),
      questions(v.own,
                {run.running, run.local, run.late, run.departure, r.world, r.scheduler, run.elsewhere, v.completion,
                 homes.tickets, work.placement, homes.withdrawal, homes.named},
                hooks.questions),
      helper(r.lock, r.size > 1 ? hooks.helper : hooks.watching_helper),
      watch(r.rank, run.running, run.started, run.waiters, helper),
      isolated({r.rank, r.size, r.net.node(), r.seed},
               {r.lock, r.failures, run.phase, run.departure, helper, watch.over_tasks()}, hooks.isolated),
      leaving(v.own, run.departure, run.phase) {}

MANTA_DECL rank_parts::rank_parts(const network::origin& from, std::size_t max_queued)
    : rank_parts(from, max_queued, hooks_of(*this)) {}

MANTA_DECL rank_parts::rank_parts(const network::origin& from, std::size_t max_queued, const part_hooks& hooks)
    : rank(from, hooks),
      run(rank, max_queued, hooks),
      values(rank, run, hooks),
      work(rank, run, values, hooks),
      homes(rank, run, values, work, hooks),
      loops(rank, run, values, work, homes, hooks),
      ending(*this),
      deaths(*this),
      duties(*this),
      seeing(*this),
      tracing(*this),
      keeping(*this) {}

MANTA_DECL void rank_parts::begin_run() {
  run.running.begin_run(base::mix(rank.seed, run.phase.begin(run.departure.is_leaving())));
  run.elsewhere.clear();
  homes.calls.forget_sent();
  run.throttle.begin();
  seeing.begin_run();
  tracing.begin_run();
  rank.lock.enter();
}

MANTA_DECL void rank_parts::handle_early() {
  run.early.end([this](rank_id from, message kind, const std::byte* data, std::size_t bytes) {
    handle_message(*this, from, kind, data, bytes);
  });
}

}  // namespace manta::exec
