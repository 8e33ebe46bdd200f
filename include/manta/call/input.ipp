// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include "manta/call/handle.ipp"
#include "manta/call/input.hpp"

namespace manta::detail {

MANTA_DECL const void* input::value() const { return store::decode(*node_); }

MANTA_DECL bool input::may_move() const { return !needed_again_ && may_leave(*node_); }

MANTA_DECL bool input::use_pages() const {
  store::large* const l = node_->form == graph::form::pages ? store::large_of(*node_) : nullptr;
  if (l == nullptr || l->is_encoded()) return false;
  l->book->use(*l);
  return true;
}

MANTA_DECL array_in_pages input::pages() const {
  const store::large& l = *store::large_of(*node_);
  return {wire::source(l.header.data(), l.header.size()), reinterpret_cast<const std::byte*>(l.array()), l.bytes};
}

MANTA_DECL handle input::keep() const {
  exec::engine::current()->refs().hold(*node_);
  store::give(*node_);
  return handle(*node_);
}

}  // namespace manta::detail
