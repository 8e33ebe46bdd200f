// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// An actor that lives in a child process. Its rank holds an `isolated_actor` in the place of the object, with a class
// whose functions forward to the child. They are called without the lock, and wait.
#pragma once

#include "manta/base/config.hpp"
#include "manta/exec/rank/invocation.hpp"

namespace manta::base {
class child;
}

namespace manta::exec {

struct isolated_actor {
  base::child* process;     ///< null once it has ended
  const actor_class* type;  ///< the class, which has the same address in the child
};

/// Destroys the actor, and gives its child back for other tasks.
MANTA_DECL void destroy_isolated(void* object);
/// Saves the actor. Throws error if its process has ended, isolated_failure if its save() has thrown.
MANTA_DECL void save_isolated(const void* object, wire::sink& out);
/// Makes an actor of the class in a child, from all that is left of `bytes`. Throws as save_isolated() does.
MANTA_DECL void* load_isolated(const actor_class* type, wire::source& bytes);

}  // namespace manta::exec

#ifndef MANTA_COMPILED
#include "manta/exec/isolation/isolated_actor.ipp"
#endif
