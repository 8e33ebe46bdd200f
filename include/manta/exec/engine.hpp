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
#include "manta/exec/actor/names.hpp"
#include "manta/exec/actor/sent_arguments.hpp"
#include "manta/exec/actor/slots.hpp"
#include "manta/exec/explanations.hpp"
#include "manta/exec/failure_writer.hpp"
#include "manta/exec/gang/gang_ends.hpp"
#include "manta/exec/gang/gang_watch.hpp"
#include "manta/exec/invocation.hpp"
#include "manta/exec/lock.hpp"
#include "manta/exec/message_queue.hpp"
#include "manta/exec/membership.hpp"
#include "manta/exec/messages.hpp"
#include "manta/exec/node_views.hpp"
#include "manta/exec/overflow.hpp"
#include "manta/exec/post.hpp"
#include "manta/exec/rank_set.hpp"
#include "manta/exec/run/current_task.hpp"
#include "manta/exec/run/departure.hpp"
#include "manta/exec/run/early_messages.hpp"
#include "manta/exec/run/helper.hpp"
#include "manta/exec/run/late_tasks.hpp"
#include "manta/exec/run/pace.hpp"
#include "manta/exec/run/run_phase.hpp"
#include "manta/exec/run/silence.hpp"
#include "manta/exec/run/throttle.hpp"
#include "manta/exec/run/turns.hpp"
#include "manta/exec/run/unobserved.hpp"
#include "manta/exec/run/waiters.hpp"
#include "manta/exec/run/watchdog.hpp"
#include "manta/exec/run/waves.hpp"
#include "manta/exec/stack.hpp"
#include "manta/exec/task/staging.hpp"
#include "manta/exec/task/started_list.hpp"
#include "manta/exec/task/attempts.hpp"
#include "manta/exec/task/task_places.hpp"
#include "manta/exec/task/task_records.hpp"
#include "manta/exec/task/tasks_elsewhere.hpp"
#include "manta/exec/task/waiting_ahead.hpp"
#include "manta/exec/value/completion.hpp"
#include "manta/exec/value/fetches.hpp"
#include "manta/exec/value/foreign_drops.hpp"
#include "manta/exec/value/journaling.hpp"
#include "manta/exec/value/lineage.hpp"
#include "manta/exec/value/recovery.hpp"
#include "manta/exec/value/references.hpp"
#include "manta/exec/value/supply.hpp"
#include "manta/exec/waits.hpp"
#include "manta/exec/work_list.hpp"
#include "manta/graph/scheduler.hpp"
#include "manta/graph/task_graph.hpp"
#include "manta/net/lifeline.hpp"
#include "manta/net/network.hpp"
#include "manta/net/teams.hpp"

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
  const failure_writer& failures() const { return failures_; }
  /// Is the calling thread one of those that work for a run: may a destructor touch the engine?
  static bool inside() { return role_ != role::none; }

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return size_; }
  const net::network& network() const { return net_; }
  const base::array<graph::capacity>& world() const { return world_; }
  const running_task& current_task() const { return *running_; }
  std::uint64_t seed() const { return seed_; }
  /// Does the program go on when another rank dies?
  bool recovers() const { return members_.recovers(); }
  bool has_seen_deaths() const { return members_.deaths() != 0; }
  bool has_journal() const { return journaling_.is_open(); }
  std::size_t live_objects() const { return graph_.nodes.live(); }
  /// Why this program has to end before its work is done; empty: it has not.
  const std::string& leaving() const { return departure_.why(); }
  bool is_dead(std::uint32_t rank) const { return members_.is_dead(rank); }

  /// The calling thread's right to touch the engine, for as long as this stands.
  class guard {
   public:
    explicit guard(engine& e) : engine_(e), owner_(role_ == role::owner) {
      if (owner_) engine_.lock_.enter();
    }
    ~guard() {
      if (owner_) engine_.lock_.leave();
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
  /// The ends of nodes.
  completion_part& completions() { return completion_; }
  /// Values that lie here, for others.
  supply_part& supplies() { return supply_; }
  /// Values that lie elsewhere.
  fetch_part& fetching() { return fetches_; }
  /// Values that can be made again.
  recovery_part& recovering() { return recovery_; }
  /// The stacks that wait.
  wait_part& waiters() { return waiters_; }
  /// The counts of handles and references.
  reference_part& refs() { return refs_; }
  /// From any thread, without the lock: a handle dies.
  MANTA_DECL static void drop_handle(node& n);

  // --- values
  /// A node of a value made here, outside of tasks' results. Throws if there is no memory for it.
  MANTA_DECL node& make_value(std::uint32_t type, void* object);
  /// A node with a copy of an object whose type has an array. Null if it is not one for node memory: copy it
  /// otherwise.
  MANTA_DECL node* copy_value(std::uint32_t type, const void* object);

  // --- tasks
  /// The arguments are `bytes`; each input has one reference that the task takes over.
  MANTA_DECL node& submit(std::uint32_t function, std::uint32_t type, const std::byte* arguments, std::size_t bytes,
               node* const* inputs, std::uint32_t input_count, graph::request_ptr request);
  MANTA_DECL std::size_t longest_argument(const node& handle) const;
  MANTA_DECL node& call_actor(node& handle, std::uint32_t function, std::uint32_t type, const std::byte* arguments,
                   std::size_t bytes, node* const* inputs, std::uint32_t input_count);
  /// Throws if this rank's MPI does not allow gangs as large as the request's.
  MANTA_DECL void require_gangs(const graph::request& request) const;
  /// Waits until the actor has been made. Sends one message to its rank; the actor ends after the call that runs.
  MANTA_DECL void kill_actor(node& handle, const std::string& why);
  MANTA_DECL void free_name_of(const node& handle);

  // --- placement
  /// Asks rank 0 for bundles of resources and waits for the number it gives; `ready` ends when they are there.
  MANTA_DECL std::uint64_t reserve(const wire::buffer& wanted, graph::strategy how, node& ready);
  MANTA_DECL void give_up_reservation(std::uint64_t id);
  /// Where it is and why, or what it waits for. May ask other ranks and wait for their answers.
  MANTA_DECL std::string explain(node& n);
  /// What is free on each rank: cpus, gpu units, tasks, actors, quantities. Asks rank 0 and waits for its answer.
  MANTA_DECL wire::buffer available();
  /// What the values on a rank take: see memory.hpp. Asks it and waits for its answer.
  MANTA_DECL wire::buffer memory_of(std::uint32_t rank);

  // --- the end of a task before its time
  /// False if it had ended, or is no task. Asks the home if that is another rank, and waits for its answer.
  MANTA_DECL bool cancel(node& n, bool children);
  /// For the task that runs on this stack. Receives what is there, now and then.
  MANTA_DECL bool stop_requested();

  // --- names of actors, kept by rank 0
  struct name_state {
    node* handle;      ///< null: there is none; if it was claimed, the name is now ours
    std::uint64_t id;  ///< of the task that is to construct it
    bool own;          ///< this very task has spawned it when it ran before
  };
  /// These wait for rank 0's answer.
  MANTA_DECL name_state ask_name(const std::string& name, const char* type, std::uint64_t id = 0);
  MANTA_DECL name_state claim_name(const std::string& name, const char* type);
  MANTA_DECL void give_up_name(const std::string& name);  ///< a claimed one
  /// As submit; `named_handle`, which may wait, has the actor's node.
  MANTA_DECL node& submit_named(const name_state& claimed, std::uint32_t function, const std::byte* arguments,
                                std::size_t bytes, node* const* inputs, std::uint32_t input_count,
                                graph::request_ptr request);
  MANTA_DECL node& named_handle(node& submitted);
  MANTA_DECL void detach(node& handle);  ///< the actor lives until the run ends

  // --- waiting (lock held, which is let go while tasks run)
  MANTA_DECL void wait(wait_record& record);
  /// Waits until `n` has ended; with `may_inline`, runs its task right here if it is queued here and not started.
  MANTA_DECL void wait_for_end(node& n, bool may_inline);
  MANTA_DECL bool wait_for_end(node& n, std::int64_t deadline);
  /// Waits until the value is on this rank, and decodes it. Throws the failure.
  MANTA_DECL const void* value(node& n, bool may_inline = true);
  /// Has the end of `n` count for this wait, as its input number `position`.
  MANTA_DECL void watch(node& n, wait_record& record, std::uint32_t position);
  void unwatch(node& n, wait_record& record) { graph_.remove_link(n, link_kind::waiter, &record); }
  /// Receives what is there and runs at most one task elsewhere: what polling `ready()` in a loop needs.
  MANTA_DECL void step();
  /// Makes a submitter that runs ahead of the network, of those who run its tasks, or of this rank's memory help until
  /// it no longer does.
  MANTA_DECL void relieve();
  bool is_short() const { return ledger_.memory().is_short(); }

  biased_lock& lock() { return lock_; }
  /// Where a call's arguments are collected before it is submitted.
  wire::buffer& arguments() { return arguments_; }

 private:
  enum class role : std::uint8_t { none, owner, helper };
  using gang_end = gang_ends::gang_end;

  struct handlers;  // of messages: dispatch.ipp
  /// A message has arrived. Counts it, and calls the handler of its kind; between runs it is kept.
  void on_message(std::uint32_t from, message kind, const std::byte* data, std::size_t bytes);

  // references.ipp
  reference_part::hooks hooks_of_references();  ///< What ends with the last handle of a node.
  task_records<net::network>::hooks hooks_of_records();  ///< Inputs of received tasks that lie elsewhere.
  completion_part::hooks hooks_of_completion();  ///< What is done when a node ends.
  supply_part::hooks hooks_of_supply();  ///< Pulls that were put off.
  fetch_part::hooks hooks_of_fetches();  ///< Values that have to be made again.
  recovery_part::hooks hooks_of_recovery();  ///< Tasks that run once more.
  attempt_part::hooks hooks_of_attempts();   ///< Tasks that start again or are too late.

  // values.ipp
  node& checked(node& n);
  wire::buffer describe_memory() const;

  // tasks.ipp
  void start_when_possible(node& n);
  void task_ready(node& n);
  void decide();
  void dispatch(node& n, std::uint32_t to, std::uint32_t charge);
  void send_compact_away(node& n, std::uint32_t to);
  void stage(task* t);
  void staged(task* t);
  void stage_input_arrived(task* t, node& input);
  void await_input(task* t, node& input);
  void run_node(node& n);
  void run_staged(task* t);
  void keep_inputs(const invocation& call);
  bool load_checkpoint(invocation& call, const task& t, store::failure_ptr& why);
  void run_message(const message_queue::view& m);
  bool invoke(invocation& call, std::uint32_t function, running_task& identity, store::failure_ptr& why,
              std::uint64_t* ns = nullptr);
  void finish_foreign(std::uint32_t home_rank, std::uint32_t home_index, std::uint32_t function, std::uint32_t charge,
                      const graph::request* request, bool by_scheduler, invocation& call, bool ok,
                      const store::failure_ptr& why, std::uint64_t ns, std::uint64_t place_key = 0,
                      node* awaited = nullptr);
  void finish_received(task* t, bool kept, invocation& call, bool ok, const store::failure_ptr& why, std::uint64_t ns);
  void finish_here(node& n, invocation& call, bool ok, const store::failure_ptr& why);
  void on_result(std::uint32_t from, const result_message& m, const std::byte* data, std::size_t bytes);
  void on_submit(std::uint32_t from, const std::byte* data, bool returned);
  void give_away(bool overdue);
  void ask_for_work();
  void fail_dependent(node& n);

  // isolation.ipp
  void run_isolated(invocation& call, std::uint32_t function, running_task& identity);
  void run_function(invocation& call, std::uint32_t function, running_task& identity) {
    identity.isolated() ? run_isolated(call, function, identity) : wire::function_at(function).run(call);
  }

  // ahead.ipp
  std::uint32_t where_inputs_are_made(const task& t) const;
  void send_ahead(node& n);
  bool send_ahead_to(node& n, std::uint32_t to);
  void follow_ahead(node& n, std::uint32_t to);
  void send_waiting_ahead();
  void note_reached(node& n, std::uint32_t from, std::uint32_t reached);
  void send_after(const link& l, node& input);
  void on_ahead_back(std::uint32_t from, const task_message& m);
  void on_run_ahead(std::uint32_t from, const std::byte* data);
  node* expected_here(std::uint32_t home_rank, std::uint32_t home_index, node* result);
  void hand_over(node& result, node& known);
  void on_made(std::uint32_t from, const result_message& m, const std::byte* data, std::size_t bytes);
  void give_back_ahead();

  /// Collective. Throws on all ranks if one of them cannot use the folder.
  void open_journal(const engine_options& options);
  /// A task of ours that has not started: completes its node if the journal has the result.
  bool take_from_journal(node& n);

  // leaving.ipp
  bool must_leave() const {
    if (departure_.is_leaving()) return false;
    return base::end_signals::came() != nullptr || departure_.is_asked() ||
           (rank_ == 0 && departure_.has_end() && departure_.is_time(base::ticks()));
  }
  double time_left_ns() const;
  /// Takes a task that could start out of where it waits for that.
  void unqueue(node& n) { late_.has(n) ? late_.remove(n) : scheduler_->remove(n); }
  void look_for_end();
  void leave(const std::string& why);

  // deaths.ipp
  bool hands_out() const { return scheduler_ != nullptr && size_ > 1; }
  /// Does the home keep the record of a task that has been sent away?
  bool keeps(const task& t) const { return recovers() || (t.request != nullptr && t.request->kept()); }
  void connect_lifelines(const engine_options& options);
  void look_for_deaths();
  void take_place(std::uint32_t spare, std::uint32_t rank);
  void on_rank_died(const death_message& m, const std::string& why);
  /// The dead rank has no place and no resources any more.
  void leave_world(std::uint32_t dead);
  /// Looks after the nodes that a death concerns: values first, for a task may need one.
  void nodes_lost(std::uint32_t dead);
  void forget_links_to(node& n, std::uint32_t rank);
  bool is_concerned(node& n, std::uint32_t rank);
  void task_lost(node& n, std::uint32_t rank);
  void submit_again(node& n, std::uint32_t rank);
  const graph::request& with_request(node& n);
  store::failure_ptr tried_too_often(const node& n, std::uint64_t id, graph::request_ptr& request);
  void gangs_lost(std::uint32_t rank);
  void placed_lost(std::uint32_t rank);
  void on_where_is(std::uint32_t from, const where_message& m);
  void end_broken_gangs();

  // questions.ipp
  node& make_ticket(std::uint32_t asked);
  wire::buffer answer_to(node& ticket);
  wire::buffer ask(std::uint32_t to, ask_message m, const void* tail = nullptr, std::size_t tail_bytes = 0);
  void answer(const ask_message& m, const void* data, std::size_t bytes);
  void on_ask(const std::byte* data, std::size_t bytes);
  void release_reservation(std::uint64_t id);
  void refuse_task(node& n, const store::failure_ptr& why);
  void to_scheduler(node& n);
  store::failure_ptr never_possible(const node& n) const;
  void place_tasks();
  std::string explain_here(node& n, bool& placed_by_zero);
  std::string explain_placed(std::uint32_t home_rank, std::uint32_t home_index, std::uint64_t place_key);

  // gangs.ipp
  void dispatch_gang(node& n, std::uint32_t charge);
  void run_member(task* t);
  store::failure_ptr hear_of_lost_member(const graph::gang& g);
  bool meet(const graph::gang& g);
  MPI_Comm communicator_of(const graph::gang& g);
  void forward_call(actor_slot& slot, task* t);
  void run_gang_call(std::uint32_t index, task* t);
  void settle_members(gang_end& end);
  void leader_ended(const graph::gang& gang, const invocation& call, bool ok, const store::failure_ptr& why);
  void tell_leader(const graph::gang& gang, const invocation& call, store::failure_ptr why, std::uint32_t slot);
  void on_gang_ended(std::uint32_t from, const gang_message& m, const std::byte* data, std::size_t bytes);
  /// A member has ended or died. Sends the gang's first failure to the task's home at once.
  void member_ended(gang_end& end, std::uint32_t member);
  void finish_gangs();
  void watch_gangs();
  void watch_leader();
  void ask_for_patience(std::uint32_t dead);  ///< tells rank 0 that this member will come back from its gang by itself
  void on_stuck(const stuck_message& m);
  void watch_waiting_gangs();
  /// From the helper: says that a part of an actor may wait for another one that waits for this rank.
  void watch_part(bool was_here);

  // cancelling.ipp
  void withdraw(node& n, const store::failure_ptr& why, std::uint16_t flags);
  bool stop_here(const cancel_message& m);
  void stop_members(std::uint64_t id, std::uint16_t flags);  ///< At the leader of a gang: stops the other parts.
  void stop_children(running_task& parent);  ///< Cancels what a task has submitted.
  void end_unstarted(task* t, bool expired);  ///< Ends a task that was taken out of where it waited.
  bool is_withdrawn(task& t);
  void discard(node& n, const result_message& m, const std::byte* data, std::size_t bytes);
  void discard_here(node& n, invocation& call);
  node& refuse_child(node& n, std::uint64_t id, node* const* inputs, std::uint32_t input_count,
                     const store::failure_ptr& why);
  store::failure_ptr stopped_child(const node& n) const;
  void unstage(task* t);
  bool cancel_here(std::uint32_t index, bool children, std::uint32_t asker, std::string_view who);
  bool on_cancel(const cancel_message& m);

  // timing.ipp
  /// Tasks; where many arguments are kept they count by their bytes as well.
  std::size_t unfinished() const {
    constexpr std::size_t few_bytes = std::size_t{64} << 20, bytes_a_task = 128;
    const std::size_t bytes = graph_.tasks.large_bytes();
    return elsewhere_.unfinished() + local_.size() + (scheduler_ == nullptr ? 0 : scheduler_->waiting()) +
           (bytes > few_bytes ? (bytes - few_bytes) / bytes_a_task : 0);
  }
  /// Is the memory for values short, and may it become less as tasks made here end?
  bool may_get_room();
  /// Waits, by run/throttle.hpp, until the submitter of the current stack may go on.
  void hold_back();
  /// In progress(): lets the held submitters go if there is room for them.
  void let_go();

  // actors.ipp
  std::uint32_t new_slot(invocation& call, std::uint32_t function, graph::request_ptr request, task* constructor);
  void send_soon();
  void send_call(node& handle, task* t);
  void on_call(std::uint32_t from, const std::byte* data, std::size_t bytes);
  void refuse_call(std::uint32_t from, const std::byte* data);
  void receive_call(const message_queue::view& m);
  void run_call(actor_slot& slot, task* t);
  void after_call(std::uint32_t index, bool was_active = true);
  void list_slot(std::uint32_t index);  ///< The actor has something to start or to end.
  void run_mailbox();  ///< Starts a call of the actor that has been listed longest, or ends the actor.
  bool lose_if_broken(const actor_slot& slot, std::uint32_t method, invocation& call, bool& ok,
                      store::failure_ptr& why) const;
  void log_call(actor_slot& slot, task* t);
  void take_checkpoint(actor_slot& slot);
  void fail_waiting(std::uint32_t index);
  void restart(std::uint32_t index);
  void forget_past(actor_slot& slot);  ///< Frees what was kept for a restart.
  void end_slot(std::uint32_t index, const std::string& why);
  void on_kill(std::uint32_t index, std::string why);  ///< Marks the actor; the rest is done at the top level.
  void on_end_actor(const end_actor_message& m);
  void on_name_ask(const std::byte* data, std::size_t bytes);
  node& handle_of(const name_answer_message& answer);
  node& begin_named(task* t);
  void on_name_spawn(std::uint32_t from, const std::byte* data);
  void on_name_gone(std::uint32_t from, std::string_view name);
  /// Rank 0, after each change of names_: answers the questions that stand in line. Sends an answer to each asker.
  void answer_names();
  /// Rank 0: an actor has ended at `where`. Its name is free, also if others have a handle still.
  void free_name_of_ended(const std::string& name, actor_place where);
  /// What names_ has to know of the actor of a node.
  names::actor_state state_of_named(std::uint32_t handle);

  // waiting.ipp
  /// May the next received task begin? Not while the values on their way here take much memory.
  bool may_begin() const { return !inbox_.empty() && !ledger_.memory().expects_much(); }
  bool has_tasks() const { return !local_.empty() || may_begin() || staging_.has_ready(); }
  bool runnable() const { return has_tasks() || has_calls(); }
  bool has_calls() const { return slots_.has_listed() || !calls_.empty(); }
  bool somebody_can_go_on() const { return turns_.stacks_can_go_on() || runnable(); }
  std::uint64_t calls_here() const { return calls_.size() + slots_.listed(); }
  bool run_call();  ///< Runs a call of an actor, if it is the turn of one.
  bool run_task();  ///< Runs the next task. False if there is none.
  bool run_oldest();  ///< Runs the task that has waited longest. False if there is none.
  bool run_kept_turn();  ///< Runs what turns_ keeps this turn for. False if there is none.
  bool receive();  ///< Handles the messages and blocks that are here. True if any came.
  void attend();  ///< Does what comes with time and from outside.
  bool progress();  ///< Receives, attends, and ends what is over. True if anything came.
  void idle();  ///< Called when nothing came and nothing can run.
  static void service_entry(void* self) { static_cast<engine*>(self)->service(); }
  void service();  ///< The loop of a pooled stack. Does not return.
  void leave_stack(context* next);  ///< Returns when somebody goes on with this stack.
  void let_others_go_first();
  /// The number of tasks that rank 0 has sent and that have begun here.
  std::uint32_t started_tasks() const {
    const auto unstarted = static_cast<std::uint32_t>(staging_.waiting() + inbox_.size() + staging_.ready());
    return received_tasks_ > unstarted ? received_tasks_ - unstarted : 0;
  }
  /// The number of those that wait when nothing runs here: all that were started, and those sent ahead. After a death
  /// inputs may have to be made again, perhaps on this very rank.
  std::uint32_t waiting_tasks() const {
    return started_tasks() + (has_seen_deaths() ? staging_.waiting() : staging_.ahead());
  }
  static std::uint64_t ticks_between_looks();  ///< A rank with tasks looks around at least so often.
  void look_around(bool late);  ///< Makes progress between two tasks.
  void report_blocked(std::uint32_t blocked, bool own_work, bool in_call = false);
  void awake() { silence_.end(); }

  // ending.ipp
  void finish_run(bool drop);
  void drive_until_quiet();  ///< Rank 0: serves until nothing goes on anywhere. Waits.
  bool quiet() const;  ///< Has this rank nothing to do, nothing under way and nothing due?
  /// What this rank says of itself in a wave.
  waves::tally tally_here(bool is_quiet) const;
  /// Rank 0, idle: begins a wave if one is due. If a complete one finds that nothing goes on, ends the run or its
  /// phase, or has the run end early, or declares a deadlock.
  void look_for_deadlock();
  void declare_deadlock();  ///< Rank 0: has the waits of all ranks fail, with a report. Waits.
  void drop_unstarted();  ///< Fails the tasks of this rank that have not started.
  void end_all_actors();  ///< Ends the actors of this rank, and tells rank 0 of failures.
  void compare_programs();  ///< Collective. Throws if not all ranks run the same program.
  void share_settings(engine_options& options);
  void appoint_spares(const engine_options& options);  ///< Decides which ranks stand by.

  // ending.ipp, called by the helper
  helper::duties duties_of_helper();
  /// Receives messages and does what comes with time. True if a message came. Sends what has collected.
  bool progress_from_helper();
  /// What runs here takes longer than was thought, a task or a call of an actor, of which rank 0 does not know: tells
  /// rank 0, and gives away tasks that others can run.
  void serve_others();
  /// How long the helper may sleep after `in_vain` answers in a row to which nothing had come.
  std::int64_t may_sleep_ns(unsigned in_vain) const;
  /// What the owner has left to be done should not wait until the helper wakes by itself.
  static void rouse_helper(void* self);
  /// Ends the rank if a task has its thread for too long; with recovery the task is tried elsewhere.
  void watch_task(bool was_here);
  /// A task that holds a mutex and waits leaves the rank's thread to others. If one of these wants the mutex, nothing
  /// goes on here any more: nobody can undo that, but it is said.
  void watch_lock(bool was_here);
  /// Called without the lock. Rank 0 may block inside MPI on a member of its gang that has died, and nobody else can
  /// end rank 0: the job ends after ten seconds.
  void watch_lonely() const;

  static const running_task* interrupted() noexcept;
  static const char* who_is_interrupted() noexcept;
  static void last_words(const char* text, std::size_t bytes) noexcept;
  static void watch_process();  ///< Notes exit() and fork() by user code.
  static void exit_in_run(int status, void*);
  static void forked();
  [[noreturn]] static void end_copy(const char* what);

  static inline engine* current_ = nullptr;
  static inline const isolated_view* isolated_ = nullptr;
  static inline constinit thread_local role role_ = role::none;
  static inline bool is_copy_ = false;                      // of a rank's process, forked by user code

  net::network net_;
  std::uint32_t rank_, size_;
  post<net::network> post_;
  biased_lock lock_{&engine::rouse_helper, this};
  store::ledger ledger_;                                    // before the graph, whose nodes it knows
  graph::task_graph graph_;
  base::array<graph::capacity> world_;
  membership members_;
  failure_writer failures_;
  base::list<std::uint64_t> sees_;                          // by rank: its list of devices; 0: nobody else sees them
  graph::scheduler* scheduler_ = nullptr;                   // rank 0
  stack_pool* stacks_ = nullptr;                            // during a run
  exec::current_task running_{base::launcher::get().page()};
  started_list started_;
  std::uint64_t seed_ = 0;

  graph::node_list local_;                                  // tasks made here that may start, newest last
  late_tasks late_{graph_.nodes};
  message_queue inbox_, calls_;
  staging staging_;                                         // received tasks with inputs
  actor_slots slots_;
  base::list<node*> detached_;                              // handles kept until the run ends
  sent_arguments sent_arguments_;
  wire::buffer arguments_;

  net::teams teams_;
  bool gangs_possible_ = false;
  gang_ends gang_ends_;
  gang_watch gang_watch_;

  turns turns_;
  silence silence_;
  pace pace_;
  wait_part waiters_{net_, turns_, pace_, &engine::rouse_helper, this};
  std::uint32_t received_tasks_ = 0;                        // tasks sent by the scheduler and not ended here
  blocked_message reported_{};                              // what rank 0 was told last
  demand_message owed_{};                                   // to rank 0: what it asked for and has not been given
  waiting_ahead waiting_ahead_;                             // rank 0
  work_queue<task_place> to_fail_;                          // tasks, with one of their inputs
  rank_set short_ranks_;  // rank 0: ranks that are short of memory. As long as there is
                          // one, tasks that take what is there go before the others
  rank_set asked_;                                          // rank 0: ranks that it has asked for work

  std::uint64_t reservations_made_ = 0;                     // rank 0
  task_places places_;                                      // rank 0
  base::index_table cancelled_;  // node of a cancelled task that is elsewhere or runs -> task*
  work_list<running_task*> parents_to_stop_;

  tasks_elsewhere elsewhere_;
  std::size_t most_compact_ =
      graph::compact_bytes + 1;  // a task with fewer argument bytes and nothing else needs no record
  throttle throttle_;

  names names_;                                             // rank 0

  early_messages early_;
  run_phase phase_;
  waves waves_;                                             // rank 0
  unobserved unobserved_;

  reference_part refs_;
  rank_context<net::network> own_{rank_, size_, net_, graph_, ledger_, post_, members_, failures_, refs_};
  task_records<net::network> records_{own_, staging_, hooks_of_records()};
  completion_part completion_{own_, hooks_of_completion()};
  supply_part supply_{own_, completion_, hooks_of_supply()};
  fetch_part fetches_{own_, completion_, supply_, lineage_, hooks_of_fetches()};
  attempt_part attempts_{own_, completion_, phase_, lock_, hooks_of_attempts()};
  recovery_part recovery_{own_, lineage_, records_, completion_, fetches_, hooks_of_recovery()};
  foreign_drops foreign_drops_{graph_.nodes, &engine::rouse_helper, this};
  helper helper_{lock_, duties_of_helper()};
  watchdog watchdog_;
  lock_watch lock_watch_;                                   // the helper's

  journaling journaling_;

  departure departure_;

  net::lifeline* lifeline_ = nullptr;
  lineage lineage_;
};

inline engine& engine::here(const char* call) {
  if (role_ != role::owner) [[unlikely]] refuse(call);
  return *current_;
}

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/engine.ipp"
#endif
