// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>

#include "manta/exec/value/incoming_values.hpp"

namespace manta::exec {

MANTA_DECL incoming_values::value* incoming_values::begin(rank_id from, const data_message& m, const std::byte* data,
                                                          std::size_t bytes) {
  auto* const v = new value;
  v->target = &own_.graph.nodes.at(m.index);
  v->from = from;
  v->tag = m.tag;
  v->references = m.references != 0;
  if ((m.segments & ~data_message::body_by_block) == 0) {
    v->body.append(data, bytes);
    return v;
  }
  if ((m.segments & data_message::body_by_block) != 0) {  // one block: the value's own bytes
    std::uint64_t size = 0;
    std::memcpy(&size, data, sizeof size);
    v->places.push_back({v->body.extend(size), size});
  } else {
    v->body.append(data, bytes);
    wire::source in(v->body.data(), v->body.size(), &v->places);
    v->box = wire::type_at(v->target->type).read(in);
    v->places = in_parts(v->places);
  }
  v->last = v->places.size();
  v->number = next_number_++;
  coming_.set(v->number, v);
  receive_next(*v);
  return nullptr;
}

MANTA_DECL void incoming_values::receive_next(const value& v) {
  const wire::segment& place = v.places[v.next];
  own_.net.receive_bulk(static_cast<int>(v.from), static_cast<int>(v.tag), place.data, place.bytes, v.number);
}

MANTA_DECL incoming_values::value* incoming_values::take_block(std::uint64_t number) {
  value* const v = coming_.find(number);
  for (const follower& f : v->followers) supply_.send_block(f.to, f.tag, v->places[v->next], f.out);
  if (++v->next < v->last) {  // the blocks of one value come one after the other under one tag
    receive_next(*v);
    return nullptr;
  }
  coming_.erase(number);
  return v;
}

template <class Is>
incoming_values::value* incoming_values::find(Is&& is) const {
  value* found = nullptr;
  coming_.for_each([&](value& v) {
    if (is(v)) found = &v;
  });
  return found;
}

MANTA_DECL incoming_values::value* incoming_values::cut_off(rank_id from, const cut_off_message& m) {
  const node* const target = &own_.graph.nodes.at(m.index);
  value* const v = find([&](const value& one) { return one.target == target && one.from == from; });
  if (v == nullptr) return nullptr;
  v->last = m.blocks;
  if (v->next < v->last) return nullptr;  // these are on their way
  own_.net.forget_bulk(static_cast<int>(from), static_cast<int>(v->tag));
  coming_.erase(v->number);
  return v;
}

MANTA_DECL void incoming_values::rank_died(rank_id dead) {
  own_.net.abandon(static_cast<int>(dead), [&](std::uint64_t number) {
    const value* const v = coming_.find(number);  // left where it is, because MPI may still write to it
    coming_.erase(number);
    stop_followers(*v);
  });
}

MANTA_DECL bool incoming_values::send_on(const node& n, rank_id to, const pull_message& m) {
  value* const v = find([&](const value& one) { return one.target == &n && one.box != nullptr; });
  if (v == nullptr) return false;
  auto* const out =
      supply_.announce(to, m, *v->target, {wire::buffer(v->body.data(), v->body.size()), v->references}, v->places);
  const follower f{out, to, m.tag & pull_message::tag_bits, m.index};
  for (std::size_t i = 0; i < v->next; ++i) supply_.send_block(to, f.tag, v->places[i], out);
  v->followers.push_back(f);
  return true;
}

MANTA_DECL void incoming_values::stop_followers(const value& v) {
  for (const follower& f : v.followers) {
    if (own_.members.is_dead(f.to)) continue;
    own_.post.send(f.to, message::cut_off, cut_off_message{f.index, static_cast<std::uint32_t>(v.next)});
    supply_.have_been_sent(f.out, v.places.size() - v.next);
  }
}

MANTA_DECL void incoming_values::forget(value* v) {
  if (!v->followers.empty()) return;  // MPI may still read what was sent on
  if (v->box != nullptr) wire::type_at(v->target->type).destroy(v->box);
  delete v;
}

MANTA_DECL incoming_values::value& incoming_values::take_undecoded() {
  value* const v = whole_.back();
  whole_.pop_back();
  return *v;
}

MANTA_DECL bool incoming_values::has_undecoded(const node& n) const {
  for (const value* v : whole_) {
    if (v->target == &n) return true;
  }
  return false;
}

}  // namespace manta::exec
