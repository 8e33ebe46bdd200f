// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The door to a rank: a program's calls come in here, and a run begins and ends.
// What a rank does is the matter of its parts (layers.hpp); README.md has the list.
//
// Every member function is called with the lock held unless it says otherwise.
// Message handlers record and append; they never wait, and no user function
// runs inside one.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "manta/base/clock.hpp"
#include "manta/base/config.hpp"
#include "manta/base/hash.hpp"
#include "manta/exec/layers.hpp"
#include "manta/exec/rank/engine_options.hpp"
#include "manta/exec/rank/thread_role.hpp"

namespace manta::base {
struct child_page;
}

namespace manta::exec {

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
  const failure_writer& failures() const { return parts_.rank.failures; }
  /// Is the calling thread one of those that work for a run: may a destructor touch the engine?
  static bool inside() { return thread_role::has_any(); }

  std::uint32_t rank() const { return parts_.rank.rank; }
  std::uint32_t size() const { return parts_.rank.size; }
  const exec::network& network() const { return parts_.rank.net; }
  const graph::offers& world() const { return parts_.rank.world; }
  const running_task& current_task() const { return *parts_.run.running; }
  std::uint64_t seed() const { return parts_.rank.seed; }
  /// Does the program go on when another rank dies?
  bool recovers() const { return parts_.rank.members.recovers(); }
  bool has_seen_deaths() const { return parts_.rank.members.deaths() != 0; }
  bool has_journal() const { return parts_.values.journaling.is_open(); }
  std::size_t live_objects() const { return parts_.rank.graph.nodes.live(); }
  /// Why this program has to end before its work is done; empty: it has not.
  const std::string& leaving() const { return parts_.run.departure.why(); }
  bool is_dead(rank_id rank) const { return parts_.rank.members.is_dead(rank); }
  /// The ranks that have died, in ascending order. Does not communicate. May be called between runs, without the lock.
  MANTA_DECL std::vector<std::uint32_t> deaths() const;

  /// The calling thread's right to touch the engine, for as long as this stands.
  class guard {
   public:
    explicit guard(engine& e) : engine_(e), owner_(thread_role::is_owner()) {
      if (owner_) engine_.parts_.rank.lock.enter();
    }
    ~guard() {
      if (owner_) engine_.parts_.rank.lock.leave();
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    engine& engine_;
    bool owner_;
  };

  // --- references
  /// The ends of nodes.
  exec::completion& completions() { return parts_.values.completion; }
  /// Values that lie here, for others.
  exec::supply& supplies() { return parts_.values.supply; }
  /// Values that lie elsewhere.
  exec::fetches& fetching() { return parts_.values.fetches; }
  /// Values that can be made again.
  exec::recovery& recovering() { return parts_.values.recovery; }
  /// The stacks that wait.
  exec::waiters& waiters() { return parts_.run.waiters; }
  /// The counts of handles and references.
  exec::references& refs() { return parts_.values.refs; }
  /// From any thread, without the lock: a handle dies.
  MANTA_DECL static void drop_handle(node& n);

  // --- values
  /// Values that the program makes outside of tasks' results.
  made_values& made() { return parts_.values.made; }

  // --- tasks
  /// Tasks of this rank.
  exec::home& home() { return parts_.homes.home; }
  /// Calls of actors.
  exec::actor_calls& calls() { return parts_.homes.calls; }
  /// Tasks on several ranks.
  const exec::gangs& gangs() const { return parts_.work.gangs; }
  /// Rank 0: it runs tasks from now on. Elsewhere: nothing changes.
  MANTA_DECL void let_rank_0_run_tasks();
  /// What users ask about tasks and ranks, and reservations.
  exec::questions& questions() { return parts_.loops.questions; }

  /// Actors with names, and detached ones.
  exec::named_actors& named() { return parts_.homes.named; }

  /// Waits for values and for the ends of tasks.
  exec::waiting& waits() { return parts_.loops.waiting; }
  /// What this rank does next.
  exec::rank_loop& loop() { return parts_.loops.loop; }
  /// Is the memory for values short on this rank?
  bool lacks_memory() const { return parts_.rank.ledger.memory().is_short(); }

  /// What the run tells people of itself.
  exec::seeing& seeing() { return parts_.seeing; }
  /// Tasks that are kept when they fail, and run again.
  exec::keeping& keeping() { return parts_.keeping; }
  biased_lock& lock() { return parts_.rank.lock; }
  /// Where a call's arguments are collected before it is submitted.
  wire::buffer& argument_buffer() { return arguments_; }

 private:
  void begin_run();  ///< This thread is the owner from now on, with the lock.
  /// Rank 0: runs the driver, and ends the run on all ranks. Returns what the driver has thrown. Waits.
  std::exception_ptr drive(void (*driver)(void*, wire::buffer&), void* argument, wire::buffer& payload);
  /// Another rank: serves until rank 0 ends the run. Returns the driver's failure, or leaves in `payload` what the
  /// driver has left. Waits.
  std::exception_ptr serve(wire::buffer& payload);
  /// Sends what is queued, but to ranks that die meanwhile: the rest of their deaths is for the next run.
  void send_rest();
  /// Tells manta-run whether the death of a rank ends the job at this moment.
  void announce_survival(bool in_run) const;
  /// Why the program cannot go on after this run: the ranks that have died since there were `deaths_before`. Empty if
  /// none has, or if the program handles deaths.
  std::string loss_since(std::uint32_t deaths_before) const;
  /// Starts what the options ask for on this rank alone.
  void apply(const engine_options& options);
  void report_leaks();  ///< Says which objects are still held after the last run.

  static inline engine* current_ = nullptr;
  static inline const isolated_view* isolated_ = nullptr;

  rank_parts parts_;
  wire::buffer arguments_;
  bool handles_deaths_;  // the program's own code goes on after a death
};

inline engine& engine::here(const char* call) {
  if (!thread_role::is_owner()) [[unlikely]]
    refuse(call);
  return *current_;
}

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/engine.ipp"
#endif
