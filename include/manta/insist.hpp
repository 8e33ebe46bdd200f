// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// How the code of libraries takes the results of tasks and calls. It reduces an error to its sentence, and repeats a
// call that was lost with a rank if the actor has restarts.
#pragma once

#include "manta/error.hpp"
#include "manta/future.hpp"

namespace manta::detail {

/// Waits for the value. If the task or call failed, throws an error with the text of its exception, without the report
/// about the library's own task around it.
template <class T>
T sentence(const future<T>& f) {
  try {
    return f.get();
  } catch (const task_failed& e) {
    throw error(e.details().what);
  }
}

/// Returns what `ask` returns. When a rank dies, calls to actors there fail, and so do results that still lay there.
/// Then `ask` runs again, and its calls find the actor at its new place. After a hundred deaths in a row, throws the
/// error of the last one.
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
