// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "manta/exec/value/made_values.hpp"

namespace manta::exec {

MANTA_DECL node& made_values::make_plain(type_id type, const void* value, std::size_t bytes) {
  node& n = own_.refs.make_node(type);
  completion_.complete_plain(n, value, bytes);
  return n;
}

MANTA_DECL node& made_values::make(type_id type, void* object) {
  node& n = own_.refs.make_node(type);
  const store::saving put(type, running_->function, running_->id);
  completion_.complete_object(n, object, running_->function);
  if (store::large* const l = store::large_of(n); l != nullptr && own_.net.topology().ranks_on_node() > 1)
    own_.ledger.share(*l);
  return completion_.checked(n);
}

MANTA_DECL node* made_values::copy(type_id type, const void* object) {
  const wire::type_entry& entry = wire::type_at(type);
  const wire::segment array = entry.array(object);
  if (array.bytes < store::shared_bytes || own_.net.topology().ranks_on_node() == 1) return nullptr;
  store::large* const l = own_.ledger.enter_copy(static_cast<std::byte*>(array.data), array.bytes, running_->function);
  if (l == nullptr) return nullptr;
  node& n = own_.refs.make_node(type);
  store::set_pages(n, *l);
  wire::encoded value;
  wire::sink out(value.bytes, &value.segments);
  entry.write(object, out);
  l->header = std::move(value.bytes);
  completion_.complete_if_room(n);
  return &completion_.checked(n);
}

}  // namespace manta::exec
