// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of engine.hpp, and in the compiled mode those of all parts.
#pragma once

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>  // leaving by _exit must not lose what the program has written to std::cout
#include <string>

#include "manta/base/environment.hpp"
#include "manta/base/launch_variables.hpp"
#include "manta/base/text.hpp"
#include "manta/base/thread.hpp"
#include "manta/base/zygote.hpp"
#include "manta/exec/engine.hpp"
#include "manta/exec/handlers.hpp"
#include "manta/exec/isolation/child_side.hpp"
#include "manta/exec/process_watch.hpp"
#include "manta/exec/rank/overflow.hpp"
#include "manta/exec/start.hpp"
#include "manta/net/mpi_end.hpp"

#ifdef MANTA_COMPILED
namespace manta {
MANTA_PROVIDES_SOURCE(MANTA_MISSING_SOURCE);
namespace detail {
const char* header_only_unit = nullptr;
}
}  // namespace manta
#endif

#include "manta/exec/all_parts.ipp"
#include "manta/exec/isolation/child_side.ipp"
#include "manta/exec/process_watch.ipp"
#include "manta/exec/start.ipp"

namespace manta::exec {

// --- what comes in

MANTA_DECL void engine::refuse(const char* call) {
  if (process_watch::is_in_copy() && isolated_ == nullptr)
    process_watch::end_copy((std::string("called manta (") + call + ")").c_str());
  throw error(std::string("manta: ") + call +
              (isolated_ != nullptr
                   ? " was called in an isolated task or actor, which runs in a process of its own and can neither "
                     "submit nor wait; pass values in and return values, or leave isolate out"
               : current_ == nullptr
                   ? " was called outside of a run; call it inside manta::run or runtime::run"
                   : " was called from a thread of your own; only the thread that runs tasks may call it"));
}

MANTA_DECL void engine::drop_handle(node& n) {
  // What may be the last references are given up with the lock only: handlers may find the node and hold it again, and
  // references::release() looks for the last and the last but one.
  std::uint32_t count = n.refs.load(std::memory_order_relaxed);
  while (count > 2) {
    if (n.refs.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
  }
  if (thread_role::has_any() && current_->parts_.rank.graph.nodes.owns(n)) {
    const guard g(*current_);
    return current_->parts_.values.refs.release(n);
  }
  foreign_drops::leave(n);
}

MANTA_DECL void engine::prepare_isolation(bool before_mpi) {
  if (base::zygote::is_wanted)
    base::zygote::of_process().start(&engine::serve_rank, !before_mpi);  // else the first task says why
}

[[noreturn]] MANTA_DECL void engine::serve_rank(int socket, base::child_page& page) {
  thread_role::clear();  // a fork of the rank in the middle of a run has these
  current_ = nullptr;
  process_watch::end();
  base::be_no_rank();  // isolated code may start programs that use MPI
  child_side side(socket, page);
  isolated_ = &side.view();
  side.serve();
}

// --- a run

MANTA_DECL wire::buffer engine::run(void (*driver)(void*, wire::buffer&), void* argument) {
  if (current_ != nullptr) {
    throw error("manta: a run was started inside a run on this rank; finish the outer one first");
  }
  stack_pool stacks(&rank_loop::service_entry, &parts_.loops.loop);
  parts_.loops.loop.begin_run(stacks);
  const base::short_time_slice woken_soon;
  begin_run();
  announce_survival(true);
  wire::buffer payload;
  const std::exception_ptr thrown = parts_.rank.rank == 0 ? drive(driver, argument, payload) : serve(payload);
  send_rest();
  parts_.loops.helper.stop();
  parts_.values.journaling.finish_run();
  parts_.rank.lock.leave();
  parts_.loops.loop.end_run();
  thread_role::clear();
  current_ = nullptr;
  process_watch::end();
  parts_.run.running.end_run();
  announce_survival(false);
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return payload;
}

MANTA_DECL void engine::begin_run() {
  current_ = this;
  thread_role::set_owner();
  parts_.begin_run();
  process_watch::begin(parts_);
  install_overflow_reporter(&process_watch::who_is_interrupted,
                            parts_.rank.lifeline == nullptr ? nullptr : &process_watch::last_words,
                            &process_watch::say_where);
  if (!parts_.loops.helper.start()) {
    std::fprintf(stderr,
                 "manta: rank %u: no thread can be started, so this rank does not answer during long tasks; "
                 "allow one more thread\n",
                 parts_.rank.rank.number());
  }
  parts_.handle_early();
}

/// An exception in words.
MANTA_DECL std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return base::text_of(e);
  } catch (...) {
    return "an exception that is not a std::exception";
  }
}

