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

MANTA_DECL void engine::on_message(std::uint32_t from, message kind, const std::byte* data, std::size_t bytes) {
  static constexpr dispatch_table<engine> table = handlers::all();
  static_assert(table.is_complete(), "each kind of message needs a handler");
  if (early_.are_kept()) return early_.keep(from, kind, data, bytes);
  if (is_dead(from)) [[unlikely]] return;  // what it had to do is done elsewhere
  post_.note_received(from, kind);
  table(kind, *this, from, data, bytes);
}

// --- quiet

MANTA_DECL bool engine::quiet() const {
  return phase_.is_resting() && !runnable() && inbox_.empty() && !turns_.stacks_can_go_on() && fetches_.is_quiet() &&
         !gang_ends_.has_complete() && net_.bulk_outstanding() == 0 && !waiters_.any_timed() &&
         !waiters_.any_with_descriptor() && !attempts_.has_timers() && !attempts_.has_to_judge() &&
         !phase_.has_to_drop() && !gang_watch_.has_broken() && reported_.in_call == 0 &&
         reported_.tasks == waiting_tasks() &&  // or rank 0 may have tasks that it would send if it knew
         foreign_drops_.empty();
}

MANTA_DECL waves::tally engine::tally_here(bool is_quiet) const {
  waves::tally t{};
  t.sent = post_.sent(members_);
  t.received = post_.received(members_);
  t.busy = !is_quiet;
  t.waits = waiters_.unfinished();
  t.late = late_.count();
  return t;
}

MANTA_DECL void engine::look_for_deadlock() {
  if (rank_ != 0 || waiters_.empty()) return;
  phase_.set_resting(true);
  const bool quiet_here = quiet();
  phase_.set_resting(false);
  constexpr unsigned worth_a_clock_reading = 50;
  if (!waves_.is_under_way()) {
    if (!quiet_here) return waves_.put_off();
    if (size_ > 1 && (silence_.turns() < worth_a_clock_reading || !waves_.is_due(base::now_ns()))) return;
    const std::uint64_t wave = waves_.begin(size_ - 1 - members_.deaths());
    for (std::uint32_t r = 1; r < size_; ++r) post_.send(r, message::probe, probe_message{wave, {}});
    net_.pump(true);
  }
  if (!waves_.is_complete()) return;
  const waves::verdict found = waves_.conclude(tally_here(quiet_here));
  if (found == waves::verdict::balanced) silence_.set_turns(worth_a_clock_reading);
  if (found != waves::verdict::stable) return;
  if (waves_.all().waits == 0 && waves_.all().late == 0) {
    return waiters_.end_last();  // the run is over
  }
  if (scheduler_->stop_keeping_free()) return decide();
  if (waves_.all().late != 0) {
    return departure_.ask(departure_.end_text() + ", and the " + std::to_string(waves_.all().late) +
                          " tasks that could be started would take longer");
  }
  declare_deadlock();
}

MANTA_DECL void engine::declare_deadlock() {
  waiters_.report().begin(size_ - 1 - members_.deaths(), waiters_.describe(rank_));
  const std::uint32_t deaths_before = members_.deaths();
  for (std::uint32_t r = 1; r < size_; ++r) post_.send(r, message::report, index_message{0, 0});
  while (!waiters_.report().is_complete()) {
    net_.pump(true);
    progress();
    if (members_.deaths() != deaths_before) return;  // there is something to do again
  }
  std::string text = "manta: deadlock: nothing runs, nothing can run, and these wait: " + waiters_.report().who_waits();
  if (scheduler_->waiting() != 0) {
    text += "; " + std::to_string(scheduler_->waiting()) +
            " tasks wait for resources that actors, reservations or waiting tasks hold";
  }
  if (const graph::reservation* r = scheduler_->held().first_pending()) {
    text += "; a reservation of rank " + std::to_string(r->home_rank) + " is not met: " + graph::describe(r->wanted);
  }
  text += ". Break the cycle, or free what is held";
  for (std::uint32_t r = 1; r < size_; ++r) {
    post_.send(r, message::fail_waits, index_message{0, 0}, text.data(), text.size());
  }
  if (waiters_.is_last_under_way())
    std::fprintf(stderr, "%s\n", text.c_str());  // the driver, which has returned, is not told
  waiters_.fail_all(text);
}

