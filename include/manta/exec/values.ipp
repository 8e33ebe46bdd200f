// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values that the program makes outside of tasks' results: by put, and as objects
// of the library.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL node& engine::make_value(std::uint32_t type, void* object) {
  node& n = refs_.make_node(no_index, type);
  completion_.complete_object(n, object, running_->function);
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
  completion_.complete_if_room(n);
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

// --- wants: is it ready, and where?

// --- pulls: bring it here

// A value whose bytes came as a block is decoded by the rank's own thread, for its load() is the user's code.
// --- results of tasks and calls that ran here for another rank

}  // namespace manta::exec
