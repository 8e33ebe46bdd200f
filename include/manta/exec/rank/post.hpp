// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The one way by which a rank says something to a rank, which may be itself:
// the message is appended to the batch for that rank and counted. Nothing is
// sent before the network is pumped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "manta/exec/rank/membership.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/rank/network.hpp"
#include "manta/exec/rank/traffic.hpp"

namespace manta::exec {

class post {
 public:
  post(network& net, std::uint32_t size) : net_(net), size_(size), traffic_(size) {}

  /// Appends a message: the struct, and what follows it. Inlined, so that the fields go from registers to their
  /// places: a message that is built in memory first is read back in larger pieces than it was written in, for which
  /// the processor waits.
  template <class Message>
  [[gnu::always_inline]] void send(rank_id to, message kind, const Message& m, const void* tail = nullptr,
                                   std::size_t tail_bytes = 0) {
    struct [[gnu::packed, gnu::may_alias]] unaligned {
      Message m;
    };
    std::byte* const place = begin(to, kind, sizeof m + tail_bytes);
    reinterpret_cast<unaligned*>(place)->m = m;
    if (tail_bytes != 0) std::memcpy(place + sizeof m, tail, tail_bytes);
    commit(to, kind, sizeof m + tail_bytes);
  }
  /// From rank 0: sends the same message to all other ranks.
  template <class Message>
  void send_to_others(message kind, const Message& m, const void* tail = nullptr, std::size_t tail_bytes = 0) {
    for (std::uint32_t r = 1; r < size_; ++r) send(r, kind, m, tail, tail_bytes);
  }
  /// Begins a message of at most that many bytes, and returns where to write it. Nothing else may be
  /// sent before `commit`.
  std::byte* begin(rank_id to, message kind, std::size_t max_bytes) {
    return net_.begin(static_cast<int>(to), static_cast<std::uint8_t>(kind), max_bytes);
  }
  /// Ends the message begun last, with its real size.
  void commit(rank_id to, message kind, std::size_t bytes) {
    net_.commit(static_cast<int>(to), bytes);
    if (kind < first_housekeeping) traffic_.note_sent(to);
  }

  /// A message of this kind has come.
  void note_received(rank_id from, message kind) {
    if (kind < first_housekeeping) traffic_.note_received(from);
  }
  /// The numbers of messages to and from the ranks that live, which wrap around.
  std::uint32_t sent(const membership& members) const { return traffic_.sent(members); }
  std::uint32_t received(const membership& members) const { return traffic_.received(members); }

 private:
  network& net_;
  std::uint32_t size_;
  traffic traffic_;
};

}  // namespace manta::exec