// --- the end of a run

/// What has not started is dropped: its futures fail with `cancelled`.
MANTA_DECL void engine::drop_unstarted() {
  phase_.note_dropped();
  const store::failure_ptr why = departure_.is_leaving() ? leaving_failure(departure_.why()) : dropped_failure();
  const auto drop_node = [&](node& n) {
    if (n.form == form::record && n.record->home_rank != rank_) {
      supply_.send_failure({n.record->home_rank, n.record->home_index}, why);
      return refs_.release(n);
    }
    node& home = n.form == form::record ? graph_.nodes.at(n.record->home_index) : n;
    if (&home != &n) refs_.release(n);
    completion_.fail(home, why);
    home.set(node::observed);
    refs_.release(home);
  };
  while (!local_.empty()) {
    node& n = local_.pop_front();
    n.reset(node::queued);
    drop_node(n);
  }
  while (!late_.empty()) drop_node(late_.take_first());
  if (scheduler_ != nullptr) {
    scheduler_->drop_all(drop_node);
    while (const graph::reservation* r = scheduler_->held().first_pending()) release_reservation(r->id);
  }
  attempts_.withdraw_resting(why);
  for (std::size_t i = inbox_.size(); i > 0; --i) {
    const message_queue::view v = inbox_.pop();
    task_message m;
    std::memcpy(&m, v.data, sizeof m);
    if ((m.flags & task_message::has_gang) != 0) {  // the other members may have started already
      inbox_.put_back(v);
      continue;
    }
    task* const t = records_.read(v.from, v.data);
    const task ended = *t;
    records_.free(t);
    invocation none(lock_);
    finish_foreign(ended.home_rank, ended.home_index, ended.function, ended.charge, ended.request.get(), true, none,
                   false, why, 0);
  }
}

MANTA_DECL void engine::end_all_actors() {
  while (!detached_.empty()) {
    node& handle = *detached_.back();
    detached_.pop_back();
    refs_.release(handle);
  }
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    const actor_slot& slot = slots_[i];
    if (slot.used && slot.object != nullptr && slot.dead.empty()) on_kill(i, "the run has ended");
  }
  if (rank_ != 0 && unobserved_.count() > 0) {
    const std::string text = unobserved_.text("", "\n");
    post_.send(0, message::unobserved, index_message{static_cast<std::uint32_t>(unobserved_.count()), 0}, text.data(),
               text.size());
    unobserved_.clear();
  }
}

/// Rank 0: serves until nothing goes on anywhere.
MANTA_DECL void engine::drive_until_quiet() {
  phase_.note_driver_end(base::now_ns());
  waves_.hasten();
  wait_part::last_wait end(waiters_);
  wait(end.record);
}

/// Rank 0. When the driver has returned nobody needs what the member would still do, and the run cannot end before it.
/// It may compute, and not be stuck: where it takes the job with it, it gets more time.
MANTA_DECL void engine::on_stuck(const stuck_message& m) {
  const std::uint32_t rank = m.rank;
  if (m.comes_back != 0) {
    constexpr std::int64_t until_next_look_ns = 60'000'000'000;
    return gang_watch_.give_time(scheduler_->load().gang_of(rank), base::now_ns() + until_next_look_ns);
  }
  if (!waiters_.is_last_under_way() || is_dead(rank)) return;
  const bool alone = members_.recovers() && rank != 0;
  const std::int64_t patience_ns = alone ? 10'000'000'000 : 30'000'000'000;
  if (phase_.since_driver_end(base::now_ns()) < patience_ns) return;
  std::fprintf(
      stderr,
      "manta: the driver has returned, and rank %u has not come back from a gang of which another member failed: %s\n",
      rank,
      alone ? "it is ended"
            : "the job ends here, with status 1 (manta-run would have ended that rank alone, unless it is rank 0)");
  if (alone) return lifeline_->end(rank);
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(1);
}

