// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Ranks without MPI that submit, place, run and finish tasks and calls: the product's parts, hooks, handlers and duties
// over the network of loopback_network.hpp. In the place of a thread that runs loop.hpp a random choice says what comes
// next; looping_rank.hpp gives one of the ranks such a thread. A failing seed is replayed step by step.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "clear_nodes.hpp"
#include "loopback_network.hpp"
#include "manta/exec/handlers.hpp"
#include "manta/exec/layers.hpp"
#include "muted_hook.hpp"
#include "task_stacks.hpp"

class whole_world;

/// One rank. The driver is rank 0, which runs no tasks if there are others.
struct whole_rank : manta::exec::rank_parts {
  using node = manta::graph::node;
  using task = manta::graph::task;

  whole_rank(whole_world& all, block_world& letters, std::uint32_t number, std::uint32_t size,
             std::size_t most_unfinished);
  ~whole_rank();
  whole_rank(const whole_rank&) = delete;
  whole_rank& operator=(const whole_rank&) = delete;
  /// Those of the product are changed by this function before the ranks are made; null: they are not.
  static inline void (*change_hooks)(manta::exec::part_hooks&) = nullptr;
  /// The rank to which something happened last: the one whose task runs, or for which a value is read.
  static inline whole_rank* acting = nullptr;
  static whole_rank& of(void* parts) { return static_cast<whole_rank&>(*static_cast<rank_parts*>(parts)); }

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

  bool run_one();  ///< Runs a task or call that may begin here. False if there is none.
  /// The last ranks stand by. To be called before anything runs.
  void appoint_spares(std::uint32_t count);
  /// Waits as a task does that waits for an answer: other things happen meanwhile.
  void wait_for_end(node& n);

  whole_world& world;
  bool has_thread = false;  ///< looping_rank.hpp

  // What tests look at.
  manta::graph::task_graph& graph = rank.graph;
  manta::exec::references& refs = values.refs;
  manta::exec::completion& completion = values.completion;
  manta::exec::fetches& fetches = values.fetches;
  manta::exec::attempts& attempts = values.attempts;
  manta::exec::task_records& records = values.records;
  manta::exec::gangs& gangs = work.gangs;
  manta::exec::withdrawal& withdrawal = homes.withdrawal;
  manta::exec::named_actors& named = homes.named;
  manta::exec::actor_calls& calls = homes.calls;
  manta::exec::home& home = homes.home;

