// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the values on each rank take, and which are the largest.
//
//   for (const manta::rank_memory& m : manta::memory()) std::printf("rank %d: %llu bytes\n", m.rank, m.in_memory);
#pragma once

#include "manta/future.hpp"

namespace manta {

/// What the values on one rank take. All sizes are in bytes.
struct rank_memory {
  /// One large value.
  struct value {
    std::uint64_t bytes = 0;     ///< of its array, or about what it takes in memory
    std::string made_by;         ///< the function of the task that made it, if it ran on this rank
    int owner = 0;               ///< the rank that put it or submitted its task
    bool copy = false;           ///< another rank has the value too
  };
  int rank = 0;                  ///< whose memory this is
  int node = 0;                  ///< the rank's node; -1: the rank has died
  std::uint64_t objects = 0;     ///< futures, values and actors that the rank knows of
  std::uint64_t large = 0;       ///< values of 4 KiB and more; all that follows is about these
  std::uint64_t bytes = 0;       ///< of their arrays; of values of other shapes about what they take in memory
  std::uint64_t in_memory = 0;   ///< of these, what counts against the budget
  std::uint64_t shared = 0;      ///< of these, what lies in memory that the ranks of the node share
  std::uint64_t kept = 0;        ///< shared memory that holds no value, for later ones; at most an eighth of the budget
  std::uint64_t spilled = 0;     ///< on a disk; bytes that have been read again count in memory, too
  std::uint64_t dropped = 0;     ///< number of copies dropped since the start; each can be had again from another rank
  /// The rank's share. Unless runtime_options::store_memory is set, the rank may exceed it by half of what the other
  /// ranks of its node leave of theirs.
  std::uint64_t budget = 0;
  std::vector<value> largest;    ///< five at most, the largest first
};

/// What the values on each rank take, by rank. Asks each rank and waits for its answer; other work of this rank goes on
/// meanwhile. A rank that has died has nothing.
MANTA_DECL std::vector<rank_memory> memory();

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/memory.ipp"
#endif
