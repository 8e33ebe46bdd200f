// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How much memory the values on each rank take, and which values are the largest.
//
//   for (const manta::rank_memory& m : manta::memory()) std::printf("rank %d: %llu bytes\n", m.rank, m.in_memory);
#pragma once

#include "manta/future.hpp"

namespace manta {

/// How much memory the values on one rank take, in bytes.
struct rank_memory {
  /// One large value.
  struct value {
    std::uint64_t bytes = 0;  ///< size of its array; of another type, an estimate of its memory
    std::string made_by;      ///< the function of the task that made it, if it ran on this rank
    int owner = 0;            ///< the rank that put it or submitted its task
    bool copy = false;        ///< another rank has the value too
  };
  int rank = 0;                 ///< the rank whose memory this is
  int node = 0;                 ///< the rank's node; -1: the rank has died
  std::uint64_t objects = 0;    ///< futures, values and actors that the rank knows of
  std::uint64_t large = 0;      ///< number of large values, of 4 KiB and more; the members below are about these
  std::uint64_t bytes = 0;      ///< size of their arrays; of other types, an estimate of their memory
  std::uint64_t in_memory = 0;  ///< the part of these bytes that counts against the budget
  std::uint64_t shared = 0;     ///< the part of these bytes in memory that the ranks of the node share
  std::uint64_t kept = 0;       ///< empty shared memory, kept for later values; at most an eighth of the budget
  std::uint64_t spilled = 0;    ///< bytes on a disk; those that have been read back also count in in_memory
  std::uint64_t dropped = 0;    ///< number of copies dropped since the start, of values that another rank has
  /// The rank's share of the node's memory for values. Unless runtime_options::store_memory is set, the rank may exceed
  /// its share by half of what the other ranks of the node leave unused.
  std::uint64_t budget = 0;
  std::vector<value> largest;  ///< five at most, the largest first
};

/// How much memory the values on each rank take, by rank. Asks each rank and waits for the answers; other work of this
/// rank goes on meanwhile. For a rank that has died all amounts are 0.
MANTA_DECL std::vector<rank_memory> memory();

}  // namespace manta

#ifndef MANTA_COMPILED
#include "manta/memory.ipp"
#endif
