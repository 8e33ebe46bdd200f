// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "manta/call/handle.hpp"
#include "manta/error.hpp"

namespace manta::detail {

[[noreturn]] MANTA_DECL void refuse_empty(const char* call) {
  throw error(std::string("manta: ") + call +
              " on an empty handle: nothing was assigned to it, or it was given away, by std::move or by "
              "std::move(f).get(), which takes the value out; assign it from async, put or spawn first, and call "
              "get() on the future itself where the value is needed more than once");
}

MANTA_DECL void require_pending(const handle& written, const char* call) {
  if (written.node(call).is_pending()) return;
  throw error(std::string("manta: ") + call + ": this promise has been completed already; make a new one");
}

MANTA_DECL void handle::mark_observed() const { node_->set(graph::node::observed); }

/// Whether nobody else sees the object of the node, which leaves it then.
inline bool may_leave(graph::node& n) {
  if (n.form != graph::form::box || n.refs.load(std::memory_order_acquire) != 1 || !store::let_go(n)) return false;
  if (exec::engine* const e = exec::engine::current()) e->refs().hide(n);  // an isolated process has no engine
  return true;
}

MANTA_DECL bool handle::may_move() const { return may_leave(*node_); }

MANTA_DECL void handle::save(wire::writer& out) const {
  exec::reference_message r{graph::no_index, 0, 0, 0};
  if (node_ != nullptr) {
    out.note_reference();  // throws where references are not allowed
    r = exec::engine::current()->refs().export_reference(*node_);
  }
  out.write(&r, sizeof r);
}

MANTA_DECL void handle::load(wire::reader& in, std::uint32_t type) {
  exec::reference_message r;
  in.read(&r, sizeof r);
  const store::reading* const value = store::reading::innermost;
  const bool is_empty = r.home_rank == graph::no_index || (value != nullptr && value->is_again);
  *this = is_empty ? handle() : handle(exec::engine::current()->recovering().import_inside(r, type));
}

MANTA_DECL void handle::load_actor(wire::reader& in, std::uint32_t type) {
  load(in, type);
  if (valid()) node_->set(graph::node::actor);
}

}  // namespace manta::detail
