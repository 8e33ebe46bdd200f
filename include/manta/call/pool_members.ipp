// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "manta/base/text.hpp"
#include "manta/call/pool_members.hpp"

namespace manta::detail {

MANTA_DECL handle call_of_nobody(std::uint32_t type, std::size_t size) {
  exec::engine& e = exec::engine::here("actor_pool");
  const exec::engine::guard g(e);
  handle failed(e.refs().make_node(type));
  store::failure f;
  f.kind = store::failure::kind::actor;
  f.message = base::text(
      "none of the pool's {} actors is left to do this call: the calls that they had been given when they died say "
      "why. Make a new pool, or let its actors be built anew (actor_options::restarts)",
      size);
  e.completions().fail(*failed.get(), store::share(std::move(f)));
  return failed;
}

}  // namespace manta::detail
