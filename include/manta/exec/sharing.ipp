// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How one array reaches many ranks. Those of a node map the same memory. Of
// each other node one rank gets a copy by messages: the first two nodes from
// where the value lies, the next ones from these, as a tree, each part sent on
// as soon as it has come. Who asks is told whom to ask; who asks a rank to
// which the value is still on its way waits there.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

// --- memory that the ranks of a node map

MANTA_DECL void engine::send_pages(std::uint32_t to, const pull_message& m, node& n, store::large& l) {
  refs_.hold(n);  // until it is mapped
  ledger_.show(l);
  neighbours_.note_shown(to, n);
  wire::encoded value;
  store::encode(n, value);
  const data_message header{m.index, data_message::by_pages, 0, 0};
  const store::node_file& f = *l.shared;
  const pages_message where{f.identity(),     f.room(), l.shared_at, l.bytes, getpid(),
                            f.memory().get(), n.index,  f.made_here() ? rank_ : f.maker()};
  std::byte* const at = post_.begin(to, message::data, sizeof header + sizeof where + value.bytes.size());
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, &where, sizeof where);
  std::memcpy(at + sizeof header + sizeof where, value.bytes.data(), value.bytes.size());
  post_.commit(to, message::data, sizeof header + sizeof where + value.bytes.size());
}
MANTA_DECL void engine::on_mapped(std::uint32_t by, std::uint32_t index) {
  if (neighbours_.take_shown(by, index) != no_index) no_longer_shown(graph_.nodes.at(index));
}
MANTA_DECL void engine::no_longer_shown(node& n) {
  if (store::large* const l = store::large_of(n)) ledger_.shown_no_more(*l);
  refs_.release(n);
}

/// Null if the ranks do not see each other's processes.
MANTA_DECL store::node_file* engine::map_file(std::uint32_t from, const pages_message& where) {
  store::node_file* const mapped = neighbours_.map(from, where);
  if (mapped != nullptr && is_dead(where.maker)) mapped->orphan();
  return mapped;
}

MANTA_DECL void engine::on_pages(std::uint32_t from, node& n, const std::byte* data, std::size_t bytes) {
  pages_message where;
  std::memcpy(&where, data, sizeof where);
  if (store::is_here(n)) [[unlikely]] {  // made here again meanwhile
    post_.send(from, message::mapped, index_message{where.index, 0});
    return not_fetched(n);
  }
  store::node_file* memory = ledger_.files().take_mapped(where.identity);
  if (memory == nullptr) memory = map_file(from, where);
  store::large* const mapped = ledger_.enter(memory, where.at, where.bytes, true, no_index);
  post_.send(from, message::mapped, index_message{where.index, 0});
  if (mapped == nullptr) {
    neighbours_.note_unmappable(from);
    no_longer_fetching(n);
    fetch(n);
    return refs_.release(n);
  }
  has_come(n, [&](bool moves_home) {
    mapped->header.append(data + sizeof where, bytes - sizeof where);
    store::set_pages(n, *mapped);
    mapped->copy = !moves_home;
    if (moves_home) ledger_.take_over(*mapped);
    complete(n);
  });
}

// --- the tree over the nodes

