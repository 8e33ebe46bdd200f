// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Questions that one rank asks another. The asker makes a ticket, a node whose
// index goes with the question, and waits until the answer completes it, or the
// death of the rank that was asked fails it.
#pragma once

#include <cstdint>

#include "manta/base/config.hpp"
#include "manta/exec/rank/messages.hpp"
#include "manta/exec/value/completion.hpp"
#include "manta/exec/value/recovery.hpp"
#include "manta/wire/buffer.hpp"

namespace manta::exec {

template <class Network>
class tickets {
 public:
  /// What others do, with `rank` first.
  struct hooks {
    void* rank;
    void (*wait_for_end)(void* rank, node& n);  ///< Waits until the node has ended, and runs other tasks meanwhile.
  };

  tickets(const rank_context<Network>& own, completion<Network>& ends, recovery<Network>& again, hooks others)
      : own_(own), completion_(ends), recovery_(again), others_(others) {}

  /// A ticket for a question to the rank `to`.
  node& make(rank_id to);
  /// Waits for the answer, which begins with the ticket's index, and gives the ticket up. Throws if the rank has died.
  wire::buffer wait(node& ticket);
  /// Sends a question, and returns its ticket, which the caller holds.
  node& send(rank_id to, ask_message m, const void* tail = nullptr, std::size_t tail_bytes = 0);
  /// The answer's bytes. The ticket is ready.
  wire::buffer answer_in(const node& ticket) const {
    constexpr std::size_t header = sizeof(std::uint32_t);  // the ticket's index
    return wire::buffer(ticket.blob.data + header, ticket.blob.bytes - header);
  }
  /// Waits for the answer to a question, and gives the ticket up. Throws if the rank has died.
  wire::buffer take_answer(node& ticket);
  /// Nobody waits for the answer any more.
  void give_up(node& ticket) {
    ticket.set(node::observed);
    own_.refs.release(ticket);
  }
  /// Sends a question, and waits for the answer's bytes. Throws if the rank has died.
  wire::buffer ask(rank_id to, ask_message m, const void* tail = nullptr, std::size_t tail_bytes = 0);
  /// Sends the answer to a question.
  void answer(const ask_message& m, const void* data, std::size_t bytes) {
    own_.post.send(m.asker, message::answer, m.ticket, data, bytes);
  }
  /// The answer to a question of this rank has come: completes its ticket.
  void on_answer(const std::byte* data, std::size_t bytes);

 private:
  const rank_context<Network> own_;
  completion<Network>& completion_;
  recovery<Network>& recovery_;
  const hooks others_;
};

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/home/tickets.ipp"
#endif
