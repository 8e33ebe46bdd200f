// SPDX-FileCopyrightText: 2026 The manta authors
// SPDX-License-Identifier: MIT
//
// The definitions of run.hpp.
#pragma once

#include <algorithm>
#include <cstdio>

#include "manta/tune/conductor.hpp"
#include "manta/tune/run.hpp"

namespace manta::tune {

namespace detail {

/// One line about an experiment that is continued: what failed in an earlier start may have been mended since.
MANTA_DECL void say_what_had_failed(const study& s) {
  const auto& known = s.trials();
  const auto failed = std::count_if(known.begin(), known.end(), [](const trial_record& t) { return t.state == status::failed; });
  if (failed == 0) return;
  std::fprintf(stderr, "%s: continues %s, where %zu of %zu trials have failed; .retry_failed = true starts those again, .fresh = true "
               "replaces the experiment\n", s.options().name.c_str(), s.options().folder.c_str(), static_cast<std::size_t>(failed), known.size());
}

MANTA_DECL results run_experiment(const space& where, const experiment& e, const body_name& what, bool gang) {
  if (!gang && e.ranks > 1) {
    throw error("manta: tune: .ranks is for gangs: have the function take manta::team first (a class: in setup), or leave it out");
  }
  if (gang && e.isolate) {
    throw error("manta: tune: .isolate is not for gangs, for a child process has no MPI; leave it out");
  }
  study s(where, e);
  say_what_had_failed(s);
  if (!s.finished()) conductor(s, what, gang).run();
  return results(s);
}

}  // namespace detail

}  // namespace manta::tune