/// Which rank gives a value that is here to another one: this rank, or one that has asked before.
MANTA_DECL unavailable_message engine::who_gives(node& n, std::uint32_t from, const pull_message& m) {
  const auto given = [&](link& l) {  // never 0
    l.rank = from;
    l.count = l.count % (pull_message::in_vain - 1) + 1;
    return unavailable_message{m.index, rank_, 0};
  };
  const int node_of_asker = net_.node_of(static_cast<int>(from));
  const bool is_home = is_stand_in(n) && n.links->rank == from;  // it takes the value over from here
  if (node_of_asker == net_.node() || is_home) return {m.index, rank_, 0};
  std::uint32_t before = 0;
  link* same = nullptr;
  for (link* l = n.links; l != nullptr; l = l->next) {
    if (l->kind != link_kind::reader) continue;
    ++before;
    if (net_.node_of(static_cast<int>(l->rank)) == node_of_asker) same = l;
  }
  if (same != nullptr) {  // its rank may have been given the value again since the asker looked there
    if (same->rank != from && m.told != (same->count | pull_message::in_vain))
      return {m.index, same->rank, same->count};
    return given(*same);
  }
  unavailable_message giver = {m.index, rank_, 0};
  if (constexpr std::uint32_t width = 2; before >= width && m.told < pull_message::in_vain) {
    std::uint32_t newer = before - 1 - (before - width) / width;  // the newest stand first
    for (link* l = n.links; l != nullptr && giver.place == rank_; l = l->next) {
      if (l->kind == link_kind::reader && newer-- == 0) giver = {m.index, l->rank, l->count};
    }
  }
  given(graph_.add_link(n, link_kind::reader));
  return giver;
}

/// Answers, or lets wait, who pulls a value that is not on this rank; false if it is.
MANTA_DECL bool engine::not_here(std::uint32_t from, const pull_message& m, node* n) {
  if (n != nullptr && n->state == state::ready && store::is_here(*n)) return false;
  const bool comes = n != nullptr && n->state == state::ready && n->has(node::fetching);
  if (!comes || n->remote.place == from) {  // who would give it to us has lost it and asks us
    post_.send(from, message::unavailable, unavailable_message{m.index, no_index, 0});
    return true;
  }
  if (net_.node_of(static_cast<int>(from)) != net_.node()) {
    for (incoming_value* v : coming_) {
      if (v->target != n || v->box == nullptr) continue;
      follow(*v, from, m);
      return true;
    }
  }
  link& l = graph_.add_link(*n, link_kind::puller);
  l.rank = from;
  l.index = m.index;
  l.count = m.tag;
  if (incoming_room_.take_waiting(*n)) pull(*n);  // two ranks may not wait for each other's turns
  return true;
}

/// Sends a value on while it comes.
MANTA_DECL void engine::follow(incoming_value& v, std::uint32_t to, const pull_message& m) {
  outgoing_value* const out =
      announce(to, m, *v.target, wire::buffer(v.body.data(), v.body.size()), v.references, v.places, false);
  const follower f{out, to, m.tag & pull_message::tag_bits, m.index};
  for (std::size_t i = 0; i < v.next; ++i) send_block(to, f.tag, v.places[i], out);
  v.followers.push_back(f);
}

/// The rank that sends us the value is alive, but had it from one that has died.
MANTA_DECL void engine::on_cut_off(std::uint32_t from, const cut_off_message& m) {
  for (incoming_value* v : coming_) {
    if (v->target != &graph_.nodes.at(m.index) || v->from != from) continue;
    v->last = m.blocks;
    if (v->next < v->last) return;  // these are on their way
    net_.forget_bulk(static_cast<int>(from), static_cast<int>(v->tag));
    return cut_off(v);
  }
}

MANTA_DECL void engine::cut_off(incoming_value* v) {
  coming_.remove(v);
  stop_followers(*v);
  const std::uint32_t index = v->target->index;
  forget(v);
  on_unavailable({index, no_index, 0});
}

/// Nothing more of a value will come.
MANTA_DECL void engine::stop_followers(incoming_value& v) {
  for (const follower& f : v.followers) {
    if (is_dead(f.to)) continue;
    post_.send(f.to, message::cut_off, cut_off_message{f.index, static_cast<std::uint32_t>(v.next)});
    have_been_sent(f.out, v.places.size() - v.next);
  }
}

