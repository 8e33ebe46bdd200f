// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How values get to where they are read. The home of a value knows whether it
// is there and where it lies. Small values are told with the news; a large one
// stays where it was made until somebody pulls it, straight from that rank,
// its arrays received into their final place. sharing.hpp has what is done so
// that an array reaches many ranks.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::complete(node& n) {
  if (n.has(node::timed) && n.state == state::pending) [[unlikely]] stop_timer(n);
  n.state = n.form == form::failure ? state::failed : state::ready;
  graph_.finish(n, [&](const link& l) {
    switch (l.kind) {
      case link_kind::input: {
        node& dependent = graph_.nodes.at(l.index);
        if (--dependent.missing == 0) task_ready(dependent);
        break;
      }
      case link_kind::waiter: {
        auto& record = *static_cast<wait_record*>(l.pointer);
        record.note_end(l.index, n);
        if (record.remaining > 0 && --record.remaining == 0) wake(record);
        break;
      }
      case link_kind::subscriber:
        tell_value(l.rank, l.index, n);
        break;
      case link_kind::staged:
        stage_input_arrived(static_cast<task*>(l.pointer), n);
        break;
      case link_kind::call:
        send_call(n, static_cast<task*>(l.pointer));
        break;
      case link_kind::puller:
        on_pull(l.rank, pull_message{refs_.home_of(n).rank, refs_.home_of(n).index, l.index, l.count, 0});
        break;
      case link_kind::ahead:
        send_after(l, n);
        break;
      case link_kind::heir:
        inherit(graph_.nodes.at(l.index));
        break;
      case link_kind::family:
        await_return(lineage_.at(l.index));
        break;
      case link_kind::home:
      case link_kind::exported:
      case link_kind::reader:
      case link_kind::replica:
        break;
    }
  });
}

MANTA_DECL void engine::complete_object(node& n, void* object, std::uint32_t function) {
  store::set_box(n, object);
  store::enter(n, ledger_, function);
  complete_if_room(n);
}

/// After a value was entered: is it none too many?
MANTA_DECL bool engine::has_room(const node& n) const {
  const store::large* const l = store::large_of(n);
  return l == nullptr || l->charged == 0 || ledger_.memory().charged() <= ledger_.memory().limit();
}

MANTA_DECL void engine::complete_if_room(node& n) {
  if (!has_room(n)) [[unlikely]] {
    const store::failure_ptr why = failures_.store_is_full(ledger_);
    store::clear(n);
    return fail(n, why);
  }
  complete(n);
}

MANTA_DECL node& engine::make_value(std::uint32_t type, void* object) {
  node& n = refs_.make_node(no_index, type);
  complete_object(n, object, running_->function);
  if (store::large* const l = store::large_of(n); l != nullptr && net_.topology().ranks_on_node() > 1)
    ledger_.share(*l);
  return checked(n);
}

MANTA_DECL node* engine::copy_value(std::uint32_t type, const void* object) {
  const wire::type_entry& entry = wire::type_at(type);
  const wire::segment array = entry.array(object);
  if (array.bytes < store::shared_bytes || net_.topology().ranks_on_node() == 1) return nullptr;
  store::large* const l = ledger_.enter_copy(static_cast<std::byte*>(array.data), array.bytes, running_->function);
  if (l == nullptr) return nullptr;
  node& n = refs_.make_node(no_index, type);
  store::set_pages(n, *l);
  wire::encoded value;
  wire::sink out(value.bytes, &value.segments);
  entry.write(object, out);
  l->header = std::move(value.bytes);
  complete_if_room(n);
  return &checked(n);
}

/// Throws, and gives the node up, if it has failed.
MANTA_DECL node& engine::checked(node& n) {
  if (n.state != state::failed) return n;
  const store::failure_ptr why = store::failure_of(n);
  n.set(node::observed);
  refs_.release(n);
  store::raise(*why);
}

MANTA_DECL void engine::fail(node& n, const store::failure_ptr& why) {
  if (n.form == form::record) {
    free_task(n.record);
  }
  store::set_failure(n, why);
  complete(n);
}

