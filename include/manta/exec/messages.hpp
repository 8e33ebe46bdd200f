// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Everything that ranks say to each other, one struct a message. Structs are
// copied as they are: all ranks run the same binary. Those that carry a value,
// a task or a text are followed by its bytes.
//
//   a task        submitter --submit--> 0 --run--> executor --result--> home, --ended--> 0
//   a gang        0 --run--> members --gang_ended--> the first of them --result--> home; all --ended--> 0; after a death
//                 members --gang_meets--> the first --gang_meets--> members
//   a value       asker --want--> home --value--> asker; asker --pull--> place --data, blocks--> asker
//   a reference   holder --drop--> home when its last handle dies; receiver --borrow--> home, home --granted-->
//                 receiver and --repaid--> lender when a handle was passed on by a rank that is not its home
//   an actor      caller --call--> actor's rank --result--> caller
//   an end        holder --ask--> home --cancel--> where its task is; home --answer--> holder
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/graph/durations.hpp"
#include "manta/net/lifeline.hpp"

namespace manta::exec {

using graph::not_run;
/// Nanoseconds that a task took as a message carries them: seven digits of any number. Below 0: it was not run.
inline float rounded(std::uint64_t ns) { return ns == not_run ? -1.0F : static_cast<float>(ns); }
inline std::uint64_t whole(float ns) { return ns < 0 ? not_run : static_cast<std::uint64_t>(ns); }

enum class message : std::uint8_t {
  run, submit, come_back, call, result, made, ended, gang_ended, gang_meets, want, value, pull, data, mapped, unavailable, cut_off,
  replicate, seek, not_kept, drop, release, released, borrow,
  granted, repaid, blocked, demand, end_actor, kill_actor, actor_gone, name_ask, name_answer, name_spawn,
  name_gone, ask, answer, cancel,
  unobserved, where_is, task_lost, checkpoint,
  // everything below keeps house and is not counted as work under way
  probe, probe_answer, report, report_answer, fail_waits, drop_tasks, end_actors, stop, rank_died, leave, stuck,
};
inline constexpr message first_housekeeping = message::probe;

/// run, submit, come_back, call, name_spawn (its home is the ticket for the answer). Followed by: request, gang and digest (if flagged), arguments, inputs.
struct task_message {
  enum flag : std::uint8_t { has_request = 1, has_inputs = 2, by_scheduler = 4, has_gang = 8, ahead = 16, has_digest = 32 };
  std::uint64_t id;
  std::uint32_t function;
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t charge_or_slot;  ///< call: the actor's slot; else nanoseconds booked by the scheduler
  std::uint32_t argument_bytes;
  std::uint16_t attempt;
  std::uint8_t flags;
  std::uint8_t padding;
};
static_assert(sizeof(task_message) == 32);
inline std::uint8_t flags_of_task(const std::byte* message) {
  return static_cast<std::uint8_t>(message[offsetof(task_message, flags)]);
}

/// A reference on the wire. A lender that is not the home keeps its own until the receiver has one.
struct reference_message {
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t lender_rank;
  std::uint32_t lender_index;  ///< no_index: the reference itself travels
};

/// One input of a task, followed by its value (inline) or a reference; or some plain ones of one type, followed by theirs.
struct input_message {
  enum flag : std::uint32_t { is_inline = 1, references = 2, is_plain = 4, known = 8, made_there = 16, actor = 32 };
  std::uint32_t flags;
  std::uint32_t type;
  std::uint64_t bytes;  ///< of the inline value, or of the value where it lies
  std::uint32_t place;  ///< where the value lies, if known
  std::uint32_t count;  ///< of inputs; more than one only if they are plain
};

/// result, value: followed by the value's bytes, the failure, or nothing.
struct result_message {
  enum flag : std::uint8_t { references = 1, by_scheduler = 2 };
  static constexpr int reason_bit = 2;  ///< result: from here on in `flags`, why the task was placed where it ran
  std::uint32_t index;        ///< node on the receiving rank
  std::uint32_t charge;       ///< value, made: the type
  float nanoseconds;
  std::uint8_t form;          ///< plain, blob, remote or failure
  std::uint8_t flags;
  std::uint16_t reached;      ///< of tasks that were sent ahead: inputs that this value has become already
};
static_assert(sizeof(result_message) == 16);
/// What follows a result of form remote.
struct remote_value {
  std::uint64_t bytes;
  std::uint32_t place;
  std::uint32_t padding;
};

struct ended_message {  ///< followed by the request, if the task had one
  std::uint32_t function;
  std::uint32_t charge;
  float nanoseconds;
  std::uint32_t failed;
  std::uint64_t key;  ///< of the task in rank 0's table of places
};

/// A member to its leader. Followed by the failure, or by the value if members' values are gathered.
struct gang_message {
  std::uint64_t gang;
  std::uint32_t member;
  std::uint32_t size;
  std::uint32_t failed;
  std::uint32_t padding;
};

struct want_message {
  std::uint32_t home_index;
  std::uint32_t index;
};

struct pull_message {
  static constexpr std::uint32_t by_blocks = 0x80000000u;  ///< in `tag`: not by memory that both ranks map
  static constexpr std::uint32_t in_vain = 0x80;           ///< in `told`: it was not there
  static constexpr std::uint32_t tag_bits = 0x7fffffffu;
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t index;      ///< node of the asker
  std::uint32_t tag;        ///< of the blocks; chosen by the asker
  std::uint32_t told;       ///< the number of the giving to another rank of which the asker was told
};

/// Followed by `segments` sizes (8 bytes each) and the value's own bytes; or by where its pages are and its own bytes.
struct data_message {
  static constexpr std::uint32_t by_pages = 0x40000000u;
  static constexpr std::uint32_t body_by_block = 0x80000000u;  ///< in `segments`: the first block is the value's bytes
  std::uint32_t index;
  std::uint32_t segments;
  std::uint32_t references;
  std::uint32_t tag;
};

/// Node memory in which an array lies, as its process knows it. The asker says `mapped` when it needs the process no more.
struct pages_message {
  std::uint64_t identity;
  std::uint64_t room;
  std::uint64_t at;
  std::uint64_t bytes;
  std::int32_t process;
  std::int32_t descriptor;
  std::uint32_t index;      ///< of the sender's node
  std::uint32_t maker;      ///< the rank that made it
};

/// pull --unavailable--> asker: not here.
struct unavailable_message {
  std::uint32_t index;
  std::uint32_t place;      ///< who has it or will have it; no_index: the home knows
  std::uint32_t giving;     ///< since it was given to that rank for the how manieth time (7 bits)
};

/// Who sends a value on while it comes --cut_off--> asker: whoever sent it has died.
struct cut_off_message {
  std::uint32_t index;
  std::uint32_t blocks;     ///< that have been sent on
};

/// home --replicate--> a rank that is to keep a copy, until home --release--> it.
struct replicate_message {
  std::uint32_t home_index;
  std::uint32_t type;
  std::uint64_t bytes;      ///< 0: the home tells the value itself
};

/// A value's home has died: asker --seek--> a rank that may keep a copy --value, not_kept--> asker.
struct seek_message {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t index;      ///< node of the asker
  std::uint32_t keeper;     ///< the how manieth of those that keep copies for that home is asked; not_kept: nobody does
  std::uint32_t has_family; ///< at the asker, which can have it made again: only a value is of use
};

struct drop_message {
  std::uint32_t index;
  std::uint32_t count;
  std::uint64_t calls;  ///< calls made from the dropping rank, if it is an actor's handle
};

struct borrow_message {
  std::uint32_t home_index;
  std::uint32_t index;
  std::uint32_t lender_rank;
  std::uint32_t lender_index;
};

struct index_message {
  std::uint32_t index;
  std::uint32_t home_rank;
};

/// executor --blocked--> 0
struct blocked_message {
  std::uint32_t tasks;      ///< of those that 0 has sent: they wait
  std::uint8_t own_work;    ///< meanwhile it runs what they, or its actors, have submitted
  std::uint8_t in_call;     ///< it has been in an actor's method for longer than most take
  std::uint16_t is_short;   ///< of memory for values
};

/// home --where_is--> 0 --task_lost--> home: only if the rank to which it was sent has died.
struct where_message {
  std::uint64_t key;   ///< of the task in rank 0's table of places
  std::uint32_t index; ///< node of the asker
  std::uint32_t rank;  ///< task_lost: the dead one
};

/// actor --checkpoint--> home: followed by its state, for a restart after the death of its rank; by nothing: there will
/// be none.
struct checkpoint_message {
  std::uint64_t id;    ///< of the constructor's task; 0: whichever made what the handle at `index` stands for
  std::uint32_t index;
  std::uint32_t padding;
};

/// 0 --rank_died--> all: followed by the reason.
struct death_message {
  std::uint64_t culprit;  ///< the task that ran when it died; 0: not known, or none did
  std::uint32_t rank;
  std::uint32_t successor;  ///< stood by, and takes its place; 0: none does
  net::lifeline::end_by by;
};

struct end_actor_message {  ///< kill_actor: followed by the reason
  std::uint32_t slot;
  std::uint32_t unwinding;  ///< an exception has taken the last handle with it
  std::uint64_t calls;      ///< wait until that many calls have come, from all ranks together
};

/// Followed by: reserve: the bundles; cancel: who asks.
struct ask_message {
  enum kind : std::uint32_t { explain, explain_placed, available, reserve, release, memory, cancel, free_name };
  std::uint32_t kind;
  std::uint32_t asker;
  std::uint32_t ticket;      ///< the asker's node for the answer
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t how;         ///< a reservation's strategy; cancel: with its children?
  std::uint64_t id;          ///< of a reservation; explain_placed: the task's key in rank 0's table of places
};

/// home --cancel--> the rank it sent the task to; rank 0 passes it on if it has sent the task on.
struct cancel_message {
  enum flag : std::uint16_t {
    children = 1,  ///< and all that it has submitted
    expired = 2,   ///< its deadline is over: only if it has not started
  };
  std::uint64_t id;
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t slot;      ///< of the actor, for a call; else no_index
  std::uint16_t attempt;
  std::uint16_t flags;
};

/// To rank 0.
struct name_message {
  std::uint64_t id;          ///< of the task that is to construct the actor if there is none of that name; 0: none is
  std::uint32_t ticket;      ///< the asker's node for the answer
  std::uint32_t asker;
  std::uint32_t name_bytes;  ///< the name follows, then the mangled type
  std::uint32_t padding;
};
struct name_answer_message {
  enum kind : std::uint32_t { missing, claimed, found, found_own, wrong_type };
  std::uint32_t ticket;
  std::uint32_t kind;
  reference_message reference;  ///< the type's name follows if it is the wrong one
};

struct probe_message {
  std::uint64_t wave;
  std::uint64_t sent;
  std::uint64_t received;
  std::uint32_t quiet;
  std::uint32_t waits;
  std::uint32_t late;   ///< tasks that were set aside
  std::uint32_t padding;
};

}  // namespace manta::exec