/// Has the driver waited for what can never come?
MANTA_DECL bool is_deadlock(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const deadlock&) {
    return true;
  } catch (...) {
    return false;
  }
}

MANTA_DECL std::exception_ptr engine::drive(void (*driver)(void*, wire::buffer&), void* argument,
                                            wire::buffer& payload) {
  std::exception_ptr thrown;
  const std::uint32_t deaths_before = parts_.rank.members.deaths();
  parts_.tracing.begin_driver();
  {
    const outside user(parts_.rank.lock);
    try {
      driver(argument, payload);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  std::string text = thrown != nullptr ? text_of(thrown) : std::string();
  run_phase::end how = thrown != nullptr ? run_phase::end::failed : run_phase::end::returned;
  parts_.ending.finish(thrown != nullptr, thrown != nullptr && is_deadlock(thrown));
  parts_.seeing.end_run();
  parts_.tracing.end_run(parts_.seeing.phases());
  parts_.run.phase.end_stop();
  if (const std::string loss = loss_since(deaths_before); thrown == nullptr && !loss.empty()) {
    thrown = std::make_exception_ptr(rank_lost(loss));
    text = loss;
    how = run_phase::end::lost;
  }
  const wire::buffer stop = thrown != nullptr ? run_phase::message_of(how, text.data(), text.size())
                                              : run_phase::message_of(how, payload.data(), payload.size());
  parts_.rank.post.send_to_others(message::stop, index_message{0, 0}, stop.data(), stop.size());
  return thrown;
}

MANTA_DECL std::exception_ptr engine::serve(wire::buffer& payload) {
  {
    exec::waiters::last_wait stop(parts_.run.waiters);
    parts_.loops.loop.wait(stop.record);
  }
  const run_phase::outcome ended = parts_.run.phase.get_outcome();
  switch (ended.how) {
    case run_phase::end::returned: payload = wire::buffer(ended.data, ended.bytes); return nullptr;
    case run_phase::end::lost: return std::make_exception_ptr(rank_lost(ended.text()));
    case run_phase::end::failed: break;
  }
  return std::make_exception_ptr(driver_failed("manta: the driver on rank 0 failed: " + ended.text()));
}

MANTA_DECL void engine::send_rest() {
  auto& net = parts_.rank.net;
  std::size_t known = 0;
  while (!net.idle()) {
    net.pump(true);
    if (parts_.rank.lifeline == nullptr) continue;
    const std::vector<std::uint32_t> dead = parts_.rank.lifeline->dead_ranks();
    for (; known < dead.size(); ++known) net.abandon(static_cast<int>(dead[known]), [](std::uint64_t) {});
  }
}

MANTA_DECL void engine::announce_survival(bool in_run) const {
  if (parts_.rank.rank != 0 || !parts_.rank.members.recovers()) return;
  parts_.rank.lifeline->set_program_mourns(in_run || handles_deaths_);
  base::launcher::get().tell(in_run ? "survives\n" : handles_deaths_ ? "survives kills\n" : "survives nothing\n");
}

MANTA_DECL std::string engine::loss_since(std::uint32_t deaths_before) const {
  if (handles_deaths_ || parts_.rank.members.deaths() == deaths_before) return {};
  return base::text(
      "manta: {}; its work was done elsewhere, but MPI calls of the program that include this rank would wait for "
      "ever. A program that makes none sets runtime_options::handles_deaths and asks runtime::deaths()",
      parts_.rank.members.all_obituaries());
}

MANTA_DECL void engine::let_rank_0_run_tasks() {
  if (parts_.rank.scheduler != nullptr) parts_.rank.scheduler->rank_0_executes(false);
}

MANTA_DECL std::vector<std::uint32_t> engine::deaths() const {
  if (parts_.rank.lifeline == nullptr) return {};
  std::vector<std::uint32_t> dead = parts_.rank.lifeline->dead_ranks();
  for (std::uint32_t r = 0; r < parts_.rank.size; ++r) {
    if (parts_.rank.members.is_dead(r)) dead.push_back(r);
  }
  std::sort(dead.begin(), dead.end());
  dead.erase(std::unique(dead.begin(), dead.end()), dead.end());
  return dead;
}

MANTA_DECL engine::engine(MPI_Comm comm, engine_options options)
    : parts_({comm, options.ranks_per_node}, options.max_queued), handles_deaths_(options.handles_deaths) {
  net::mpi_end::watch();
  prepare_isolation(false);
  compare_programs(parts_.rank);
  try {
    parts_.seeing.configure(options);
    if (parts_.rank.rank == 0) parts_.tracing.check(options);
  } catch (const error& mistake) {  // all ranks throw it
    if (options.mistake.empty()) options.mistake = mistake.what();
  }
  share_settings(parts_.rank, options);
  open_journal(parts_, options);
  connect_lifelines(parts_, options);
  apply(options);
  parts_.values.foreign_drops.open();
}

MANTA_DECL void engine::apply(const engine_options& options) {
  parts_.run.started.set_limit(options.max_waiting);
  parts_.loops.watch.set_limit(options.watchdog_ns);
  if (options.end_time != 0) {
    parts_.run.departure.set_end(options.end_time, options.end_margin, static_cast<std::int64_t>(std::time(nullptr)),
                                 base::ticks(), 1e9 / base::nanoseconds_per_tick());
  }
  parts_.tracing.configure(options);
  parts_.keeping.configure(options);
  base::end_signals::watch(options.term_grace);
  base::state_signal::watch();
  stack_trace::watch();
  if (parts_.rank.rank == 0) parts_.rank.scheduler = new graph::scheduler(parts_.rank.graph.nodes, parts_.rank.world);
  const bool is_alone = parts_.rank.size == 1;
  const bool is_watched = base::state_signal::is_watched() || options.watchdog_ns > 0 || parts_.seeing.pause_ns() > 0;
  if (options.progress_thread && (!is_alone || is_watched)) parts_.loops.helper.enable(is_alone);
  if (!is_alone && parts_.loops.helper.is_enabled() && options.concurrent_mpi) parts_.work.gangs.allow();
}

MANTA_DECL engine::~engine() {
  parts_.values.foreign_drops.close();
  if (parts_.rank.rank == 0 && parts_.values.journaling.taken() != 0) {
    std::fprintf(stderr, "manta: journal: %llu results were known already\n",
                 static_cast<unsigned long long>(parts_.values.journaling.taken()));
  }
  parts_.values.journaling.close();
  if (parts_.rank.lifeline != nullptr) {
    parts_.rank.net.flush_for(2'000'000'000);
    std::cout.flush();  // after the barrier the first that ends with a status of its own may take all others with it
    std::fflush(nullptr);
    if (!parts_.rank.lifeline->barrier()) {
      net::mpi_end::give_up(parts_.rank.net.comm(), deaths());
    } else if (parts_.rank.rank == 0 && handles_deaths_) {
      base::launcher::get().tell("survives end\n");
    }
    delete parts_.rank.lifeline;
  }
  delete parts_.rank.scheduler;
  report_leaks();
}

MANTA_DECL void engine::report_leaks() {
  const std::size_t left =
      parts_.rank.members.deaths() != 0 ? 0 : parts_.rank.graph.nodes.live();  // what the dead owed is never paid back
  if (left == 0) return;
  std::fprintf(stderr, "manta: rank %u: %zu objects are still held after the last run; made by",
               parts_.rank.rank.number(), left);
  int shown = 0;
  parts_.rank.graph.nodes.for_each([&](node& n) {
    if (++shown > 5) return;
    const std::string_view name =
        n.function == no_index ? "put or a value of another rank" : wire::function_at(n.function).name();
    std::fprintf(stderr, " '%.*s'", static_cast<int>(name.size()), name.data());
  });
  std::fprintf(stderr, "\n");
  parts_.rank.graph.nodes.leak();  // handles that outlive the runtime must find their node
}

}  // namespace manta::exec
