// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks without MPI that submit, place, run and finish tasks and calls: all parts
// up to home.hpp, and in the place of loop.hpp a random choice of what comes next.
// A failing seed is replayed step by step.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "clear_nodes.hpp"
#include "loopback_blocks.hpp"
#include "manta/exec/home/actor_calls.ipp"
#include "manta/exec/home/home.ipp"
#include "manta/exec/home/lost_tasks.ipp"
#include "manta/exec/home/named_actors.ipp"
#include "manta/exec/home/orphans.ipp"
#include "manta/exec/home/tickets.ipp"
#include "manta/exec/home/withdrawal.ipp"
#include "manta/exec/rank/dispatch.hpp"
#include "manta/exec/value/attempts.ipp"
#include "manta/exec/value/completion.ipp"
#include "manta/exec/value/fetches.ipp"
#include "manta/exec/value/incoming_values.ipp"
#include "manta/exec/value/recovery.ipp"
#include "manta/exec/value/references.ipp"
#include "manta/exec/value/supply.ipp"
#include "manta/exec/value/task_records.ipp"
#include "manta/exec/work/actor_host.ipp"
#include "manta/exec/work/executor.ipp"
#include "manta/exec/work/gang_ends.ipp"
#include "manta/exec/work/gangs.ipp"
#include "manta/exec/work/placement.ipp"
#include "manta/exec/work/restarts.ipp"
#include "manta/exec/work/tasks_ahead.ipp"
#include "task_stacks.hpp"

class whole_world;

/// What stands above home.hpp on a rank, for tests that have it (looping_rank.hpp).
struct parts_above {
  virtual ~parts_above() = default;
  virtual void wake(manta::exec::wait_record& record) = 0;
  virtual void wait_for_end(manta::graph::node& n) = 0;
  virtual void relieve() = 0;
  virtual bool receive(std::uint32_t from, const letter& m) = 0;  ///< False if the letter is not for these parts.
  virtual void rank_died() = 0;
};

/// One rank. The driver is rank 0, which runs no tasks if there are others.
struct whole_rank {
  using node = manta::graph::node;
  using task = manta::graph::task;
  template <template <class> class Part>
  using part = Part<block_loopback>;

  whole_rank(whole_world& all, block_world& letters, std::uint32_t number, std::uint32_t size,
             std::size_t most_unfinished);
  ~whole_rank();
  whole_rank(const whole_rank&) = delete;
  whole_rank& operator=(const whole_rank&) = delete;
  static whole_rank& of(void* self) { return *static_cast<whole_rank*>(self); }

  /// Submits a task with one number as its argument. The caller owns one handle of the result.
  node& submit(std::uint32_t function, std::uint64_t number, const std::vector<node*>& inputs = {},
               manta::graph::request* wanted = nullptr,
               std::uint32_t type = manta::wire::type_index<std::uint64_t>::value);
  node& call(node& handle, std::uint32_t function, std::uint64_t number, const std::vector<node*>& inputs = {});
  /// Refers to both.
  static manta::exec::task_arguments arguments(const std::uint64_t& number, const std::vector<node*>& inputs) {
    return {reinterpret_cast<const std::byte*>(&number), sizeof number, inputs.data(),
            static_cast<std::uint32_t>(inputs.size())};
  }
  std::uint64_t number_in(node& n) const {
    std::uint64_t number = 0;
    std::memcpy(&number, n.bytes, sizeof number);
    return number;
  }

  void receive(std::uint32_t from, const letter& m);
  bool run_one();  ///< Runs a task or call that may begin here. False if there is none.
  void rank_died(std::uint32_t dead, std::uint32_t successor);
  /// The last ranks stand by. To be called before anything runs.
  void appoint_spares(std::uint32_t count);
  /// Waits as a task does that waits for an answer: other things happen meanwhile.
  void wait_for_end(node& n);
  void relieve() {
    if (above != nullptr) above->relieve();
  }

