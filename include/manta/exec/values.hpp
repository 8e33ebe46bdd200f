// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How values get to where they are read. The home of a value knows whether it
// is there and where it lies. Small values are told with the news; a large one
// stays where it was made until somebody pulls it, straight from that rank,
// its arrays received into their final place.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

inline void engine::complete(node& n) {
  if (n.has(node::timed)) [[unlikely]] stop_timer(n);
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
        record.ended.push_back(l.index);
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
      case link_kind::home:
      case link_kind::exported:
        break;
    }
  });
}

inline void engine::fail(node& n, const store::failure_ptr& why) {
  if (n.form == form::record) {
    free_task(n.record);
  }
  store::set_failure(n, why);
  complete(n);
}

/// In a catch clause: the failure of a type's save() or load().
inline store::failure_ptr engine::codec_failure(const char* function, std::uint32_t type) const {
  store::failure f = store::current_failure();
  f.kind = store::failure::kind::serialization;
  f.details.function = std::string(function) + " of " + wire::demangle(wire::type_at(type).mangled);
  f.details.rank = static_cast<int>(rank_);
  f.details.host = store::host_name();
  return store::share(std::move(f));
}

// --- wants: is it ready, and where?

inline void engine::need(node& n) {
  if (n.state != state::pending || n.has(node::wanted) || !is_stand_in(n)) return;
  n.set(node::wanted);
  hold(n);  // until the answer
  send(n.links->rank, message::want, want_message{n.links->index, n.index});
}

inline void engine::tell_value(std::uint32_t to, std::uint32_t index, node& n) {
  result_message m{index, 0, 0, 0, 0, 0};
  if (n.state == state::failed) {
    n.set(node::observed);  // it is the asker's to look at now
    m.form = static_cast<std::uint8_t>(form::failure);
    const wire::buffer bytes = store::encode(*store::failure_of(n));
    send(to, message::value, m, bytes.data(), bytes.size());
    return;
  }
  if (n.form == form::plain || n.form == form::none) {
    m.form = static_cast<std::uint8_t>(form::plain);
    const std::size_t bytes = n.form == form::none ? 0 : n.has(node::actor) ? 8 : wire::type_at(n.type).plain_bytes;
    send(to, message::value, m, n.bytes, bytes);
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
        send(to, message::value, m, scratch_.data(), scratch_.size());
        return;
      }
    } catch (...) {
      // it will be met again, and told, when the value is pulled
    }
    remote.bytes = store::inline_bytes + 1;
  }
  m.form = static_cast<std::uint8_t>(form::remote);
  send(to, message::value, m, &remote, sizeof remote);
}

inline void engine::accept_value(node& n, const result_message& m, const std::byte* data, std::size_t bytes) {
  switch (static_cast<form>(m.form)) {
    case form::plain:
      store::set_plain(n, data, bytes);
      break;
    case form::blob:
      store::set_blob(n, data, bytes, (m.flags & result_message::references) != 0);
      break;
    case form::remote: {
      remote_value remote;
      std::memcpy(&remote, data, sizeof remote);
      n.form = form::remote;
      n.remote.bytes = remote.bytes;
      n.remote.place = remote.place;
      break;
    }
    default:
      fail(n, store::decode_failure(data, bytes));
      return;
  }
  complete(n);
}

inline void engine::on_value(std::uint32_t, const result_message& m, const std::byte* data, std::size_t bytes) {
  node& n = graph_.nodes.at(m.index);
  n.reset(node::wanted);
  if (n.state == state::pending) {
    accept_value(n, m, data, bytes);
  } else if ((m.flags & result_message::references) != 0) {  // came twice: give back what it refers to
    node& spare = make_node(no_index, n.type);
    accept_value(spare, m, data, bytes);
    release(spare);
  }
  release(n);
}

// --- pulls: bring it here

inline void engine::fetch(node& n) {
  if (n.form != form::remote || n.has(node::fetching)) return;
  n.set(node::fetching);
  hold(n);  // until it is here
  pull_message m{rank_, n.index, n.index, 0};
  if (is_stand_in(n)) {
    m.home_rank = n.links->rank;
    m.home_index = n.links->index;
  }
  m.tag = next_tag_;
  next_tag_ = (next_tag_ + 1) % static_cast<std::uint32_t>(net_.bulk_tags());
  send(n.remote.place, message::pull, m);
}

