// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Actors with names, and detached ones. Rank 0 is the home of each actor with a
// name, whoever has spawned it: the actor outlives the rank of its spawner. Here
// stand what ranks ask of rank 0, and its answers; names.hpp is its table.
//
// ask, claim, handle_of and free_name_of wait for rank 0; no other function waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/exec/home/tickets.hpp"
#include "manta/exec/home/withdrawal.hpp"
#include "manta/exec/rank/names.hpp"

namespace manta::exec {

/// What rank 0 has said of a name.
struct name_state {
  node* handle;      ///< null: there is no actor of that name; if the name was claimed, it is now ours
  std::uint64_t id;  ///< id of the task that is to construct the actor
  bool own;          ///< this very task has spawned the actor when the task ran before
};

class named_actors {
 public:
  /// The parts that it uses.
  struct parts {
    current_task& running;
    exec::tickets& tickets;
    task_records& records;
    exec::fetches& fetches;
    exec::withdrawal& withdrawal;
  };
  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    void (*start)(void* rank, node& n);  ///< The task that constructs an actor starts as soon as it can.
  };

  named_actors(const rank_context& own, parts of_it, hooks others) : own_(own), below_(of_it), others_(others) {}

  // --- what a rank asks

  /// Asks rank 0 for the actor of that name. `type` is the mangled class; `id`: of the task that is to construct the
  /// actor, for which the name is claimed if it is free; 0: only looks for it. Throws if it is of another class.
  MANTA_DECL name_state ask(const std::string& name, const char* type, std::uint64_t id = 0);
  /// Asks for the actor, and claims the name if it is free. A task that runs again claims again what it has claimed:
  /// its actor may have outlived it.
  MANTA_DECL name_state claim(const std::string& name, const char* type);
  MANTA_DECL void give_up(const std::string& name);  ///< A claimed name is free again.
  /// Submits the task that constructs the actor of a claimed name. handle_of has the actor's node.
  MANTA_DECL node& submit(const name_state& claimed, function_id function, const task_arguments& given,
                          graph::request_ptr request);
  MANTA_DECL node& handle_of(node& submitted);  ///< The handle's node of an actor that was submitted.
  /// Has rank 0 give the actor's name free, unless it is clear that it has none.
  MANTA_DECL void free_name_of(const node& handle);

  // --- detached actors

  MANTA_DECL void detach(node& handle);  ///< The actor lives until the run ends.
  void attach(node& handle);             ///< It does not any more, if it was detached.
  void attach_all();                     ///< None does any more.
  bool has_detached() const { return !detached_.empty(); }

  // --- rank 0

  void on_ask(const std::byte* data, std::size_t bytes);           ///< Answers now, or when there is an answer.
  void on_spawn(rank_id from, const std::byte* data);              ///< Makes the actor of a claimed name.
  void on_gone(rank_id from, std::string_view name);               ///< A spawner has claimed the name in vain.
  void on_actor_gone(const std::string& name, actor_place where);  ///< An actor has ended there: its name is free.
  bool free(node_index handle);  ///< Frees the name of the actor of this node. False if it has none.
  /// The last handle of an actor is gone: its name is free, or kept until the actor has ended.
  void handle_gone(const node& handle);
  void rank_died(rank_id dead);       ///< Forgets the questions of a dead rank, and frees names that it has claimed.
  void end_run() { names_.clear(); }  ///< Forgets all names.
  void keep_all_until_end() { names_.keep_all_until_end(); }  ///< As a journal needs it: names.hpp.

 private:
  node& import(const name_answer_message& answer);  ///< The handle that came with an answer.
  node& begin(task* t);                             ///< Rank 0 becomes the home of the actor, which has a handle then.
  /// After each change of the table: answers the questions that stand in line. Sends an answer to each asker.
  void answer();
  /// What the table has to know of the actor of a node.
  names::actor_state state_of(node_index handle) const;

  const rank_context own_;
  const parts below_;
  const hooks others_;
  exec::names names_;           // rank 0
  base::list<node*> detached_;  // handles of this home, kept until the run ends
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/home/named_actors.ipp"
#endif
