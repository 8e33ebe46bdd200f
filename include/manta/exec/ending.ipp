// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Start and end of a run, and what rank 0 does when it has found with
// run/waves.hpp that nothing goes on any more: the run ends, or its waits fail.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iostream>  // leaving by _exit must not lose what the program has written to std::cout

#include "manta/exec/dispatch.ipp"
#include "manta/exec/engine.hpp"
#include "manta/net/collectives.hpp"

namespace manta::exec {

// --- what messages do

MANTA_DECL void engine::on_message(rank_id from, message kind, const std::byte* data, std::size_t bytes) {
  static constexpr dispatch_table<engine> table = handlers::all();
  static_assert(table.is_complete(), "each kind of message needs a handler");
  if (run_.early.are_kept()) return run_.early.keep(from, kind, data, bytes);
  if (is_dead(from)) [[unlikely]] return;  // what it had to do is done elsewhere
  rank_.post.note_received(from, kind);
  table(kind, *this, from, data, bytes);
}

// --- the end of a run

/// What has not started is dropped: its futures fail with `cancelled`.
MANTA_DECL void engine::drop_unstarted() {
  run_.phase.note_dropped();
  const store::failure_ptr why =
      run_.departure.is_leaving() ? leaving_failure(run_.departure.why()) : dropped_failure();
  const auto drop_node = [&](node& n) {
    if (n.form == form::record && n.record->home_rank != rank_.rank) {
      values_.supply.send_failure({n.record->home_rank, n.record->home_index}, why);
      return values_.refs.release(n);
    }
    node& home = n.form == form::record ? rank_.graph.nodes.at(n.record->home_index) : n;
    if (&home != &n) values_.refs.release(n);
    values_.completion.fail(home, why);
    home.set(node::observed);
    values_.refs.release(home);
  };
  homes_.tasks.drop_unstarted(drop_node);
  while (!run_.late.empty()) drop_node(run_.late.take_first());
  if (rank_.scheduler != nullptr) {
    rank_.scheduler->drop_all(drop_node);
    work_.placement.release_pending();
  }
  values_.attempts.withdraw_resting(why);
  work_.executor.fail_inbox(why);
}

MANTA_DECL void engine::end_all_actors() {
  homes_.named.attach_all();
  work_.actors.kill_all("the run has ended");
  if (rank_.rank != 0 && run_.unobserved.count() > 0) {
    const std::string text = run_.unobserved.text("", "\n");
    rank_.post.send(0, message::unobserved, index_message{static_cast<std::uint32_t>(run_.unobserved.count()), 0},
                    text.data(), text.size());
    run_.unobserved.clear();
  }
}

/// Rank 0: serves until nothing goes on anywhere.
MANTA_DECL void engine::drive_until_quiet() {
  run_.phase.note_driver_end(base::now_ns());
  loops_.quiet.hasten();
  wait_part::last_wait end(run_.waiters);
  loops_.loop.wait(end.record);
}

MANTA_DECL void engine::finish_run(bool drop) {
  run_.running.leave();
  if (drop) {
    run_.phase.stop();
    for (std::uint32_t r = 1; r < rank_.size; ++r) rank_.post.send(r, message::drop_tasks, index_message{0, 0});
    drop_unstarted();
  }
  drive_until_quiet();
  for (std::uint32_t r = 1; r < rank_.size; ++r) rank_.post.send(r, message::end_actors, index_message{0, 0});
  end_all_actors();
  drive_until_quiet();
  work_.placement.end_run();
  homes_.named.end_run();
  if (run_.unobserved.count() > 0) {
    std::fprintf(stderr, "manta: %llu failure%s that nobody looked at:\n%s\n",
                 static_cast<unsigned long long>(run_.unobserved.count()), run_.unobserved.count() == 1 ? "" : "s",
                 run_.unobserved.text("  ", "\n").c_str());
    run_.unobserved.clear();
  }
}

MANTA_DECL wire::buffer engine::run(void (*driver)(void*, wire::buffer&), void* argument) {
  if (current_ != nullptr) {
    throw error("manta: a run was started inside a run on this rank; finish the outer one first");
  }
  stack_pool stacks(&loop_part::service_entry, &loops_.loop);
  loops_.loop.begin_run(stacks);
  const base::short_time_slice woken_soon;
  begin_run();
  wire::buffer payload;
  const std::exception_ptr thrown = rank_.rank == 0 ? drive(driver, argument, payload) : serve(payload);
  while (!rank_.net.idle()) rank_.net.pump(true);
  loops_.helper.stop();
  values_.journaling.finish_run();
  rank_.lock.leave();
  loops_.loop.end_run();
  role_ = role::none;
  current_ = nullptr;
  run_.running.end_run();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return payload;
}

MANTA_DECL void engine::begin_run() {
  current_ = this;
  role_ = role::owner;
  run_.running.begin_run(base::mix(rank_.seed, run_.phase.begin(run_.departure.is_leaving())));
  run_.elsewhere.clear();
  homes_.calls.forget_sent();
  run_.throttle.begin();
  rank_.lock.enter();
  process_watch::begin();
  install_overflow_reporter(&process_watch::who_is_interrupted,
                            rank_.lifeline == nullptr ? nullptr : &process_watch::last_words);
  if (!loops_.helper.start()) {
    std::fprintf(stderr, "manta: rank %u: no thread can be started, so this rank does not answer during long tasks; "
                 "allow one more thread\n", rank_.rank.number());
  }
  run_.early.end([this](rank_id from, message kind, const std::byte* data, std::size_t bytes) {
    on_message(from, kind, data, bytes);
  });
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

MANTA_DECL std::exception_ptr engine::drive(void (*driver)(void*, wire::buffer&), void* argument,
                                            wire::buffer& payload) {
  std::exception_ptr thrown;
  {
    const outside user(rank_.lock);
    try {
      driver(argument, payload);
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  const std::string text = thrown != nullptr ? text_of(thrown) : std::string();
  finish_run(thrown != nullptr);
  run_.phase.end_stop();
  const wire::buffer stop = thrown != nullptr ? run_phase::message_of(true, text.data(), text.size())
                                              : run_phase::message_of(false, payload.data(), payload.size());
  for (std::uint32_t r = 1; r < rank_.size; ++r) {
    rank_.post.send(r, message::stop, index_message{0, 0}, stop.data(), stop.size());
  }
  return thrown;
}

MANTA_DECL std::exception_ptr engine::serve(wire::buffer& payload) {
  {
    wait_part::last_wait stop(run_.waiters);
    loops_.loop.wait(stop.record);
  }
  const run_phase::outcome ended = run_.phase.get_outcome();
  if (ended.failed) {
    return std::make_exception_ptr(driver_failed("manta: the driver on rank 0 failed: " + ended.text()));
  }
  payload = wire::buffer(ended.data, ended.bytes);
  return nullptr;
}

// --- start

MANTA_DECL engine::engine(MPI_Comm comm, engine_options options)
    : rank_(comm, options.ranks_per_node, hooks_of(*this)),
      run_(rank_, options.max_queued, hooks_of(*this)),
      values_(rank_, run_, hooks_of(*this)),
      work_(rank_, run_, values_, hooks_of(*this)),
      homes_(rank_, run_, values_, work_, hooks_of(*this)),
      loops_(rank_, run_, values_, work_, homes_, hooks_of(*this)) {
  run_.started.set_limit(options.max_waiting);
  prepare_isolation(false);
  compare_programs();
  share_settings(options);
  open_journal(options);
  connect_lifelines(options);  // last of what can fail: its thread looks at the network, which a failure would destroy
  loops_.watch.set_limit(options.watchdog_ns);
  if (options.end_time != 0) {
    run_.departure.set_end(options.end_time, options.end_margin, static_cast<std::int64_t>(std::time(nullptr)),
                       base::ticks(), 1e9 / base::nanoseconds_per_tick());
  }
  base::end_signals::watch(options.term_grace);
  if (rank_.rank == 0) rank_.scheduler = new graph::scheduler(rank_.graph.nodes, rank_.world);
  if (options.progress_thread && rank_.size > 1) loops_.helper.enable();
  if (loops_.helper.is_enabled() && options.concurrent_mpi) work_.gangs.allow();
  values_.foreign_drops.open();
}

MANTA_DECL engine::~engine() {
  values_.foreign_drops.close();
  if (rank_.rank == 0 && values_.journaling.taken() != 0) {
    std::fprintf(stderr, "manta: journal: %llu results were known already\n",
                 static_cast<unsigned long long>(values_.journaling.taken()));
  }
  values_.journaling.close();
  if (rank_.lifeline != nullptr) {
    rank_.net.flush_for(2'000'000'000);
    std::cout.flush();  // after the barrier the first that ends with a status of its own may take all others with it
    std::fflush(nullptr);
    if (!rank_.lifeline->barrier()) net::give_up_mpi();
    delete rank_.lifeline;
  }
  delete rank_.scheduler;
  const std::size_t left =
      rank_.members.deaths() != 0 ? 0 : rank_.graph.nodes.live();  // what the dead owed is never paid back
  if (left == 0) return;
  std::fprintf(stderr, "manta: rank %u: %zu objects are still held after the last run; made by",
               rank_.rank.number(), left);
  int shown = 0;
  rank_.graph.nodes.for_each([&](node& n) {
    if (++shown > 5) return;
    const std::string_view name =
        n.function == no_index ? "put or a value of another rank" : wire::function_at(n.function).name();
    std::fprintf(stderr, " '%.*s'", static_cast<int>(name.size()), name.data());
  });
  std::fprintf(stderr, "\n");
  rank_.graph.nodes.leak();  // handles that outlive the runtime must find their node
}

MANTA_DECL void engine::compare_programs() {
  const std::string listing = wire::table_listing();
  const std::uint64_t digest = base::hash_text(listing);
  const std::vector<std::string> digests =
      net::all_gather(rank_.net.comm(), std::string(reinterpret_cast<const char*>(&digest), sizeof digest));
  bool same = true;
  for (const std::string& d : digests) same = same && d == digests[0];
  if (same) return;
  const std::string theirs = net::broadcast(rank_.net.comm(), listing);
  const auto line = [](const std::string& text, std::size_t at) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    const std::size_t end = text.find('\n', begin);
    return begin >= text.size() ? std::string() : text.substr(begin, end - begin);
  };
  std::string mine;
  if (listing != theirs) {
    std::size_t at = 0;
    while (at < listing.size() && at < theirs.size() && listing[at] == theirs[at]) ++at;
    const std::string here = line(listing, at), there = line(theirs, at);
    const auto readable = [](const std::string& l) {
      return l.size() < 3 ? std::string("nothing") : "'" + wire::demangle(l.c_str() + 2) + "'";
    };
    mine = "rank " + std::to_string(rank_.rank) + " (" + store::host_name() + ") has " + readable(here) +
           " where rank 0 has " + readable(there);
  }
  for (const std::string& difference : net::all_gather(rank_.net.comm(), mine)) {
    if (difference.empty()) continue;
    throw error("manta: not all ranks run the same program: " + difference +
                "; start every rank from the same binary, and rebuild it everywhere");
  }
}

// --- what the helper does for its rank: it answers, serves the other ranks, and watches whether a task hangs

MANTA_DECL bool engine::progress_from_helper() {
  const std::uint64_t before = rank_.net.counters().sent();
  receive();
  attend();
  rank_.ledger.pay_back();
  const bool sent = rank_.net.counters().sent() != before;
  serve_others();
  rank_.net.pump(true);
  return sent;
}

MANTA_DECL void engine::serve_others() {
  loops_.loop.report_long_task();
  if (rank_.scheduler != nullptr) {
    work_.placement.ask_for_work();
    work_.gang_guard.watch_waiting();
  }
  if (homes_.tasks.owes_tasks()) homes_.tasks.give_away(true);
  if (!work_.gangs.ends().empty()) work_.gang_guard.watch_members();
  work_.gang_guard.watch_leader();
}

MANTA_DECL std::int64_t engine::may_sleep_ns(unsigned in_vain) const {
  if (!rank_.net.idle()) return 200'000;
  if (rank_.net.is_woken_by_all()) return run_.waiters.longest_sleep(values_.attempts.has_timers());
  return in_vain > 50 ? 1'000'000 : 200'000;
}

MANTA_DECL void engine::rouse_helper(void* self) { static_cast<engine*>(self)->rank_.net.wake(); }

}  // namespace manta::exec