inline void engine::on_pull(std::uint32_t from, const pull_message& m) {
  node* const found = m.home_rank == rank_ ? &graph_.nodes.at(m.home_index) : known(m.home_rank, m.home_index);
  if (found == nullptr || !store::is_here(*found)) {  // it has moved: its home knows
    return send(from, message::unavailable, index_message{m.index, 0});
  }
  node& n = *found;
  wire::encoded value;
  try {
    if (n.form == form::blob) store::decode(n);
    // arrays are sent from where they lie only if the type is known not to write from a temporary in its save()
    wire::sink out(value.bytes, wire::type_at(n.type).in_place ? &value.segments : nullptr);
    wire::type_at(n.type).write(n.box, out);
    value.holds_references = out.holds_references();
  } catch (...) {
    const wire::buffer bytes = store::encode(*codec_failure("save()", n.type));
    result_message answer{m.index, 0, 0, static_cast<std::uint8_t>(form::failure), 0, 0};
    return send(from, message::unavailable, answer, bytes.data(), bytes.size());
  }

  // the value's own bytes go with the message unless they are many
  data_message header{m.index, 0, value.holds_references, m.tag};
  base::list<std::uint64_t> sizes;
  const bool body_by_block = value.bytes.size() > 4 * wire::segment_bytes;
  if (body_by_block) sizes.push_back(value.bytes.size());
  for (const wire::segment& s : value.segments) sizes.push_back(s.bytes);
  header.segments = static_cast<std::uint32_t>(sizes.size()) | (body_by_block ? data_message::body_by_block : 0);
  const std::size_t list_bytes = sizes.size() * sizeof(std::uint64_t);
  const std::size_t body_bytes = body_by_block ? 0 : value.bytes.size();
  std::byte* at = begin(from, message::data, sizeof header + list_bytes + body_bytes);
  std::memcpy(at, &header, sizeof header);
  if (list_bytes != 0) std::memcpy(at + sizeof header, sizes.data(), list_bytes);
  if (body_bytes != 0) std::memcpy(at + sizeof header + list_bytes, value.bytes.data(), body_bytes);
  commit(from, message::data, sizeof header + list_bytes + body_bytes);

  if (sizes.empty()) return;
  hold(n);  // the blocks are sent from where they lie
  auto* const out = new outgoing_value{this, &n, std::move(value.bytes), sizes.size()};
  const net::completion sent{[](void* argument) {
                               auto* o = static_cast<outgoing_value*>(argument);
                               if (--o->blocks != 0) return;
                               o->sender->release(*o->value);
                               delete o;
                             },
                             out};
  const auto send_block = [&](const void* data, std::size_t block_bytes) {
    net_.send_bulk(static_cast<int>(from), static_cast<int>(m.tag), data, block_bytes, sent);
  };
  if (body_by_block) send_block(out->body.data(), out->body.size());
  for (const wire::segment& s : value.segments) send_block(s.data, s.bytes);
}

inline void engine::on_data(std::uint32_t from, const data_message& m, const std::byte* data, std::size_t bytes) {
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
    v->body.append(data + blocks * sizeof(std::uint64_t), bytes - blocks * sizeof(std::uint64_t));
    wire::source in(v->body.data(), v->body.size(), &v->places);
    v->box = wire::type_at(v->target->type).read(in);
  }
  ++values_coming_;
  net_.receive_bulk(static_cast<int>(from), static_cast<int>(v->tag), v->places[0].data, v->places[0].bytes,
                    reinterpret_cast<std::uint64_t>(v));
}

inline void engine::on_block(std::uint64_t token) {
  auto* const v = reinterpret_cast<incoming_value*>(token);
  if (++v->next < v->places.size()) {  // blocks of one value come one after the other under one tag
    const wire::segment& place = v->places[v->next];
    net_.receive_bulk(static_cast<int>(v->from), static_cast<int>(v->tag), place.data, place.bytes, token);
    return;
  }
  --values_coming_;
  arrived(v);
}