  whole_world& world;
  block_loopback net;
  manta::exec::biased_lock lock{[](void*) {}, nullptr};
  manta::store::ledger ledger;
  manta::graph::task_graph graph;
  manta::graph::offers offered;
  manta::exec::membership members;
  manta::exec::failure_writer in_words;
  manta::graph::scheduler* scheduler = nullptr;
  manta::exec::lineage made_by;
  manta::exec::journaling journal;
  manta::exec::unobserved failures;
  manta::base::launcher::notes page;
  manta::exec::current_task running{page};
  manta::exec::started_list started;
  manta::graph::node_list local{graph.nodes};
  manta::exec::late_tasks late{graph.nodes};
  manta::exec::staging received;
  manta::exec::tasks_elsewhere elsewhere;
  manta::exec::pace pace;
  manta::exec::throttle limit;
  manta::exec::run_phase phase;
  manta::exec::departure end;
  manta::exec::task_trace trace;
  manta::exec::time_account times{trace};
  manta::exec::task_counts counts;
  manta::exec::actor_times ended_actors;
  manta::exec::post<block_loopback> out;
  part<manta::exec::references> refs;
  manta::exec::rank_context<block_loopback> own;
  part<manta::exec::task_records> records;
  part<manta::exec::completion> ends;
  part<manta::exec::supply> held;
  part<manta::exec::fetches> fetching;
  part<manta::exec::attempts> clock;
  part<manta::exec::recovery> again;
  manta::exec::runner runner;
  part<manta::exec::executor> executor;
  part<manta::exec::actor_host> actors;
  part<manta::exec::gangs> gangs;
  part<manta::exec::tasks_ahead> ahead;
  part<manta::exec::placement> placement;
  part<manta::exec::withdrawal> withdrawal;
  part<manta::exec::lost_tasks> lost;
  part<manta::exec::tickets> tickets;
  part<manta::exec::named_actors> named;
  part<manta::exec::actor_calls> calls;
  part<manta::exec::home> home;
  part<manta::exec::orphans> orphans;
  parts_above* above = nullptr;
};

/// All ranks, and what is under way between them.
class whole_world {
 public:
  explicit whole_world(std::uint32_t size, std::uint64_t seed = 1, bool recovers = false,
                       std::size_t most_unfinished = std::size_t{1} << 20, std::uint32_t ranks_per_node = 1)
      : letters_(size, ranks_per_node), random_(seed), alive_(size, true), is_awake_(size, false) {
    for (std::uint32_t r = 0; r < size; ++r) {
      ranks_.push_back(std::make_unique<whole_rank>(*this, letters_, r, size, most_unfinished));
      if (recovers) {
        ranks_[r]->members.set_recovers();
        ranks_[r]->home.keep_records_above(sizeof(std::uint64_t) + 1);
      }
    }
  }

  static constexpr std::size_t nobody = ~std::size_t{0};

  /// Whoever has the rank may give it something to do.
  whole_rank& operator[](std::size_t rank) {
    wake(static_cast<std::uint32_t>(rank));
    return *ranks_[rank];
  }
  whole_rank& look_at(std::size_t rank) { return *ranks_[rank]; }  ///< Whoever has it gives it nothing to do.
  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  std::mt19937_64& random() { return random_; }
  task_stacks<whole_rank>& stacks() { return stacks_; }
  /// From now on tasks run on stacks of their own, and may wait: whole_rank::wait_for_end.
  void let_tasks_wait() { have_stacks_ = true; }
  std::size_t live_nodes() const {
    std::size_t all = 0;
    for (std::size_t r = 0; r < ranks_.size(); ++r) all += alive_[r] ? ranks_[r]->graph.nodes.live() : 0;
    return all;
  }