MANTA_DECL void engine::finish_run(bool drop) {
  running_.leave();
  if (drop) {
    phase_.stop();
    for (std::uint32_t r = 1; r < size_; ++r) post_.send(r, message::drop_tasks, index_message{0, 0});
    drop_unstarted();
  }
  drive_until_quiet();
  for (std::uint32_t r = 1; r < size_; ++r) post_.send(r, message::end_actors, index_message{0, 0});
  end_all_actors();
  drive_until_quiet();
  while (const graph::reservation* r = scheduler_->held().any_reservation())
    release_reservation(r->id);  // held by a handle that outlives the run
  names_.clear();
  places_.clear();
  if (unobserved_.count() > 0) {
    std::fprintf(stderr, "manta: %llu failure%s that nobody looked at:\n%s\n",
                 static_cast<unsigned long long>(unobserved_.count()), unobserved_.count() == 1 ? "" : "s",
                 unobserved_.text("  ", "\n").c_str());
    unobserved_.clear();
  }
}

MANTA_DECL wire::buffer engine::run(void (*driver)(void*, wire::buffer&), void* argument) {
  if (current_ != nullptr) {
    throw error("manta: a run was started inside a run on this rank; finish the outer one first");
  }
  stack_pool stacks(&engine::service_entry, this);
  stacks_ = &stacks;
  current_ = this;
  role_ = role::owner;
  running_.begin_run(base::mix(seed_, phase_.begin(departure_.is_leaving())));
  elsewhere_.clear();
  sent_arguments_.clear();
  throttle_.begin();
  silence_.end();
  const base::short_time_slice woken_soon;
  lock_.enter();
  watch_process();
  install_overflow_reporter(&engine::who_is_interrupted, lifeline_ == nullptr ? nullptr : &engine::last_words);
  if (!helper_.start()) {
    std::fprintf(stderr, "manta: rank %u: no thread can be started, so this rank does not answer during long tasks; "
                 "allow one more thread\n", rank_);
  }

  early_.end([this](std::uint32_t from, message kind, const std::byte* data, std::size_t bytes) {
    on_message(from, kind, data, bytes);
  });

  std::exception_ptr thrown;
  std::string text;
  wire::buffer payload;
  if (rank_ == 0) {
    asked_.clear();
    {
      const outside user(lock_);
      try {
        driver(argument, payload);
      } catch (...) {
        thrown = std::current_exception();
      }
    }
    if (thrown != nullptr) {
      try {
        std::rethrow_exception(thrown);
      } catch (const std::exception& e) {
        text = base::text_of(e);
      } catch (...) {
        text = "an exception that is not a std::exception";
      }
    }
    finish_run(thrown != nullptr);
    phase_.end_stop();
    const wire::buffer stop = thrown != nullptr ? run_phase::message_of(true, text.data(), text.size())
                                                : run_phase::message_of(false, payload.data(), payload.size());
    for (std::uint32_t r = 1; r < size_; ++r) {
      post_.send(r, message::stop, index_message{0, 0}, stop.data(), stop.size());
    }
  } else {
    {
      wait_part::last_wait stop(waiters_);
      wait(stop.record);
    }
    const run_phase::outcome ended = phase_.get_outcome();
    if (ended.failed) {
      thrown = std::make_exception_ptr(driver_failed("manta: the driver on rank 0 failed: " + ended.text()));
    } else {
      payload = wire::buffer(ended.data, ended.bytes);
    }
  }
  while (!net_.idle()) net_.pump(true);
  helper_.stop();
  journaling_.finish_run();
  lock_.leave();
  stacks_ = nullptr;
  role_ = role::none;
  current_ = nullptr;
  running_.end_run();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return payload;
}

