// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/clock.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/rank/stack_trace.hpp"
#include "manta/exec/situation.hpp"

namespace manta::exec {

/// The functions in which this rank's own thread is, which is in user code; the calling thread is another one.
inline std::vector<std::string> stack_of_owner(rank_parts& all) {
  const current_task& running = all.run.running;
  return stack_trace::of(all.loops.helper.owner(), running.is_driver() ? nullptr : &running.get());
}

MANTA_DECL report::task_numbers numbers_of(rank_parts& all) {
  report::task_numbers n;
  const task_counts::row totals = all.run.counts.totals();
  n.done = totals.done;
  n.failed = totals.failed;
  n.from_journal = all.run.counts.from_journal();
  n.ready = all.run.local.size();
  if (all.rank.scheduler != nullptr) n.ready += all.rank.scheduler->waiting();
  all.rank.graph.nodes.for_each([&](node& each) {
    if (each.state != state::pending || each.function == no_index) return;
    ++n.unfinished;
    if (each.form == form::record && each.missing != 0) ++n.waiting_for_inputs;
  });
  return n;
}

MANTA_DECL rank_facts facts_of(rank_parts& all) {
  const store::ledger& ledger = all.rank.ledger;
  const graph::capacity& offered = all.rank.world[all.rank.rank];
  rank_facts facts;
  facts.node = all.rank.net.node();
  facts.is_spare = all.rank.members.is_spare(all.rank.rank);
  facts.host = store::host_name();
  facts.cores = static_cast<int>(offered.cpus);
  facts.threads = thread_numbers::most();
  facts.budget = ledger.memory().share() == ~std::uint64_t{0} ? 0 : ledger.memory().share();
  facts.memory_bytes = ledger.memory().most();
  facts.spilled_bytes = ledger.disk().written();
  facts.sent_bytes = all.values.supply.sent_bytes();
  facts.transfers = all.values.supply.transfers();
  return facts;
}

MANTA_DECL report::rank_situation situation_of(rank_parts& all, bool in_user_code) {
  constexpr std::size_t most_waits = 5, most_submitted = 16;
  report::rank_situation s;
  s.rank = static_cast<int>(all.rank.rank.number());
  s.host = store::host_name();
  s.is_spare = all.rank.members.is_spare(all.rank.rank);
  s.is_in_driver = in_user_code && all.rank.rank == 0 && all.run.running.is_driver();
  s.numbers = numbers_of(all);
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
    task.stack = stack_of_owner(all);
  }
  if (s.is_in_driver) s.driver = stack_of_owner(all);
  all.work.actors.add_waiting(s.actors, s.rank);
  const auto name_of = [](std::uint32_t function) {
    return function == no_index ? std::string() : std::string(wire::function_at(function).name());
  };
  for (const task_counts::edge& each : all.run.counts.children()) {
    if (s.submitted.size() == most_submitted) break;
    s.submitted.push_back({name_of(each.from), each.to == no_index ? "others" : name_of(each.to), each.count});
  }
  s.wait_count = all.run.waiters.unfinished();
  s.waits = all.run.waiters.waits_now(most_waits, in_user_code);
  return s;
}

inline void write_texts(wire::buffer& out, const std::vector<std::string>& texts) {
  wire::put(out, texts.size());
  for (const std::string& each : texts) wire::put(out, each);
}

inline void read_texts(wire::source& in, std::vector<std::string>& texts) {
  texts.resize(in.get<std::size_t>());
  for (std::string& each : texts) in.get(each);
}

MANTA_DECL void write_situation(wire::buffer& out, const report::rank_situation& s) {
  wire::put(out, s.rank);
  wire::put(out, s.host);
  wire::put(out, s.is_spare);
  wire::put(out, s.is_in_driver);
  wire::put(out, s.numbers);
  for (const std::uint64_t number : {s.queued, s.missing_inputs, s.memory_bytes, s.memory_budget, s.task_count}) {
    wire::put(out, number);
  }
  wire::put(out, s.tasks.size());
  for (const report::running_task& t : s.tasks) {
    wire::put(out, t.function);
    wire::put(out, t.name);
    wire::put(out, t.seconds);
    write_texts(out, t.stack);
  }
  wire::put(out, s.actors.size());
  for (const report::waiting_actor& a : s.actors) {
    wire::put(out, a.name);
    wire::put(out, a.calls);
  }
  wire::put(out, s.waits.size());
  for (const report::waiting_task& w : s.waits) {
    wire::put(out, w.text);
    wire::put(out, w.seconds);
    write_texts(out, w.stack);
  }
  wire::put(out, s.wait_count);
  write_texts(out, s.driver);
  wire::put(out, s.submitted.size());
  for (const report::submitted_tasks& each : s.submitted) {
    wire::put(out, each.by);
    wire::put(out, each.function);
    wire::put(out, each.count);
  }
}

MANTA_DECL report::rank_situation read_situation(wire::source& in) {
  report::rank_situation s;
  in.get(s.rank);
  in.get(s.host);
  in.get(s.is_spare);
  in.get(s.is_in_driver);
  in.get(s.numbers);
  for (std::uint64_t* const number : {&s.queued, &s.missing_inputs, &s.memory_bytes, &s.memory_budget, &s.task_count}) {
    in.get(*number);
  }
  s.tasks.resize(in.get<std::size_t>());
  for (report::running_task& t : s.tasks) {
    in.get(t.function);
    in.get(t.name);
    in.get(t.seconds);
    read_texts(in, t.stack);
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
  for (report::waiting_task& w : s.waits) {
    in.get(w.text);
    in.get(w.seconds);
    read_texts(in, w.stack);
  }
  in.get(s.wait_count);
  read_texts(in, s.driver);
  s.submitted.resize(in.get<std::size_t>());
  for (report::submitted_tasks& each : s.submitted) {
    in.get(each.by);
    in.get(each.function);
    in.get(each.count);
  }
  return s;
}

}  // namespace manta::exec
