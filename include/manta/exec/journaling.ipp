// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Results that outlive the program (store/journal.hpp). A task is known by its
// id, which is the same in every start and for any number of ranks, and by a
// digest of its function and arguments: of values by their bytes, of the
// results of other tasks by what these are known by. The home looks it up when
// the task is submitted; the rank that ran it has its result written.
// Not kept are results that hold futures or handles, and those of tasks with an
// argument that is an actor or a future of another rank's task.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL void engine::open_journal(const engine_options& options) {
  if (options.journal.empty()) return;
  std::uint64_t program = 0;
  if (rank_ == 0) program = base::mix(base::mix(store::journal::digest_of_program(), base::hash_text(wire::table_listing())), seed_);
  net::check(MPI_Bcast(&program, 1, MPI_UINT64_T, 0, net_.comm()), "MPI_Bcast");
  std::string mistake;
  try {
    journal_ = new store::journal(options.journal, program, net_.rank(), rank_ == 0);
  } catch (const error& e) {
    mistake = e.what();
  }
  for (const std::string& each : net::all_gather(net_.comm(), mistake)) {
    if (each.empty()) continue;
    delete std::exchange(journal_, nullptr);
    throw error(each);
  }
  most_compact_ = 0;
  journal_least_ns_ = static_cast<std::uint64_t>(options.journal_least * 1e9);
}

/// What the value of this node is, or will be; 0: not known.
MANTA_DECL std::uint64_t engine::identity_of(node& n) {
  if (const std::uint64_t* const known = identities_.find(n.index)) return *known;
  if (n.state != state::ready || n.has(node::actor) || n.form == form::remote) return 0;
  std::uint64_t hash = base::hash_text(wire::type_at(n.type).mangled);
  if (n.form == form::plain) {
    hash = base::hash_bytes(n.bytes, wire::type_at(n.type).plain_bytes, hash);
  } else if (n.form != form::none) {
    wire::encoded value;
    try {
      if (n.form == form::blob) store::decode(n);
      if (n.form == form::pages) {
        store::encode(n, value);
      } else {
        wire::sink out(value.bytes, wire::type_at(n.type).array != nullptr ? &value.segments : nullptr, wire::sink::no_limit, false);
        wire::type_at(n.type).write(n.box, out);
      }
    } catch (...) {  // it holds references, or its save() throws, which will be told when it is sent
      return 0;
    }
    hash = base::hash_bytes(value.bytes.data(), value.bytes.size(), hash);
    for (const wire::segment& s : value.segments) hash = base::hash_bytes(s.data, s.bytes, hash);
  }
  if (hash == 0) hash = 1;
  identities_.insert(n.index) = hash;
  return hash;
}

MANTA_DECL void engine::identify(task& t, const node& n) {
  if (t.request != nullptr && t.request->actor) return;
  std::uint64_t digest = base::mix(base::hash_text(wire::function_at(t.function).mangled), base::hash_bytes(t.arguments(), t.argument_bytes));
  for (std::uint32_t i = 0; i < t.seen_inputs(); ++i) {
    const std::uint64_t input = identity_of(*t.inputs()[i]);
    if (input == 0) return;
    digest = base::mix(digest, input);
  }
  t.digest = digest == 0 ? 1 : digest;
  identities_.insert(n.index) = base::mix(t.id, t.digest) | 1;
}

/// A task of ours, not begun: is its result known from an earlier start?
MANTA_DECL bool engine::take_from_journal(node& n) {
  task& t = *n.record;
  std::uint64_t form_of_result = 0;
  scratch_.clear();
  if (t.digest == 0 || !journal_->find(t.id, t.digest, form_of_result, scratch_)) return false;
  free_task(&t);
  n.form = form::none;
  if (static_cast<form>(form_of_result) == form::plain) {
    store::set_plain(n, scratch_.data(), scratch_.size());
  } else {
    store::set_blob(n, scratch_.data(), scratch_.size(), false);
  }
  complete(n);
  release(n);
  return true;
}

/// Where it ran: it has ended well.
MANTA_DECL void engine::write_to_journal(const task& t, const invocation& call, std::uint64_t ns) {
  if (ns < journal_least_ns_ && (t.request == nullptr || !t.request->journaled)) return;
  if (call.form != form::box) {
    const std::size_t bytes = call.form == form::none ? 0 : wire::type_at(call.type).plain_bytes;
    return journal_->add(t.id, t.digest, static_cast<std::uint64_t>(form::plain), reinterpret_cast<const std::byte*>(call.plain), bytes);
  }
  wire::buffer value;
  wire::sink out(value, nullptr, wire::sink::no_limit, false);
  try {
    wire::type_at(call.type).write(call.box, out);
  } catch (...) {
    return;  // it holds references, or its save() throws, which will be told when it is sent
  }
  journal_->add(t.id, t.digest, static_cast<std::uint64_t>(form::blob), value.data(), value.size());
}

}  // namespace manta::exec
