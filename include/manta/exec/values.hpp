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

/// The reason for a task that did not run because of `why`.
inline store::failure_ptr engine::chained(const store::failure_ptr& why, const node& n) {
  auto next = std::make_shared<store::failure>(*why);
  const graph::request* request = n.form == form::record ? n.record->request.get() : nullptr;
  next->details.chain.emplace_back(request != nullptr && !request->name.empty() ? std::string_view(request->name)
                                                                               : wire::function_at(n.function).name());
  return next;
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
  m.tag = static_cast<std::uint32_t>(next_transfer_++ % static_cast<std::uint64_t>(net_.bulk_tags()));
  send(n.remote.place, message::pull, m);
}

inline void engine::on_pull(std::uint32_t from, const pull_message& m) {
  node* found = nullptr;
  if (m.home_rank == rank_) {
    found = &graph_.nodes.at(m.home_index);
  } else {
    const auto at = stand_ins_.find(key(m.home_rank, m.home_index));
    if (at != stand_ins_.end()) found = &graph_.nodes.at(at->second);
  }
  if (found == nullptr || !store::is_here(*found)) {  // it has moved: its home knows
    return send(from, message::unavailable, index_message{m.index, 0});
  }
  node& n = *found;
  wire::encoded value;
  try {
    if (n.form == form::blob) store::decode(n);
    // arrays are sent from where they lie only if the type is known not to write from a temporary in its save()
    wire::writer out(value.bytes, wire::type_at(n.type).in_place ? &value.segments : nullptr);
    wire::type_at(n.type).write(n.box, out);
    value.holds_references = out.holds_references();
  } catch (...) {
    store::failure f = store::current_failure();
    f.kind = store::failure::kind::serialization;
    f.details.function = "save() of " + wire::demangle(wire::type_at(n.type).mangled);
    f.details.rank = static_cast<int>(rank_);
    f.details.host = store::host_name();
    const wire::buffer bytes = store::encode(f);
    result_message answer{m.index, 0, 0, static_cast<std::uint8_t>(form::failure), 0, 0};
    return send(from, message::unavailable, answer, bytes.data(), bytes.size());
  }

  // the value's own bytes go with the message unless they are many
  data_message header{m.index, 0, value.holds_references, m.tag};
  auto body = std::make_shared<wire::buffer>(std::move(value.bytes));
  std::vector<std::uint64_t> sizes;
  const bool body_by_block = body->size() > 4 * wire::segment_bytes;
  if (body_by_block) sizes.push_back(body->size());
  for (const wire::segment& s : value.segments) sizes.push_back(s.bytes);
  header.segments = static_cast<std::uint32_t>(sizes.size()) | (body_by_block ? data_message::body_by_block : 0);
  const std::size_t list_bytes = sizes.size() * sizeof(std::uint64_t);
  const std::size_t body_bytes = body_by_block ? 0 : body->size();
  std::byte* at = begin(from, message::data, sizeof header + list_bytes + body_bytes);
  std::memcpy(at, &header, sizeof header);
  if (list_bytes != 0) std::memcpy(at + sizeof header, sizes.data(), list_bytes);
  if (body_bytes != 0) std::memcpy(at + sizeof header + list_bytes, body->data(), body_bytes);
  commit(from, message::data, sizeof header + list_bytes + body_bytes);

  if (sizes.empty()) return;
  hold(n);  // the blocks are sent from where they lie
  std::shared_ptr<const void> keep(&n, [this, body](const void* p) {
    release(*static_cast<node*>(const_cast<void*>(p)));
  });
  if (body_by_block) net_.send_bulk(static_cast<int>(from), static_cast<int>(m.tag), body->data(), body->size(), keep);
  for (const wire::segment& s : value.segments) {
    net_.send_bulk(static_cast<int>(from), static_cast<int>(m.tag), s.data, s.bytes, keep);
  }
}

inline void engine::on_data(std::uint32_t from, const data_message& m, const std::byte* data, std::size_t bytes) {
  transfer t;
  t.target = &graph_.nodes.at(m.index);
  t.from = from;
  t.tag = m.tag;
  t.references = m.references != 0;
  t.body_by_block = (m.segments & data_message::body_by_block) != 0;
  const std::uint32_t blocks = m.segments & ~data_message::body_by_block;
  std::vector<std::uint64_t> sizes(blocks);
  if (blocks != 0) std::memcpy(sizes.data(), data, blocks * sizeof(std::uint64_t));
  data += blocks * sizeof(std::uint64_t);
  bytes -= blocks * sizeof(std::uint64_t);
  t.body.append(data, bytes);
  const wire::type_entry& type = wire::type_at(t.target->type);
  if (blocks == 0) return arrived(t);

  if (type.in_place && !t.body_by_block) {
    wire::reader in(t.body.data(), t.body.size(), wire::reader::in_place{t.places});
    t.box = type.read(in);
  } else {
    t.buffers.resize(blocks);
    for (std::uint32_t i = 0; i < blocks; ++i) t.places.push_back({t.buffers[i].extend(sizes[i]), sizes[i]});
  }
  const std::uint64_t token = next_transfer_++;
  net_.receive_bulk(static_cast<int>(from), static_cast<int>(t.tag), t.places[0].data, t.places[0].bytes, token);
  transfers_.emplace(token, std::move(t));
}

