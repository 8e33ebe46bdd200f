// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cstring>
#include <utility>

#include "manta/exec/value/results_at_once.hpp"
#include "manta/exec/value/supply.hpp"
#include "manta/net/block_sent.hpp"

namespace manta::exec {

inline constexpr std::size_t part_bytes = std::size_t{8} << 20;  ///< Large arrays travel in parts of at most this size.

MANTA_DECL base::list<wire::segment> in_parts(const base::list<wire::segment>& arrays) {
  base::list<wire::segment> parts;
  for (const wire::segment& s : arrays) {
    for (std::size_t at = 0; at < s.bytes; at += part_bytes) {
      parts.push_back({static_cast<std::byte*>(s.data) + at, s.bytes - at < part_bytes ? s.bytes - at : part_bytes});
    }
  }
  return parts;
}

MANTA_DECL void supply::promise_value(node_place to, node& n) {
  if (n.state != state::pending) return tell_value(to, n);
  link& l = own_.graph.add_link(n, link_kind::subscriber);
  l.rank = to.rank;
  l.index = to.index;
}

MANTA_DECL void supply::tell_value(node_place to, node& n, message kind) {
  result_message m{to.index, n.type, 0, 0, 0, 0};
  if (n.state == state::failed) {
    n.set(node::observed);  // it is the asker's to look at now
    m.form = static_cast<std::uint8_t>(form::failure);
    const wire::buffer bytes = store::encode(*store::failure_of(n));
    own_.post.send(to.rank, kind, m, bytes.data(), bytes.size());
    return;
  }
  if (n.form == form::plain || n.form == form::none) {
    m.form = static_cast<std::uint8_t>(form::plain);
    const std::size_t bytes = n.form == form::none ? 0 : n.has(node::actor) ? 8 : wire::type_at(n.type).plain_bytes;
    own_.post.send(to.rank, kind, m, n.bytes, bytes);
    return;
  }
  const references::addressed receiver(own_.refs, to.rank);
  remote_value remote{0, own_.rank, 0};
  if (n.form == form::remote) {
    remote = {n.remote.bytes, n.remote.place, 0};
  } else {
    try {
      if (n.has(node::references)) store::decode(n);
      scratch_.clear();
      bool references = false;
      if (store::encode_within(n, scratch_, store::inline_bytes, references)) {
        m.form = static_cast<std::uint8_t>(form::blob);
        m.flags = references ? result_message::references : 0;
        own_.post.send(to.rank, kind, m, scratch_.data(), scratch_.size());
        return;
      }
    } catch (...) {
      // it will be met again, and told, when the value is pulled
    }
    remote.bytes = store::size_of(n);
  }
  m.form = static_cast<std::uint8_t>(form::remote);
  // The receiver was sent ahead and has no reference yet; with this one the value stays until
  // the receiver has fetched it.
  if (kind == message::made) own_.refs.export_reference(n);
  own_.post.send(to.rank, kind, m, &remote, sizeof remote);
}

MANTA_DECL void supply::give(rank_id from, const pull_message& m, node& n) {
  if (store::large* const l = store::large_of(n)) own_.ledger.touch(*l);
  if (store::large* const l = store::large_of(n); l != nullptr && !l->shapeless) {
    if (l->is_encoded()) store::decode(n);
    const bool same_node = from != own_.rank && own_.net.node_of(static_cast<int>(from)) == own_.net.node();
    if (same_node && (m.tag & pull_message::by_blocks) == 0 && own_.ledger.share(*l)) return send_pages(from, m, n, *l);
    const unavailable_message giver = who_gives(n, from, m);
    if (giver.place != own_.rank) return own_.post.send(from, message::unavailable, giver);
  }
  // Encoded values that are under way take memory beside the values themselves.
  if (!pulls_.may_encode(own_.ledger.memory().share()) && own_.members.deaths() == 0) {
    return pulls_.defer(from, m);
  }
  const references::addressed receiver(own_.refs, from);
  wire::encoded value;
  try {
    if (n.form == form::blob) store::decode(n);
    store::encode(n, value);
  } catch (...) {
    const wire::buffer bytes = store::encode(*own_.failures.codec("save()", n.type));
    result_message answer{m.index, 0, 0, static_cast<std::uint8_t>(form::failure), 0, 0};
    return own_.post.send(from, message::not_saved, answer, bytes.data(), bytes.size());
  }
  send_value(from, m, n, std::move(value));
}

MANTA_DECL void supply::send_value(rank_id to, const pull_message& m, node& n, wire::encoded&& value) {
  // A long body would fill a whole batch and hold up the messages behind it.
  const bool by_block = value.bytes.size() > 4 * wire::segment_bytes;
  base::list<wire::segment> blocks = in_parts(value.segments);
  if (by_block) blocks.push_back({value.bytes.data(), value.bytes.size()});  // then it is the only one
  outgoing_value* const out = announce(to, m, n, {std::move(value.bytes), value.holds_references, by_block}, blocks);
  for (const wire::segment& s : blocks) send_block(to, m.tag & pull_message::tag_bits, s, out);
}

MANTA_DECL supply::outgoing_value* supply::announce(rank_id to, const pull_message& m, node& n, value_body&& body,
                                                    const base::list<wire::segment>& blocks) {
  const auto count = static_cast<std::uint32_t>(blocks.size());
  ++transfers_;
  sent_bytes_ += body.bytes.size();
  for (const wire::segment& each : blocks) sent_bytes_ += body.by_block ? 0 : each.bytes;
  data_message header{m.index, count, body.references, m.tag & pull_message::tag_bits};
  if (body.by_block) header.segments |= data_message::body_by_block;
  const std::uint64_t size = body.by_block ? body.bytes.size() : 0;
  const std::size_t size_bytes = body.by_block ? sizeof size : 0, body_bytes = body.by_block ? 0 : body.bytes.size();
  std::byte* at = own_.post.begin(to, message::data, sizeof header + size_bytes + body_bytes);
  std::memcpy(at, &header, sizeof header);
  if (size_bytes != 0) std::memcpy(at + sizeof header, &size, size_bytes);
  if (body_bytes != 0) std::memcpy(at + sizeof header, body.bytes.data(), body_bytes);
  own_.post.commit(to, message::data, sizeof header + size_bytes + body_bytes);
  if (blocks.empty()) return nullptr;
  own_.refs.hold(n);  // the blocks are sent from where they lie
  pulls_.note_encoded(body.bytes.size());
  store::large* l = store::large_of(n);
  if (l != nullptr && l->shapeless) l = nullptr;  // what is sent is its encoding
  if (l != nullptr) own_.ledger.look(*l);
  return new outgoing_value{this, &n, l, std::move(body.bytes), blocks.size()};
}

MANTA_DECL void supply::send_block(rank_id to, std::uint32_t tag, const wire::segment& block, outgoing_value* out) {
  const net::completion sent{[](void* argument) {
                               auto* o = static_cast<outgoing_value*>(argument);
                               o->sender->have_been_sent(o, 1);
                             },
                             out};
  own_.net.send_bulk(static_cast<int>(to), static_cast<int>(tag), block.data, block.bytes, sent);
}

MANTA_DECL void supply::have_been_sent(outgoing_value* out, std::size_t blocks) {
  out->blocks -= blocks;
  if (out->blocks != 0) return;
  pulls_.note_sent(out->body.size());
  if (out->looked_at != nullptr) own_.ledger.look_away(*out->looked_at);
  own_.refs.release(*out->value);
  delete out;
  if (pulls_.waiting() != 0) answer_deferred();
}

MANTA_DECL void supply::answer_deferred() {
  for (std::size_t count = pulls_.waiting(); count > 0; --count) {
    const outgoing_pulls::deferred next = pulls_.take();
    if (!own_.members.is_dead(next.from)) others_.pulled(others_.rank, next.from, next.pull);
  }
}

MANTA_DECL void supply::send_result(const ended_task& t, invocation& call, node* expected) {
  // Nobody needs the result: whoever had a handle from that home asks for the value by another way.
  if (own_.members.is_dead(t.home_rank)) [[unlikely]] {
    if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
    return;
  }
  result_message m = header_of(t, form::plain, expected);
  m.flags = static_cast<std::uint8_t>(m.flags | static_cast<int>(t.reason) << result_message::reason_bit);
  if (call.form != form::box) {
    const std::size_t bytes = call.form == form::none ? 0 : wire::type_at(call.type).plain_bytes;
    own_.post.send(t.home_rank, message::result, m, call.plain, bytes);
    if (expected == nullptr) return;
    // A task that was sent ahead waits for this result on this rank.
    store::set_plain(*expected, call.plain, bytes);
    return completion_.complete(*expected);
  }
  const references::addressed receiver(own_.refs, t.home_rank);
  const store::saving result(call.type, t.function, call.task);
  node temporary;
  temporary.type = call.type;
  store::set_box(temporary, call.box);
  bool references = false;
  bool fits = false;
  scratch_.clear();
  try {
    const std::size_t longest = t.at_once ? results_at_once::longest : store::inline_bytes;
    fits = store::encode_within(temporary, scratch_, longest, references);
  } catch (...) {
    const store::failure_ptr why = own_.failures.codec("save()", call.type);
    wire::type_at(call.type).destroy(call.box);
    return send_failure(t, why, expected);
  }
  if (!fits) return keep_result(t, m, temporary, expected);
  m.form = static_cast<std::uint8_t>(form::blob);
  if (references) m.flags = static_cast<std::uint8_t>(m.flags | result_message::references);
  own_.post.send(t.home_rank, message::result, m, scratch_.data(), scratch_.size());
  if (expected == nullptr) return wire::type_at(call.type).destroy(call.box);
  expected->type = call.type;
  store::set_box(*expected, call.box);
  completion_.complete(*expected);
}

MANTA_DECL void supply::keep_result(const ended_task& t, result_message& m, node& value, node* expected) {
  if (expected != nullptr && !is_stand_in(*expected)) own_.refs.stands_for(*expected, t.home_rank, t.home_index);
  node& n = own_.refs.stand_in(t.home_rank, t.home_index, value.type);
  n.type = value.type;
  n.set(node::primary);
  if (own_.members.deaths() != 0 && n.state == state::ready && n.form != form::remote) {  // made again, where a copy is
    store::clear(value);
    if (store::large* const l = store::large_of(n)) own_.ledger.take_over(*l);
  } else {
    store::enter(value, own_.ledger, t.function);
    if (!completion_.has_room(value)) [[unlikely]] {
      const store::failure_ptr why = own_.failures.store_is_full(own_.ledger);
      store::clear(value);
      n.reset(node::primary);
      own_.refs.release(n);
      return send_failure(t, why, expected);
    }
    store::clear(n);
    store::move_payload(n, value);
    completion_.complete(n);
  }
  const bool same_node = own_.net.node_of(static_cast<int>(t.home_rank)) == own_.net.node();
  // The home is likely to read the value, and on the same node it can do so without a copy.
  if (store::large* const l = store::large_of(n); l != nullptr && same_node) own_.ledger.offer(*l);
  const remote_value remote{store::size_of(n), own_.rank, 0};
  m.form = static_cast<std::uint8_t>(form::remote);
  own_.post.send(t.home_rank, message::result, m, &remote, sizeof remote);
}

MANTA_DECL void supply::send_failure(const ended_task& t, const store::failure_ptr& why, node* expected) {
  const result_message m = header_of(t, form::failure, expected);
  const wire::buffer bytes = store::encode(*why);
  own_.post.send(t.home_rank, message::result, m, bytes.data(), bytes.size());
  if (expected == nullptr) return;
  completion_.fail(*expected, why);
  expected->set(node::observed);  // the home tells of it
}

MANTA_DECL void supply::send_pages(rank_id to, const pull_message& m, node& n, store::large& l) {
  const references::addressed receiver(own_.refs, to);
  own_.refs.hold(n);  // until it is mapped
  own_.ledger.show(l);
  neighbours_.note_shown(to, n);
  wire::encoded value;
  store::encode(n, value);
  const data_message header{m.index, data_message::by_pages, 0, 0};
  const store::node_file& f = *l.shared;
  const pages_message where{
      f.identity(), f.room(),         l.shared_at, l.bytes,
      getpid(),     f.memory().get(), n.index,     f.made_here() ? own_.rank.number() : f.maker()};
  std::byte* const at = own_.post.begin(to, message::data, sizeof header + sizeof where + value.bytes.size());
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + sizeof header, &where, sizeof where);
  std::memcpy(at + sizeof header + sizeof where, value.bytes.data(), value.bytes.size());
  own_.post.commit(to, message::data, sizeof header + sizeof where + value.bytes.size());
}

