// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What a rank does when it looks around: it receives, does what comes with time and
// from outside, and ends what is over, in this one order. While its own thread is
// in user code, the helper does a part of this.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"

namespace manta::exec {

struct rank_parts;

class duties {
 public:
  explicit duties(rank_parts& all) : all_(all) {}

  /// At the top level: receives, attends, and ends what is over. True if anything came.
  MANTA_DECL bool progress();

  /// The helper: receives messages, does what comes with time and sends what has collected. True if others got
  /// something by that.
  MANTA_DECL bool answer_for_owner();
  /// The helper: what runs here takes longer than was thought, a task or a call of an actor, of which rank 0 does not
  /// know. Tells rank 0, and gives away tasks that others can run.
  MANTA_DECL void serve_others();
  /// How long the helper may sleep after `in_vain` answers in a row to which nothing had come.
  MANTA_DECL std::int64_t may_sleep_ns(unsigned in_vain) const;

 private:
  bool receive();  ///< Handles the messages and blocks that are here. True if any came.
  void attend();   ///< Does what comes with time and from outside; runs nothing of the user's.

  rank_parts& all_;
};

}  // namespace manta::exec