// --- wants: is it ready, and where?

MANTA_DECL void engine::need(node& n) {
  if (n.state != state::pending || n.has(node::wanted) || !is_stand_in(n)) return;
  n.set(node::wanted);
  refs_.hold(n);  // until the answer
  if (is_dead(n.links->rank)) [[unlikely]] return seek(n);
  post_.send(n.links->rank, message::want, want_message{n.links->index, n.index});
}

/// The answer is here, or will not come. What was held for it is the caller's to release.
MANTA_DECL void engine::asked_no_more(node& n) {
  n.reset(node::wanted);
  n.links->id = 0;
}

MANTA_DECL void engine::tell_value(std::uint32_t to, std::uint32_t index, node& n, message kind) {
  result_message m{index, n.type, 0, 0, 0, 0};
  if (n.state == state::failed) {
    n.set(node::observed);  // it is the asker's to look at now
    m.form = static_cast<std::uint8_t>(form::failure);
    const wire::buffer bytes = store::encode(*store::failure_of(n));
    post_.send(to, kind, m, bytes.data(), bytes.size());
    return;
  }
  if (n.form == form::plain || n.form == form::none) {
    m.form = static_cast<std::uint8_t>(form::plain);
    const std::size_t bytes = n.form == form::none ? 0 : n.has(node::actor) ? 8 : wire::type_at(n.type).plain_bytes;
    post_.send(to, kind, m, n.bytes, bytes);
    return;
  }
  remote_value remote{0, rank_, 0};
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
        post_.send(to, kind, m, scratch_.data(), scratch_.size());
        return;
      }
    } catch (...) {
      // it will be met again, and told, when the value is pulled
    }
    remote.bytes = store::size_of(n);
  }
  m.form = static_cast<std::uint8_t>(form::remote);
  if (kind == message::made) refs_.export_reference(n);
  post_.send(to, kind, m, &remote, sizeof remote);
}

/// A value that has ended elsewhere.
MANTA_DECL void engine::lies_at(node& n, std::uint32_t place, std::uint64_t bytes) {
  n.form = form::remote;
  n.remote.bytes = bytes;
  n.remote.place = place;
  complete(n);
}

MANTA_DECL void engine::accept_value(node& n, const result_message& m, const std::byte* data, std::size_t bytes) {
  switch (static_cast<form>(m.form)) {
    case form::plain:
      store::set_plain(n, data, bytes);
      if (n.has(node::actor) && is_dead(place_of(n, rank_))) {  // the home has not heard of it yet
        n.form = form::none;
        return need(n);
      }
      break;
    case form::blob:
      store::set_blob(n, data, bytes, (m.flags & result_message::references) != 0);
      break;
    case form::remote: {
      remote_value remote;
      std::memcpy(&remote, data, sizeof remote);
      if (is_dead(remote.place)) return need(n);  // the home has not heard of it yet
      return lies_at(n, remote.place, remote.bytes);
    }
    default:
      fail(n, store::decode_failure(data, bytes));
      return;
  }
  complete(n);
}

MANTA_DECL void engine::on_value(std::uint32_t, const result_message& m, const std::byte* data, std::size_t bytes) {
  node& n = graph_.nodes.at(m.index);
  asked_no_more(n);
  if (n.state == state::pending) {
    n.missing = 0;
    accept_value(n, m, data, bytes);
    if (n.has(node::primary)) fetch(n);  // a replica
  } else if ((m.flags & result_message::references) != 0) {  // came twice
    give_back_references(n.type, m, data, bytes);
  }
  refs_.release(n);
}

/// An encoded value is not wanted: gives back the references in it.
MANTA_DECL void engine::give_back_references(std::uint32_t type, const result_message& m, const std::byte* data,
                                             std::size_t bytes) {
  node& spare = refs_.make_node(no_index, type);
  accept_value(spare, m, data, bytes);
  refs_.release(spare);
}

// --- pulls: bring it here

MANTA_DECL void engine::fetch(node& n) {
  if (n.form != form::remote || n.has(node::fetching)) return;
  n.set(node::fetching);
  refs_.hold(n);  // until it is here
  if (ledger_.memory().expects_much()) return incoming_room_.wait(n);  // in turn, as others come
  pull(n);
}

