// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How a node ends: it gets its value or its error, and all that are linked to it
// hear of it at once, each in its own way (graph::link_kind).
//
// What a task, a wait or a rank does about it is the matter of others, whose
// functions this part is given. Nothing here sends or waits by itself.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/state/waiters.hpp"
#include "manta/exec/value/context.hpp"

namespace manta::exec {

class completion {
 public:
  /// What others do when a node ends to which they are linked, each with `rank` first.
  struct hooks {
    void* rank;
    void (*task_ready)(void* rank, node& dependent);             ///< The last input of a task has ended.
    void (*announce)(void* rank, const link& l, node& n);        ///< Another rank has asked to hear of it.
    void (*input_arrived)(void* rank, task* t, node& input);     ///< A received task has it as an input.
    void (*send_call)(void* rank, node& handle, task* call);     ///< A call waits for its actor's place.
    void (*pulled)(void* rank, const link& l, node& n);          ///< Another rank has asked for the value.
    void (*send_after)(void* rank, const link& l, node& input);  ///< A task was sent ahead of it.
    void (*inherit)(void* rank, node& heir_of);                  ///< A lost value waits for what it has.
    void (*await_return)(void* rank, std::uint32_t of_family);   ///< Handles wait for the value in which they came.
    void (*stop_timer)(void* rank, node& n);                     ///< A timer runs for it.
    void (*free_task)(void* rank, task* t);                      ///< Its task has a record.
  };

  completion(const rank_context& own, exec::waiters& waits, hooks others)
      : own_(own), waiters_(waits), others_(others) {}

  /// The payload has been set: the node has ended.
  MANTA_DECL void complete(node& n);
  /// Completes the node with a plain value.
  void complete_plain(node& n, const void* value, std::size_t bytes) {
    store::set_plain(n, value, bytes);
    complete(n);
  }
  /// Completes the node with an object, which `function` has made; fails it if there is no memory for the object.
  MANTA_DECL void complete_object(node& n, void* object, function_id function);
  /// Completes a node whose value has just been entered into the ledger, if there is memory for the value;
  /// else fails it.
  void complete_if_room(node& n);
  /// Is there memory for this value, which was entered last?
  bool has_room(const node& n) const;
  /// Completes a node whose value lies on the rank `place`.
  void lies_at(node& n, rank_id place, std::uint64_t bytes);
  /// The node ends without a value: its waits end, its dependents fail.
  MANTA_DECL void fail(node& n, const store::failure_ptr& why);
  /// The node; if it has failed, gives the caller's reference up and throws the failure.
  MANTA_DECL node& checked(node& n);

 private:
  /// A value has become the input of a task.
  void note_input(const node& input, const node& dependent) {
    if (input.state == state::ready) own_.counts.note_edge(input.function, dependent.function, store::bytes_of(input));
  }

  const rank_context own_;
  exec::waiters& waiters_;
  const hooks others_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/completion.ipp"
#endif
