// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An actor where it lives, with its mailbox. Calls of one caller start in the
// order in which they were made, also when an earlier one still waits for its
// arguments; calls of different callers overtake each other.
#pragma once

#include <string>

#include "manta/exec/rank/invocation.hpp"
#include "manta/exec/rank/node_views.hpp"
#include "manta/graph/task.hpp"

namespace manta::exec {

/// The calls of one actor. Times are in ticks.
struct actor_calls_done {
  std::uint64_t calls = 0;
  std::uint64_t ticks = 0;   ///< ticks in its methods
  std::uint64_t waited = 0;  ///< ticks that calls waited in its mailbox, all calls together

  /// A call that took `took` ticks has ended; `waiting` others waited meanwhile.
  void add(std::uint64_t took, std::size_t waiting) {
    ++calls;
    ticks += took;
    waited += took * waiting;
  }
};

struct actor_slot {
  static constexpr std::uint64_t not_ending = ~std::uint64_t{0};

  void* object = nullptr;
  const actor_class* type = nullptr;
  graph::request_ptr request;
  function_id function = graph::no_index;  ///< its constructor, for its name in messages
  node_place home{0, graph::no_index};     ///< the node of its handle
  std::uint64_t made_with = 0;             ///< digest of the constructor's arguments, for the journal
  std::uint32_t active = 0;                ///< calls started and not ended
  std::uint64_t received = 0;              ///< calls that have been received
  actor_calls_done done;                   ///< calls that have ended here
  std::size_t in_line = 0;                 ///< calls received and not looked at yet, counted with max_pending only
  bool unwound = false;                    ///< an exception has ended its last handle
  std::uint64_t ends_after = not_ending;   ///< number of calls after which the actor ends
  bool is_least = false;                   ///< `ends_after` may be too small: a dead rank has made calls too
  std::string dead;                        ///< why the actor takes no calls; empty: it lives
  graph::task_list mailbox;
  // for actors on several ranks
  graph::gang* gang = nullptr;             ///< owned; the first member leads: calls come to it, it forwards them
  base::list<std::uint32_t> member_slots;  ///< slots of the other parts, at the leader
  std::uint64_t forwarded = 0;             ///< calls that the leader has sent on
  // for restarts
  graph::task* constructor = nullptr;  ///< kept if it may have to run again
  graph::task_list log;                ///< calls that ended well since the checkpoint
  wire::buffer checkpoint;             ///< empty: start from the constructor, or from `saved`
  void* saved = nullptr;               ///< owned; the checkpoint of a state with futures or handles of actors
  int restarts = 0;                    ///< number of restarts so far
  bool broken = false;                 ///< a method has thrown manta::fatal: to be built anew
  std::string broken_by;               ///< text of that exception
  bool listed = false;                 ///< stands in the engine's list of actors with something to start
  bool used = false;

  /// The number of further calls that may run now.
  std::uint32_t room() const {
    const auto most = static_cast<std::uint32_t>(request ? request->rules.concurrency : 1);
    return broken || active >= most ? 0 : most - active;
  }
  bool has_room() const { return room() != 0; }
  bool may_start(std::uint32_t method) const {
    return has_room() || (!broken && request && request->rules.overlap_const && wire::function_at(method).looks_only);
  }
  /// The number of calls in line that may start now.
  std::size_t about_to_start() const { return in_line < room() ? in_line : room(); }
  /// May calls be refused? Not those that the first rank of an actor on several has taken, and sends on.
  bool is_bounded() const {
    return request && request->rules.max_pending > 0 && (gang == nullptr || gang->member == 0);
  }
  /// A method has found the object broken.
  void note_fatal(const store::failure& why) {
    broken = true;
    broken_by = why.details.what;
  }
  /// The last handle is gone, and its calls have come.
  bool has_all_calls() const {
    return received == ends_after || (is_least && ends_after != not_ending && received > ends_after);
  }
  bool keeps_log() const { return request && request->rules.checkpoint_every > 0; }

  /// Takes the first call that may start now; null if there is none.
  graph::task* take() {
    return mailbox.take([&](const graph::task& t) {
      if (t.missing != 0 || !may_start(t.function)) return false;
      const graph::task* first = mailbox.front();
      while (first->caller != t.caller) first = first->next;
      return first == &t;
    });
  }
};

/// The name of an actor for people: its name option, else what it was constructed by.
inline std::string name_of(const actor_slot& slot) {
  if (slot.request && !slot.request->name.empty()) return slot.request->name;
  return std::string(wire::function_at(slot.function).name());
}

}  // namespace manta::exec