MANTA_DECL void engine::pull(node& n) {
  expect(n);
  const references<net::network>::node_place home = refs_.home_of(n);
  pull_message m{home.rank, home.index, n.index, 0, is_stand_in(n) ? n.size : 0u};
  m.tag = next_tag_ | (neighbours_.may_map(n.remote.place) ? 0 : pull_message::by_blocks);
  next_tag_ = ((next_tag_ + 1) % static_cast<std::uint32_t>(net_.bulk_tags())) & pull_message::tag_bits;
  post_.send(n.remote.place, message::pull, m);
}

/// Makes room for a value that has been asked for, unless it is likely to be mapped.
MANTA_DECL void engine::expect(const node& n) {
  const bool same_node = net_.node_of(static_cast<int>(n.remote.place)) == net_.node();
  const bool has_array = wire::type_at(n.type).array != nullptr;
  const std::uint64_t bytes = n.remote.bytes;
  if (bytes < store::large_bytes) return;
  if (same_node && neighbours_.may_map(n.remote.place) && bytes >= store::shared_bytes && has_array) return;
  incoming_room_.reserve(n, bytes);
  ledger_.expect(bytes);
}
/// It has come, or will not.
MANTA_DECL void engine::no_longer_fetching(node& n) {
  n.reset(node::fetching);
  if (const std::uint64_t bytes = incoming_room_.release(n); bytes != 0) ledger_.expect_no_more(bytes);
  while (incoming_room_.has_waiting() && !ledger_.memory().expects_much()) {
    node& next = incoming_room_.take_waiting();
    store::is_here(next) ? not_fetched(next) : pull(next);  // it may have been made here again
  }
}

MANTA_DECL void engine::on_pull(std::uint32_t from, const pull_message& m) {
  node* const found = m.home_rank == rank_ ? &graph_.nodes.at(m.home_index) : refs_.known(m.home_rank, m.home_index);
  if (not_here(from, m, found)) return;
  node& n = *found;
  if (store::large* const l = store::large_of(n)) ledger_.touch(*l);
  if (store::large* const l = store::large_of(n); l != nullptr && !l->shapeless) {
    if (l->is_encoded()) store::decode(n);
    const bool same_node = from != rank_ && net_.node_of(static_cast<int>(from)) == net_.node();
    if (same_node && (m.tag & pull_message::by_blocks) == 0 && ledger_.share(*l)) return send_pages(from, m, n, *l);
    const unavailable_message giver = who_gives(n, from, m);
    if (giver.place != rank_) return post_.send(from, message::unavailable, giver);
  }
  if (!outgoing_pulls_.may_encode(ledger_.memory().share()) && members_.deaths() == 0) {
    return outgoing_pulls_.defer(from, m);
  }
  wire::encoded value;
  try {
    if (n.form == form::blob) store::decode(n);
    store::encode(n, value);
  } catch (...) {
    const wire::buffer bytes = store::encode(*failures_.codec("save()", n.type));
    result_message answer{m.index, 0, 0, static_cast<std::uint8_t>(form::failure), 0, 0};
    return post_.send(from, message::not_saved, answer, bytes.data(), bytes.size());
  }
  send_value(from, m, n, std::move(value));
}

/// Large arrays travel in parts of at most this size, so that a part can be sent on while the next one comes.
MANTA_DECL constexpr std::size_t part_bytes = std::size_t{8} << 20;

MANTA_DECL base::list<wire::segment> in_parts(const base::list<wire::segment>& arrays) {
  base::list<wire::segment> parts;
  for (const wire::segment& s : arrays) {
    for (std::size_t at = 0; at < s.bytes; at += part_bytes) {
      parts.push_back({static_cast<std::byte*>(s.data) + at, s.bytes - at < part_bytes ? s.bytes - at : part_bytes});
    }
  }
  return parts;
}

