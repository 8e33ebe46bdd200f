// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// Results of tasks and calls, for the code of libraries: an error is its sentence alone, and what was lost with a rank is
// asked for again of actors that have restarts.
#pragma once

#include "manta/error.hpp"
#include "manta/future.hpp"

namespace manta::detail {

/// The value. Waits, and throws what the task or call threw as its sentence, without the library's own task around it.
template <class T>
T sentence(const future<T>& f) {
  try {
    return f.get();
  } catch (const task_failed& e) {
    throw error(e.details().what);
  }
}

/// What `ask` gives. When a rank dies, a call to an actor there fails, and so does a result that still lay there; then
/// `ask` is called again, and its calls find the actor at its new place. After a hundred such deaths one after the
/// other, throws what the last one was.
template <class Ask>
auto insist(Ask&& ask) {
  constexpr int most_deaths = 100;  // the actor cannot live anywhere then
  for (int deaths = 1;; ++deaths) {
    try {
      return ask();
    } catch (const actor_died&) {
      if (deaths == most_deaths) throw;
    } catch (const object_lost&) {
      if (deaths == most_deaths) throw;
    } catch (const broken_promise&) {
      if (deaths == most_deaths) throw;
    }
  }
}

}  // namespace manta::detail
