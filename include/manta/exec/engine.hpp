// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// A rank at work: it owns the parts (network, graph, scheduler, stacks, lock)
// and moves events between them. The declarations stand here; the definitions
// follow by subject in the .ipp files beside this header. README.md has the
// list of these files, and of the parts.
//
// Every member function is called with the lock held unless it says otherwise.
// Message handlers record and append; they never wait, and no user function
// runs inside one.
#pragma once

#include <pthread.h>

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "manta/base/allocation.hpp"
#include "manta/base/clock.hpp"
#include "manta/base/config.hpp"
#include "manta/base/environment.hpp"
#include "manta/base/hash.hpp"
#include "manta/base/thread.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/messages.hpp"
#include "manta/exec/overflow.hpp"

namespace manta::base {
struct child_page;
}

namespace manta::exec {

struct engine_options {
  graph::quantities resources;
  int cpus = 0;              ///< 0: found out
  double gpus = -1;          ///< below 0: found out
  bool rank0_tasks = false;
  int spares = 0;            ///< ranks, the last ones, that stand by; rank 0's setting holds
  bool progress_thread = true;
  bool concurrent_mpi = false;  ///< MPI_THREAD_MULTIPLE
  std::uint64_t seed = 0;
  std::size_t max_queued = std::size_t{1} << 22;
  std::size_t max_waiting = 100'000;
  std::uint64_t store_memory = 0;  ///< bytes; 0: its share of the node's
  std::uint64_t node_store_memory = 0;  ///< 0: half of the ranks' memory
  std::string spill_folder;
  int ranks_per_node = net::network::any_number;
  bool recovery = false;     ///< the launcher lets the others go on when a rank dies
  std::int64_t heartbeat_ns = 0;
  std::int64_t watchdog_ns = 0; ///< a task without a call to us for so long is taken for hung; 0: none is
  std::string journal;          ///< a folder; empty: none; rank 0's setting holds, as that of `recovery`
  double journal_least = 0.01;  ///< seconds that a task took whose result is kept
  std::int64_t end_time = 0;    ///< of the allocation, seconds since 1970; 0: not known
  std::int64_t end_margin = 60; ///< seconds
  double term_grace = 30;       ///< seconds from SIGTERM to the end; 0: any number
  std::string mistake;       ///< what is wrong with this rank's settings: reported on all ranks
};

class engine {
 public:
  MANTA_DECL engine(MPI_Comm comm, engine_options options);  // collective
  MANTA_DECL ~engine();                                      // collective
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Collective. Rank 0 calls driver(argument, result) outside the lock, the others serve; all return the bytes
  /// that the driver left in `result`. Throws what the driver threw on rank 0, driver_failed elsewhere.
  MANTA_DECL wire::buffer run(void (*driver)(void*, wire::buffer&), void* argument);

  static engine* current() { return current_; }
  /// In a child process that runs an isolated function: what it knows. Else null.
  static const isolated_view* isolated() { return isolated_; }
  /// Starts the process from which children are forked, if there is a use for it; best before MPI is initialised.
  MANTA_DECL static void prepare_isolation(bool before_mpi);
  /// In a child process: runs what its rank asks for, until the rank asks no more.
  [[noreturn]] static void serve_rank(int socket, base::child_page& page);
  /// The engine, if the calling thread is the one that runs tasks; else throws.
  static engine& here(const char* call);
  /// Throws: says why `call` is not possible on this thread now.
  [[noreturn, gnu::cold]] MANTA_DECL static void refuse(const char* call);
  /// What writes the failures of this rank in words.
  const failure_writer& failures() const { return rank_.failures; }
  /// Is the calling thread one of those that work for a run: may a destructor touch the engine?
  static bool inside() { return role_ != role::none; }

  std::uint32_t rank() const { return rank_.rank; }
  std::uint32_t size() const { return rank_.size; }
  const net::network& network() const { return rank_.net; }
  const base::array<graph::capacity>& world() const { return rank_.world; }
  const running_task& current_task() const { return *run_.running; }
  std::uint64_t seed() const { return rank_.seed; }
  /// Does the program go on when another rank dies?
  bool recovers() const { return rank_.members.recovers(); }
  bool has_seen_deaths() const { return rank_.members.deaths() != 0; }
  bool has_journal() const { return values_.journaling.is_open(); }
  std::size_t live_objects() const { return rank_.graph.nodes.live(); }
  /// Why this program has to end before its work is done; empty: it has not.
  const std::string& leaving() const { return run_.departure.why(); }
  bool is_dead(rank_id rank) const { return rank_.members.is_dead(rank); }

