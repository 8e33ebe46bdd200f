// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What ranks say to each other when one of them has died: a part of messages.hpp.
#pragma once

#include <cstdint>

#include "manta/net/end_by.hpp"

namespace manta::exec {

/// A value's home has died: requester --seek--> a rank that may have a copy --value, not_kept--> requester.
struct seek_message {
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  std::uint32_t home_rank;
  std::uint32_t home_index;
  std::uint32_t index;       ///< node of the requester
  std::uint32_t keeper;      ///< where the next keeper is looked for (supply::next_keeper); nobody: all were asked
  std::uint32_t has_family;  ///< the requester can have the value made again itself: only a copy is of use
};

/// A rank has values and actors whose homes have died: it --ask_holders--> all others, followed by the homes and
/// indices. They --holders--> it, followed by one byte for each: does the rank know a handle?
struct holders_message {
  std::uint64_t lent;  ///< holders: how many handles of such objects the rank has passed on
  std::uint32_t round;
  std::uint32_t is_unsure;  ///< holders: the rank has values or calls that it has not read yet
};

/// home --where_is--> 0 --task_lost--> home: only if the rank to which it was sent has died.
struct where_message {
  std::uint64_t key;    ///< the task's key in rank 0's table of places
  std::uint32_t index;  ///< node of the home
  std::uint32_t rank;   ///< task_lost: the dead one
};

/// 0 --rank_died--> all: followed by the reason.
struct death_message {
  std::uint64_t culprit;  ///< the task that ran when it died; 0: not known, or none did
  std::uint32_t rank;
  std::uint32_t successor;  ///< the spare rank that takes its place; 0: none
  net::end_by by;
};

}  // namespace manta::exec
