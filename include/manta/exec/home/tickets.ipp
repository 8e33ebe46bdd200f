// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of tickets.hpp.
#pragma once

#include <cstring>

#include "manta/exec/home/tickets.hpp"

namespace manta::exec {

template <class Network>
node& tickets<Network>::make(rank_id to) {
  node& ticket = own_.refs.make_node(wire::type_index<void>::value);
  note_asked(ticket, to);  // should it die
  own_.refs.hold(ticket);
  return ticket;
}

template <class Network>
wire::buffer tickets<Network>::wait(node& ticket) {
  others_.wait_for_end(others_.rank, ticket);
  completion_.checked(ticket);
  wire::buffer bytes(ticket.blob.data, ticket.blob.bytes);
  own_.refs.release(ticket);
  return bytes;
}

template <class Network>
node& tickets<Network>::send(rank_id to, ask_message m, const void* tail, std::size_t tail_bytes) {
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

template <class Network>
wire::buffer tickets<Network>::ask(rank_id to, ask_message m, const void* tail, std::size_t tail_bytes) {
  return take_answer(send(to, m, tail, tail_bytes));
}

template <class Network>
wire::buffer tickets<Network>::take_answer(node& ticket) {
  const wire::buffer bytes = wait(ticket);
  return wire::buffer(bytes.data() + sizeof(std::uint32_t), bytes.size() - sizeof(std::uint32_t));
}

template <class Network>
void tickets<Network>::on_answer(const std::byte* data, std::size_t bytes) {
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