 private:
  /// Those of the product. But a rank without a thread has no stacks to wait on.
  static manta::exec::part_hooks hooks(rank_parts& all) {
    manta::exec::part_hooks its = hooks_of(all);
    static const auto wait_on_thread = its.calls.wait_for_end;
    its.calls.wait_for_end = its.tickets.wait_for_end = [](void* rank, node& n) {
      of(rank).has_thread ? wait_on_thread(rank, n) : of(rank).wait_for_end(n);
    };
    if (change_hooks != nullptr) change_hooks(its);
    mute_chosen_hook(its);
    return its;
  }
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
        ranks_[r]->rank.members.set_recovers();
        ranks_[r]->home.keep_records_above(sizeof(std::uint64_t) + 1);
      }
    }
  }

  static constexpr std::size_t nobody = ~std::size_t{0};

  /// Whoever has the rank may give it something to do.
  whole_rank& operator[](std::size_t rank) {
    wake(static_cast<std::uint32_t>(rank));
    return act_on(rank);
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
    ++steps_under_way_;
    const bool any = do_step(looping);
    --steps_under_way_;
    return any;
  }
  /// Does something happen now somewhere, perhaps a task of the calling rank?
  bool is_stepping() const { return steps_under_way_ != 0; }
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
      if (alive_[r] && ranks_[r]->homes.orphans.has_to_look()) ranks_[r]->homes.orphans.look(INT64_MAX - 1);
    }
    run();
  }
  /// The rank does nothing more. Rank 0 hears of its death, and tells the others, also which spare takes its place.
  void kill(std::uint32_t dead, manta::net::end_by by = manta::net::end_by::unknown) {
    alive_[dead] = false;
    stacks_.drop(*ranks_[dead]);
    act_on(0).deaths.announce({dead, "of cold", by, 0});
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
  bool do_step(std::size_t looping) {
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
  bool runs_one(whole_rank& r) {
    whole_rank::acting = &r;
    return have_stacks_ ? stacks_.run_one(r) : r.run_one();
  }
  whole_rank& act_on(std::size_t rank) { return *(whole_rank::acting = ranks_[rank].get()); }
  bool deliver(std::size_t looping = nobody) {
    // Rank 0 asks when it idles: in a large world not after each letter.
    ranks_[0]->work.placement.place();
    if (ranks_.size() <= 16 || random_() % ranks_.size() < 16) ranks_[0]->work.placement.ask_for_work();
    const auto take_block = [this](std::uint32_t to, std::uint64_t token) {
      if (!alive_[to]) return;
      act_on(to).fetches.on_block(token);
      wake(to);
    };
    if (!letters_.sent.empty() && letters_.deliver_block(take_block)) return true;
    return letters_.deliver_one(random_, [&](std::uint32_t to, std::uint32_t from, const letter& m) {
      if (!alive_[to]) return;
      wake(to);
      if (have_stacks_ && to != looping) ranks_[to]->run.phase.set_resting(!stacks_.can_go_on(*ranks_[to]));
      handle_message(act_on(to), from, m.kind, m.bytes.data(), m.bytes.size());
    });
  }

  block_world letters_;
  std::mt19937_64 random_;
  std::size_t resting_ = nobody;
  bool have_stacks_ = false;
  int steps_under_way_ = 0;
  std::vector<bool> alive_, is_awake_;
  std::vector<std::uint32_t> awake_;    // ranks that may have something to run
  std::vector<std::uint32_t> touched_;  // some of them several times
  std::vector<std::unique_ptr<whole_rank>> ranks_;
  task_stacks<whole_rank> stacks_;
};

inline whole_rank::~whole_rank() {
  delete rank.scheduler;
  clear_nodes(graph);
  rank.lock.leave();
}

inline whole_rank::whole_rank(whole_world& all, block_world& letters, std::uint32_t own, std::uint32_t size,
                              std::size_t most_unfinished)
    : rank_parts({letters, own, size}, most_unfinished, hooks(*this)), world(all) {
  rank.seed = own + 1;
  begin_run();
  handle_early();
  run.phase.set_resting(true);  // as long as it is not the one that runs
  run.started.set_limit(1000);
  for (std::uint32_t r = 0; r < size; ++r) {
    manta::graph::capacity its;
    its.node = letters.ranks_per_node == 1 ? 0 : rank.net.node_of(static_cast<int>(r));
    its.executes = r != 0 || size == 1;
    rank.world.set(r, its);
  }
  if (own == 0) rank.scheduler = new manta::graph::scheduler(graph.nodes, rank.world);
}

inline whole_rank::node& whole_rank::submit(std::uint32_t function, std::uint64_t argument,
                                            const std::vector<node*>& inputs, manta::graph::request* wanted,
                                            std::uint32_t type) {
  for (node* const n : inputs) refs.hold(*n);
  return home.submit(function, type, arguments(argument, inputs), manta::graph::request_ptr(wanted));
}

inline whole_rank::node& whole_rank::call(node& handle, std::uint32_t function, std::uint64_t argument,
                                          const std::vector<node*>& inputs) {
  for (node* const n : inputs) refs.hold(*n);
  return calls.call(handle, function, manta::wire::type_index<std::uint64_t>::value, arguments(argument, inputs));
}

inline void whole_rank::appoint_spares(std::uint32_t count) {
  rank.members.appoint_spares(count);
  while (rank.sees.size() < rank.size) rank.sees.push_back(0);  // no rank has GPUs
  for (std::uint32_t r = rank.size - count; r < rank.size; ++r) {
    manta::graph::capacity its = rank.world[r];
    its.executes = false;
    its.stands_by = true;
    rank.world.set(r, its);
  }
  if (rank.scheduler == nullptr) return;
  delete rank.scheduler;
  rank.scheduler = new manta::graph::scheduler(graph.nodes, rank.world);
}

inline bool whole_rank::run_one() { return duties.progress() || loops.loop.run_next(); }

inline void whole_rank::wait_for_end(node& n) {
  if (world.stacks().on_stack()) return world.stacks().wait_for(*this, n);
  while (n.state == manta::graph::state::pending && world.step()) continue;
}
