// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Results that outlive the program (store/journal.hpp). A task is known by its
// id, which is the same in every start and for any number of ranks, and by a
// digest of its function and arguments: of values by their bytes, of the
// results of other tasks by what these are known by. The home of a task looks
// its result up before it starts it; the rank that has run a task has its
// result written.
// Not kept are results that hold futures or handles, and those of tasks with an
// argument that is an actor or a future of another rank's task.
//
// No function of this part sends or waits, but for finish_run(), which waits
// for the disk. Without a folder all of them do nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/invocation.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/task.hpp"
#include "manta/store/journal.hpp"

namespace manta::exec {

class journaling {
 public:
  /// What a program is known by: its file, its functions and types, and the seed of its run.
  static std::uint64_t digest_of_program(std::uint64_t seed);
  /// Reads what earlier starts of the program have kept in the folder. Throws if the folder cannot be used. `writer` is
  /// this rank. Results of tasks that took less than `least_seconds` are not kept, unless the task asks for it.
  void open(const std::string& folder, std::uint64_t program, std::uint32_t writer, double least_seconds);
  void close() { journal_ = nullptr; }
  bool is_open() const { return journal_ != nullptr; }

  /// Sets the digest of a task that has just been submitted, and notes by what the value of its node will be known. The
  /// digest stays 0 if the task's result cannot be kept.
  void identify(graph::task& t, const graph::node& n);
  /// Gives the node of the task the result that an earlier start has kept. False if there is none.
  bool take(const graph::task& t, graph::node& n);
  /// Has the result of a task with a digest, which took `ns`, written behind the work.
  void write(const graph::task& t, const invocation& call, std::uint64_t ns);

  /// Is something noted for any node? Then forget() has to be called for each node that ends.
  bool has_records() const { return identities_.size() != 0; }
  /// The node ends, and its index will be used again.
  void forget(const graph::node& n) {
    if (has_records()) identities_.erase(n.index);
  }

  /// Is the state of this actor kept? `r` is the request of its constructor.
  bool keeps_state(const graph::request& r) const {
    return is_open() && r.rules.checkpoint_every > 0 && !r.name.empty() && r.ranks == 0;
  }
  /// An actor whose state may be kept: its request, its constructor, and the digest of the constructor's arguments.
  struct actor {
    const graph::request& request;
    function_id constructor;
    std::uint64_t made_with;
  };
  /// Sets the digest of the task that constructs an actor whose state is kept. To be called before the constructor,
  /// which may move its arguments away. Arguments that hold handles do not count.
  void identify_actor(graph::task& t);
  /// The state that was kept last of this actor. False if there is none.
  bool find_state(const actor& a, wire::buffer& into);
  /// Has the state written in the place of the last one, if this actor's is kept.
  void keep_state(const actor& a, const wire::buffer& what);
  /// The actor has ended, and the next start makes a new one.
  void forget_state(const actor& a);

  /// Returns when all that was kept is on the disk.
  void finish_run();
  /// The number of results that take() has found.
  std::uint64_t taken() const { return is_open() ? journal_->taken() : 0; }

 private:
  /// What the value of a node is known by; 0: it cannot be known.
  std::uint64_t identity_of(graph::node& n);
  /// The digest of a task's function and of the arguments among its bytes.
  static std::uint64_t digest_of_call(graph::task& t);
  /// What the state of this actor is found by.
  static store::journal::actor_key key_of(const actor& a);

  std::unique_ptr<store::journal> journal_;
  base::index_table identities_;  // node -> what its value is known by
  std::uint64_t least_ns_ = 0;
  wire::buffer found_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/value/journaling.ipp"
#endif
