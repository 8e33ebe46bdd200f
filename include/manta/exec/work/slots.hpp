// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The slots of the actors that live on this rank, and the list of those that
// have something to start or to end.
//
// This part owns the slots and uses free ones again; what stands in them is the
// engine's, but for what says who the members of an actor on several ranks are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/actor_slot.hpp"

namespace manta::exec {

class actor_slots {
 public:
  actor_slots() = default;
  actor_slots(const actor_slots&) = delete;
  actor_slots& operator=(const actor_slots&) = delete;
  ~actor_slots() {
    for (actor_slot* const slot : slots_) {
      delete slot->gang;
      delete slot;
    }
  }

  /// The number of slots, also of free ones.
  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
  /// Does no actor live here?
  bool empty() const { return free_.size() == slots_.size(); }
  actor_slot& operator[](std::size_t number) { return *slots_[number]; }
  const actor_slot& operator[](std::size_t number) const { return *slots_[number]; }
  /// The number of a slot for a new actor, which is as new.
  slot_index take() {
    std::uint32_t number = size();
    if (free_.empty()) {
      slots_.push_back(new actor_slot);
    } else {
      number = free_.back();
      free_.pop_back();
      (*this)[number] = actor_slot{};
    }
    (*this)[number].used = true;
    return number;
  }
  /// The actor has ended and all its calls have come.
  void free(slot_index number) {
    actor_slot& slot = (*this)[number];
    slot.used = false;
    delete std::exchange(slot.gang, nullptr);
    free_.push_back(number);
  }

  /// The actor has something to start or to end. False if it was listed already.
  bool list(slot_index number) {
    if (std::exchange((*this)[number].listed, true)) return false;
    listed_.push_back(number);
    return true;
  }
  bool has_listed() const { return !listed_.empty(); }
  std::size_t listed() const { return listed_.size(); }
  /// Takes out the actor that has been listed longest.
  slot_index pop_listed() {
    const std::uint32_t number = listed_.pop_front();
    (*this)[number].listed = false;
    return number;
  }

 private:
  base::list<actor_slot*> slots_;   // owned
  base::list<std::uint32_t> free_;  // slots whose actors have ended
  base::ring<std::uint32_t> listed_;
};

}  // namespace manta::exec
