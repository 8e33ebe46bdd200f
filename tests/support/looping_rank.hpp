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

#include "whole_rank.hpp"

/// A rank of which the thread can be run.
struct looping_rank {
  using node = manta::graph::node;

  explicit looping_rank(whole_rank& its) : rank(its) {}
  looping_rank(const looping_rank&) = delete;
  looping_rank& operator=(const looping_rank&) = delete;

  /// This rank's thread runs the function, on the stack of the caller.
  template <class Function>
  void run(Function&& function) {
    manta::exec::stack_pool stacks(&manta::exec::rank_loop::service_entry, &loop);
    loop.begin_run(stacks);
    rank.has_thread = true;
    rank.run.phase.set_resting(false);
    rank.rank.net.at_poll = [this] { return look(); };
    function();
    rank.rank.net.at_poll = nullptr;
    rank.has_thread = false;
    rank.run.phase.set_resting(true);
    loop.end_run();
  }
  /// Serves until nothing goes on anywhere.
  void run_until_quiet() {
    manta::exec::waiters::last_wait end(waiters);
    loop.wait(end.record);
  }
  std::uint64_t value(node& n, bool may_inline = true) {
    std::uint64_t number = 0;
    std::memcpy(&number, waiting.value(n, may_inline), sizeof number);
    return number;
  }
  bool progress() { return rank.duties.progress(); }

  whole_rank& rank;
  std::function<void()> at_each_look;
  manta::exec::waiters& waiters = rank.run.waiters;
  manta::exec::rank_loop& loop = rank.loops.loop;
  manta::exec::waiting& waiting = rank.loops.waiting;
  manta::exec::quiet_watch& quiet = rank.loops.quiet;
  manta::exec::questions& questions = rank.loops.questions;

 private:
  /// What happens while the rank polls.
  bool look() {
    if (rank.world.is_stepping()) return false;  // the rank does something there, not on its thread
    if (at_each_look) at_each_look();
    const bool any = rank.world.step(rank.rank.rank);
    for (const std::uint32_t r : rank.world.take_touched()) {
      whole_rank& other = rank.world.look_at(r);
      if (!rank.world.is_alive(r) || other.has_thread || other.loops.loop.runnable()) continue;
      other.loops.loop.report_blocked(other.work.executor.waiting(), false);
    }
    return any;
  }
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