MANTA_DECL void engine::send_value(std::uint32_t to, const pull_message& m, node& n, wire::encoded&& value) {
  const bool body_by_block = value.bytes.size() > 4 * wire::segment_bytes;
  base::list<wire::segment> blocks = in_parts(value.segments);
  if (body_by_block) blocks.push_back({value.bytes.data(), value.bytes.size()});  // then it is the only one
  outgoing_value* const out = announce(to, m, n, std::move(value.bytes), value.holds_references, blocks, body_by_block);
  for (const wire::segment& s : blocks) send_block(to, m.tag & pull_message::tag_bits, s, out);
}

/// Tells the asker what will come. Its own bytes go with the message unless they are many.
MANTA_DECL engine::outgoing_value* engine::announce(std::uint32_t to, const pull_message& m, node& n,
                                                    wire::buffer&& body, bool references,
                                                    const base::list<wire::segment>& blocks, bool body_by_block) {
  data_message header{m.index, static_cast<std::uint32_t>(blocks.size()), references, m.tag & pull_message::tag_bits};
  if (body_by_block) header.segments |= data_message::body_by_block;
  const std::uint64_t size = body_by_block ? body.size() : 0;
  const std::size_t size_bytes = body_by_block ? sizeof size : 0, body_bytes = body_by_block ? 0 : body.size();
  std::byte* at = post_.begin(to, message::data, sizeof header + size_bytes + body_bytes);
  std::memcpy(at, &header, sizeof header);
  if (size_bytes != 0) std::memcpy(at + sizeof header, &size, size_bytes);
  if (body_bytes != 0) std::memcpy(at + sizeof header, body.data(), body_bytes);
  post_.commit(to, message::data, sizeof header + size_bytes + body_bytes);
  if (blocks.empty()) return nullptr;
  refs_.hold(n);  // the blocks are sent from where they lie
  outgoing_pulls_.note_encoded(body.size());
  store::large* l = store::large_of(n);
  if (l != nullptr && l->shapeless) l = nullptr;  // what is sent is its encoding
  if (l != nullptr) ledger_.look(*l);
  return new outgoing_value{this, &n, l, std::move(body), blocks.size()};
}

MANTA_DECL void engine::send_block(std::uint32_t to, std::uint32_t tag, const wire::segment& block,
                                   outgoing_value* out) {
  const net::completion sent{[](void* argument) {
                               auto* o = static_cast<outgoing_value*>(argument);
                               o->sender->have_been_sent(o, 1);
                             },
                             out};
  net_.send_bulk(static_cast<int>(to), static_cast<int>(tag), block.data, block.bytes, sent);
}

MANTA_DECL void engine::have_been_sent(outgoing_value* out, std::size_t blocks) {
  out->blocks -= blocks;
  if (out->blocks != 0) return;
  outgoing_pulls_.note_sent(out->body.size());
  if (out->looked_at != nullptr) ledger_.look_away(*out->looked_at);
  refs_.release(*out->value);
  delete out;
  if (outgoing_pulls_.waiting() != 0) answer_pulls();
}

MANTA_DECL void engine::answer_pulls() {
  for (std::size_t count = outgoing_pulls_.waiting(); count > 0; --count) {
    const outgoing_pulls::deferred next = outgoing_pulls_.take();
    if (!is_dead(next.from)) on_pull(next.from, next.pull);
  }
}

