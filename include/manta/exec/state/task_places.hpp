// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Rank 0: where the tasks are that other ranks have given it to place, and those
// of its own that have come back to it. A task is known by its key, into which
// its id, its attempt and its home go.
//
// Where the program survives deaths, this part also remembers where the last
// tasks have ended: a result may be lost with the rank that was sending it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/graph/node.hpp"
#include "manta/graph/request.hpp"

namespace manta::exec {

class task_places {
 public:
  static constexpr std::size_t most_ended = 65'536;  ///< tasks that are remembered when they have ended

  /// Where a task is, as the table has it.
  class place {
   public:
    place() = default;
    explicit place(std::uint64_t bits) : bits_(bits) {}
    bool is_known() const { return bits_ != nowhere; }
    /// Does it wait at rank 0 to be placed?
    bool waits_here() const { return is_known() && (bits_ & stands_here) != 0; }
    /// Was it sent to a rank?
    bool is_sent() const { return is_known() && (bits_ & stands_here) == 0; }
    /// The node of a task that waits here.
    node_index index() const { return static_cast<std::uint32_t>(bits_); }
    /// The rank to which a task was sent.
    rank_id rank() const { return static_cast<std::uint32_t>(bits_); }
    /// Why a task was sent where it was sent, as far as it is kept.
    MANTA_DECL graph::grant why() const;

   private:
    std::uint64_t bits_ = nowhere;
  };

  /// The task waits at rank 0, as this node.
  void note_waiting(std::uint64_t key, const graph::node& n) {
    places_.insert(key) = stands_here | n.index;
    ended_by_dead_.erase(key);  // it is done again
  }
  /// The task was sent to the rank `to`; `wanted` may be null.
  MANTA_DECL void note_sent(std::uint64_t key, rank_id to, const graph::request* wanted);
  /// The task has ended at the rank `from`. With `remember`, `ended_on` finds it if that rank dies.
  MANTA_DECL void note_ended(std::uint64_t key, rank_id from, bool remember);
  void forget(std::uint64_t key) { places_.erase(key); }
  void clear() { places_.clear(); }

  place find(std::uint64_t key) const {
    const std::uint64_t* const at = places_.find(key);
    return at == nullptr ? place() : place(*at);
  }
  /// A task that was sent away is cancelled, should it come back.
  void cancel(std::uint64_t key) {
    if (std::uint64_t* const at = places_.find(key)) *at |= is_cancelled;
  }
  /// A task has come back. True if it was cancelled, and then it is forgotten.
  MANTA_DECL bool take_cancelled(std::uint64_t key);

  /// Remembers of the tasks that have ended on this rank that their results may be lost.
  MANTA_DECL void rank_died(rank_id dead);
  /// Takes out a task whose result may be lost, or that was sent to a rank for which is_dead(rank) holds. Returns the
  /// rank; no_index if the task is elsewhere.
  template <class IsDead>
  rank_id take_lost(std::uint64_t key, IsDead&& is_dead);

 private:
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  static constexpr std::uint64_t stands_here = 1ULL << 63;  // the index of the node lies below
  static constexpr std::uint64_t is_cancelled = 1ULL << 62;
  static constexpr int reason_bit = 32, bundle_bit = 40;  // the rank lies below them
  static constexpr std::uint64_t bundle_mask = 0xfffff;

  struct ended_task {
    std::uint64_t key;
    rank_id rank;
  };

  mutable base::index_table places_;         // key -> place; looking into it changes nothing
  base::ring<ended_task> ended_;             // the last tasks that have ended, the oldest first
  mutable base::index_table ended_by_dead_;  // key of a task whose result may be lost -> the dead rank
};

template <class IsDead>
rank_id task_places::take_lost(std::uint64_t key, IsDead&& is_dead) {
  const std::uint64_t* at = places_.find(key);
  if (at == nullptr) at = ended_by_dead_.find(key);
  if (at == nullptr) return graph::no_index;  // its result is on its way
  const place where(*at);
  if (!where.is_sent() || !is_dead(where.rank())) return graph::no_index;
  places_.erase(key);
  ended_by_dead_.erase(key);
  return where.rank();
}

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/state/task_places.ipp"
#endif
