// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What an actor class needs when its objects live in child processes (isolation.ipp): the rank holds an
// `isolated_actor` in place of the object, and these functions forward to the child.
#pragma once

#include "manta/base/config.hpp"
#include "manta/exec/invocation.hpp"

namespace manta::exec {

MANTA_DECL void destroy_isolated(void* object);
MANTA_DECL void save_isolated(const void* object, wire::sink& out);
MANTA_DECL void* load_isolated(const actor_class* type, wire::source& bytes);

}  // namespace manta::exec
