// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Counts of what a rank has sent and received.
#pragma once

#include <cstdint>

namespace manta::net {

/// The traffic since the start. Bytes are those of the frames: payloads, headers and padding.
struct traffic {
  std::uint64_t messages_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t batches_sent = 0;  ///< batches to other ranks
  std::uint64_t batches_received = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t bulks_sent = 0;  ///< blocks, counted when they are queued
  std::uint64_t bulks_received = 0;
  std::uint64_t bulk_bytes_sent = 0;
  std::uint64_t bulk_bytes_received = 0;

  /// Number of messages and blocks.
  std::uint64_t sent() const { return messages_sent + bulks_sent; }
};

}  // namespace manta::net
