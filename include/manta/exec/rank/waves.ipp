// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <utility>

#include "manta/exec/rank/waves.hpp"

namespace manta::exec {

MANTA_DECL bool waves::is_due(std::int64_t now_ns) {
  if (due_ns_ == 0) due_ns_ = now_ns + interval_ns_;
  return now_ns >= due_ns_;
}

MANTA_DECL void waves::hasten() {
  due_ns_ = at_once;
  interval_ns_ = first_interval_ns;
}

MANTA_DECL void waves::give_up() {
  under_way_ = was_balanced_ = false;
  // Answers to the wave that was given up are ignored by their number.
  ++number_;
  due_ns_ = 0;
}

MANTA_DECL std::uint64_t waves::begin(std::uint32_t others) {
  under_way_ = true;
  asked_ = missing_ = others;
  all_ = {};
  return ++number_;
}

MANTA_DECL void waves::add(std::uint64_t wave, const tally& answer) {
  // A rank may answer a wave after it was given up.
  if (wave != number_) return;
  --missing_;
  all_.sent += answer.sent;
  all_.received += answer.received;
  all_.busy += answer.busy;
  all_.waits += answer.waits;
  all_.late += answer.late;
  all_.keeps += answer.keeps;
}

MANTA_DECL waves::verdict waves::conclude(const tally& own) {
  ++missing_;
  add(number_, own);
  under_way_ = false;
  due_ns_ = 0;
  const bool balanced = all_.busy == 0 && all_.sent == all_.received;
  const bool was_balanced = std::exchange(was_balanced_, balanced);
  // One balanced wave is not enough: a message may have passed from a rank that had answered to one that had not. An
  // equal number in two waves shows that none was sent in between. Rank 0 alone needs one wave, for nothing happens
  // while it counts.
  const bool stable = balanced && (asked_ == 0 || (was_balanced && sent_before_ == all_.sent));
  sent_before_ = all_.sent;
  if (!balanced) {
    // A long computation is asked ever more rarely, so that waves cost it nothing.
    interval_ns_ = std::min(2 * interval_ns_, longest_interval_ns);
    return verdict::busy;
  }
  if (!stable) {
    due_ns_ = at_once;
    return verdict::balanced;
  }
  interval_ns_ = first_interval_ns;
  was_balanced_ = false;
  return verdict::stable;
}

}  // namespace manta::exec
