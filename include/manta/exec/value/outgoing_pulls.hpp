// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The holder's side of fetches: encoded bytes that are on their way to other
// ranks, and the fetches that are answered when there are fewer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "manta/base/containers.hpp"
#include "manta/exec/rank/messages.hpp"

namespace manta::exec {

class outgoing_pulls {
 public:
  struct deferred {
    rank_id from;
    pull_message pull;
  };

  /// Are so few bytes under way that one more value may be encoded? `memory` is the rank's share for values.
  bool may_encode(std::uint64_t memory) const { return encoded_ <= memory / 4; }
  /// Bytes that were encoded are on their way, or have been sent.
  void note_encoded(std::uint64_t bytes) { encoded_ += bytes; }
  void note_sent(std::uint64_t bytes) { encoded_ -= bytes; }

  /// The fetch is answered later.
  void defer(rank_id from, const pull_message& m) { deferred_.push_back({from, m}); }
  std::size_t waiting() const { return deferred_.size(); }
  /// Takes out the fetch that has waited longest.
  deferred take() { return deferred_.pop_front(); }

 private:
  std::uint64_t encoded_ = 0;  // bytes under way
  base::ring<deferred> deferred_;
};

}  // namespace manta::exec