inline void engine::on_block(std::uint64_t token) {
  transfer& t = transfers_.at(token);
  if (++t.next < t.places.size()) {  // blocks of one value come one after the other under one tag
    const wire::segment& place = t.places[t.next];
    net_.receive_bulk(static_cast<int>(t.from), static_cast<int>(t.tag), place.data, place.bytes, token);
    return;
  }
  transfer whole = std::move(t);
  transfers_.erase(token);
  arrived(whole);
}

// A value whose bytes came as a block is decoded by the rank's own thread, for its load() is the user's code.
inline void engine::arrived(transfer& t) {
  node& n = *t.target;
  if (t.box == nullptr && !t.places.empty()) {
    arrived_.push_back(std::move(t));
    return;
  }
  const bool moves_home = !is_stand_in(n);
  if (moves_home) send(n.remote.place, message::release, index_message{n.index, rank_});
  if (t.box != nullptr) {
    store::set_box(n, t.box);
  } else {
    store::set_blob(n, t.body.data(), t.body.size(), t.references);
  }
  n.reset(node::fetching);
  if (moves_home) hold(n);  // until the former place has answered
  complete(n);
  release(n);
}

inline void engine::decode_arrived() {
  while (!arrived_.empty()) {
    transfer t = std::move(arrived_.back());
    arrived_.pop_back();
    try {
      wire::reader in(static_cast<const std::byte*>(t.places[0].data), t.places[0].bytes);
      t.box = wire::type_at(t.target->type).read(in);
      arrived(t);
    } catch (...) {
      store::failure f = store::current_failure();
      f.kind = store::failure::kind::serialization;
      f.details.function = "load() of " + wire::demangle(wire::type_at(t.target->type).mangled);
      f.details.rank = static_cast<int>(rank_);
      f.details.host = store::host_name();
      node& n = *t.target;
      n.reset(node::fetching);
      n.form = form::none;
      fail(n, std::make_shared<const store::failure>(f));
      release(n);
    }
  }
}

// --- results of tasks and calls that ran here for another rank

inline std::uint8_t result_flags(bool by_scheduler) {
  return static_cast<std::uint8_t>(by_scheduler ? result_message::by_scheduler : 0);
}

inline void engine::send_result(std::uint32_t home_rank, std::uint32_t home_index, invocation& call,
                                std::uint32_t charge, std::uint64_t ns, bool by_scheduler) {
  result_message m{home_index, charge, static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, 0xffffffffu)), 0,
                   result_flags(by_scheduler), 0};
  if (call.form != form::box) {
    m.form = static_cast<std::uint8_t>(form::plain);
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
    store::failure f = store::current_failure();
    f.kind = store::failure::kind::serialization;
    f.details.function = "save() of " + wire::demangle(wire::type_at(call.type).mangled);
    f.details.rank = static_cast<int>(rank_);
    f.details.host = store::host_name();
    wire::type_at(call.type).destroy(call.box);
    return send_failure(home_rank, home_index, std::make_shared<const store::failure>(f), charge, ns, by_scheduler);
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
      wire::writer out(measured.bytes, &measured.segments);
      wire::type_at(call.type).write(call.box, out);
    }
  } catch (...) {
    measured.segments.clear();
  }
  remote.bytes = std::max<std::uint64_t>(measured.total_bytes(), store::inline_bytes + 1);
  store::set_box(n, call.box);
  if (n.state == state::pending) complete(n);
  m.form = static_cast<std::uint8_t>(form::remote);
  send(home_rank, message::result, m, &remote, sizeof remote);
}

inline void engine::send_failure(std::uint32_t home_rank, std::uint32_t home_index, const store::failure_ptr& why,
                                 std::uint32_t charge, std::uint64_t ns, bool by_scheduler) {
  const result_message m{home_index, charge, static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, 0xffffffffu)),
                         static_cast<std::uint8_t>(form::failure),
                         result_flags(by_scheduler), 0};
  const wire::buffer bytes = store::encode(*why);
  send(home_rank, message::result, m, bytes.data(), bytes.size());
}

}  // namespace manta::exec