// A value whose bytes came as a block is decoded by the rank's own thread, for its load() is the user's code.
inline void engine::arrived(incoming_value* v) {
  node& n = *v->target;
  if (v->box == nullptr && !v->places.empty()) return arrived_.push_back(v);
  const bool moves_home = !is_stand_in(n);
  if (moves_home) send(n.remote.place, message::release, index_message{n.index, rank_});
  if (v->box != nullptr) {
    store::set_box(n, v->box);
  } else {
    store::set_blob(n, v->body.data(), v->body.size(), v->references);
  }
  delete v;
  n.reset(node::fetching);
  if (moves_home) hold(n);  // until the former place has answered
  complete(n);
  release(n);
}

inline void engine::decode_arrived() {
  while (!arrived_.empty()) {
    incoming_value* const v = arrived_.back();
    arrived_.pop_back();
    node& n = *v->target;
    store::failure_ptr why;
    try {
      wire::source in(v->body.data(), v->body.size());
      v->box = wire::type_at(n.type).read(in);
    } catch (...) {
      why = codec_failure("load()", n.type);
    }
    if (why == nullptr) {
      arrived(v);
      continue;
    }
    delete v;
    n.reset(node::fetching);
    n.form = form::none;
    fail(n, why);
    release(n);
  }
}

// --- results of tasks and calls that ran here for another rank

inline result_message result_header(std::uint32_t index, form f, std::uint32_t charge, std::uint64_t ns,
                                    bool by_scheduler) {
  return {index, charge, clipped(ns), static_cast<std::uint8_t>(f),
          static_cast<std::uint8_t>(by_scheduler ? result_message::by_scheduler : 0), 0};
}

inline void engine::send_result(std::uint32_t home_rank, std::uint32_t home_index, invocation& call,
                                std::uint32_t charge, std::uint64_t ns, bool by_scheduler) {
  result_message m = result_header(home_index, form::plain, charge, ns, by_scheduler);
  if (call.form != form::box) {
    const std::size_t bytes = call.form == form::none ? 0 : wire::type_at(call.type).plain_bytes;
    return send(home_rank, message::result, m, call.plain, bytes);
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
    const store::failure_ptr why = codec_failure("save()", call.type);
    wire::type_at(call.type).destroy(call.box);
    return send_failure(home_rank, home_index, why, charge, ns, by_scheduler);
  }
  if (fits) {
    m.form = static_cast<std::uint8_t>(form::blob);
    if (references) m.flags = static_cast<std::uint8_t>(m.flags | result_message::references);
    send(home_rank, message::result, m, scratch_.data(), scratch_.size());
    wire::type_at(call.type).destroy(call.box);
    return;
  }
  // it stays here, in a stand-in that the home lets go
  node& n = stand_in(home_rank, home_index, call.type);
  n.type = call.type;
  n.set(node::primary);
  remote_value remote{0, rank_, 0};
  wire::encoded measured;
  try {
    if (wire::type_at(call.type).in_place) {
      wire::sink out(measured.bytes, &measured.segments);
      wire::type_at(call.type).write(call.box, out);
    }
  } catch (...) {
    measured.segments.clear();
  }
  remote.bytes = measured.total_bytes();
  if (remote.bytes <= store::inline_bytes) remote.bytes = store::inline_bytes + 1;
  store::set_box(n, call.box);
  if (n.state == state::pending) complete(n);
  m.form = static_cast<std::uint8_t>(form::remote);
  send(home_rank, message::result, m, &remote, sizeof remote);
}

inline void engine::send_failure(std::uint32_t home_rank, std::uint32_t home_index, const store::failure_ptr& why,
                                 std::uint32_t charge, std::uint64_t ns, bool by_scheduler) {
  const result_message m = result_header(home_index, form::failure, charge, ns, by_scheduler);
  const wire::buffer bytes = store::encode(*why);
  send(home_rank, message::result, m, bytes.data(), bytes.size());
}

}  // namespace manta::exec
