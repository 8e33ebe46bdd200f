// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What passes between the engine and the function it runs: encoded arguments
// and input nodes in, a value out. The typed side is in public headers, the
// engine sees bytes.
#pragma once

#include "manta/exec/lock.hpp"
#include "manta/graph/task.hpp"
#include "manta/store/value.hpp"

namespace manta::exec {

struct invocation {
  explicit invocation(biased_lock& held, const std::byte* bytes = nullptr, std::size_t count = 0,
                      graph::node* const* nodes = nullptr)
      : lock(held), arguments(bytes), argument_bytes(count), inputs(nodes) {}

  biased_lock& lock;                 ///< held; let go while the user's function runs
  const std::byte* arguments;        ///< hold until the first input has been taken or the lock is let go
  std::size_t argument_bytes;
  graph::node* const* inputs;
  bool keeps_inputs = false;         ///< they are needed again: do not move out of them
  void* self = nullptr;              ///< the actor, for a method

  graph::form form = graph::form::none;  ///< of the result: none, plain or box
  std::uint32_t type = graph::no_index;
  union {
    std::byte plain[24] = {};
    void* box;
  };
  void* actor = nullptr;             ///< a constructed actor
  void (*destroy_actor)(void*) = nullptr;
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
  std::uint64_t id = 0;
  std::uint64_t children = 0;
  std::uint32_t function = graph::no_index;
  std::uint32_t attempt = 0;
  const graph::request* request = nullptr;
  const graph::request* actor = nullptr;  ///< of the actor whose method it is

  const graph::request* holder() const { return actor != nullptr ? actor : request; }
  /// What OpenMP is to be set to; 0: nothing.
  int threads() const { return holder() != nullptr && holder()->cpus > 1 ? holder()->cpus : 0; }
  std::string_view name() const {
    if (request != nullptr && !request->name.empty()) return request->name;
    return function == graph::no_index ? "the driver" : wire::function_at(function).name();
  }
  /// The id of its next child: the same whenever and wherever the task runs.
  std::uint64_t next_child() { return base::mix(id + ++children * 0x9e3779b97f4a7c15ULL); }
};

}  // namespace manta::exec
