// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0's table of the names of actors. A name is free, claimed by the rank
// that is about to spawn the actor, or set to the node of the actor's handle.
// When nobody has a handle any more, the name can be kept until the actor has
// ended, so that the next one of the name does not begin with this one's state.
//
// The table decides and sends nothing. Questions stand in line: a question that
// cannot be answered yet is kept with its name, and stands in line again when
// the name is set or free. Whoever calls a function that says so answers those
// questions afterwards:
//
//   while (names.has_questions()) send(names.answer(state of the actor names.handle_in_question()));
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "manta/base/config.hpp"
#include "manta/base/pointer_table.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/graph/node.hpp"

namespace manta::exec {

class names {
 public:
  struct question {
    std::string name;
    std::string type;       ///< the mangled class of the actor
    std::uint64_t id = 0;   ///< claims the name for the actor that this task constructs; 0: only looks for it
    rank_id asker = 0;      ///< a rank
    node_index ticket = 0;  ///< the asker's node for the answer
  };
  enum class verdict : std::uint32_t {
    waits,      ///< there is no answer yet, and the table keeps the question
    missing,    ///< no actor has the name
    claimed,    ///< the name was free and is the asker's now
    found,      ///< an actor has the name
    found_own,  ///< an actor has the name, and the task that asks has constructed it when the task ran before
    wrong_type  ///< an actor of another class has the name, or somebody claims the name for one
  };
  struct reply {
    verdict what = verdict::waits;
    rank_id asker = 0;
    node_index ticket = 0;
    node_index handle = graph::no_index;  ///< found, found_own: the node of the actor's handle
    std::string type;                     ///< wrong_type: the class that the name is for
  };
  enum class actor_state : std::uint8_t {
    kept,      ///< somebody has a handle
    unwanted,  ///< under construction, and nobody has a handle: the actor ends as soon as it has been made
    dead       ///< its handle has failed
  };

  /// Where an actor that nobody has a handle of comes to its end.
  struct end_place {
    rank_id rank = 0;
    slot_index slot = graph::no_index;
    bool operator==(const end_place&) const = default;
  };

  names() = default;
  names(const names&) = delete;
  names& operator=(const names&) = delete;
  ~names();  ///< Forgets the questions that have no answer yet.

  /// Puts a question behind the others.
  void ask(question q);
  bool has_questions() const { return first_ != nullptr; }
  /// The node of the actor that has the name of the first question; no_index: none.
  std::uint32_t handle_in_question() const;
  /// Takes the first question out of the line and answers it. `state` is that of the actor handle_in_question(). A dead
  /// actor loses its name to a question that claims it.
  reply answer(actor_state state);

  /// The node of the actor of that name; no_index: none.
  std::uint32_t handle_of(std::string_view name) const;
  /// Has the actor of this node a name?
  bool has(std::uint32_t handle) const { return by_handle_.find(handle) != nullptr; }

  /// Gives a claimed name to an actor. Kept questions stand in line again.
  void set(std::string_view name, node_index handle);
  /// Frees a name that `claimer` has claimed and not used. Kept questions stand in line again.
  void give_up(std::string_view name, rank_id claimer);
  /// Frees the name of the actor of this node; false if it has none. Kept questions stand in line again.
  bool free(node_index handle);
  /// From now on keep_until_end keeps names, as a journal needs it, which keeps states under the names of actors.
  void keep_all_until_end() { keeps_until_end_ = true; }
  /// Nobody has a handle of the actor of this node any more, and it comes to its end at this place: who claims its name
  /// waits for free_ended. False if it has no name, or names are not kept.
  bool keep_until_end(node_index handle, end_place where);
  /// Frees the name of an actor that has left; false if none of this name has, there. Kept questions stand
  /// in line again.
  bool free_ended(std::string_view name, end_place where);
  /// Drops the questions of a dead rank, and frees the names that it has claimed and not used, and those of actors that
  /// have left and end there. Kept questions of others stand in line again.
  void rank_died(rank_id dead);
  /// Forgets all names and questions.
  void clear();

 private:
  struct entry;
  struct asked;
  /// Null if nobody has or claims the name.
  entry* find(std::string_view name) const;
  /// Forgets the name. Kept questions stand in line again.
  void free(entry* e);
  /// The questions that the name has kept stand in line again.
  void ask_again(entry* e);
  /// Adds questions behind those that start at `first`: few wait, and seldom.
  static void append(asked*& first, asked* others);
  /// Deletes the questions of a rank among those that start at `first`.
  static void drop_questions_of(rank_id asker, asked*& first);

  base::pointer_table<entry> by_name_;    // hash of the name -> the first of a chain
  base::pointer_table<entry> by_handle_;  // node of the actor's handle -> its entry
  asked* first_ = nullptr;                // questions in line, the oldest first
  bool keeps_until_end_ = false;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/rank/names.ipp"
#endif
