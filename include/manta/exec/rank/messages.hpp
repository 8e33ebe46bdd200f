// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Everything that ranks say to each other, one struct for each message. Structs
// are copied as they are: all ranks run the same binary. A message that carries
// a value, a task or a text has its bytes behind the struct. The pages beside
// this file (README.md has the list) explain each conversation; in short:
//
//   a task        submitter --submit--> 0 --run--> executor --result--> home, --ended--> 0
//   a gang        0 --run--> members --gang_ended--> leader --result--> home; all --ended--> 0; after a death members
//                 --gang_meets--> leader --gang_meets--> members
//   a value       requester --want--> home --value--> requester --pull--> holder --data, blocks--> requester
//   a reference   a rank whose last handle has died --drop--> home; where a rank other than the home passed a handle
//                 on: receiver --borrow--> home --granted--> receiver and --repaid--> lender. Where ranks may die:
//                 lender --lend--> home; receiver of the home's own handle --claim--> home
//   an actor      caller --call--> actor's rank --result--> caller
//   an orphan     a rank that has what a dead rank was the home of --ask_holders--> all --holders--> that rank
//   an end        asker --ask--> home --cancel--> where the task is; home --answer--> asker
#pragma once

#include <cstdint>
#include <cstring>

#include "manta/exec/rank/death_messages.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/exec/rank/names.hpp"
#include "manta/exec/rank/waves.hpp"
#include "manta/graph/durations.hpp"
#include "manta/graph/node.hpp"