MANTA_DECL void engine::on_data(std::uint32_t from, const data_message& m, const std::byte* data, std::size_t bytes) {
  if ((m.segments & data_message::by_pages) != 0) return on_pages(from, graph_.nodes.at(m.index), data, bytes);
  auto* const v = new incoming_value;
  v->target = &graph_.nodes.at(m.index);
  v->from = from;
  v->tag = m.tag;
  v->references = m.references != 0;
  const std::uint32_t blocks = m.segments & ~data_message::body_by_block;
  if (blocks == 0) {
    v->body.append(data, bytes);
    return arrived(v);
  }
  if ((m.segments & data_message::body_by_block) != 0) {  // a block alone: the value's own bytes
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
  coming_.push_back(v);
  net_.receive_bulk(static_cast<int>(from), static_cast<int>(v->tag), v->places[0].data, v->places[0].bytes,
                    reinterpret_cast<std::uint64_t>(v));
}

MANTA_DECL void engine::on_block(std::uint64_t token) {
  auto* const v = reinterpret_cast<incoming_value*>(token);
  const wire::segment& came = v->places[v->next];
  for (const follower& f : v->followers) send_block(f.to, f.tag, came, f.out);
  if (++v->next < v->last) {  // blocks of one value come one after the other under one tag
    const wire::segment& place = v->places[v->next];
    net_.receive_bulk(static_cast<int>(v->from), static_cast<int>(v->tag), place.data, place.bytes, token);
    return;
  }
  if (v->last < v->places.size()) return cut_off(v);
  coming_.remove(v);
  arrived(v);
}

// A value whose bytes came as a block is decoded by the rank's own thread, for its load() is the user's code.
MANTA_DECL void engine::arrived(incoming_value* v) {
  node& n = *v->target;
  if (store::is_here(n)) [[unlikely]] return came_in_vain(v);
  if (v->box == nullptr && !v->places.empty()) return arrived_.push_back(v);
  has_come(n, [&](bool moves_home) {
    if (v->box != nullptr) {  // kept also if there is no room
      store::set_box(n, v->box);
      store::enter(n, ledger_, no_index, !moves_home);
      if (store::large* const l = store::large_of(n); l != nullptr && !v->followers.empty())
        ledger_.keep(*l);  // on its way to others
    } else {
      store::set_blob(n, v->body.data(), v->body.size(), v->references);
    }
    complete(n);
  });
  delete v;
}

/// While it was on its way, this rank has made it again for one that has died.
MANTA_DECL void engine::came_in_vain(incoming_value* v) {
  node& n = *v->target;
  if (v->box == nullptr && v->references) {
    node& spare = refs_.make_node(no_index, n.type);
    store::set_blob(spare, v->body.data(), v->body.size(), true);
    complete(spare);
    refs_.release(spare);
  }
  forget(v);
  not_fetched(n);
}

/// What was asked for does not come, or is not needed any more.
MANTA_DECL void engine::not_fetched(node& n) {
  no_longer_fetching(n);
  refs_.release(n);
}

/// What was asked for is there, but its save() or load() has failed.
MANTA_DECL void engine::cannot_come(node& n, const store::failure_ptr& why) {
  let_place_go(n);
  n.form = form::none;
  fail(n, why);
  not_fetched(n);
}

/// Frees the record of a value that has come in part or in vain.
MANTA_DECL void engine::forget(incoming_value* v) {
  if (!v->followers.empty()) return;  // MPI may still read what was sent on
  if (v->box != nullptr) wire::type_at(v->target->type).destroy(v->box);
  delete v;
}

/// The home of a value that has been fetched, or cannot be, needs it no more where it lies.
MANTA_DECL bool engine::let_place_go(node& n) {
  if (is_stand_in(n)) return false;
  post_.send(n.remote.place, message::release, index_message{n.index, rank_});
  n.set(node::leaving);  // not a reference: whoever holds the only handle may move the value out
  return true;
}

/// A value that was fetched has come; set(moves_home) makes it the node's.
template <class Set>
void engine::has_come(node& n, Set&& set) {
  no_longer_fetching(n);
  set(let_place_go(n));
  refs_.release(n);
}

MANTA_DECL void engine::decode_arrived() {
  while (!arrived_.empty()) {
    incoming_value* const v = arrived_.back();
    arrived_.pop_back();
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
      why = failures_.codec("load()", n.type);
    }
    if (why == nullptr) {
      arrived(v);
      continue;
    }
    delete v;
    cannot_come(n, why);
  }
}

// --- results of tasks and calls that ran here for another rank

MANTA_DECL result_message result_header(std::uint32_t index, form f, std::uint32_t charge, std::uint64_t ns,
                                    bool by_scheduler) {
  return {index, charge, rounded(ns), static_cast<std::uint8_t>(f),
          static_cast<std::uint8_t>(by_scheduler ? result_message::by_scheduler : 0), 0};
}

