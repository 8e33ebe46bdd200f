// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/base/hash.hpp"
#include "manta/exec/value/journaling.hpp"
#include "manta/store/value.hpp"
#include "manta/wire/function_table.hpp"

namespace manta::exec {

MANTA_DECL std::uint64_t journaling::digest_of_program(std::uint64_t seed) {
  return base::mix(base::mix(store::journal::digest_of_program(), base::hash_text(wire::table_listing())), seed);
}

MANTA_DECL void journaling::open(const std::string& folder, std::uint64_t program, std::uint32_t writer,
                                 double least_seconds) {
  journal_ = std::make_unique<store::journal>(folder, program, static_cast<int>(writer), writer == 0);
  least_ns_ = static_cast<std::uint64_t>(least_seconds * 1e9);
}

MANTA_DECL void journaling::finish_run() {
  if (is_open()) journal_->flush();
}

MANTA_DECL std::uint64_t journaling::identity_of(graph::node& n) {
  using graph::form;
  if (const std::uint64_t* const known = identities_.find(n.index)) return *known;
  // An actor changes, and a value that lies elsewhere would have to be brought here to be read: neither has an
  // identity, and a task that takes it is computed again.
  if (n.state != graph::state::ready || n.has(graph::node::actor) || n.form == form::remote) return 0;
  const wire::type_entry& type = wire::type_at(n.type);
  std::uint64_t hash = base::hash_text(type.mangled);
  if (n.form == form::plain) {
    hash = base::hash_bytes(n.bytes, type.plain_bytes, hash);
  } else if (n.form != form::none) {
    wire::encoded value;
    try {
      if (n.form == form::blob) store::decode(n);
      if (n.form == form::pages) {
        store::encode(n, value);
      } else {
        wire::sink out(value.bytes, type.array != nullptr ? &value.segments : nullptr, wire::sink::no_limit, false);
        type.write(n.box, out);
      }
    } catch (...) {  // the value holds references, or its save() throws, which is reported when the value is sent
      return 0;
    }
    hash = base::hash_bytes(value.bytes.data(), value.bytes.size(), hash);
    for (const wire::segment& s : value.segments) hash = base::hash_bytes(s.data, s.bytes, hash);
  }
  // 0 means that a value has no identity.
  if (hash == 0) hash = 1;
  identities_.insert(n.index) = hash;
  return hash;
}

MANTA_DECL std::uint64_t journaling::digest_of_call(graph::task& t) {
  const std::uint64_t function = base::hash_text(wire::function_at(t.function).mangled);
  return base::mix(function, base::hash_bytes(t.arguments(), t.argument_bytes));
}

MANTA_DECL void journaling::identify_actor(graph::task& t) {
  if (t.request == nullptr || !t.request->actor || !keeps_state(*t.request)) return;
  t.digest = digest_of_call(t);
  for (std::uint32_t i = 0; i < t.seen_inputs(); ++i) t.digest = base::mix(t.digest, identity_of(*t.inputs()[i]));
}

MANTA_DECL void journaling::identify(graph::task& t, const graph::node& n) {
  if (!is_open() || (t.request != nullptr && t.request->actor)) return;
  std::uint64_t digest = digest_of_call(t);
  for (std::uint32_t i = 0; i < t.seen_inputs(); ++i) {
    const std::uint64_t input = identity_of(*t.inputs()[i]);
    if (input == 0) return;
    digest = base::mix(digest, input);
  }
  t.digest = digest == 0 ? 1 : digest;
  // The result is named by the call that makes it: so tasks that take it have a digest before it exists, and its bytes
  // need not be read.
  identities_.insert(n.index) = base::mix(t.id, t.digest) | 1;
}

MANTA_DECL bool journaling::take(const graph::task& t, graph::node& n) {
  // found_ is a member so that its memory serves all results.
  std::uint64_t form_of_result = 0;
  found_.clear();
  if (!is_open() || t.digest == 0 || !journal_->find(t.id, t.digest, form_of_result, found_)) return false;
  n.form = graph::form::none;
  if (static_cast<graph::form>(form_of_result) == graph::form::plain) {
    store::set_plain(n, found_.data(), found_.size());
  } else {
    store::set_blob(n, found_.data(), found_.size(), false);
  }
  return true;
}

MANTA_DECL void journaling::write(const graph::task& t, const invocation& call, std::uint64_t ns) {
  // A short task is computed again in less time than it takes to write and find its result.
  if (!is_open() || t.digest == 0 || call.actor_type != nullptr ||
      (ns < least_ns_ && (t.request == nullptr || !t.request->journaled)))
    return;
  const wire::type_entry* const type = call.form == graph::form::none ? nullptr : &wire::type_at(call.type);
  if (call.form != graph::form::box) {
    const std::size_t bytes = type == nullptr ? 0 : type->plain_bytes;
    return journal_->add(t.id, t.digest, static_cast<std::uint64_t>(graph::form::plain), call.plain, bytes);
  }
  wire::buffer value;
  wire::sink out(value, nullptr, wire::sink::no_limit, false);
  try {
    type->write(call.box, out);
  } catch (...) {
    return;  // the value holds references, or its save() throws, which is reported when the value is sent
  }
  journal_->add(t.id, t.digest, static_cast<std::uint64_t>(graph::form::blob), value.data(), value.size());
}

MANTA_DECL store::journal::actor_key journaling::key_of(const actor& a) {
  return {a.request.name, a.made_with, base::hash_text(wire::function_at(a.constructor).mangled)};
}
MANTA_DECL bool journaling::find_state(const actor& a, wire::buffer& into) {
  return keeps_state(a.request) && journal_->find_state(key_of(a), into);
}
MANTA_DECL void journaling::keep_state(const actor& a, const wire::buffer& what) {
  if (keeps_state(a.request)) journal_->keep_state(key_of(a), what);
}
MANTA_DECL void journaling::forget_state(const actor& a) {
  if (keeps_state(a.request)) journal_->forget_state(key_of(a));
}

}  // namespace manta::exec