/// For the report of a crash: allocates nothing.
/// In a signal handler. Null if nothing of the user's runs.
MANTA_DECL const running_task* engine::interrupted() noexcept {
  if (current_ == nullptr) return nullptr;
  const exec::current_task& running = current_->running_;
  return running.is_driver() && current_->rank_ != 0 ? nullptr : &running.get();
}
MANTA_DECL const char* engine::who_is_interrupted() noexcept {
  static char text[320];
  const running_task* const task = interrupted();
  if (task == nullptr) return nullptr;
  if (task->call == nullptr) return "the driver";
  const std::string_view name = task->name();
  std::snprintf(text, sizeof text, "task '%.*s' (bytes of arguments: %zu, inputs: %u)",
                static_cast<int>(name.size() < 150 ? name.size() : 150),
                name.data(), task->call->argument_bytes, task->call->input_count);
  return text;
}

/// In a signal handler that ends the rank: rank 0 is told why, and which task it was.
MANTA_DECL void engine::last_words(const char* text, std::size_t bytes) noexcept {
  const running_task* const task = interrupted();
  while (bytes > 0 && text[bytes - 1] == '\n') --bytes;
  net::lifeline::last_words(text, bytes, task == nullptr ? 0 : task->id);
}

// --- what user code does to the process

MANTA_DECL void engine::watch_process() {
  static const bool done = [] {
#ifdef __GLIBC__
    ::on_exit(&engine::exit_in_run, nullptr);
#else
    std::atexit([] { exit_in_run(1, nullptr); });
#endif
    ::at_quick_exit([] { exit_in_run(1, nullptr); });
    ::pthread_atfork(nullptr, nullptr, &engine::forked);
    return true;
  }();
  static_cast<void>(done);
}

