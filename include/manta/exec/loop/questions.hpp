// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What users ask: where a task is and why it waits, what is free, what values take;
// and what they ask for: reservations, and the end of a task. Nothing here is on
// the way of a task without options: answers are made up when somebody asks, from
// what the parts remember anyway.
//
// on_ask and give_up_reservation return at once; the others may ask another rank
// and wait for its answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manta/base/config.hpp"
#include "manta/exec/home/named_actors.hpp"
#include "manta/exec/home/tickets.hpp"
#include "manta/exec/home/withdrawal.hpp"

namespace manta::exec {

class questions {
 public:
  /// The parts that it uses.
  struct parts {
    const current_task& running;
    const graph::node_list& local;  ///< tasks made here that may start
    late_tasks& late;
    const exec::departure& departure;
    const graph::offers& world;
    graph::scheduler* const& scheduler;  ///< null but on rank 0
    tasks_elsewhere& elsewhere;
    exec::completion& completion;
    exec::tickets& tickets;
    exec::placement& placement;
    exec::withdrawal& withdrawal;
    named_actors& named;
  };

  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    void (*seen)(void* rank, const ask_message& m);  ///< Answers what people want to see of this rank.
  };

  questions(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  /// Asks rank 0 for bundles of resources, and returns the number it gives; `ready` ends when they are there.
  MANTA_DECL std::uint64_t reserve(const wire::buffer& wanted, graph::strategy how, node& ready);
  MANTA_DECL void give_up_reservation(std::uint64_t id);  ///< Sends one message to rank 0.
  /// Where a task or value is and why, or what it waits for.
  MANTA_DECL std::string explain(node& n);
  /// What is free on each rank, as rank 0 has it: cpus, gpu units, tasks, actors, quantities.
  MANTA_DECL wire::buffer available();
  /// What the values on each rank take: see memory.hpp. Of a dead rank nothing. All are asked at once.
  MANTA_DECL std::vector<wire::buffer> memory_of_all();
  /// Has a task end before its time, with what it has submitted where `children`. False if it had ended, or is none.
  MANTA_DECL bool cancel(node& n, bool children);

  /// A question from another rank: sends the answer.
  void on_ask(const std::byte* data, std::size_t bytes);

 private:
  wire::buffer describe_memory() const;  ///< The memory that values take on this rank.
  /// At the home. `placed_by_zero`: the answer is only a guess, rank 0 may know more.
  std::string explain_here(node& n, bool& placed_by_zero);
  /// At rank 0: where the scheduler has sent the task of a home, or why it waits.
  std::string explain_placed(rank_id home_rank, node_index home_index, std::uint64_t place_key);
  std::string explain_own(const node& n) const;  ///< As explain_placed, for a task of rank 0 that it has sent.

  const rank_context own_;
  const parts below_;
  const hooks others_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/loop/questions.ipp"
#endif
