// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Which ranks live and which stand by, as far as this rank has been told; of
// what the others have died, and which tasks their deaths speak against. Every
// rank counts the deaths for itself, by the ids of tasks, so that the counts
// also hold for a task that another rank submits again.
//
// No function sends or waits.
#pragma once

#include <cstdint>
#include <string>

#include "manta/base/config.hpp"
#include "manta/base/containers.hpp"
#include "manta/base/vector.hpp"
#include "manta/exec/rank/ids.hpp"
#include "manta/net/end_by.hpp"

namespace manta::exec {

class membership {
 public:
  struct obituary {
    std::string why;
    std::uint64_t culprit = 0;  ///< the task that ran on the rank; 0: not known, or none did
    net::end_by by = net::end_by::unknown;
  };
  /// How many ranks have died while a task ran there; or, where nobody knows what ran, while it was there.
  struct toll {
    std::uint16_t caused = 0;              ///< deaths that the doing of the task caused
    std::uint8_t killed = 0, present = 0;  ///< killed from outside; of ranks of which nobody knows what ran there
    std::uint32_t last = 0;                ///< the last of these ranks
    /// How many of these deaths the task answers for: the first rank that is killed from outside is nobody's fault.
    std::uint32_t blamed() const { return caused + (killed > 1 ? killed - 1U : 0U); }
  };
  /// What a rank's death means for a task that was there.
  enum class verdict : std::uint8_t {
    innocent,  ///< it runs again as if nothing had been
    suspect,   ///< it runs again, but not on rank 0
    culprit,   ///< it has caused the death: a retry counts
    too_often  ///< it was there when the fourth rank died of which nobody knows what ran
  };

  explicit membership(std::uint32_t size) : size_(size) {}

  /// Does the program go on when a rank dies?
  bool recovers() const { return recovers_; }
  void set_recovers() { recovers_ = true; }

  bool is_dead(rank_id member) const { return deaths_ != 0 && (dead_[member / 64U] >> (member % 64U) & 1) != 0; }
  /// The number of ranks that have died.
  std::uint32_t deaths() const { return deaths_; }
  /// A rank has died. False if that was known.
  bool note_death(rank_id dead, obituary of_it);
  /// The reason why a dead rank has died.
  const obituary& obituary_of(rank_id dead) const;
  /// The reasons of all deaths, in the order of the ranks.
  std::string all_obituaries() const;

  /// The last `count` ranks stand by.
  void appoint_spares(std::uint32_t count);
  bool has_spares() const { return !spares_.empty(); }
  bool is_spare(rank_id member) const;  ///< Does this rank stand by?
  /// The spare that takes the place of a rank: the first for which is_near(spare) holds, else the first of all. 0 if
  /// there is none, or if the rank stood by itself.
  template <class IsNear>
  rank_id successor_of(rank_id dead, IsNear&& is_near) const;
  /// A spare takes a place, and stands by no more.
  void enlist(rank_id spare) { spares_.remove(spare); }

  /// Does any death speak against any task?
  bool has_tolls() const { return tolls_.size() != 0; }
  toll toll_of(std::uint64_t id) const;  ///< The deaths that are counted for the task with this id.
  /// Has a rank died of the task with this id, and is that the task's fault?
  bool is_to_blame(rank_id dead, std::uint64_t id) const {
    return obituary_of(dead).culprit == id && toll_of(id).blamed() != 0;
  }
  /// What the death of a rank means for the task with this id, which was there. Where nobody knows what ran, the death
  /// is counted for the task.
  verdict judge(rank_id dead, std::uint64_t id);

 private:
  /// The table's key for a task's id.
  static std::uint64_t key(std::uint64_t id) { return id == base::index_table::no_key ? 0 : id; }
  void set_toll(std::uint64_t id, const toll& t);  ///< Replaces what is counted for a task.

  std::uint32_t size_;
  std::uint32_t deaths_ = 0;
  bool recovers_ = false;
  base::array<std::uint64_t> dead_;     // a bit for each rank; empty as long as all live
  mutable base::index_table place_of_;  // a dead rank -> the place of its obituary; looking into it changes nothing
  base::vector<obituary> obituaries_;   // in the order of the deaths
  base::list<std::uint32_t> spares_;
  mutable base::index_table tolls_;  // id of a task -> toll; looking into it changes nothing
};

template <class IsNear>
rank_id membership::successor_of(rank_id dead, IsNear&& is_near) const {
  if (spares_.empty() || is_spare(dead)) return 0;
  for (const std::uint32_t spare : spares_) {
    if (is_near(spare)) return spare;
  }
  return spares_[0];
}

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/rank/membership.ipp"
#endif