MANTA_DECL void supply::on_mapped(rank_id by, node_index shown) {
  if (neighbours_.take_shown(by, shown) != no_index) no_longer_shown(own_.graph.nodes.at(shown));
}

MANTA_DECL void supply::no_longer_shown(node& n) {
  if (store::large* const l = store::large_of(n)) own_.ledger.shown_no_more(*l);
  own_.refs.release(n);
}

MANTA_DECL unavailable_message supply::who_gives(node& n, rank_id from, const pull_message& m) {
  const auto given = [&](link& l) {  // never 0
    l.rank = from;
    l.count = l.count % (pull_message::in_vain - 1) + 1;
    return unavailable_message{m.index, own_.rank, 0};
  };
  // One rank of each other node receives the value and passes it on to its neighbours, and each of these ranks sends it
  // to at most two further nodes: a tree, in which no sender is overloaded.
  const int node_of_asker = own_.net.node_of(static_cast<int>(from));
  const bool is_home = is_stand_in(n) && n.links->rank == from;  // it takes the value over from here
  if (node_of_asker == own_.net.node() || is_home) return {m.index, own_.rank, 0};
  std::uint32_t before = 0;
  link* same = nullptr;
  for (link* l = n.links; l != nullptr; l = l->next) {
    if (l->kind != link_kind::reader) continue;
    ++before;
    if (own_.net.node_of(static_cast<int>(l->rank)) == node_of_asker) same = l;
  }
  if (same != nullptr) {  // its rank may have been given the value again since the asker looked there
    if (same->rank != from && m.told != (same->count | pull_message::in_vain))
      return {m.index, same->rank, same->count};
    return given(*same);
  }
  unavailable_message giver = {m.index, own_.rank, 0};
  if (constexpr std::uint32_t width = 2; before >= width && m.told < pull_message::in_vain) {
    std::uint32_t newer = before - 1 - (before - width) / width;  // the newest stand first
    for (link* l = n.links; l != nullptr && giver.place == own_.rank; l = l->next) {
      if (l->kind == link_kind::reader && newer-- == 0) giver = {m.index, l->rank, l->count};
    }
  }
  given(own_.graph.add_link(n, link_kind::reader));
  return giver;
}