MANTA_DECL void engine::send_result(std::uint32_t home_rank, std::uint32_t home_index, std::uint32_t function,
                                invocation& call, std::uint32_t charge, std::uint64_t ns, bool by_scheduler,
                                node* awaited, const graph::request* request) {
  if (is_dead(home_rank)) [[unlikely]] {
    if (call.form == form::box) wire::type_at(call.type).destroy(call.box);
    return;
  }
  result_message m = result_header(home_index, form::plain, charge, ns, by_scheduler);
  if (request != nullptr)
    m.flags =
        static_cast<std::uint8_t>(m.flags | static_cast<int>(request->granted.reason) << result_message::reason_bit);
  node* const expected = expected_here(home_rank, home_index, awaited);
  if (expected != nullptr) m.reached = take_reached(*expected);
  if (call.form != form::box) {
    const std::size_t bytes = call.form == form::none ? 0 : wire::type_at(call.type).plain_bytes;
    post_.send(home_rank, message::result, m, call.plain, bytes);
    if (expected == nullptr) return;
    store::set_plain(*expected, call.plain, bytes);
    return complete(*expected);
  }
  node temporary;
  temporary.type = call.type;
  store::set_box(temporary, call.box);
  bool references = false;
  bool fits = false;
  scratch_.clear();
  try {
    fits = store::encode_within(temporary, scratch_, store::inline_bytes, references);
  } catch (...) {
    const store::failure_ptr why = failures_.codec("save()", call.type);
    wire::type_at(call.type).destroy(call.box);
    return send_failure(home_rank, home_index, why, charge, ns, by_scheduler, awaited);
  }
  if (fits) {
    m.form = static_cast<std::uint8_t>(form::blob);
    if (references) m.flags = static_cast<std::uint8_t>(m.flags | result_message::references);
    post_.send(home_rank, message::result, m, scratch_.data(), scratch_.size());
    if (expected == nullptr) return wire::type_at(call.type).destroy(call.box);
    expected->type = call.type;
    store::set_box(*expected, call.box);
    return complete(*expected);
  }
  // it stays here, in a stand-in that the home lets go
  if (expected != nullptr && !is_stand_in(*expected)) refs_.stands_for(*expected, home_rank, home_index);
  node& n = refs_.stand_in(home_rank, home_index, call.type);
  n.type = call.type;
  n.set(node::primary);
  if (members_.deaths() != 0 && n.state == state::ready && n.form != form::remote) {  // made again, where a copy is
    store::clear(temporary);
    if (store::large* const l = store::large_of(n)) ledger_.take_over(*l);
  } else {
    store::enter(temporary, ledger_, function);
    if (!has_room(temporary)) [[unlikely]] {
      const store::failure_ptr why = failures_.store_is_full(ledger_);
      store::clear(temporary);
      n.reset(node::primary);
      refs_.release(n);
      return send_failure(home_rank, home_index, why, charge, ns, by_scheduler, awaited);
    }
    store::clear(n);
    store::move_payload(n, temporary);
    complete(n);
  }
  if (store::large* const l = store::large_of(n);
      l != nullptr && net_.node_of(static_cast<int>(home_rank)) == net_.node()) {
    ledger_.offer(*l);
  }
  const remote_value remote{store::size_of(n), rank_, 0};
  m.form = static_cast<std::uint8_t>(form::remote);
  post_.send(home_rank, message::result, m, &remote, sizeof remote);
}

MANTA_DECL void engine::send_failure(std::uint32_t home_rank, std::uint32_t home_index, const store::failure_ptr& why,
                                 std::uint32_t charge, std::uint64_t ns, bool by_scheduler, node* awaited) {
  result_message m = result_header(home_index, form::failure, charge, ns, by_scheduler);
  node* const expected = expected_here(home_rank, home_index, awaited);
  if (expected != nullptr) m.reached = take_reached(*expected);
  const wire::buffer bytes = store::encode(*why);
  post_.send(home_rank, message::result, m, bytes.data(), bytes.size());
  if (expected == nullptr) return;
  fail(*expected, why);
  expected->set(node::observed);  // the home tells of it
}

}  // namespace manta::exec
