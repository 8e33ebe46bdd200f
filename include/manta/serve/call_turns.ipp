// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <utility>

#include "manta/serve/call_turns.hpp"

namespace manta::serve::detail {

/// The calls of each rank, in the order in which they were sent.
struct call_turns::lines {
  std::map<int, std::deque<turn*>> of_rank;
};

MANTA_DECL call_turns::call_turns() : lines_(std::make_shared<lines>()) {}

MANTA_DECL call_turns::turn::turn(call_turns& all, int rank) : all_(all), rank_(rank) { line().push_back(this); }

inline std::deque<call_turns::turn*>& call_turns::turn::line() { return all_.lines_->of_rank[rank_]; }

MANTA_DECL bool call_turns::turn::has_come() { return !never_comes_ && (has_ended_ || line().front() == this); }

MANTA_DECL void call_turns::turn::end() {
  if (std::exchange(has_ended_, true)) return;
  const bool was_first = line().front() == this;
  std::erase(line(), this);
  if (line().empty()) {
    all_.lines_->of_rank.erase(rank_);
  } else if (was_first) {
    line().front()->begin_ = clock::now();
  }
}

MANTA_DECL void call_turns::turn::keep() {
  for (turn* const each : line()) each->never_comes_ = each != this;
}

}  // namespace manta::serve::detail