  /// The calling thread's right to touch the engine, for as long as this stands.
  class guard {
   public:
    explicit guard(engine& e) : engine_(e), owner_(role_ == role::owner) {
      if (owner_) engine_.rank_.lock.enter();
    }
    ~guard() {
      if (owner_) engine_.rank_.lock.leave();
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    engine& engine_;
    bool owner_;
  };

  // --- references
  using reference_part = references<net::network>;
  using completion_part = completion<net::network>;
  using supply_part = supply<net::network>;
  using fetch_part = fetches<net::network>;
  using attempt_part = attempts<net::network>;
  using wait_part = exec::waiters<net::network>;
  using recovery_part = recovery<net::network>;
  using record_part = task_records<net::network>;
  using executor_part = exec::executor<net::network>;
  using actor_part = actor_host<net::network>;
  using call_part = actor_calls<net::network>;
  using named_part = named_actors<net::network>;
  using ahead_part = tasks_ahead<net::network>;
  using placement_part = exec::placement<net::network>;
  using withdrawal_part = exec::withdrawal<net::network>;
  using lost_part = exec::lost_tasks<net::network>;
  using ticket_part = exec::tickets<net::network>;
  using question_part = exec::questions<net::network>;
  using home_part = exec::home<net::network>;
  using loop_part = rank_loop<net::network>;
  using waiting_part = exec::waiting<net::network>;
  using quiet_part = quiet_watch<net::network>;
  /// The ends of nodes.
  completion_part& completions() { return values_.completion; }
  /// Values that lie here, for others.
  supply_part& supplies() { return values_.supply; }
  /// Values that lie elsewhere.
  fetch_part& fetching() { return values_.fetches; }
  /// Values that can be made again.
  recovery_part& recovering() { return values_.recovery; }
  /// The stacks that wait.
  wait_part& waiters() { return run_.waiters; }
  /// The counts of handles and references.
  reference_part& refs() { return values_.refs; }
  /// From any thread, without the lock: a handle dies.
  MANTA_DECL static void drop_handle(node& n);

  // --- values
  /// A node of a value made here, outside of tasks' results. Throws if there is no memory for it.
  MANTA_DECL node& make_value(type_id type, void* object);
  /// A node with a copy of an object whose type has an array. Null if it is not one for node memory: copy it
  /// otherwise.
  MANTA_DECL node* copy_value(type_id type, const void* object);

  // --- tasks
  /// Tasks of this rank.
  home_part& home() { return homes_.tasks; }
  /// Calls of actors.
  call_part& calls() { return homes_.calls; }
  /// Tasks on several ranks.
  const exec::gangs& gangs() const { return work_.gangs; }
  /// What users ask about tasks and ranks, and reservations.
  question_part& questions() { return loops_.questions; }

  /// Actors with names, and detached ones.
  named_part& named() { return homes_.named; }

  /// Waits for values and for the ends of tasks.
  waiting_part& waits() { return loops_.waiting; }
  /// What this rank does next.
  loop_part& loop() { return loops_.loop; }
  /// Is the memory for values short on this rank?
  bool lacks_memory() const { return rank_.ledger.memory().is_short(); }

  biased_lock& lock() { return rank_.lock; }
  /// Where a call's arguments are collected before it is submitted.
  wire::buffer& argument_buffer() { return arguments_; }

 private:
  enum class role : std::uint8_t { none, owner, helper };

  struct handlers;  // of messages: dispatch.ipp
  /// A message has arrived. Counts it, and calls the handler of its kind; between runs it is kept.
  void on_message(rank_id from, message kind, const std::byte* data, std::size_t bytes);

  struct hooks;  // hooks.ipp
  /// What the parts are given of the engine, and of parts that are built after them.
  static part_hooks hooks_of(engine& e);

  /// Collective. Throws on all ranks if one of them cannot use the folder.
  void open_journal(const engine_options& options);
  // leaving.ipp
  bool must_leave() const {
    if (run_.departure.is_leaving()) return false;
    return base::end_signals::came() != nullptr || run_.departure.is_asked() ||
           (rank_.rank == 0 && run_.departure.has_end() && run_.departure.is_time(base::ticks()));
  }
  void look_for_end();  ///< At the top level, if must_leave(): has the run end, or asks rank 0 for it.
  void leave(const std::string& why);  ///< Rank 0 says that nothing more is started.