  /// One thing happens somewhere: a letter or a block comes, or a task or call runs, but not on the rank `looping`,
  /// which runs what it has by itself. False if nothing can.
  bool step(std::size_t looping = nobody) {
    for (std::size_t tried = awake_.size(); tried > 0 && !awake_.empty(); --tried) {
      const std::size_t at = random_() % awake_.size();
      if (random_() % 2 == 0 && runs_one(at, looping)) return true;
    }
    if (deliver(looping)) return true;
    for (std::size_t at = 0; at < awake_.size();) {
      const std::uint32_t r = awake_[at];
      if (runs_one(at, looping)) return true;
      if (at < awake_.size() && awake_[at] == r) ++at;
    }
    return deliver(looping);
  }
  void run() {
    while (step()) continue;
  }
  /// All letters come, and nothing runs.
  void deliver_all() {
    while (deliver()) continue;
  }
  /// All ranks look for what dead ranks have left, until nothing more comes of it.
  void look_for_orphans() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (alive_[r] && ranks_[r]->orphans.has_to_look()) ranks_[r]->orphans.look(INT64_MAX - 1);
    }
    run();
  }
  /// The rank does nothing more. Rank 0 hears of its death, and tells the others, also which spare takes its place.
  void kill(std::uint32_t dead) {
    alive_[dead] = false;
    stacks_.drop(*ranks_[dead]);
    const auto is_near = [&](std::uint32_t spare) {
      return ranks_[0]->offered[spare].node == ranks_[0]->offered[dead].node;
    };
    const std::uint32_t successor = ranks_[0]->members.successor_of(dead, is_near);
    for (std::uint32_t r = 1; r < ranks_.size(); ++r) {
      const manta::exec::death_message news{0, dead, successor, manta::net::end_by::unknown};
      if (alive_[r]) ranks_[0]->out.send(r, manta::exec::message::rank_died, news);
    }
    ranks_[0]->rank_died(dead, successor);
    wake(0);
  }
  bool is_alive(std::uint32_t rank) const { return alive_[rank]; }
  /// The rank runs nothing until another one rests, or nobody.
  void let_rest(std::size_t rank) { resting_ = rank; }
  block_world& letters() { return letters_; }
  /// The ranks to which something has happened since the last call.
  std::vector<std::uint32_t> take_touched() { return std::exchange(touched_, {}); }
  /// Has the rank perhaps something to run?
  bool is_awake(std::uint32_t rank) const { return is_awake_[rank]; }

 private:
  void wake(std::uint32_t rank) {
    touched_.push_back(rank);
    if (is_awake_[rank]) return;
    is_awake_[rank] = true;
    awake_.push_back(rank);
  }
  /// Runs something on the rank at this place of the list, from which it is taken if it has nothing.
  bool runs_one(std::size_t at, std::size_t looping) {
    const std::uint32_t r = awake_[at];
    if (alive_[r] && (r == looping || r == resting_)) return false;
    if (alive_[r] && runs_one(*ranks_[r])) {
      touched_.push_back(r);
      return true;
    }
    is_awake_[r] = false;
    awake_[at] = awake_.back();
    awake_.pop_back();
    return false;
  }
  bool runs_one(whole_rank& r) { return have_stacks_ ? stacks_.run_one(r) : r.run_one(); }
  bool deliver(std::size_t looping = nobody) {
    // Rank 0 asks when it idles: in a large world not after each letter.
    ranks_[0]->placement.place();
    if (ranks_.size() <= 16 || random_() % ranks_.size() < 16) ranks_[0]->placement.ask_for_work();
    const auto take_block = [this](std::uint32_t to, std::uint64_t token) {
      if (!alive_[to]) return;
      ranks_[to]->fetching.on_block(token);
      wake(to);
    };
    if (!letters_.sent.empty() && letters_.deliver_block(take_block)) return true;
    return letters_.deliver_one(random_, [&](std::uint32_t to, std::uint32_t from, const letter& m) {
      if (!alive_[to] || ranks_[to]->members.is_dead(from)) return;
      wake(to);
      if (have_stacks_ && to != looping) ranks_[to]->phase.set_resting(!stacks_.can_go_on(*ranks_[to]));
      ranks_[to]->receive(from, m);
    });
  }

  block_world letters_;
  std::mt19937_64 random_;
  std::size_t resting_ = nobody;
  bool have_stacks_ = false;
  std::vector<bool> alive_, is_awake_;
  std::vector<std::uint32_t> awake_;    // ranks that may have something to run
  std::vector<std::uint32_t> touched_;  // some of them several times
  std::vector<std::unique_ptr<whole_rank>> ranks_;
  task_stacks<whole_rank> stacks_;
};

inline whole_rank::~whole_rank() {
  delete scheduler;
  if (members.deaths() != 0 || !world.is_alive(own.rank)) clear_nodes(graph);
  lock.leave();
}