MANTA_DECL void engine::on_unavailable(const unavailable_message& m) {
  node& n = graph_.nodes.at(m.index);
  if (store::is_here(n)) [[unlikely]] return not_fetched(n);  // made here again meanwhile
  no_longer_fetching(n);
  if (m.place != no_index && !is_dead(m.place)) {
    n.remote.place = m.place;
    n.size = static_cast<std::uint8_t>(m.giving);
    fetch(n);
  } else {
    n.size |= pull_message::in_vain;
    n.state = state::pending;
    n.form = form::none;
    for (link* l = n.links; l != nullptr; l = l->next) {  // who waited for it here asks elsewhere
      if (l->kind != link_kind::puller) continue;
      post_.send(l->rank, message::unavailable, unavailable_message{l->index, no_index, 0});
      l->kind = link_kind::reader;
    }
    need(n);
  }
  refs_.release(n);
}

// --- replicas

MANTA_DECL void engine::replicate(node& n, int copies) {
  const std::uint64_t bytes = n.form == form::plain ? 0 : store::size_of(n);
  for (std::uint32_t i = 0; i < size_ - 1 && copies > 0; ++i) {
    const std::uint32_t to = keeper(rank_, i);
    if (is_dead(to)) continue;
    graph_.add_link(n, link_kind::replica).rank = to;
    post_.send(to, message::replicate, replicate_message{n.index, n.type, bytes});
    --copies;
  }
  net_.pump(true);  // this rank may die
}

/// The ranks that keep copies of what `home` has put, in the order in which they are taken: those of other nodes first.
MANTA_DECL std::uint32_t engine::keeper(std::uint32_t home, std::uint32_t nth) const {
  const auto node_of = [&](std::uint32_t r) { return net_.node_of(static_cast<int>(r)); };
  for (const bool other_nodes : {true, false}) {
    for (std::uint32_t step = 1; step < size_; ++step) {
      const std::uint32_t r = (home + step) % size_;
      if ((node_of(r) != node_of(home)) == other_nodes && nth-- == 0) return r;
    }
  }
  return no_index;
}

MANTA_DECL void engine::on_replicate(std::uint32_t from, const replicate_message& m) {
  node& n = refs_.stand_in(from, m.home_index, m.type);  // held without owing a reference, until `release`
  n.set(node::primary);
  if (n.state != state::pending) return;
  if (m.bytes == 0) return need(n);
  lies_at(n, from, m.bytes);
  fetch(n);
}

/// A value that is needed, and whose home has died: asks all others, one after the other, those first who keep a copy,
/// and never completes it at once. The copies go when the run ends: nobody counts references to them.
MANTA_DECL void engine::seek(node& n, std::uint32_t first) {
  link& home = *n.links;
  seek_message m{home.rank, home.index, n.index, first, lineage_.family_of(n) != nullptr};
  for (; m.keeper < size_ - 1; ++m.keeper) {
    const std::uint32_t to = keeper(home.rank, m.keeper);
    if (to == rank_ || is_dead(to)) continue;
    home.id = to + 1;  // should it die as well
    return post_.send(to, message::seek, m);
  }
  m.keeper = seek_message::nobody;
  home.id = rank_ + 1;
  post_.send(rank_, message::not_kept, m);
}
MANTA_DECL void engine::on_seek(std::uint32_t from, const seek_message& m) {
  node* const n = refs_.known(m.home_rank, m.home_index);
  if (n != nullptr && n->state == state::ready && n->form != form::remote) return tell_value(from, m.index, *n);
  if (n == nullptr || n->state != state::pending || m.has_family || lineage_.family_of(*n) == nullptr)
    return post_.send(from, message::not_kept, m);
  link& l = graph_.add_link(*n, link_kind::subscriber);  // it is made again here
  l.rank = from;
  l.index = m.index;
  need(*n);
}
MANTA_DECL void engine::on_not_kept(const seek_message& m) {
  node& n = graph_.nodes.at(m.index);
  const bool is_pending = n.state == state::pending;  // else it has come from elsewhere
  if (is_pending && m.keeper != seek_message::nobody) return seek(n, m.keeper + 1);
  if (is_pending && await_heir(n)) return;
  if (is_pending) {
    fail(n, failures_.orphan(n));
    n.set(node::observed);
  }
  asked_no_more(n);
  refs_.release(n);
}

}  // namespace manta::exec
