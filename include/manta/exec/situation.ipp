// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of situation.hpp.
#pragma once

#include "manta/base/clock.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/situation.hpp"

namespace manta::exec {

MANTA_DECL report::rank_situation situation_of(rank_parts& all, bool in_user_code) {
  constexpr std::size_t most_waits = 5;
  report::rank_situation s;
  s.rank = static_cast<int>(all.rank.rank.number());
  s.host = store::host_name();
  s.is_spare = all.rank.members.is_spare(all.rank.rank);
  s.is_in_driver = in_user_code && all.rank.rank == 0 && all.run.running.is_driver();
  s.queued = all.run.local.size() + all.work.executor.queued();
  s.missing_inputs = all.run.staging.waiting_for_inputs();
  s.memory_bytes = all.rank.ledger.memory().charged();
  s.memory_budget = all.rank.ledger.memory().share() == ~std::uint64_t{0} ? 0 : all.rank.ledger.memory().share();
  s.task_count = all.run.started.count();
  if (in_user_code && !all.run.running.is_driver()) {  // else all that have begun wait
    const running_task& now = all.run.running.get();
    const std::uint64_t begin = now.is_measured ? now.begin_ticks : all.run.pace.task_ended();
    report::running_task& task = s.tasks.emplace_back();
    task.function = now.function == no_index ? "" : std::string(wire::function_at(now.function).name());
    task.name = std::string(now.name());
    task.rank = s.rank;
    task.host = s.host;
    task.seconds = 1e-9 * static_cast<double>(base::nanoseconds_of(base::ticks() - begin));
  }
  all.work.actors.add_waiting(s.actors, s.rank);
  s.waits = all.run.waiters.sentences(most_waits);
  return s;
}

MANTA_DECL void write_situation(wire::buffer& out, const report::rank_situation& s) {
  wire::put(out, s.rank);
  wire::put(out, s.host);
  wire::put(out, s.is_spare);
  wire::put(out, s.is_in_driver);
  for (const std::uint64_t number : {s.queued, s.missing_inputs, s.memory_bytes, s.memory_budget, s.task_count}) {
    wire::put(out, number);
  }
  wire::put(out, s.tasks.size());
  for (const report::running_task& t : s.tasks) {
    wire::put(out, t.function);
    wire::put(out, t.name);
    wire::put(out, t.seconds);
  }
  wire::put(out, s.actors.size());
  for (const report::waiting_actor& a : s.actors) {
    wire::put(out, a.name);
    wire::put(out, a.calls);
  }
  wire::put(out, s.waits.size());
  for (const std::string& w : s.waits) wire::put(out, w);
}

MANTA_DECL report::rank_situation read_situation(wire::source& in) {
  report::rank_situation s;
  in.get(s.rank);
  in.get(s.host);
  in.get(s.is_spare);
  in.get(s.is_in_driver);
  for (std::uint64_t* const number : {&s.queued, &s.missing_inputs, &s.memory_bytes, &s.memory_budget, &s.task_count}) {
    in.get(*number);
  }
  s.tasks.resize(in.get<std::size_t>());
  for (report::running_task& t : s.tasks) {
    in.get(t.function);
    in.get(t.name);
    in.get(t.seconds);
    t.rank = s.rank;
    t.host = s.host;
  }
  s.actors.resize(in.get<std::size_t>());
  for (report::waiting_actor& a : s.actors) {
    in.get(a.name);
    in.get(a.calls);
    a.rank = s.rank;
  }
  s.waits.resize(in.get<std::size_t>());
  for (std::string& w : s.waits) in.get(w);
  return s;
}

}  // namespace manta::exec