inline whole_rank::whole_rank(whole_world& all, block_world& letters, std::uint32_t number, std::uint32_t size,
                              std::size_t most_unfinished)
    : world(all),
      net(number, letters),
      offered(size),
      members(size),
      in_words(number, members),
      limit(most_unfinished),
      out(net, size),
      refs(number, graph, out, members, {ledger, made_by, journal, failures},
           {this, [](void* r, node& n, std::uint64_t made) { of(r).again.leave_family(n, made); },
            [](void* r, node& n) { of(r).named.handle_gone(n); }, [](void* r, task* t) { of(r).records.free(t); },
            [](void* r, const node& n, manta::exec::rank_id dead) { return of(r).in_words.given_up(n, dead); }}),
      own{number, size, net, graph, ledger, out, members, in_words, refs, counts, trace},
      records(own, received,
              {this, [](void* r, node& n, manta::exec::rank_id at,
                        std::uint64_t bytes) { of(r).ends.lies_at(n, at, bytes); }}),
      ends(own, {.rank = this,
                 .task_ready = [](void* r, node& n) { of(r).home.task_ready(n); },
                 .wake =
                     [](void* r, manta::exec::wait_record& record) {
                       if (of(r).above != nullptr) of(r).above->wake(record);
                     },
                 .announce =
                     [](void* r, const manta::graph::link& l, node& n) {
                       of(r).held.tell_value({l.rank, l.index}, n);
                     },
                 .input_arrived = [](void* r, task* t, node& n) { of(r).executor.input_arrived(t, n); },
                 .send_call = [](void* r, node& n, task* t) { of(r).calls.send(n, t); },
                 .pulled =
                     [](void* r, const manta::graph::link& l, node& n) {
                       const auto its_home = of(r).refs.home_of(n);
                       of(r).fetching.on_pull(l.rank, {its_home.rank, its_home.index, l.index, l.count, 0});
                     },
                 .send_after = [](void* r, const manta::graph::link& l, node& n) { of(r).ahead.send_after(l, n); },
                 .inherit = [](void* r, node& n) { of(r).again.inherit(n); },
                 .await_return = [](void* r, std::uint32_t family) { of(r).again.await_return(family); },
                 .stop_timer = [](void* r, node& n) { of(r).clock.stop_timer(n); },
                 .free_task = [](void* r, task* t) { of(r).records.free(t); }}),
      held(own, ends,
           {this, [](void* r, manta::exec::rank_id from,
                     const manta::exec::pull_message& m) { of(r).fetching.on_pull(from, m); }}),
      fetching(own, ends, held, made_by,
               {this, [](void* r, node& n) { return of(r).again.await_heir(n); },
                [](void* r, manta::exec::node_place its) { return of(r).actors.slot_of(its); }}),
      clock(own, ends, phase, lock,
            {this, [](void* r, node& n) { of(r).home.task_ready(n); },
             [](void* r, node& n, const manta::store::failure_ptr& why, std::uint16_t flags) {
               of(r).withdrawal.withdraw(n, why, flags);
             }}),
      again(own, made_by, records, ends, fetching, {this, [](void* r, node& n) { of(r).home.start(n); }}),
      runner({lock, ledger, in_words, running, started, pace, times, late, end, journal},
             {this, [](void*, manta::exec::invocation&, manta::exec::function_id, manta::exec::running_task&) {},
              nullptr}),
      executor(own, {lock, runner, received, records, fetching, held, journal},
               {.rank = this,
                .run_own = [](void* r, node& n) { of(r).home.run(n); },
                .run_part = [](void* r, task* t) { of(r).gangs.run_part(t); },
                .call_ready = [](void* r, manta::exec::slot_index slot) { of(r).actors.list(slot); },
                .new_actor = [](void* r, const manta::exec::invocation& made, const task& by,
                                task* constructor) { return of(r).actors.add(made, by, constructor); },
                .ended_here = [](void* r, const manta::exec::task_origin& t, manta::exec::invocation& made, bool ok,
                                 const manta::store::failure_ptr& why,
                                 std::uint64_t ns) { of(r).home.ended(t, made, ok, why, ns); }}),
      actors(own,
             {lock, runner, running, started, records, executor, failures, journal, phase, pace, times, ended_actors},
             {this, [](void*) {},
              [](void* r, manta::exec::slot_index slot, task* call) { of(r).gangs.run_call(slot, call); },
              [](void* r, const task& call, const manta::store::failure_ptr& why) {
                of(r).gangs.part_failed(call, why);
              }}),
      gangs(own, {lock, runner, started, records, executor, actors, journal}),
      ahead(own, {records, elsewhere, held, scheduler},
            {.rank = this,
             .start = [](void* r, node& n) { of(r).home.start(n); },
             .fail_dependent = [](void* r, node& n) { of(r).home.fail_dependent(n); },
             .discard =
                 [](void* r, node& n) {
                   of(r).withdrawal.discard(n, manta::exec::result_message{n.index, 0, 0, 0, 0, 0}, nullptr, 0);
                 }}),
      placement(own, {offered, scheduler, records, ends, held, clock, executor, ahead, elsewhere, late, end},
                {this, [](void* r, task& t) { return of(r).withdrawal.is_withdrawn(t); }}),
      withdrawal(
          own,
          {lock, running, started, local, late, end, elsewhere, records, ends, fetching, executor, actors, placement},
          {this, [](void* r, std::uint64_t id, std::uint16_t flags) { of(r).gangs.stop_members(id, flags); }}),
      lost(own, {members, elsewhere, records, ends, fetching, clock, again, placement},
           {this, [](void* r, node& n) { of(r).home.start(n); }, [](void* r, node& n) { of(r).home.task_ready(n); },
            [](void* r, node& n) { return of(r).calls.repeats(n); }}),
      tickets(own, ends, again, {this, [](void* r, node& n) { of(r).wait_for_end(n); }}),
      named(own, {running, phase, end, tickets, records, fetching, withdrawal},
            {this, [](void* r, node& n) { of(r).home.start(n); }}),
      calls(own, {running, limit, pace, elsewhere, records, ends, fetching, withdrawal, named, clock},
            {this, [](void* r, node& n) { of(r).wait_for_end(n); }, [](void* r) { of(r).relieve(); }}),
      home(own,
           {lock, running,  phase, end,   limit,    local,  late,  scheduler, elsewhere, journal,    runner, records,
            ends, fetching, clock, again, executor, actors, calls, ahead,     placement, withdrawal, lost},
           {this, [](void* r) { of(r).relieve(); }}),
      orphans(own, {actors, executor}) {
  lock.enter();
  started.set_limit(1000);
  const std::size_t functions = manta::wire::table<manta::wire::function_entry>().size();
  times.begin_run(manta::base::ticks(), number == 0, functions);
  counts.begin_run(functions);
  running.begin_run(number + 1);
  for (std::uint32_t r = 0; r < size; ++r) {
    manta::graph::capacity its;
    its.node = letters.ranks_per_node == 1 ? 0 : net.node_of(static_cast<int>(r));
    its.executes = r != 0 || size == 1;
    offered.set(r, its);
  }
  if (number == 0) scheduler = new manta::graph::scheduler(graph.nodes, offered);
}

