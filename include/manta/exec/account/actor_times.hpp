// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What the actors of a rank have done: each actor's slot counts while it lives,
// and what it has counted is kept here when it ends, of the busiest ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "manta/base/vector.hpp"
#include "manta/exec/rank/actor_slot.hpp"

namespace manta::exec {

class actor_times {
 public:
  static constexpr std::size_t most = 64;
  struct entry {
    std::string name;
    actor_calls_done done;
  };

  void begin_run() { ended_.clear(); }
  /// An actor has ended. If there are too many, the one whose calls took the least time is forgotten.
  void note_end(std::string name, const actor_calls_done& done) {
    ended_.push_back({std::move(name), done});
    if (ended_.size() <= most) return;
    const auto time = [](const entry& e) { return e.done.ticks + e.done.waited; };
    ended_.erase(std::ranges::min_element(ended_, {}, time));
  }
  const base::vector<entry>& ended() const { return ended_; }

 private:
  base::vector<entry> ended_;
};

}  // namespace manta::exec
