// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "manta/exec/value/fetches.hpp"

namespace manta::exec {

MANTA_DECL void fetches::need(node& n) {
  if (n.state != state::pending || n.has(node::wanted) || !is_stand_in(n)) return;
  n.set(node::wanted);
  own_.refs.hold(n);  // until the answer
  if (own_.members.is_dead(n.links->rank)) [[unlikely]]
    return seek(n);
  own_.post.send(n.links->rank, message::want, want_message{n.links->index, n.index});
}

MANTA_DECL void fetches::asked_no_more(node& n) {
  n.reset(node::wanted);
  n.links->id = 0;
}

MANTA_DECL void fetches::accept_value(node& n, const result_message& m, const std::byte* data, std::size_t bytes) {
  switch (static_cast<form>(m.form)) {
    case form::plain:
      store::set_plain(n, data, bytes);
      if (n.has(node::actor) && own_.members.is_dead(place_of(n, own_.rank))) {  // the home has not heard of it yet
        n.form = form::none;
        return need(n);
      }
      break;
    case form::blob: store::set_blob(n, data, bytes, (m.flags & result_message::references) != 0); break;
    case form::remote: {
      remote_value remote;
      std::memcpy(&remote, data, sizeof remote);
      if (own_.members.is_dead(remote.place)) return need(n);  // the home has not heard of it yet
      return completion_.lies_at(n, remote.place, remote.bytes);
    }
    default: completion_.fail(n, store::decode_failure(data, bytes)); return;
  }
  completion_.complete(n);
}

MANTA_DECL void fetches::on_value(rank_id, const result_message& m, const std::byte* data, std::size_t bytes) {
  node& n = own_.graph.nodes.at(m.index);
  asked_no_more(n);
  if (n.state == state::pending) {
    n.missing = 0;
    accept_value(n, m, data, bytes);
    if (n.has(node::primary)) fetch(n);                      // a replica
  } else if ((m.flags & result_message::references) != 0) {  // came twice
    give_back_references(n.type, m, data, bytes);
  }
  own_.refs.release(n);
}

MANTA_DECL void fetches::give_back_references(type_id type, const result_message& m, const std::byte* data,
                                              std::size_t bytes) {
  node& spare = own_.refs.make_node(no_index, type);
  accept_value(spare, m, data, bytes);
  own_.refs.release(spare);
}

MANTA_DECL void fetches::fetch(node& n) {
  if (n.form != form::remote || n.has(node::fetching)) return;
  n.set(node::fetching);
  if (!is_stand_in(n) && n.function != no_index) read_here_.note_fetched(n.function, n.remote.bytes);
  own_.refs.hold(n);                                              // until it is here
  if (own_.ledger.memory().expects_much()) return room_.wait(n);  // in turn, as others come
  pull(n);
}

MANTA_DECL void fetches::pull(node& n) {
  expect(n);
  const node_place home = own_.refs.home_of(n);
  pull_message m{home.rank, home.index, n.index, 0, is_stand_in(n) ? n.size : 0u};
  m.tag = next_tag_ | (supply_.node_ranks().may_map(n.remote.place) ? 0 : pull_message::by_blocks);
  next_tag_ = ((next_tag_ + 1) % static_cast<std::uint32_t>(own_.net.bulk_tags())) & pull_message::tag_bits;
  own_.post.send(n.remote.place, message::pull, m);
}

MANTA_DECL void fetches::expect(const node& n) {
  const bool same_node = own_.net.node_of(static_cast<int>(n.remote.place)) == own_.net.node();
  const bool has_array = wire::type_at(n.type).array != nullptr;
  const std::uint64_t bytes = n.remote.bytes;
  if (bytes < store::large_bytes) return;
  if (same_node && supply_.node_ranks().may_map(n.remote.place) && bytes >= store::shared_bytes && has_array) return;
  room_.reserve(n, bytes);
  own_.ledger.expect(bytes);
}

MANTA_DECL void fetches::no_longer_fetching(node& n) {
  n.reset(node::fetching);
  if (const std::uint64_t bytes = room_.release(n); bytes != 0) own_.ledger.expect_no_more(bytes);
  while (room_.has_waiting() && !own_.ledger.memory().expects_much()) {
    node& next = room_.take_waiting();
    store::is_here(next) ? not_fetched(next) : pull(next);  // it may have been made here again
  }
}

MANTA_DECL void fetches::on_data(rank_id from, const data_message& m, const std::byte* data, std::size_t bytes) {
  if ((m.segments & data_message::by_pages) != 0) return on_pages(from, own_.graph.nodes.at(m.index), data, bytes);
  if (auto* const v = incoming_.begin(from, m, data, bytes)) arrived(v);
}

MANTA_DECL void fetches::on_block(std::uint64_t token) {
  auto* const v = incoming_.take_block(token);
  if (v != nullptr) v->is_cut_off() ? comes_in_part(v) : arrived(v);
}

MANTA_DECL void fetches::arrived(incoming_value* v) {
  node& n = *v->target;
  if (store::is_here(n)) [[unlikely]]
    return came_in_vain(v);
  if (v->has_to_be_decoded()) return incoming_.put_off(v);
  has_come(n, [&](bool moves_home) {
    if (v->box != nullptr) {  // kept also if there is no room
      store::set_box(n, v->box);
      store::enter(n, own_.ledger, no_index, !moves_home);
      if (store::large* const l = store::large_of(n); l != nullptr && !v->followers.empty())
        own_.ledger.keep(*l);  // on its way to others
    } else {
      store::set_blob(n, v->body.data(), v->body.size(), v->references);
    }
    completion_.complete(n);
  });
  delete v;
}

/// While it was on its way, this rank has made it again for one that has died.
MANTA_DECL void fetches::came_in_vain(incoming_value* v) {
  node& n = *v->target;
  if (v->box == nullptr && v->references) {
    node& spare = own_.refs.make_node(no_index, n.type);
    store::set_blob(spare, v->body.data(), v->body.size(), true);
    completion_.complete(spare);
    own_.refs.release(spare);
  }
  incoming_.forget(v);
  not_fetched(n);
}

/// What was asked for does not come, or is not needed any more.
MANTA_DECL void fetches::not_fetched(node& n) {
  no_longer_fetching(n);
  own_.refs.release(n);
}

/// What was asked for is there, but its save() or load() has failed.
MANTA_DECL void fetches::cannot_come(node& n, const store::failure_ptr& why) {
  let_place_go(n);
  n.form = form::none;
  completion_.fail(n, why);
  not_fetched(n);
}

/// The home of a value that has been fetched, or cannot be, needs it no more where it lies.
MANTA_DECL bool fetches::let_place_go(node& n) {
  if (is_stand_in(n)) return false;
  own_.post.send(n.remote.place, message::release, index_message{n.index, own_.rank});
  n.set(node::leaving);  // not a reference: whoever holds the only handle may move the value out
  return true;
}

/// A value that was fetched has come; set(moves_home) makes it the node's.
template <class Set>
void fetches::has_come(node& n, Set&& set) {
  no_longer_fetching(n);
  set(let_place_go(n));
  own_.refs.release(n);
}

MANTA_DECL void fetches::decode_arrived() {
  while (incoming_.has_undecoded()) {
    incoming_value* const v = &incoming_.take_undecoded();
    node& n = *v->target;
    if (store::is_here(n)) {
      came_in_vain(v);
      continue;
    }
    store::failure_ptr why;
    try {
      wire::source in(v->body.data(), v->body.size());
      const store::reading handles(n);
      v->box = wire::type_at(n.type).read(in);
    } catch (...) {
      why = own_.failures.codec("load()", n.type);
    }
    if (why == nullptr) {
      arrived(v);
      continue;
    }
    delete v;
    cannot_come(n, why);
  }
}

// --- values that do not simply come: memory is mapped, a holder has lost its value, a home has died

MANTA_DECL store::node_file* fetches::map_file(rank_id from, const pages_message& where) {
  store::node_file* const mapped = supply_.node_ranks().map(from, where);
  if (mapped != nullptr && own_.members.is_dead(where.maker)) mapped->orphan();
  return mapped;
}

MANTA_DECL void fetches::on_pages(rank_id from, node& n, const std::byte* data, std::size_t bytes) {
  pages_message where;
  std::memcpy(&where, data, sizeof where);
  if (store::is_here(n)) [[unlikely]] {  // this rank has made the value again meanwhile
    own_.post.send(from, message::mapped, index_message{where.index, 0});
    return not_fetched(n);
  }
  store::node_file* memory = own_.ledger.files().take_mapped(where.identity);
  if (memory == nullptr) memory = map_file(from, where);
  store::large* const mapped = own_.ledger.enter(memory, where.at, where.bytes, true, no_index);
  own_.post.send(from, message::mapped, index_message{where.index, 0});
  if (mapped == nullptr) {
    supply_.node_ranks().note_unmappable(from);
    no_longer_fetching(n);
    fetch(n);
    return own_.refs.release(n);
  }
  has_come(n, [&](bool moves_home) {
    mapped->header.append(data + sizeof where, bytes - sizeof where);
    store::set_pages(n, *mapped);
    mapped->copy = !moves_home;
    if (moves_home) own_.ledger.take_over(*mapped);
    completion_.complete(n);
  });
}

/// Answers, or lets wait, who pulls a value that is not on this rank; false if it is.
MANTA_DECL bool fetches::not_here(rank_id from, const pull_message& m, node* n) {
  if (n != nullptr && n->state == state::ready && store::is_here(*n)) return false;
  const bool comes = n != nullptr && n->state == state::ready && n->has(node::fetching);
  if (!comes || n->remote.place == from) {  // the rank that was to send the value has lost it, and is asking us
    own_.post.send(from, message::unavailable, unavailable_message{m.index, no_index, 0});
    return true;
  }
  const bool same_node = own_.net.node_of(static_cast<int>(from)) == own_.net.node();
  if (!same_node && incoming_.send_on(*n, from, m)) return true;
  link& l = own_.graph.add_link(*n, link_kind::puller);
  l.rank = from;
  l.index = m.index;
  l.count = m.tag;
  if (room_.take_waiting(*n)) pull(*n);  // two ranks may not wait for each other's turns
  return true;
}

/// The sender is alive, but was still receiving the value from a rank that has died: the rest will not come.
MANTA_DECL void fetches::on_cut_off(rank_id from, const cut_off_message& m) {
  if (auto* const v = incoming_.cut_off(from, m)) comes_in_part(v);
}

MANTA_DECL void fetches::comes_in_part(incoming_value* v) {
  incoming_.stop_followers(*v);
  const node_index index = v->target->index;
  incoming_.forget(v);
  on_unavailable({index, no_index, 0});
}

MANTA_DECL void fetches::on_unavailable(const unavailable_message& m) {
  node& n = own_.graph.nodes.at(m.index);
  if (store::is_here(n)) [[unlikely]]
    return not_fetched(n);  // this rank has made the value again meanwhile
  no_longer_fetching(n);
  if (m.place != no_index && !own_.members.is_dead(m.place)) {
    n.remote.place = m.place;
    n.size = static_cast<std::uint8_t>(m.giving);
    fetch(n);
  } else {
    n.size |= pull_message::in_vain;
    n.state = state::pending;
    n.form = form::none;
    for (link* l = n.links; l != nullptr; l = l->next) {  // ranks that pull the value from here have to ask elsewhere
      if (l->kind != link_kind::puller) continue;
      own_.post.send(l->rank, message::unavailable, unavailable_message{l->index, no_index, 0});
      l->kind = link_kind::reader;
    }
    need(n);
  }
  own_.refs.release(n);
}

MANTA_DECL void fetches::on_replicate(rank_id from, const replicate_message& m) {
  node& n = own_.refs.stand_in(from, m.home_index, m.type);  // held without owing a reference, until `release`
  n.set(node::primary);
  if (n.state != state::pending) return;
  if (m.bytes == 0) return need(n);
  completion_.lies_at(n, from, m.bytes);
  fetch(n);
}

/// Asks all living ranks for a needed value whose home has died, one after the other, those first that keep copies for
/// the home. The node is never completed in this call. Nobody counts references to such copies, which go with the run.
MANTA_DECL void fetches::seek(node& n, std::uint32_t first) {
  link& home = *n.links;
  seek_message m{home.rank, home.index, n.index, first, lineage_.family_of(n) != nullptr};
  while ((m.keeper = supply_.next_keeper(home.rank, m.keeper)) != no_index) {
    const std::uint32_t to = supply_.keeper_at(home.rank, m.keeper++);
    if (own_.members.is_dead(to)) continue;  // this rank asks itself too: the actor may live here
    home.id = to + 1;                        // should it die as well
    return own_.post.send(to, message::seek, m);
  }
  home.id = own_.rank + 1;
  own_.post.send(own_.rank, message::not_kept, m);
}

MANTA_DECL void fetches::on_not_kept(const seek_message& m) {
  node& n = own_.graph.nodes.at(m.index);
  const bool is_pending = n.state == state::pending;  // else the value has come from another rank
  if (is_pending && m.keeper != seek_message::nobody) return seek(n, m.keeper);
  if (is_pending && others_.await_heir(others_.rank, n)) return;
  if (is_pending) {
    completion_.fail(n, own_.failures.orphan(n));
    n.set(node::observed);
  }
  asked_no_more(n);
  own_.refs.release(n);
}

MANTA_DECL bool fetches::is_asked_for(const node& n, rank_id asked) const {
  if (!is_stand_in(n) || !n.has(node::wanted)) return false;
  return (n.links->id != 0 ? n.links->id - 1 : n.links->rank) == asked;
}

MANTA_DECL void fetches::on_seek(rank_id from, const seek_message& m) {
  node* const n = own_.refs.known(m.home_rank, m.home_index);
  if (n != nullptr && n->state == state::ready && n->form != form::remote)
    return supply_.tell_value({from, m.index}, *n);
  const slot_index actor = others_.actor_of(others_.rank, {m.home_rank, m.home_index});
  if (actor != no_index) {
    const result_message found{
        m.index, wire::type_index<std::uint64_t>::value, 0, static_cast<std::uint8_t>(form::plain), 0, 0};
    const actor_place place{own_.rank, actor};
    return own_.post.send(from, message::value, found, &place, sizeof place);
  }
  if (n == nullptr || n->state != state::pending || m.has_family || lineage_.family_of(*n) == nullptr)
    return own_.post.send(from, message::not_kept, m);
  supply_.promise_value({from, m.index}, *n);  // it is made again here
  need(*n);
}

MANTA_DECL void fetches::on_pull(rank_id from, const pull_message& m) {
  node* const n =
      m.home_rank == own_.rank ? &own_.graph.nodes.at(m.home_index) : own_.refs.known(m.home_rank, m.home_index);
  if (!not_here(from, m, n)) supply_.give(from, m, *n);
}

}  // namespace manta::exec