inline whole_rank::node& whole_rank::submit(std::uint32_t function, std::uint64_t number,
                                            const std::vector<node*>& inputs, manta::graph::request* wanted,
                                            std::uint32_t type) {
  for (node* const n : inputs) refs.hold(*n);
  return home.submit(function, type, arguments(number, inputs), manta::graph::request_ptr(wanted));
}

inline whole_rank::node& whole_rank::call(node& handle, std::uint32_t function, std::uint64_t number,
                                          const std::vector<node*>& inputs) {
  for (node* const n : inputs) refs.hold(*n);
  return calls.call(handle, function, manta::wire::type_index<std::uint64_t>::value, arguments(number, inputs));
}

inline bool whole_rank::run_one() {
  if (fetching.has_arrivals()) {
    fetching.decode_arrived();
  } else if (gangs.ends().has_complete()) {
    gangs.finish_complete();
  } else if (actors.has_work()) {
    actors.run_call();
  } else if (!local.empty()) {
    home.run(local.pop_back());
  } else {
    return executor.run_received();
  }
  return true;
}

inline void whole_rank::wait_for_end(node& n) {
  if (world.stacks().on_stack()) return world.stacks().wait_for(*this, n);
  if (above != nullptr) return above->wait_for_end(n);
  while (n.state == manta::graph::state::pending && world.step()) continue;
}

inline void whole_rank::appoint_spares(std::uint32_t count) {
  members.appoint_spares(count);
  for (std::uint32_t r = own.size - count; r < own.size; ++r) {
    manta::graph::capacity its = offered[r];
    its.executes = false;
    its.stands_by = true;
    offered.set(r, its);
  }
  if (scheduler == nullptr) return;
  delete scheduler;
  scheduler = new manta::graph::scheduler(graph.nodes, offered);
}

inline void whole_rank::rank_died(std::uint32_t dead, std::uint32_t successor) {
  members.note_death(dead, {"rank " + std::to_string(dead) + " has died", 0, manta::net::end_by::unknown});
  if (successor != 0) {
    members.enlist(successor);
    manta::graph::capacity its = offered[successor];
    its.executes = true;
    its.stands_by = false;
    offered.set(successor, its);
    if (scheduler != nullptr) scheduler->joins(successor, its);
  }
  manta::graph::capacity nothing;
  nothing.executes = false;
  offered.set(dead, nothing);
  fetching.rank_died(dead);
  if (scheduler != nullptr) {
    placement.rank_died(dead);
    named.rank_died(dead);
  }
  refs.rank_died(dead);
  calls.forget_sent();
  lost.rank_died(dead);
  held.rank_died(dead);
  gangs.rank_died(dead);
  orphans.rank_died();
  if (above != nullptr) above->rank_died();
}

