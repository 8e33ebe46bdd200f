// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What passes between the engine and the function it runs: encoded arguments
// and input nodes in, a value out. The typed side is in public headers, the
// engine sees bytes.
#pragma once

#include <vector>

#include "manta/exec/rank/ids.hpp"
#include "manta/exec/rank/lock.hpp"
#include "manta/graph/task.hpp"
#include "manta/store/value.hpp"

namespace manta::net {
struct team_place;
}

namespace manta::exec {

/// What can be done with an actor of some class.
struct actor_class {
  void (*destroy)(void*);
  void (*save)(const void*, wire::sink&);  ///< null, as load, unless the class can be saved
  void* (*load)(wire::source&);
  const actor_class* isolated = nullptr;  ///< the same for what stands for one that lives in a child process
};

struct invocation {
  explicit invocation(biased_lock& held, const std::byte* bytes = nullptr, std::size_t count = 0,
                      graph::node* const* nodes = nullptr, std::uint32_t node_count = 0)
      : lock(held), arguments(bytes), argument_bytes(count), inputs(nodes), input_count(node_count) {}

  biased_lock& lock;           ///< held; let go while the user's function runs
  const std::byte* arguments;  ///< hold until the first input has been taken or the lock is let go
  std::size_t argument_bytes;
  graph::node* const* inputs;
  std::uint32_t input_count;
  bool reads_arguments = false;           ///< now: what is thrown comes from a type's load()
  bool keeps_inputs = false;              ///< they are needed again: do not move out of them
  void* self = nullptr;                   ///< the actor, for a method
  const net::team_place* team = nullptr;  ///< place in the team, for a member of a gang
  std::uint64_t task = 0;                 ///< the id of the task, once it has begun

  graph::form form = graph::form::none;  ///< form of the result: none, plain or box
  type_id type = graph::no_index;
  union {
    std::byte plain[24] = {};
    void* box;
  };
  void* actor = nullptr;  ///< a constructed actor
  const actor_class* actor_type = nullptr;

  /// The function has given a value that lies in `plain`.
  void note_plain(type_id its) {
    form = graph::form::plain;
    type = its;
  }
  /// The function has given an object, which the invocation takes over.
  void note_box(void* object, type_id its) {
    box = object;
    form = graph::form::box;
    type = its;
  }
};

/// User code runs between construction and destruction, without the lock.
class outside {
 public:
  explicit outside(biased_lock& lock) : lock_(lock), depth_(lock.step_out()) {}
  ~outside() { lock_.come_back(depth_); }
  outside(const outside&) = delete;
  outside& operator=(const outside&) = delete;

 private:
  biased_lock& lock_;
  int depth_;
};

/// The task that runs on this stack now: what this_task tells, and where child ids come from.
struct running_task {
  // Not an aggregate: g++ fills those with zeros first, by an instruction that takes 3 ns.
  running_task() = default;
  running_task(std::uint64_t own_id, std::uint32_t what, std::uint32_t which = 0, const graph::request* asked = nullptr)
      : id(own_id), function(what), attempt(which), request(asked), for_member(asked != nullptr && asked->for_member) {}

  std::uint64_t id = 0;
  std::uint64_t children = 0;
  function_id function = graph::no_index;
  std::uint32_t attempt = 0;
  const graph::request* request = nullptr;
  const graph::request* actor = nullptr;  ///< request of the actor whose method it is
  const invocation* call = nullptr;
  bool stop = false;                 ///< written by handlers, read without the lock: see stop_requested
  bool expired = false;              ///< the same when its deadline is over: ends isolated ones
  bool stops_children : 1 = false;   ///< tasks that it submits from now on are cancelled at once
  bool for_member : 1 = false;       ///< see graph::request; what it submits and calls inherits this
  bool is_measured : 1 = false;      ///< its time is measured: what follows is set
  bool is_sample : 1 = false;        ///< it is one of many short tasks, which are not all measured
  bool has_failed : 1 = false;       ///< it has thrown
  bool keeps_arguments : 1 = false;  ///< its arguments are kept for the case that it fails: `arguments` is set
  const wire::buffer* arguments;
  // Set by time_account, in ticks.
  std::uint64_t begin_ticks, own_ticks, waited_ticks, paused_at;
  std::uint64_t ended_before;    ///< the number of tasks that had ended here when it began
  std::uint64_t first_look = 0;  ///< time of its first question whether to stop, in ticks
  running_task* next = nullptr;  ///< the next one in the engine's list of what has started here and not ended
  running_task* previous = nullptr;

  const graph::request* holder() const { return actor != nullptr ? actor : request; }
  bool isolated() const { return holder() != nullptr && holder()->isolate; }
  /// The devices that it holds, as indices into those that the process sees.
  std::vector<int> gpu_ids() const {
    std::vector<int> ids;
    for (int i = 0; holder() != nullptr && i < graph::gpu_set::most; ++i) {
      if ((holder()->granted.devices >> i & 1) != 0) ids.push_back(i);
    }
    return ids;
  }
  /// What OpenMP is to be set to; 0: nothing.
  int threads() const { return holder() != nullptr && holder()->cpus > 1 ? holder()->cpus : 0; }
  std::string_view name() const {
    if (request != nullptr && !request->name.empty()) return request->name;
    return function == graph::no_index ? "the driver" : wire::function_at(function).name();
  }
  /// The id of its next child: the same whenever and wherever the task runs.
  std::uint64_t next_child() { return base::mix(id + ++children * 0x9e3779b97f4a7c15ULL); }
  /// Is this the id of one that it has submitted?
  bool has_child(std::uint64_t child) const {
    constexpr std::uint64_t inverse = 0xf1de83e19937733dULL;  // of the odd constant above
    static_assert(inverse * 0x9e3779b97f4a7c15ULL == 1);
    const std::uint64_t number = (base::unmix(child) - id) * inverse;
    return number >= 1 && number <= children;
  }
};

/// How a task ended in its process, on its way from there to who asks for the value.
struct isolated_failure : std::exception {
  explicit isolated_failure(store::failure_ptr f) : why(std::move(f)) {}
  const char* what() const noexcept override { return why->details.what.c_str(); }
  /// In a catch clause: the reason, if it is one of these that is handled.
  static store::failure_ptr current() {
    try {
      throw;
    } catch (const isolated_failure& e) {
      return e.why;
    } catch (...) {
      return nullptr;
    }
  }
  store::failure_ptr why;
};

/// What an isolated function knows of the rank in whose child it runs.
struct isolated_view {
  running_task task;
  std::uint64_t seed = 0;
  rank_id rank = 0;
  std::uint32_t size = 1;
  int node = 0;
  const std::atomic<bool>* stop = nullptr;
  std::atomic<std::uint32_t>* calls = nullptr;  ///< number of calls of stop_requested: signs of life
  std::atomic<std::int64_t>* due = nullptr;     ///< time at which the process is ended, as in child_page

  bool stop_requested() const {
    calls->fetch_add(1, std::memory_order_relaxed);
    return stop->load(std::memory_order_relaxed);
  }
};

}  // namespace manta::exec