  // deaths.ipp
  /// Collective. Connects all ranks with rank 0, so that it notices deaths.
  void connect_lifelines(const engine_options& options);
  void look_for_deaths();  ///< Rank 0 hears of deaths, and tells all others.
  /// A rank that stood by has from now on what the dead rank had.
  void take_place(rank_id spare, rank_id rank);
  /// The one order in which the parts hear of a death.
  void on_rank_died(const death_message& m, const std::string& why);
  /// The dead rank has no place and no resources any more.
  void leave_world(rank_id dead);
  // progress.ipp
  bool receive();   ///< Handles the messages and blocks that are here. True if any came.
  void attend();    ///< Does what comes with time and from outside; runs nothing of the user's.
  bool progress();  ///< Receives, attends, and ends what is over. True if anything came.

  // ending.ipp
  void begin_run();  ///< This thread is the owner from now on, with the lock.
  /// Rank 0: runs the driver, and ends the run on all ranks. Returns what the driver has thrown. Waits.
  std::exception_ptr drive(void (*driver)(void*, wire::buffer&), void* argument, wire::buffer& payload);
  /// Another rank: serves until rank 0 ends the run. Returns the driver's failure, or leaves in `payload` what the
  /// driver has left. Waits.
  std::exception_ptr serve(wire::buffer& payload);
  /// Rank 0: serves until all is done, or with `drop` all that has started. Ends the actors of all ranks. Waits.
  void finish_run(bool drop);
  void drive_until_quiet();  ///< Rank 0: serves until nothing goes on anywhere. Waits.
  void drop_unstarted();  ///< Fails the tasks of this rank that have not started.
  void end_all_actors();  ///< Ends the actors of this rank, and tells rank 0 of failures.
  void compare_programs();  ///< Collective. Throws if not all ranks run the same program.
  /// Collective. Tells all ranks what each offers, and the settings of rank 0 that hold for all.
  void share_settings(engine_options& options);
  void appoint_spares(const engine_options& options);  ///< Decides which ranks stand by.

  // ending.ipp, called by the helper
  /// Receives messages, does what comes with time and sends what has collected. True if others got something by that.
  bool progress_from_helper();
  /// What runs here takes longer than was thought, a task or a call of an actor, of which rank 0 does not know: tells
  /// rank 0, and gives away tasks that others can run.
  void serve_others();
  /// How long the helper may sleep after `in_vain` answers in a row to which nothing had come.
  std::int64_t may_sleep_ns(unsigned in_vain) const;
  /// What the owner has left to be done should not wait until the helper wakes by itself.
  static void rouse_helper(void* self);

  /// What user code does to the process: process_watch.ipp.
  struct process_watch {
    static void begin();  ///< Notes exit() and fork() by user code.
    /// For the report of a crash: allocates nothing. Null if nothing of the user's runs.
    static const running_task* interrupted() noexcept;
    static const char* who_is_interrupted() noexcept;  ///< That task in words; null as interrupted().
    /// In a signal handler that ends the rank: tells rank 0 why, and which task it was.
    static void last_words(const char* text, std::size_t bytes) noexcept;
    /// Says who has called exit(), and does not let it look like a success. What other libraries have registered is
    /// still done.
    static void exit_in_run(int status, void*);
    /// In a child that somebody has forked in the middle of a run: a copy of this process, which must not act as the
    /// rank.
    static void forked();
    [[noreturn]] static void end_copy(const char* what);  ///< Ends such a child.
  };

  static inline engine* current_ = nullptr;
  static inline const isolated_view* isolated_ = nullptr;
  static inline constinit thread_local role role_ = role::none;
  static inline bool is_copy_ = false;                      // of a rank's process, forked by user code

  rank_stores rank_;
  run_state run_;
  value_layer values_;
  work_layer work_;
  home_layer homes_;
  loop_layer loops_;
  wire::buffer arguments_;
};

inline engine& engine::here(const char* call) {
  if (role_ != role::owner) [[unlikely]] refuse(call);
  return *current_;
}

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/engine.ipp"
#endif
