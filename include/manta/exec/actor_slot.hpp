// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An actor where it lives, with its mailbox. Calls of one caller start in the
// order in which they were made, also when an earlier one still waits for its
// arguments; calls of different callers overtake each other.
#pragma once

#include <deque>
#include <string>

#include "manta/graph/task.hpp"

namespace manta::exec {

struct actor_slot {
  static constexpr std::uint64_t not_ending = ~std::uint64_t{0};

  void* object = nullptr;
  void (*destroy)(void*) = nullptr;
  std::shared_ptr<const graph::request> request;
  std::uint32_t function = graph::no_index;   ///< its constructor, for its name in messages
  std::uint32_t active = 0;                   ///< calls started and not ended
  std::uint64_t received = 0;                 ///< calls that came
  std::uint64_t ends_after = not_ending;      ///< end when that many have come and are done
  std::string dead;                           ///< why it takes no calls any more
  std::deque<graph::task*> mailbox;
  bool listed = false;                        ///< stands in the engine's list of actors with something to start
  bool used = false;

  bool has_room() const { return active < static_cast<std::uint32_t>(request ? request->concurrency : 1); }

  /// Takes the first call that may start now; null if there is none.
  graph::task* take() {
    if (!has_room()) return nullptr;
    for (std::size_t i = 0; i < mailbox.size(); ++i) {
      graph::task* t = mailbox[i];
      if (t->missing != 0) continue;
      bool first_of_caller = true;
      for (std::size_t k = 0; k < i && first_of_caller; ++k) first_of_caller = mailbox[k]->caller != t->caller;
      if (!first_of_caller) continue;
      mailbox.erase(mailbox.begin() + static_cast<std::ptrdiff_t>(i));
      return t;
    }
    return nullptr;
  }
};

}  // namespace manta::exec