namespace manta::exec {

using graph::not_run;
/// Nanoseconds that a task took as a message carries them: seven digits of any number. Below 0: it was not run.
inline float rounded(std::uint64_t ns) { return ns == not_run ? -1.0F : static_cast<float>(ns); }
inline std::uint64_t whole(float ns) { return ns < 0 ? not_run : static_cast<std::uint64_t>(ns); }

enum class message : std::uint8_t {
  run,
  submit,
  come_back,
  call,
  result,
  made,
  ended,
  gang_ended,
  gang_meets,
  want,
  value,
  pull,
  data,
  mapped,
  unavailable,
  not_saved,
  cut_off,
  replicate,
  seek,
  not_kept,
  ask_holders,
  holders,
  drop,
  release,
  released,
  borrow,
  granted,
  claim,
  lend,
  repaid,
  blocked,
  demand,
  end_actor,
  kill_actor,
  actor_gone,
  name_ask,
  name_answer,
  name_spawn,
  name_gone,
  ask,
  answer,
  cancel,
  unobserved,
  where_is,
  task_lost,
  checkpoint,
  // housekeeping, which is not counted as work under way:
  probe,
  probe_answer,
  report,
  report_answer,
  fail_waits,
  drop_tasks,
  end_actors,
  stop,
  rank_died,
  leave,
  stuck,
};
inline constexpr message first_housekeeping = message::probe;
inline constexpr std::size_t message_kinds = static_cast<std::size_t>(message::stuck) + 1;

/// run, submit, come_back, call, name_spawn (whose home is the ticket for the answer). Followed by the request, the
/// gang and the digest, each if flagged, then by the arguments and the inputs.
struct task_message {
  enum flag : std::uint8_t {
    has_request = 1,
    has_inputs = 2,
    by_scheduler = 4,
    has_gang = 8,
    ahead = 16,
    has_digest = 32,
    for_member = 64,
    result_at_once = 128  ///< call: a result that is not too long shall come with the news of its end
  };
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
inline std::uint64_t id_of_task(const std::byte* message) {
  std::uint64_t id;
  std::memcpy(&id, message + offsetof(task_message, id), sizeof id);
  return id;
}

/// A reference on the wire. A rank that lends a handle of another home keeps its proxy until the receiver
/// has a reference.
struct reference_message {
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t lender_rank;   ///< if nothing is lent: the rank that owes this reference already; else the sender
  std::uint32_t lender_index;  ///< the lender's proxy; no_index: nothing is lent, the reference itself travels
};

/// One input of a task, followed by its value (inline) or by a reference. Or several plain inputs of one type, followed
/// by their values.
struct input_message {
  enum flag : std::uint32_t { is_inline = 1, references = 2, is_plain = 4, known = 8, made_there = 16, actor = 32 };
  std::uint32_t flags;
  std::uint32_t type;
  std::uint64_t bytes;  ///< size of the inline value, or of the value at its holder
  std::uint32_t place;  ///< the holder, if it is known
  std::uint32_t count;  ///< number of inputs; more than one only if they are plain
};

/// result, value, made: followed by the value's bytes, the failure, remote_value, or nothing.
struct result_message {
  enum flag : std::uint8_t { references = 1, by_scheduler = 2 };
  static constexpr int reason_bit = 2;  ///< result: `flags` holds from this bit on why the task was placed where it ran
  std::uint32_t index;                  ///< node on the receiving rank
  std::uint32_t charge;                 ///< result: booked nanoseconds; value, made: the type
  float nanoseconds;
  std::uint8_t form;  ///< plain, blob, remote or failure
  std::uint8_t flags;
  std::uint16_t reached;  ///< number of tasks, sent ahead of this value, whose input it has become already
};
static_assert(sizeof(result_message) == 16);
/// Follows a result of form remote: where the value lies.
struct remote_value {
  std::uint64_t bytes;
  std::uint32_t place;
  std::uint32_t padding;
};

/// The bytes of the value that a result tells of.
inline std::uint64_t bytes_of_value(const result_message& m, const std::byte* data, std::size_t bytes) {
  if (static_cast<graph::form>(m.form) != graph::form::remote) return bytes;
  remote_value value;
  std::memcpy(&value, data, sizeof value);
  return value.bytes;
}

/// executor --ended--> 0. Followed by the request, if the task had one.
struct ended_message {
  std::uint32_t function;
  std::uint32_t charge;
  float nanoseconds;
  std::uint32_t failed;
  std::uint64_t key;  ///< the task's key in rank 0's table of places
};

/// member --gang_ended--> leader. Followed by the failure, or by the value if the values of all members are gathered.
struct gang_message {
  std::uint64_t gang;
  std::uint32_t member;
  std::uint32_t size;
  std::uint32_t failed;
  std::uint32_t padding;
};

/// requester --want--> home: announce the value when it exists.
struct want_message {
  std::uint32_t home_index;
  std::uint32_t index;
};

/// requester --pull--> holder: send the value.
struct pull_message {
  static constexpr std::uint32_t by_blocks = 0x80000000u;  ///< a tag: send blocks, not memory that both ranks map
  static constexpr std::uint32_t in_vain = 0x80;           ///< flag in `told`: the value was not where the redirect led
  static constexpr std::uint32_t tag_bits = 0x7fffffffu;
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t index;  ///< node of the requester
  std::uint32_t tag;    ///< tag of the blocks, chosen by the requester
  std::uint32_t told;   ///< number of the redirect that the requester has followed; only a newer one is given again
};

/// holder --data--> requester. Followed by `segments` sizes (8 bytes each) and the value's own bytes; or by
/// pages_message and the value's own bytes.
struct data_message {
  static constexpr std::uint32_t by_pages = 0x40000000u;
  static constexpr std::uint32_t body_by_block = 0x80000000u;  ///< segments: the first block is the value's bytes
  std::uint32_t index;
  std::uint32_t segments;
  std::uint32_t references;
  std::uint32_t tag;
};

/// Memory of the node in which an array lies, as the holder's process knows it. The requester answers `mapped` when it
/// does not need that process any more.
struct pages_message {
  std::uint64_t identity;
  std::uint64_t room;
  std::uint64_t at;
  std::uint64_t bytes;
  std::int32_t process;
  std::int32_t descriptor;
  std::uint32_t index;  ///< node of the sender
  std::uint32_t maker;  ///< the rank that made the memory
};

/// holder --unavailable--> requester: the value is not here. (If the type's save() has failed: holder --not_saved-->
/// requester, which is a result_message followed by the failure.)
struct unavailable_message {
  std::uint32_t index;
  std::uint32_t place;   ///< a rank that has the value or will have it; no_index: the home knows
  std::uint32_t giving;  ///< number of this redirect (7 bits): it grows each time the value is given to that rank
};

/// relay --cut_off--> follower: the rank from which a value came in parts has died.
struct cut_off_message {
  std::uint32_t index;
  std::uint32_t blocks;  ///< number of blocks that have been sent on
};

/// home --replicate--> a rank that is to keep a copy, until home --release--> it.
struct replicate_message {
  std::uint32_t home_index;
  std::uint32_t type;
  std::uint64_t bytes;  ///< 0: the home announces the value itself
};

/// a rank that owes references --drop--> home: its last handle has died.
struct drop_message {
  std::uint32_t index;
  std::uint32_t count;
  std::uint64_t calls;  ///< calls made from the dropping rank, if it is an actor's handle
};

/// receiver of a lent handle --borrow--> home: count a reference of mine.
struct borrow_message {
  std::uint32_t home_index;
  std::uint32_t index;
  std::uint32_t lender_rank;
  std::uint32_t lender_index;
};

/// lender --lend--> home: a handle is on its way to another rank (1), or has come back to the lender (-1).
struct lend_message {
  std::uint32_t index;
  std::int32_t change;
};

/// All messages that name one node, slot, rank or number.
struct index_message {
  std::uint32_t index;
  std::uint32_t home_rank;
};

/// 0 --demand--> a rank with work
struct demand_message {
  std::uint32_t tasks;           ///< how many rank 0 wants
  std::uint32_t of_members_too;  ///< there is an idle rank without any member of a gang
};

/// member of a gang --stuck--> 0
struct stuck_message {
  std::uint32_t rank;
  std::uint32_t comes_back;  ///< 1: it looks who lives, and leaves the gang by itself after a death
};

/// executor --blocked--> 0
struct blocked_message {
  std::uint32_t tasks;     ///< number of tasks, sent by rank 0, that wait
  std::uint8_t own_work;   ///< meanwhile the rank runs what they, or its actors, have submitted
  std::uint8_t in_call;    ///< the rank has been in an actor's method for longer than most calls take
  std::uint16_t is_short;  ///< the rank is short of memory for values

