// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks without MPI of which one has a thread: on it, loop.hpp runs tasks and switches stacks, and whatever waits there
// waits as in a real run. Whenever that rank looks around, one random thing happens in the rest of the world (see
// whole_rank.hpp). A failing seed is replayed step by step.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "manta/exec/loop/loop.ipp"
#include "manta/exec/loop/questions.ipp"
#include "manta/exec/loop/quiet_watch.ipp"
#include "manta/exec/loop/waiting.ipp"
#include "manta/exec/state/waiters.ipp"
#include "whole_rank.hpp"

/// The parts above home.hpp.
struct looping_rank : parts_above {
  using node = manta::graph::node;
  using loop_part = manta::exec::rank_loop<block_loopback>;

  explicit looping_rank(whole_rank& below) : rank(below) {
    rank.above = this;
    rank.phase.set_resting(true);  // as long as it is not the one that runs
  }
  ~looping_rank() override { rank.above = nullptr; }
  looping_rank(const looping_rank&) = delete;
  looping_rank& operator=(const looping_rank&) = delete;
  static looping_rank& of(void* self) { return *static_cast<looping_rank*>(self); }

  /// This rank's thread runs the function, on the stack of the caller.
  template <class Function>
  void run(Function&& function) {
    manta::exec::stack_pool stacks(&loop_part::service_entry, &loop);
    loop.begin_run(stacks);
    runs = true;
    rank.phase.set_resting(false);
    function();
    runs = false;
    rank.phase.set_resting(true);
    loop.end_run();
  }
  /// Serves until nothing goes on anywhere.
  void run_until_quiet() {
    manta::exec::waiters<block_loopback>::last_wait end(waiters);
    loop.wait(end.record);
  }
  std::uint64_t value(node& n, bool may_inline = true) {
    std::uint64_t number = 0;
    std::memcpy(&number, waits.value(n, may_inline), sizeof number);
    return number;
  }

  /// What the rank does when it looks around.
  bool progress() {
    if (at_each_look) at_each_look();
    const bool any = rank.world.step(rank.own.rank);
    if (rank.clock.has_timers()) rank.clock.look_at_clock();
    if (rank.clock.has_to_judge()) rank.clock.judge_failures();
    if (waiters.any_timed()) waiters.check_deadlines(manta::base::now_ns());
    if (rank.limit.holds()) waits.let_go();
    for (const std::uint32_t r : rank.world.take_touched()) {
      looping_rank& other = static_cast<looping_rank&>(*rank.world.look_at(r).above);
      if (!rank.world.is_alive(r) || other.runs || other.loop.runnable()) continue;
      other.loop.report_blocked(other.rank.executor.waiting(), false);
    }
    return any;
  }

  void wake(manta::exec::wait_record& record) override { waiters.wake(record); }
  void wait_for_end(node& n) override {
    if (runs) return waits.wait_for_end(n, false);
    while (n.state == manta::graph::state::pending && rank.world.step()) continue;
  }
  void relieve() override {
    if (runs) waits.relieve();
  }
  void rank_died() override { quiet.rank_died(); }
  bool receive(std::uint32_t from, const letter& l) override {
    using manta::exec::message;
    using namespace manta::exec;
    arrival m{from, l.bytes.data(), l.bytes.size()};
    switch (l.kind) {
      case message::blocked: rank.placement.on_blocked(from, m.read<blocked_message>()); break;
      case message::probe: quiet.on_probe(from, m.read<probe_message>()); break;
      case message::probe_answer: quiet.on_answer(m.read<probe_message>()); break;
      case message::report: quiet.describe_waits(); break;
      case message::report_answer:
        m.read<index_message>();
        quiet.on_report(m.text());
        break;
      case message::fail_waits:
        m.read<index_message>();
        waiters.fail_all(m.text());
        break;
      case message::ask: asked.on_ask(m.data, m.bytes); break;
      default: return false;
    }
    return true;
  }

  whole_rank& rank;
  bool runs = false;
  std::function<void()> at_each_look;
  manta::exec::turns next;
  manta::exec::foreign_drops drops{rank.graph.nodes, [](void*) {}, nullptr};
  manta::exec::waiters<block_loopback> waiters{rank.net, next, rank.pace, [](void*) {}, nullptr};
  loop_part loop{rank.own,
                 {rank.lock, rank.running, rank.started, rank.phase, next, rank.pace, rank.times, waiters, rank.local,
                  rank.scheduler, rank.clock, rank.executor, rank.actors, rank.placement, rank.home},
                 {.rank = this,
                  .progress = [](void* self) { return of(self).progress(); },
                  .look_for_deadlock = [](void* self) { of(self).quiet.look(); },
                  .watch = [](void*) {},
                  .serve_others = [](void* self) { of(self).loop.report_long_task(); }}};
  manta::exec::waiting<block_loopback> waits{
      rank.own, {rank.phase, rank.pace, waiters, rank.local, rank.fetching, rank.limit, rank.home, loop}};
  manta::exec::quiet_watch<block_loopback> quiet{
      rank.own,
      {rank.phase, waiters, rank.late, rank.end, rank.scheduler, rank.fetching, rank.clock, rank.executor, rank.actors,
       rank.named, rank.failures, rank.placement, drops, rank.orphans, loop},
      {this, [](void*) { return true; }}};
  manta::exec::questions<block_loopback> asked{
      rank.own,
      {rank.running, rank.local, rank.late, rank.end, rank.offered, rank.scheduler, rank.elsewhere, rank.ends,
       rank.tickets, rank.placement, rank.withdrawal, rank.named},
      {nullptr, [](void*, const manta::exec::ask_message&) {}}};
};

/// All ranks with all their parts.
struct looping_world {
  explicit looping_world(std::uint32_t size, std::uint64_t seed = 1, bool recovers = false,
                         std::size_t most_unfinished = std::size_t{1} << 20, std::uint32_t ranks_per_node = 1)
      : world(size, seed, recovers, most_unfinished, ranks_per_node) {
    for (std::uint32_t r = 0; r < size; ++r) ranks.push_back(std::make_unique<looping_rank>(world[r]));
  }
  looping_rank& operator[](std::size_t rank) { return *ranks[rank]; }

  whole_world world;
  std::vector<std::unique_ptr<looping_rank>> ranks;
};
