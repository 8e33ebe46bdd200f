// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdio>

#include "manta/base/clock.hpp"
#include "manta/base/environment.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/tracing.hpp"
#include "manta/report/outputs.hpp"

namespace manta::exec {

namespace detail {

template <class T>
void write_array(wire::buffer& out, std::span<const T> all) {
  wire::put(out, all.size());
  out.append(all.data(), all.size_bytes());
}
template <class T>
base::vector<T> read_array(wire::source& in) {
  base::vector<T> all(in.get<std::size_t>());
  in.read(all.data(), all.size() * sizeof(T));
  return all;
}

/// Converts times of this process from ticks to nanoseconds of the node's clock.
class tick_scale {
 public:
  std::uint64_t operator()(std::uint64_t tick) const {
    const double before = static_cast<double>(ticks_ - tick) * scale_;
    return tick >= ticks_ ? ns_ : ns_ - static_cast<std::uint64_t>(before);
  }

 private:
  std::uint64_t ticks_ = base::ticks();
  std::uint64_t ns_ = static_cast<std::uint64_t>(base::now_ns());
  double scale_ = base::nanoseconds_per_tick();
};

}  // namespace detail

// --- settings

MANTA_DECL void tracing::check(const engine_options& options) {
  if (options.outputs.trace.empty()) return;
  const char* const job = base::environment("SLURM_JOB_ID");
  job_ = job == nullptr ? "" : job;
  path_ = report::with_job(options.outputs.trace, job_);
  most_bytes_ = options.outputs.trace_bytes;
  report::check_trace_format(path_);
  report::check_file(path_);
}

MANTA_DECL void tracing::configure(const engine_options& options) {
  if (options.outputs.trace.empty()) return;
  constexpr std::uint64_t bytes_of_a_record = 220, least = 64;  // with its share of the rest
  const std::uint64_t share = options.outputs.trace_bytes / all_.rank.size / bytes_of_a_record;
  most_records_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(share, least, task_trace::most_records));
  all_.run.trace.enable();
}

// --- a run

MANTA_DECL void tracing::begin_run() { all_.run.trace.begin_run(); }

MANTA_DECL void tracing::begin_driver() {
  if (!all_.run.trace.is_on()) return;
  find_nodes();
  compare_clocks(&node_clock::first);
}

MANTA_DECL void tracing::look() {
  if ((++looks_ & 15) != 0) return;
  task_trace& trace = all_.run.trace;
  const std::uint64_t now = base::ticks();
  if (!trace.wants_samples(now)) return;
  trace.note_sample(report::trace_sample::value_bytes, all_.rank.ledger.memory().charged(), now);
  trace.note_sample(report::trace_sample::sent_bytes, all_.values.supply.sent_bytes(), now);
  if (all_.rank.scheduler != nullptr) {
    trace.note_sample(report::trace_sample::waiting, all_.rank.scheduler->waiting(), now);
  }
  trace.end_samples(now);
}