/// Says who has called exit(), and does not let it look like a success. What other libraries have registered is still
/// done.
MANTA_DECL void engine::exit_in_run(int status, void*) {
  if (current_ == nullptr || is_copy_) return;
  if (role_ == role::owner) current_->lock_.enter();  // so that the helper does nothing any more
  const char* const who = who_is_interrupted();
  char text[512];
  const int length = std::snprintf(text, sizeof text,
                                   "manta: exit(%d) in %s; it ends the process, rank %u, and not just "
                                   "the task: return or throw instead\n",
                                   status, who != nullptr ? who : "a thread of the program's own", current_->rank_);
  (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  last_words(text, static_cast<std::size_t>(std::strchr(text, ';') - text));
  if (status == 0) std::exit(1);  // goes on with what is left to be done
}

/// In a child that somebody has forked in the middle of a run: a copy of this process, which must not act as the rank.
MANTA_DECL void engine::forked() {
  if (current_ == nullptr) return;
  is_copy_ = true;
  role_ = role::none;
  net::lifeline::is_child();
  current_->lock_.is_copy([] { end_copy("came back"); });
}
MANTA_DECL void engine::end_copy(const char* what) {
  char text[512];
  const std::string_view name = current_->running_->name();
  const int length =
      std::snprintf(text, sizeof text,
                    "manta: rank %u: a child process that was forked in '%.*s' %s: it ends "
                    "here, with status 1. What is forked in a task "
                    "leaves by exec or _exit, also where exec fails\n",
                    current_->rank_, static_cast<int>(name.size() < 150 ? name.size() : 150), name.data(), what);
  (void)!::write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  ::_exit(1);
}

// --- start

MANTA_DECL engine::engine(MPI_Comm comm, engine_options options)
    : net_(comm, options.ranks_per_node),
      rank_(static_cast<std::uint32_t>(net_.rank())),
      size_(static_cast<std::uint32_t>(net_.size())),
      post_(net_, size_),
      world_(size_),
      members_(size_),
      failures_(rank_, members_),
      local_(graph_.nodes),
      teams_(net_.comm()),
      waiting_ahead_(size_),
      short_ranks_(size_),
      asked_(size_),
      throttle_(options.max_queued),
      refs_(rank_, graph_, post_, members_, {ledger_, lineage_, journaling_, unobserved_}, hooks_of_references()) {
  started_.set_limit(options.max_waiting);
  prepare_isolation(false);
  compare_programs();
  share_settings(options);
  open_journal(options);
  connect_lifelines(options);  // last of what can fail: its thread looks at the network, which a failure would destroy
  watchdog_.set_limit(options.watchdog_ns);
  if (options.end_time != 0) {
    departure_.set_end(options.end_time, options.end_margin, static_cast<std::int64_t>(std::time(nullptr)),
                       base::ticks(), 1e9 / base::nanoseconds_per_tick());
  }
  base::end_signals::watch(options.term_grace);
  if (rank_ == 0) scheduler_ = new graph::scheduler(graph_.nodes, world_);
  if (options.progress_thread && size_ > 1) helper_.enable();
  gangs_possible_ = helper_.is_enabled() && options.concurrent_mpi;
  foreign_drops_.open();
}

MANTA_DECL engine::~engine() {
  foreign_drops_.close();
  if (rank_ == 0 && journaling_.taken() != 0) {
    std::fprintf(stderr, "manta: journal: %llu results were known already\n",
                 static_cast<unsigned long long>(journaling_.taken()));
  }
  journaling_.close();
  if (lifeline_ != nullptr) {
    net_.flush_for(2'000'000'000);
    std::cout.flush();  // after the barrier the first that ends with a status of its own may take all others with it
    std::fflush(nullptr);
    if (!lifeline_->barrier()) net::give_up_mpi();
    delete lifeline_;
  }
  delete scheduler_;
  const std::size_t left = members_.deaths() != 0 ? 0 : graph_.nodes.live();  // what the dead owed is never paid back
  if (left == 0) return;
  std::fprintf(stderr, "manta: rank %u: %zu objects are still held after the last run; made by", rank_, left);
  int shown = 0;
  graph_.nodes.for_each([&](node& n) {
    if (++shown > 5) return;
    const std::string_view name =
        n.function == no_index ? "put or a value of another rank" : wire::function_at(n.function).name();
    std::fprintf(stderr, " '%.*s'", static_cast<int>(name.size()), name.data());
  });
  std::fprintf(stderr, "\n");
  graph_.nodes.leak();  // handles that outlive the runtime must find their node
}

MANTA_DECL void engine::compare_programs() {
  const std::string listing = wire::table_listing();
  const std::uint64_t digest = base::hash_text(listing);
  const std::vector<std::string> digests =
      net::all_gather(net_.comm(), std::string(reinterpret_cast<const char*>(&digest), sizeof digest));
  bool same = true;
  for (const std::string& d : digests) same = same && d == digests[0];
  if (same) return;
  const std::string theirs = net::broadcast(net_.comm(), listing);
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
    mine = "rank " + std::to_string(rank_) + " (" + store::host_name() + ") has " + readable(here) +
           " where rank 0 has " + readable(there);
  }
  for (const std::string& difference : net::all_gather(net_.comm(), mine)) {
    if (difference.empty()) continue;
    throw error("manta: not all ranks run the same program: " + difference +
                "; start every rank from the same binary, and rebuild it everywhere");
  }
}

// --- what the helper does for its rank: it answers, serves the other ranks, and watches whether a task hangs

MANTA_DECL helper::duties engine::duties_of_helper() {
  static constexpr auto of = [](void* rank) -> engine& { return *static_cast<engine*>(rank); };
  return {
      .rank = this,
      .begin = [](void*) { role_ = role::helper; },
      .sleep = [](void* rank, std::int64_t most_ns) { of(rank).net_.sleep(most_ns); },
      .rouse = &engine::rouse_helper,
      .owner_is_here = [](void* rank) {
        of(rank).watch_lonely();
        of(rank).watch_task(true);
        of(rank).watch_part(true);
      },
      .do_duties = [](void* rank, bool owner_was_here) {
        const bool any = of(rank).progress_from_helper();
        of(rank).watch_lock(owner_was_here);
        of(rank).watch_task(owner_was_here);
        of(rank).watch_part(owner_was_here);
        return any;
      },
      .patience_ns = [](void* rank, unsigned in_vain) { return of(rank).may_sleep_ns(in_vain); },
  };
}

MANTA_DECL bool engine::progress_from_helper() {
  const bool any = receive();
  attend();
  ledger_.pay_back();
  serve_others();
  net_.pump(true);
  return any;
}

MANTA_DECL void engine::serve_others() {
  if (running_->actor != nullptr) {
    report_blocked(reported_.tasks, reported_.own_work != 0, true);
  } else if (reported_.tasks > 0 && reported_.own_work == 0) {  // the task may have waited when rank 0 was last told
    const std::uint32_t started = started_tasks();
    report_blocked(std::min(reported_.tasks, started > 0 ? started - 1 : 0), false);
  }
  if (scheduler_ != nullptr) {
    ask_for_work();
    watch_waiting_gangs();
  }
  if (owed_.tasks > 0) give_away(true);
  if (!gang_ends_.empty()) watch_gangs();
  watch_leader();
}

MANTA_DECL std::int64_t engine::may_sleep_ns(unsigned in_vain) const {
  if (!net_.idle()) return 200'000;
  if (net_.is_woken_by_all()) return waiters_.longest_sleep(attempts_.has_timers());
  return in_vain > 50 ? 1'000'000 : 200'000;
}

MANTA_DECL void engine::rouse_helper(void* self) { static_cast<engine*>(self)->net_.wake(); }

MANTA_DECL void engine::watch_task(bool was_here) {
  if (!watchdog_.is_on()) return;
  const std::int64_t limit_ns = watchdog_.limit_ns();
  if (!watchdog_.look(base::now_ns(), was_here, !running_.is_driver())) return;
  std::fprintf(stderr, "manta: rank %u: '%s' has not called manta for %g s (MANTA_WATCHDOG) and is taken for hung; "
               "it is ended:\n", rank_, std::string(running_->name()).c_str(), static_cast<double>(limit_ns) * 1e-9);
  abort_hung(helper_.owner());
}

/// Is that thread of this process in the system call by which threads wait for mutexes? False if the system does not
/// say.
MANTA_DECL bool waits_for_lock(int thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/syscall";
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  long number = -1;
  const bool read = std::fscanf(file, "%ld", &number) == 1;
  std::fclose(file);
  return read && number == SYS_futex;
}

MANTA_DECL void engine::watch_lock(bool was_here) {
  const auto computed_ns = [] { return static_cast<std::int64_t>(std::clock()) * (1'000'000'000 / CLOCKS_PER_SEC); };
  const bool others_wait = started_.count() + (rank_ == 0 ? 1 : 0) > 1 && interrupted() != nullptr;
  if (!lock_watch_.look(base::now_ns(), was_here, others_wait, computed_ns)) return;
  if (!waits_for_lock(helper_.owner_number())) return;
  const std::string others = waiters_.describe_all();
  std::fprintf(stderr,
               "manta: rank %u: '%s' has stood in a lock (or waited for a thread of its own) for five seconds, and "
               "meanwhile nothing else can go on here: %s. If one of these holds that lock, none of them ever goes on: "
               "release it before get, wait and whatever else waits\n",
               rank_, std::string(running_->name()).c_str(), others.c_str());
}

MANTA_DECL void engine::watch_lonely() const {
  if (!gang_watch_.is_alone_too_long(base::now_ns()) || lifeline_ == nullptr || !lifeline_->news()) return;
  std::fprintf(stderr, "manta: rank 0 has waited ten seconds for the members of its gang, and a rank has died: the job "
               "ends here\n");
  ::_exit(1);
}

}  // namespace manta::exec
