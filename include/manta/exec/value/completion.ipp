// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/exec/value/completion.hpp"

namespace manta::exec {

MANTA_DECL void completion::complete(node& n) {
  // The clock finds its task by the node's index, and the index may soon belong to another node.
  if (n.has(node::timed) && n.state == state::pending) [[unlikely]]
    others_.stop_timer(others_.rank, n);
  if (n.form == form::failure) [[unlikely]] {
    n.state = state::failed;
    own_.counts.note_failure(n.function, *store::failure_of(n));
  } else {
    n.state = state::ready;
    own_.counts.note_done(n.function);
  }
  own_.graph.finish(n, [&](const link& l) {
    switch (l.kind) {
      case link_kind::input: {
        node& dependent = own_.graph.nodes.at(l.index);
        note_input(n, dependent);
        if (--dependent.missing == 0) others_.task_ready(others_.rank, dependent);
        break;
      }
      case link_kind::waiter: {
        auto& record = *static_cast<wait_record*>(l.pointer);
        record.note_end(l.index, n);
        if (record.remaining > 0 && --record.remaining == 0) waiters_.wake(record);
        break;
      }
      case link_kind::subscriber: others_.announce(others_.rank, l, n); break;
      case link_kind::staged: others_.input_arrived(others_.rank, static_cast<task*>(l.pointer), n); break;
      case link_kind::call: others_.send_call(others_.rank, n, static_cast<task*>(l.pointer)); break;
      case link_kind::puller: others_.pulled(others_.rank, l, n); break;
      case link_kind::ahead:
        note_input(n, own_.graph.nodes.at(l.index));
        others_.send_after(others_.rank, l, n);
        break;
      case link_kind::heir: others_.inherit(others_.rank, own_.graph.nodes.at(l.index)); break;
      case link_kind::family: others_.await_return(others_.rank, l.index); break;
      // These four say which ranks refer to the node or have copies of its value. graph::finish() keeps them.
      case link_kind::home:
      case link_kind::exported:
      case link_kind::reader:
      case link_kind::replica: break;
    }
  });
}

MANTA_DECL void completion::complete_object(node& n, void* object, function_id function) {
  store::set_box(n, object);
  store::enter(n, own_.ledger, function);
  complete_if_room(n);
}

MANTA_DECL bool completion::has_room(const node& n) const {
  const store::large* const l = store::large_of(n);
  return l == nullptr || l->charged == 0 || own_.ledger.memory().charged() <= own_.ledger.memory().limit();
}

MANTA_DECL void completion::complete_if_room(node& n) {
  if (!has_room(n)) [[unlikely]] {
    // The text says what fills the memory, so it is written while the value still counts.
    const store::failure_ptr why = own_.failures.store_is_full(own_.ledger);
    store::clear(n);
    return fail(n, why);
  }
  complete(n);
}

MANTA_DECL void completion::fail(node& n, const store::failure_ptr& why) {
  if (n.form == form::record) others_.free_task(others_.rank, n.record);
  store::set_failure(n, why);
  complete(n);
}

MANTA_DECL node& completion::checked(node& n) {
  if (n.state != state::failed) return n;
  const store::failure_ptr why = store::failure_of(n);
  // The exception tells of the failure; the run's end need not report it again.
  n.set(node::observed);
  own_.refs.release(n);
  store::raise(*why);
}

MANTA_DECL void completion::lies_at(node& n, rank_id place, std::uint64_t bytes) {
  n.form = form::remote;
  n.remote.bytes = bytes;
  n.remote.place = place;
  complete(n);
}

}  // namespace manta::exec