MANTA_DECL void tracing::end_run(const std::vector<phase_statistics>& phases) {
  if (!all_.run.trace.is_on()) return;
  compare_clocks(&node_clock::last);
  constexpr std::int64_t patience_ns = 10'000'000'000;  // some megabytes of each rank
  survey_.begin(ask_message::trace, most_records_, patience_ns);
  survey_.wait();
  report::run_trace run = collect();
  run.phases = phases;
  try {
    report::write_trace(path_, run, most_bytes_);
  } catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

MANTA_DECL void tracing::on_ask(const ask_message& m) {
  if (m.kind == ask_message::clock) {
    const std::int64_t now = base::now_ns();
    return all_.homes.tickets.answer(m, &now, sizeof now);
  }
  if (m.kind == ask_message::arrow) return all_.run.trace.note_use(all_.rank.graph.nodes.at(m.home_index), m.id);
  most_records_ = m.how;
  const wire::buffer told = own_records();
  all_.homes.tickets.answer(m, told.data(), told.size());
}

// --- clocks

inline void tracing::find_nodes() {
  clocks_.clear();
  const int own = all_.rank.world[all_.rank.rank].node;
  for (std::uint32_t r = all_.rank.size; r-- > 0;) {
    const int node = all_.rank.world[r].node;
    if (node == own || all_.rank.members.is_dead(r)) continue;
    if (clocks_.size() <= static_cast<std::size_t>(node)) clocks_.resize(static_cast<std::size_t>(node) + 1);
    clocks_[static_cast<std::size_t>(node)].asked = r;
  }
}

inline tracing::offset tracing::compare_clock(rank_id with) {
  offset found;
  ask_message m{};
  m.kind = ask_message::clock;
  const std::int64_t sent = base::now_ns();
  graph::node& ticket = all_.homes.tickets.send(with, m);
  all_.rank.net.pump(true);
  all_.loops.waiting.wait_for_end(ticket, sent + 1'000'000'000);
  const std::int64_t came = base::now_ns();
  if (ticket.state == graph::state::ready) {
    const wire::buffer answer = all_.homes.tickets.answer_in(ticket);
    std::int64_t theirs = 0;
    std::memcpy(&theirs, answer.data(), sizeof theirs);
    found = {came, theirs - (sent + (came - sent) / 2), (came - sent) / 2 + 1};
  } else {
    ticket.set(graph::node::observed);
  }
  all_.values.refs.release(ticket);
  return found;
}

inline void tracing::compare_clocks(offset node_clock::*when) {
  const int rounds = clocks_.size() <= 16 ? 16 : 4;
  for (node_clock& clock : clocks_) {
    if (clock.asked == 0U || all_.rank.members.is_dead(clock.asked)) continue;
    for (int i = 0; i < rounds; ++i) {
      const offset now = compare_clock(clock.asked);
      if (now.error == 0) break;  // it does not answer
      offset& best = clock.*when;
      if (best.error == 0 || now.error < best.error) best = now;
    }
  }
}

inline void tracing::align(report::trace_of_rank& r) const {
  const auto node = static_cast<std::size_t>(r.node);
  if (node >= clocks_.size()) return;
  offset first = clocks_[node].first, last = clocks_[node].last;
  if (first.error == 0 && last.error == 0) return;
  if (first.error == 0) first = last;
  if (last.error == 0) last = first;
  const double drift =
      last.at == first.at ? 0 : static_cast<double>(last.ns - first.ns) / static_cast<double>(last.at - first.at);
  const auto aligned = [&](std::uint64_t ns) {
    const auto theirs = static_cast<std::int64_t>(ns);
    const double since = static_cast<double>(theirs - first.ns - first.at);
    return static_cast<std::uint64_t>(theirs - first.ns - static_cast<std::int64_t>(drift * since));
  };
  for (report::trace_record& each : r.records) each.begin = aligned(each.begin);
  for (report::trace_sample& each : r.samples) each.at = aligned(each.at);
}

// --- records

inline void tracing::to_nanoseconds() {
  const detail::tick_scale ns_of;
  for (report::trace_record& each : all_.run.trace.records()) {
    const std::uint64_t begin = ns_of(each.begin), end = ns_of(each.end());
    if (each.is_merged()) each.id = base::nanoseconds_of(each.id);
    each.begin = begin;
    each.end_at(end);
  }
}

inline report::trace_of_rank tracing::own_trace() {
  task_trace& trace = all_.run.trace;
  const detail::tick_scale ns_of;
  const std::uint64_t now = base::ticks();
  all_.run.time_account.settle(now, false, all_.run.running.is_driver());
  if (trace.is_on()) {
    trace.close();
    trace.shorten(most_records_, most_records_ / 2);
    to_nanoseconds();
  }
  report::trace_of_rank own;
  own.rank = static_cast<int>(all_.rank.rank.number());
  own.node = all_.rank.net.node();
  own.host = store::host_name();
  own.records = trace.records();
  own.arrows.append(trace.arrows());
  const std::size_t samples = std::min<std::size_t>(trace.samples().size(), most_records_ / 4);
  for (std::size_t i = 0; i < samples; ++i) {
    report::trace_sample each = trace.samples()[i * trace.samples().size() / samples];
    each.at = ns_of(each.at);
    own.samples.push_back(each);
  }
  own.names = trace.names();
  own.merged_below = base::nanoseconds_of(trace.merged_below());
  own.arrow_rounds = trace.arrow_rounds();
  return own;
}

inline wire::buffer tracing::own_records() {
  const report::trace_of_rank own = own_trace();
  wire::buffer out;
  wire::put(out, own.node);
  wire::put(out, own.host);
  wire::put(out, own.merged_below);
  wire::put(out, own.arrow_rounds);
  detail::write_array<report::trace_record>(out, own.records);
  detail::write_array<report::trace_arrow>(out, own.arrows);
  detail::write_array<report::trace_sample>(out, own.samples);
  wire::put(out, own.names.size());
  for (const std::string& name : own.names) wire::put(out, name);
  return out;
}

inline report::trace_of_rank tracing::read_records(rank_id rank, wire::source& in) {
  report::trace_of_rank r;
  r.rank = static_cast<int>(rank.number());
  in.get(r.node);
  in.get(r.host);
  in.get(r.merged_below);
  in.get(r.arrow_rounds);
  r.own = detail::read_array<report::trace_record>(in);
  r.records = r.own;
  r.arrows = detail::read_array<report::trace_arrow>(in);
  r.samples = detail::read_array<report::trace_sample>(in);
  r.names.resize(in.get<std::size_t>());
  for (std::string& name : r.names) in.get(name);
  align(r);
  return r;
}

inline report::run_trace tracing::collect() {
  report::run_trace run;
  const detail::tick_scale ns_of;
  run.program = program_invocation_short_name;
  run.job = job_;
  run.begin = ns_of(all_.run.time_account.bins().begun());
  run.end = static_cast<std::uint64_t>(base::now_ns());
  run.ranks.push_back(own_trace());
  survey_.collect([&](rank_id rank, wire::source& in) { run.ranks.push_back(read_records(rank, in)); });
  std::vector<bool> is_known(all_.rank.size, false);
  for (const report::trace_of_rank& r : run.ranks) is_known[static_cast<std::size_t>(r.rank)] = true;
  for (std::uint32_t r = 0; r < all_.rank.size; ++r) {
    if (!is_known[r]) run.missing.push_back(static_cast<int>(r));
  }
  for (std::uint32_t f = 0; f < wire::table<wire::function_entry>().size(); ++f) {
    run.functions.emplace_back(wire::function_at(f).name());
  }
  for (const node_clock& clock : clocks_) {
    const std::int64_t error = std::max(clock.first.error, clock.last.error);
    run.clock_error = std::max(run.clock_error, 1e-9 * static_cast<double>(error));
  }
  return run;
}

}  // namespace manta::exec
