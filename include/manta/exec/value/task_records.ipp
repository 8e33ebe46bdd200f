// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <utility>

#include "manta/exec/value/task_records.hpp"

namespace manta::exec {

/// Appends the values of plain nodes, `bytes` each. Each is copied with the bytes behind it, which the next one covers:
/// that takes no call.
MANTA_DECL void append_plain(wire::buffer& out, node* const* nodes, std::size_t count, std::size_t bytes) {
  const std::size_t end = out.size() + count * bytes;
  std::byte* at = out.extend(count * bytes + sizeof(node::bytes));
  for (std::size_t i = 0; i < count; ++i, at += bytes) std::memcpy(at, nodes[i]->bytes, sizeof(node::bytes));
  out.shrink(end);
}

/// The one that follows a task_message, behind its length; returns where it ends.
MANTA_DECL const std::byte* read_request(const std::byte* at, graph::request& request) {
  std::uint64_t length = 0;
  std::memcpy(&length, at, sizeof length);
  wire::source in(at + sizeof length, length);
  request.read(in);
  in.get(request.checkpoint);
  return at + sizeof length + length;
}

/// Ranks whose numbers follow each other. Every member of a gang is told of all others, in runs: so what a gang of many
/// ranks is sent does not grow with the square of their number.
struct rank_run {
  std::uint32_t first, count;
};

MANTA_DECL void write_gang(wire::buffer& out, const graph::gang& gang) {
  base::list<rank_run> runs;
  for (const std::uint32_t rank : gang.ranks) {
    if (!runs.empty() && rank == runs.back().first + runs.back().count) {
      ++runs.back().count;
    } else {
      runs.push_back({rank, 1});
    }
  }
  wire::put(out, gang.id);
  wire::put(out, gang.member);
  wire::put(out, static_cast<std::uint32_t>(runs.size()));
  out.append(runs.data(), runs.size() * sizeof(rank_run));
}

/// The gang that follows the request; returns where it ends.
MANTA_DECL const std::byte* read_gang(const std::byte* at, graph::gang& gang) {
  std::uint32_t runs = 0;
  std::memcpy(&gang.id, at, sizeof gang.id);
  std::memcpy(&gang.member, at + sizeof gang.id, sizeof gang.member);
  std::memcpy(&runs, at + sizeof gang.id + sizeof gang.member, sizeof runs);
  at += sizeof gang.id + sizeof gang.member + sizeof runs;
  for (; runs > 0; --runs, at += sizeof(rank_run)) {
    rank_run run{};
    std::memcpy(&run, at, sizeof run);
    for (std::uint32_t i = 0; i < run.count; ++i) gang.ranks.push_back(run.first + i);
  }
  return at;
}

MANTA_DECL task* task_records::make(std::uint64_t id, function_id function, const task_arguments& given,
                                    graph::request_ptr request) {
  task* const t = own_.graph.tasks.make(given.input_count, static_cast<std::uint32_t>(given.bytes));
  t->id = id;
  t->function = function;
  t->home_rank = own_.rank;
  t->request = std::move(request);
  if (t->request != nullptr) t->hidden = t->request->hidden_inputs();
  if (given.input_count != 0) std::memcpy(t->inputs(), given.inputs, given.input_count * sizeof(node*));
  if (given.bytes != 0) std::memcpy(t->arguments(), given.data, given.bytes);
  return t;
}

MANTA_DECL bool task_records::append_encoded(node& n, input_message in, std::uint64_t task) {
  if (n.state != state::ready || (n.form != form::box && n.form != form::blob) || store::large_of(n) != nullptr)
    return false;
  wire::buffer& out = scratch_;
  const std::size_t at = out.size();
  out.append(&in, sizeof in);
  bool has_references = false;
  bool fits = false;
  const store::saving input(n.type, n.function, task);
  try {
    // The bytes of handles serve one receiver. Decoding and encoding again makes new ones, counted for this receiver.
    if (n.has(node::references)) store::decode(n);
    fits = store::encode_within(n, out, store::inline_bytes, has_references);
  } catch (...) {
    out.shrink(at + sizeof in);  // the pull meets the error again and tells it
  }
  if (!fits) {
    out.shrink(at);
    return false;
  }
  in.flags = input_message::is_inline;
  if (has_references) in.flags |= input_message::references;
  in.bytes = out.size() - at - sizeof in;
  std::memcpy(out.data() + at, &in, sizeof in);
  return true;
}

MANTA_DECL void task_records::append_conditions(task_message& m, const task_conditions& wanted) {
  const auto& [request, gang, digest] = wanted;
  wire::buffer& out = scratch_;
  if (request != nullptr) {
    m.flags |= task_message::has_request;
    if (request->for_member) m.flags |= task_message::for_member;
    const std::size_t at = out.size();
    out.extend(8);
    request->write(out);
    wire::put(out, request->checkpoint);
    const std::uint64_t length = out.size() - at - 8;
    std::memcpy(out.data() + at, &length, 8);
  }
  if (gang != nullptr) {
    m.flags |= task_message::has_gang;
    write_gang(out, *gang);
  }
  if (digest != 0) {
    m.flags |= task_message::has_digest;
    wire::put(out, digest);
  }
}

MANTA_DECL void task_records::send(rank_id to, message kind, const task_message& header, const task_arguments& given,
                                   const task_conditions& wanted) {
  task_message m = header;
  const references::addressed receiver(own_.refs, to);
  wire::buffer& out = scratch_;
  out.clear();
  append_conditions(m, wanted);
  out.append(given.data, given.bytes);
  if (given.input_count != 0) {
    m.flags |= task_message::has_inputs;
    out.append(&given.input_count, sizeof given.input_count);
    // The new home of a named actor wants to know where the inputs are that the function does not see.
    const std::uint32_t not_seen = kind == message::name_spawn ? wanted.request->hidden_inputs() : 0;
    append_inputs(given, given.input_count - not_seen, header);
  }
  own_.post.send(to, kind, m, out.data(), out.size());
}

MANTA_DECL void task_records::append_inputs(const task_arguments& given, std::uint32_t by_value,
                                            const task_message& header) {
  for (std::uint32_t i = 0, written = 0; i < given.input_count; i += written) {
    node& n = *given.inputs[i];
    const bool is_plain = n.state == state::ready && (n.form == form::plain || n.form == form::none);
    written = is_plain && i < by_value ? append_plain_inputs(given, i, by_value) : 1;
    if (is_plain && i < by_value) continue;
    // A short value goes along; a long one is only named, and the receiver fetches it.
    if (i < by_value && append_encoded(n, input_message{0, n.type, 0, 0, 1}, header.id)) continue;
    append_reference(n, (header.flags & task_message::ahead) != 0);
  }
}

MANTA_DECL std::uint32_t task_records::append_plain_inputs(const task_arguments& given, std::uint32_t i,
                                                           std::uint32_t most) {
  const node& n = *given.inputs[i];
  input_message in{input_message::is_inline | input_message::is_plain, n.type, 0, 0, 1};
  in.bytes = n.form == form::none ? 0 : n.has(node::actor) ? 8 : wire::type_at(n.type).plain_bytes;
  const auto is_like_it = [&](const node& other) {
    return other.form == n.form && other.state == n.state && other.type == n.type &&
           other.has(node::actor) == n.has(node::actor);
  };
  while (i + in.count < most && is_like_it(*given.inputs[i + in.count])) ++in.count;
  scratch_.append(&in, sizeof in);
  append_plain(scratch_, given.inputs + i, in.count, in.bytes);
  return in.count;
}

MANTA_DECL void task_records::append_reference(node& n, bool goes_ahead) {
  input_message in{0, n.type, 0, 0, 1};
  if (n.state == state::ready) {
    in.flags = input_message::known;
    in.place = n.form == form::remote ? n.remote.place : own_.rank.number();
    in.bytes = n.form == form::remote ? n.remote.bytes : store::size_of(n);
  }
  // The receiver itself makes this input, and needs no reference: it finds the value under the home's index.
  const bool made_there = n.state == state::pending && goes_ahead;
  if (made_there) in.flags = input_message::made_there;
  if (n.has(node::actor)) in.flags |= input_message::actor;
  const reference_message reference =
      made_there ? reference_message{own_.rank, n.index, own_.rank, no_index} : own_.refs.export_reference(n);
  scratch_.append(&in, sizeof in);
  scratch_.append(&reference, sizeof reference);
}

MANTA_DECL void task_records::read_inputs(task& t, const std::byte* at) {
  input_message in;
  for (std::uint32_t i = 0; i < t.input_count; i += in.count) {
    std::memcpy(&in, at, sizeof in);
    at += sizeof in;
    if ((in.flags & input_message::is_plain) != 0) {
      for (std::uint32_t k = 0; k < in.count; ++k) {
        node& n = own_.refs.make_node(in.type);
        store::set_plain(n, at, in.bytes);
        n.state = state::ready;
        at += in.bytes;
        t.inputs()[i + k] = &n;
      }
    } else if ((in.flags & input_message::is_inline) != 0) {
      node& n = own_.refs.make_node(in.type);
      store::set_blob(n, at, in.bytes, (in.flags & input_message::references) != 0);
      n.state = state::ready;
      at += in.bytes;
      t.inputs()[i] = &n;
    } else {
      reference_message reference;
      std::memcpy(&reference, at, sizeof reference);
      at += sizeof reference;
      if ((in.flags & input_message::made_there) != 0) {
        t.inputs()[i] = &to_be_made_here(reference, in.type);
        continue;
      }
      node& n = own_.refs.import_reference(reference, in.type);
      if ((in.flags & input_message::actor) != 0) n.set(node::actor);
      // The sender knows where the value lies, so this rank need not ask the home.
      if (n.state == state::pending && is_stand_in(n) && (in.flags & input_message::known) != 0 &&
          in.place != own_.rank && !own_.members.is_dead(in.place)) {
        n.missing = 0;
        completion_.lies_at(n, in.place, in.bytes);
      }
      t.inputs()[i] = &n;
    }
  }
}

MANTA_DECL task* task_records::read(rank_id from, const std::byte* data) {
  task_message m;
  std::memcpy(&m, data, sizeof m);
  const std::byte* at = data + sizeof m;
  graph::request_ptr request;
  if ((m.flags & task_message::has_request) != 0) {
    auto* const read = new graph::request;
    request = graph::request_ptr(read);
    at = read_request(at, *read);
  }
  graph::gang* gang = nullptr;
  if ((m.flags & task_message::has_gang) != 0) at = read_gang(at, *(gang = new graph::gang));
  std::uint64_t digest = 0;
  if ((m.flags & task_message::has_digest) != 0) {
    std::memcpy(&digest, at, sizeof digest);
    at += sizeof digest;
  }
  const std::byte* arguments = at;
  at += m.argument_bytes;
  std::uint32_t input_count = 0;
  if ((m.flags & task_message::has_inputs) != 0) {
    std::memcpy(&input_count, at, sizeof input_count);
    at += sizeof input_count;
  }
  task* const t = own_.graph.tasks.make(input_count, m.argument_bytes);
  t->id = m.id;
  t->function = m.function;
  t->home_rank = m.home_rank;
  t->home_index = m.home_index;
  t->charge = m.charge_or_slot;
  t->slot = m.charge_or_slot;
  t->caller = from;
  t->attempt = m.attempt;
  t->by_scheduler = (m.flags & task_message::by_scheduler) != 0;
  t->for_member = (m.flags & task_message::for_member) != 0;
  t->result_at_once = (m.flags & task_message::result_at_once) != 0;
  t->request = std::move(request);
  t->gang = gang;
  t->digest = digest;
  if (m.argument_bytes != 0) std::memcpy(t->arguments(), arguments, m.argument_bytes);
  read_inputs(*t, at);
  return t;
}

MANTA_DECL void task_records::drop_inputs(task* t) {
  const std::uint32_t count = t->input_count;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (t->inputs()[i] != nullptr) own_.refs.release(*std::exchange(t->inputs()[i], nullptr));
  }
}

MANTA_DECL void task_records::free(task* t) {
  staging_.forget_maker(t);
  if (t->result != nullptr) own_.refs.release(*t->result);
  drop_inputs(t);
  own_.graph.tasks.free(t);
}

MANTA_DECL node& task_records::to_be_made_here(const reference_message& r, type_id type) {
  node* n = nullptr;
  if (task* const t = staging_.maker_of(r.home_index)) {
    if (t->result == nullptr) t->result = &own_.refs.make_node(type);
    n = t->result;
    own_.refs.hold(*n);
  } else {
    n = &own_.refs.stand_in(r.home_rank, r.home_index, type);
  }
  if (n->state == state::pending) ++n->missing;
  return *n;
}

}  // namespace manta::exec
