// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// What main of a program with CAF is made of: an actor, the warm-up, the
// repetitions, and the exit code.
#pragma once

#include <caf/all.hpp>

#include "measure.hpp"

namespace bench {

/// Calls measure(self, actor, repetition) with repetition = -1, the warm-up, then 0, 1, and so on. It returns false
/// where a result is wrong. Returns what main is to return.
template <class Behaviour, class Measure>
int caf_main(int argc, char** argv, const char* figure, Behaviour behaviour, Measure&& measure) {
  caf::actor_system_config config;
  caf::actor_system system{config};
  caf::scoped_actor self{system};
  const caf::actor to = system.spawn(behaviour);
  bool correct = true;
  for (int repetition = -1; correct && repetition < repetitions(argc, argv); ++repetition) {
    correct = measure(self, to, repetition);
  }
  self->send_exit(to, caf::exit_reason::user_shutdown);
  return correct ? 0 : failed(figure, "a result is wrong");
}

}  // namespace bench
