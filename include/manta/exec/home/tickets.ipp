// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "manta/exec/home/tickets.hpp"

namespace manta::exec {

MANTA_DECL node& tickets::make(rank_id to) {
  node& ticket = own_.refs.make_node(wire::type_index<void>::value);
  note_asked(ticket, to);  // should it die
  own_.refs.hold(ticket);
  return ticket;
}

MANTA_DECL wire::buffer tickets::wait(node& ticket) {
  others_.wait_for_end(others_.rank, ticket);
  completion_.checked(ticket);
  wire::buffer bytes(ticket.blob.data, ticket.blob.bytes);
  own_.refs.release(ticket);
  return bytes;
}

MANTA_DECL node& tickets::send(rank_id to, ask_message m, const void* tail, std::size_t tail_bytes) {
  node& ticket = make(to);
  m.asker = own_.rank;
  m.ticket = ticket.index;
  if (own_.members.is_dead(to)) {
    recovery_.value_lost(ticket, to);
  } else {
    own_.post.send(to, message::ask, m, tail, tail_bytes);
  }
  return ticket;
}

MANTA_DECL wire::buffer tickets::ask(rank_id to, ask_message m, const void* tail, std::size_t tail_bytes) {
  return take_answer(send(to, m, tail, tail_bytes));
}

MANTA_DECL wire::buffer tickets::take_answer(node& ticket) {
  const wire::buffer bytes = wait(ticket);
  return wire::buffer(bytes.data() + sizeof(std::uint32_t), bytes.size() - sizeof(std::uint32_t));
}

MANTA_DECL void tickets::on_answer(const std::byte* data, std::size_t bytes) {
  std::uint32_t ticket = 0;
  std::memcpy(&ticket, data, sizeof ticket);
  node& n = own_.graph.nodes.at(ticket);
  if (n.state != state::pending) return own_.refs.release(n);  // it was asked again meanwhile, for a rank had died
  n.missing = 0;
  store::set_blob(n, data, bytes, false);
  completion_.complete(n);
  own_.refs.release(n);
}

}  // namespace manta::exec