  bool operator==(const blocked_message&) const = default;
};

/// actor's rank --checkpoint--> home. Followed by the actor's state, for a restart after the death of its rank; by
/// nothing if there will be none.
struct checkpoint_message {
  std::uint64_t id;  ///< id of the constructor's task; 0: of whichever task made the actor of the handle at `index`
  std::uint32_t index;
  std::uint32_t padding;
};

/// home --end_actor--> actor's rank. kill_actor: followed by the reason.
struct end_actor_message {
  std::uint32_t slot;
  std::uint32_t unwinding;  ///< an exception destroyed the last handle
  std::uint64_t calls;      ///< the actor ends when that many calls have come, from all ranks together
  std::uint32_t is_least;   ///< a rank that has died has made more calls: as many as have come, and at least `calls`
  std::uint32_t padding;
};

/// asker --ask--> home, 0, or any rank. Followed by the bundles (reserve) or by the name of the asking task (cancel).
struct ask_message {
  enum kind : std::uint32_t {
    explain,
    explain_placed,
    available,
    reserve,
    release,
    memory,  ///< the memory of a rank for values
    cancel,
    free_name,
    report,     ///< a report of the statistics of a rank
    situation,  ///< a rank's situation at this moment
    numbers,    ///< how many tasks it has submitted, and how many of these have ended
    state,      ///< a wish to rank 0: to tell the state of the run. There is no answer
    trace,      ///< the records of its tasks
    clock,      ///< the time of its clock
    arrow       ///< a note to the home of a value: the task `id` of the asker has it as an input. There is no answer
  };
  std::uint32_t kind, asker;
  std::uint32_t ticket;  ///< the asker's node for the answer
  std::uint32_t home_rank, home_index;
  std::uint32_t how;  ///< reserve: strategy; cancel: 1 if children are cancelled too; report: detail; trace: records
  std::uint64_t id;   ///< the reservation; explain_placed: the task's key in rank 0's table of places
};

/// home --cancel--> the rank it sent the task to; rank 0 passes it on if it has sent the task on.
struct cancel_message {
  enum flag : std::uint16_t {
    children = 1,  ///< cancel the tasks that it has submitted, too
    expired = 2,   ///< its deadline is over: cancel it only if it has not started
    gang = 4,      ///< flag of a gang, or of a call of its actor: a part that has not started starts, and is told then
    part = 8,  ///< flag for the part of a gang on the rank `slot`, from the leader by way of rank 0, which has sent it
  };
  std::uint64_t id;
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t slot;  ///< a call: the actor's slot; else no_index
  std::uint16_t attempt;
  std::uint16_t flags;
};

/// asker --name_ask--> 0.
struct name_message {
  std::uint64_t id;      ///< claim: id of the task that constructs the actor if none has the name; find: 0
  std::uint32_t ticket;  ///< the asker's node for the answer
  std::uint32_t asker;
  std::uint32_t name_bytes;  ///< length of the name, which follows; then comes the mangled type
  std::uint32_t padding;
};
/// 0 --name_answer--> asker.
struct name_answer_message {
  std::uint32_t ticket;
  names::verdict what;
  reference_message reference;  ///< reference of the actor's handle; wrong_type: the name of its type follows
};

/// 0 --probe--> all; each --probe_answer--> 0.
struct probe_message {
  std::uint64_t wave;  ///< number of the wave
  waves::tally tally;  ///< probe_answer: what the rank says of itself
};

}  // namespace manta::exec