inline void whole_rank::receive(std::uint32_t from, const letter& received_letter) {
  using manta::exec::message;
  using namespace manta::exec;
  out.note_received(from, received_letter.kind);
  if (receive_reference(refs, from, received_letter)) return;
  arrival m{from, received_letter.bytes.data(), received_letter.bytes.size()};
  switch (received_letter.kind) {
    case message::run: return executor.receive(from, m.data, m.bytes);
    case message::submit: return placement.on_submit(from, m.data, false);
    case message::come_back:
      if ((flags_of_task(m.data) & task_message::ahead) == 0) return placement.on_submit(from, m.data, true);
      placement.note_answer(from);
      return ahead.on_come_back(from, m.read<task_message>());
    case message::result: {
      const auto header = m.read<result_message>();
      return home.on_result(from, header, m.data, m.bytes);
    }
    case message::made: {
      const auto header = m.read<result_message>();
      return executor.on_made(from, header, m.data, m.bytes);
    }
    case message::ended: {
      const auto header = m.read<ended_message>();
      manta::graph::request request;
      manta::wire::source in(m.data, m.bytes);
      if (m.bytes != 0) request.read(in);
      return placement.on_ended(from, header, m.bytes != 0 ? &request : nullptr);
    }
    case message::demand: return home.on_demand(m.read<demand_message>());
    case message::cancel: return static_cast<void>(withdrawal.on_cancel(m.read<cancel_message>()));
    case message::want: return held.on_want(from, m.read<want_message>());
    case message::value: {
      const auto header = m.read<result_message>();
      return fetching.on_value(from, header, m.data, m.bytes);
    }
    case message::data: {
      const auto header = m.read<data_message>();
      return fetching.on_data(from, header, m.data, m.bytes);
    }
    case message::pull: return fetching.on_pull(from, m.read<pull_message>());
    case message::unavailable: return fetching.on_unavailable(m.read<unavailable_message>());
    case message::cut_off: return fetching.on_cut_off(from, m.read<cut_off_message>());
    case message::mapped: return held.on_mapped(from, m.read<index_message>().index);
    case message::replicate: return fetching.on_replicate(from, m.read<replicate_message>());
    case message::ask_holders: {
      const auto header = m.read<holders_message>();
      return orphans.on_ask(from, header, m.data, m.bytes);
    }
    case message::holders: {
      const auto header = m.read<holders_message>();
      return orphans.on_answer(from, header, m.data, m.bytes);
    }
    case message::seek: return fetching.on_seek(from, m.read<seek_message>());
    case message::not_kept: return fetching.on_not_kept(m.read<seek_message>());
    case message::call: return actors.on_call(from, m.data, m.bytes);
    case message::end_actor: return actors.on_end_actor(m.read<end_actor_message>());
    case message::kill_actor: {
      const std::uint32_t slot = m.read<end_actor_message>().slot;
      return actors.kill(slot, m.text());
    }
    case message::gang_ended: {
      const auto header = m.read<gang_message>();
      return gangs.on_ended(from, header, m.data, m.bytes);
    }
    case message::actor_gone: {
      const std::uint32_t slot = m.read<index_message>().index;
      manta::graph::request request;
      manta::wire::source in(m.data, m.bytes);
      request.read(in);
      named.on_actor_gone(request.name, {from, slot});
      return scheduler->give_back(from, request);
    }
    case message::checkpoint: {
      const auto header = m.read<checkpoint_message>();
      return again.on_checkpoint(header, m.data, m.bytes);
    }
    case message::name_ask: return named.on_ask(m.data, m.bytes);
    case message::name_spawn: return named.on_spawn(from, m.data);
    case message::name_gone: m.read<index_message>(); return named.on_gone(from, m.text());
    case message::name_answer:
    case message::answer: return tickets.on_answer(m.data, m.bytes);
    case message::rank_died: {
      const auto news = m.read<death_message>();
      return rank_died(news.rank, news.successor);
    }
    case message::where_is: return placement.on_where_is(from, m.read<where_message>());
    case message::task_lost: return lost.on_task_lost(m.read<where_message>());
    default:
      if (above != nullptr && above->receive(from, received_letter)) return;
      FAIL("a message that no whole_rank sends: ", static_cast<int>(received_letter.kind));
  }
}
