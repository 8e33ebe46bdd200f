// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Values that the program makes outside of tasks' results: by put, and as objects
// of the library.
#pragma once

#include "manta/exec/engine.hpp"

namespace manta::exec {

MANTA_DECL node& engine::make_value(type_id type, void* object) {
  node& n = values_.refs.make_node(type);
  values_.completion.complete_object(n, object, run_.running->function);
  if (store::large* const l = store::large_of(n); l != nullptr && rank_.net.topology().ranks_on_node() > 1)
    rank_.ledger.share(*l);
  return values_.completion.checked(n);
}

MANTA_DECL node* engine::copy_value(type_id type, const void* object) {
  const wire::type_entry& entry = wire::type_at(type);
  const wire::segment array = entry.array(object);
  if (array.bytes < store::shared_bytes || rank_.net.topology().ranks_on_node() == 1) return nullptr;
  store::large* const l =
      rank_.ledger.enter_copy(static_cast<std::byte*>(array.data), array.bytes, run_.running->function);
  if (l == nullptr) return nullptr;
  node& n = values_.refs.make_node(type);
  store::set_pages(n, *l);
  wire::encoded value;
  wire::sink out(value.bytes, &value.segments);
  entry.write(object, out);
  l->header = std::move(value.bytes);
  values_.completion.complete_if_room(n);
  return &values_.completion.checked(n);
}

}  // namespace manta::exec