MANTA_DECL void supply::replicate(node& n, int copies) {
  const std::uint64_t bytes = n.form == form::plain ? 0 : store::size_of(n);
  for (std::uint32_t place = 0; copies > 0; ++place) {
    place = next_keeper(own_.rank, place);
    if (place == no_index) break;
    const std::uint32_t to = keeper_at(own_.rank, place);
    if (own_.members.is_dead(to)) continue;
    own_.graph.add_link(n, link_kind::replica).rank = to;
    own_.post.send(to, message::replicate, replicate_message{n.index, n.type, bytes});
    --copies;
  }
  own_.net.pump(true);  // this rank may die
}

MANTA_DECL std::uint32_t supply::next_keeper(rank_id home, std::uint32_t place) const {
  const auto node_of = [&](std::uint32_t r) { return own_.net.node_of(static_cast<int>(r)); };
  const std::uint32_t others = own_.size - 1;
  for (; place < 2 * others; ++place) {  // all once for the ranks of other nodes, and once more for those of its own
    const bool is_of_other_node = node_of(keeper_at(home, place)) != node_of(home);
    if (is_of_other_node == (place < others)) return place;
  }
  return no_index;
}

MANTA_DECL void supply::rank_died(rank_id dead) {
  for (std::uint32_t shown = 0; (shown = neighbours_.take_shown(dead)) != no_index;) {
    no_longer_shown(own_.graph.nodes.at(shown));
  }
}

MANTA_DECL result_message supply::header_of(const ended_task& t, form f, node* expected) const {
  const int flags = t.by_scheduler ? result_message::by_scheduler : 0;
  const std::uint16_t reached = expected == nullptr ? std::uint16_t{0} : take_reached(*expected);
  return {t.home_index, t.charge, rounded(t.ns), static_cast<std::uint8_t>(f), static_cast<std::uint8_t>(flags),
          reached};
}

}  // namespace manta::exec
